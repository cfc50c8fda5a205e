internal import Platform
internal import Synchronization

extension ImageManager {
    /// A download among all processes on one folder: its turn comes with its slot, so that no process holds up others
    /// with what it has not begun.
    final class Departure: Sendable {
        fileprivate let identity: Digest?
        /// Whether other processes find what it brings.
        fileprivate let isForOthers: Bool
        /// When the request began, on a clock that never goes back.
        fileprivate let started: Int
        /// Nanoseconds from one note of progress to the next: fewer where others wait less long.
        fileprivate let interval: Int
        private let state: Mutex<State>
        private let flights: FlightLock
        /// Whether what others of this process bring is waited for, too.
        fileprivate let merges: Bool

        fileprivate struct State: Sendable {
            var patience: FlightPatience
            var flight: Flight?
            var hasWaited = false
            var hasWaitedForOthers = false
            /// Whether the flight is not asked for any more.
            var isSettled = false
            /// Whether its body has come.
            var hasArrived = false
            var hit: ImageCache.Hit?
            /// The URLs where something has been changed.
            var changed: [String] = []
            /// Whether nobody asks for those any more.
            var isOver = false
        }

        fileprivate init(
            identity: Digest?, isForOthers: Bool, among flights: FlightLock, merges: Bool, from start: Int, span: Int
        ) {
            (self.identity, self.isForOthers) = (identity, isForOthers)
            (started, interval) = (start, min(1_000_000_000, span / 4))
            (self.flights, self.merges) = (flights, merges)
            let patience = FlightPatience(from: start, span: span)
            state = Mutex(State(patience: patience, isSettled: identity == nil))
        }

        deinit {
            if let identity, state.withLock({ $0.hasArrived }) { flights.endArrival(identity) }
        }

        /// Its body has come: who wants the same waits for the rest, which takes no longer than storing it.
        func arrive() {
            guard let identity else { return }
            state.withLock { state in
                if !state.hasArrived { flights.noteArrival(identity) }
                state.hasArrived = true
            }
        }

        /// Where a request that is no GET has changed something.
        fileprivate var changed: [String] { state.withLock { $0.changed } }

        /// The same for the last time.
        fileprivate func end() -> [String] {
            state.withLock { state in
                state.isOver = true
                return state.changed
            }
        }

        /// Whether another one of this process is about to store what this one would download.
        fileprivate var isForestalled: Bool {
            guard let identity, merges else { return false }
            return state.withLock { !$0.isSettled } && flights.isArriving(identity)
        }

        /// Asks for the flight, if there is anybody to tell.
        ///
        /// - Returns: nil if that takes waiting.
        fileprivate func takeAtOnce(_ identity: Digest) -> FlightLock.Attempt? {
            isForOthers ? flights.takeAtOnce(identity) : .impossible
        }

        /// The same, however long it takes.
        fileprivate func take(_ identity: Digest) -> FlightLock.Attempt {
            isForOthers ? flights.take(identity) : .impossible
        }

        /// The right to download, once there is one. Nil when nobody is to wait for this download.
        var flight: Flight? { state.withLock { $0.flight } }

        /// Takes note of what came of asking for the flight.
        ///
        /// - Returns: Whether the download may begin.
        fileprivate func settle(_ attempt: FlightLock.Attempt) -> Bool {
            switch attempt {
            case .busy: return false
            case .impossible: use { $0.isSettled = true }
            case .taken(let flight):
                use { state in
                    state.flight = flight
                    state.isSettled = true
                }
            }
            return true
        }

        fileprivate func use<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
            state.withLock { body(&$0) }
        }
    }

    /// Who brings what a download would bring.
    private enum Holder: Sendable {
        case ownProcess, otherProcess
    }

    /// Why a download that had its slot was not begun.
    enum Interruption: Error {
        /// Another process is downloading the same, or this one is about to store it.
        case isBusy
        /// Another flight has brought the image.
        case hasLanded
    }

    /// One image that is to be loaded from the network, for all who want the same.
    final class Flying: Sendable {
        let resource: Resource
        let key: CacheKey
        let cache: ImageCache
        let request: DownloadRequest
        /// The request with all its options.
        let outgoing: OutgoingRequest
        let needs: ImageNeeds
        /// What was found in the cache, if that is to be asked about.
        let standing: Standing?
        /// When the request was begun: one that fails again and again waits once.
        let started: Int
        /// Who joins in.
        let wish: Wish

        init(
            resource: Resource, key: CacheKey, cache: ImageCache, request: DownloadRequest, outgoing: OutgoingRequest,
            needs: ImageNeeds, standing: Standing? = nil, started: Int
        ) {
            (self.resource, self.key, self.cache, self.request) = (resource, key, cache, request)
            (self.outgoing, self.needs, self.standing, self.started) = (outgoing, needs, standing, started)
            wish = Wish(
                cache: cache.name, key: key, request: request, options: outgoing.options.keepingOnlyCacheOptions,
                needs: needs, variant: standing?.variant)
        }
    }

    /// What is needed to download an image.
    func departure(of flying: Flying) -> Departure {
        let options = flying.outgoing.options
        // What is not to be found afterwards is not worth waiting for.
        let isAlone =
            options.lookup.forceRefresh || options.storage.fromMemoryCacheOrRefresh
            || options.storage.cacheMemoryOnly && !options.storage.keepsInMemory
        return Departure(
            identity: isAlone ? nil : flying.request.flight(to: flying.key, inMemory: options.storage.cacheMemoryOnly),
            isForOthers: !options.storage.cacheMemoryOnly,
            among: flying.cache.flights,
            merges: options.network.merges, from: flying.started, span: Int(flying.request.limits.timeoutSeconds * 1e9))
    }

    /// Loads an image and stores it.
    func fly(
        _ flying: Flying, _ departure: Departure, _ effort: Coalescer<Wish, ImageResult>.Effort
    ) async throws -> ImageResult {
        defer { withExtendedLifetime(departure) {} }
        do {
            return try await flyOnce(flying, departure, effort)
        } catch {
            // What has come does not replace what is there.
            try? await forgetChanged(departure.end(), by: flying, keepsOwn: false)
            throw error
        }
    }

    private func flyOnce(
        _ flying: Flying, _ departure: Departure, _ effort: Coalescer<Wish, ImageResult>.Effort
    ) async throws -> ImageResult {
        // Another flight may land between the look into the cache and this one's start.
        let (hit, flown) = try await download(flying, departure, effort)
        guard let download = flown else {
            guard let hit else { throw CancellationError() }
            return result(hit, in: flying.cache, flying.outgoing.options)
        }
        departure.arrive()
        try Task.checkCancellation()
        let arrival = arrival(of: download, flying)
        if let revived = try await revive(flying.standing, arrival) { return revived }
        let whole = try await modified(wholeArrival(arrival, effort.priority, effort.report))
        // Whoever shares a download has not begun it.
        let own = flying.request.method == .get ? [] : [flying.request.url]
        try await forgetChanged(departure.changed + own, by: flying, keepsOwn: true)
        return held(try await keep(store(whole), departure), flying)
    }

    /// What a server has answered, and to whom.
    func arrival(of download: Download, _ flying: Flying) -> Arrival {
        let options = flying.outgoing.options
        noteLogin(of: download, for: flying.request, options)
        return Arrival(
            download: download, request: flying.request, resource: flying.resource,
            scope: scope(of: flying.request.url, options, login: download.login), cache: flying.cache,
            options: flying.wish.options, needs: flying.needs)
    }

    /// Downloads, unless the image turns out to be there, or another process brings it.
    ///
    /// One that another process is downloading is waited for without a slot, as long as it gets on: one that hangs holds
    /// nobody up for more than the request's timeout. No thread waits, and a cancelled wait ends at once.
    ///
    /// - Returns: The image, if it has been found in the cache; otherwise the download.
    func download(
        _ flying: Flying, _ departure: Departure, _ effort: Coalescer<Wish, ImageResult>.Effort
    ) async throws -> (hit: ImageCache.Hit?, download: Download?) {
        while true {
            // The beginning without a task may have found it.
            if let hit = departure.use({ $0.hit }) { return (hit, nil) }
            do {
                let download = try await downloader.download(
                    flying.request, priority: effort.priority, report: effort.report,
                    boarding: boarding(flying, departure))
                return (nil, download)
            } catch Interruption.hasLanded {
                // It may have been somebody else's boarding that found another one's image.
            } catch Interruption.isBusy {
                try await wait(departure, in: flying.cache)
                // Then no slot is needed.
                if let hit = try await landed(flying, departure) { return (hit, nil) }
            }
        }
    }

    /// What is done for the download of an image by the one who begins it.
    func boarding(_ flying: Flying, _ departure: Departure) -> ImageDownloader.Boarding {
        ImageDownloader.Boarding(
            atOnce: { [self] in boardAtOnce(flying, departure) },
            later: { [self] in try await board(flying, departure) },
            // Those that wait for the flight know that it gets on.
            note: { [monotonic = configuration.clock.monotonic] _ in
                departure.flight?.noteProgress(at: monotonic(), since: departure.started, every: departure.interval)
            },
            arrived: { departure.arrive() },
            changed: { [self] in noteChange(at: $0, isAnswer: $1, flying, departure) })
    }

    /// Takes note of a URL where something has been changed; forgets what is kept of it when the one has left who began that.
    private func noteChange(at url: String, isAnswer: Bool, _ flying: Flying, _ departure: Departure) {
        let isOver = departure.use { state in
            if !state.isOver { state.changed.append(url) }
            return state.isOver
        }
        guard isOver else { return }
        unawaited.begin()
        pool.submit { [self] in
            // Others may wait for the answer, which replaces it.
            try? forget([url], changedBy: flying, keepsOwn: isAnswer)
            unawaited.end()
        }
    }

    /// Sees to it, with the slot in hand, that nobody else brings the image.
    ///
    /// - Throws: ``Interruption``.
    private func board(_ flying: Flying, _ departure: Departure) async throws {
        if departure.use({ $0.hit == nil }) {
            try await board(departure, in: flying.cache)
            guard let hit = try await landed(flying, departure) else { return }
            departure.use { $0.hit = hit }
        }
        throw Interruption.hasLanded
    }

    /// The same, if that takes no waiting.
    ///
    /// - Returns: false if somebody else brings the image, or may do so.
    private func boardAtOnce(_ flying: Flying, _ departure: Departure) -> Bool {
        if departure.isForestalled { return false }
        if let identity = departure.identity, departure.use({ !$0.isSettled }) {
            guard let attempt = departure.takeAtOnce(identity), departure.settle(attempt) else {
                return false
            }
        }
        // What is wrong with the cache is told by the other way.
        do {
            guard let hit = try landedAtOnce(flying) else { return true }
            departure.use { $0.hit = hit }
        } catch {}
        return false
    }

    /// Takes the flight, with the slot in hand.
    ///
    /// - Throws: ``Interruption/isBusy`` when another process has it.
    private func board(_ departure: Departure, in cache: ImageCache) async throws {
        guard let identity = departure.identity, departure.use({ !$0.isSettled }) else { return }
        if departure.isForestalled { throw Interruption.isBusy }
        let atOnce = departure.takeAtOnce(identity)
        let attempt = if let atOnce { atOnce } else { try await pool.run { departure.take(identity) } }
        if !departure.settle(attempt) { throw Interruption.isBusy }
    }

    /// Waits until no other process has the flight, or does not get on with it.
    private func wait(_ departure: Departure, in cache: ImageCache) async throws {
        guard let identity = departure.identity else { return }
        waitingFlights.add(1, ordering: .relaxed)
        defer { waitingFlights.subtract(1, ordering: .relaxed) }
        while true {
            let holder = try await pool.run { () -> Holder? in
                if departure.isForestalled { return .ownProcess }
                // Given back at once: it is taken anew with the next slot.
                if case .busy = departure.take(identity) { return .otherProcess }
                return nil
            }
            departure.use { state in
                state.hasWaited = true
                if holder == .otherProcess { state.hasWaitedForOthers = true }
            }
            if holder == nil { return }
            let progress = cache.flights.progress(of: identity)
            let (now, waiters) = (configuration.clock.monotonic(), waitingFlights.load(ordering: .relaxed))
            let pause = departure.use { $0.patience.next(at: now, progress: progress, waiters: waiters) }
            guard let pause else { return departure.use { $0.isSettled = true } }
            try await Task.sleep(for: pause)
        }
    }

    /// The image, when another flight has brought it since the cache was last looked at.
    private func landed(_ flying: Flying, _ departure: Departure) async throws -> ImageCache.Hit? {
        guard departure.use({ $0.hasWaited }) else { return try landedAtOnce(flying) }
        guard let hit = try await pool.run({ [self] in try landed(flying, mayWait: true) }) else { return nil }
        if departure.use({ $0.hasWaitedForOthers }) { sharedDownloads.add(1, ordering: .relaxed) }
        return hit
    }

    private func landedAtOnce(_ flying: Flying) throws -> ImageCache.Hit? { try landed(flying, mayWait: false) }

    private func landed(_ flying: Flying, mayWait: Bool) throws -> ImageCache.Hit? {
        let (cache, outgoing, options) = (flying.cache, flying.outgoing, flying.outgoing.options)
        guard !options.lookup.forceRefresh else { return nil }
        // Nobody has brought it since the look that sent it on its way.
        if !mayWait, cache.isStillMissing(flying.key) { return nil }
        var found = try cache.hit(for: flying.key, options: options.storage, burst: 0, mayWait: mayWait)
        if mayWait, let hit = found { found = try cache.renewed(hit, options: options.storage) }
        guard let hit = found, hit.record.path != nil || options.storage.cacheMemoryOnly,
            satisfies(hit, in: cache, flying.resource, outgoing, flying.standing, mayWait: mayWait)
        else { return nil }
        return hit
    }
}
