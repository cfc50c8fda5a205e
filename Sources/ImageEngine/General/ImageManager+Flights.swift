internal import Synchronization

extension ImageManager {
    /// A download among all processes on one folder: its turn comes with its slot, so that no process holds up others
    /// with what it has not begun.
    final class Departure: Sendable {
        fileprivate let identity: Digest?
        private let state: Mutex<State>

        fileprivate struct State: Sendable {
            var patience: FlightPatience
            var flight: Flight?
            var hasWaited = false
            /// Whether the flight is not asked for any more.
            var isSettled = false
            var hit: ImageCache.Hit?
        }

        fileprivate init(identity: Digest?, _ patience: FlightPatience) {
            self.identity = identity
            state = Mutex(State(patience: patience, isSettled: identity == nil))
        }

        /// The right to download, once there is one. Nil when nobody is to wait for this download.
        var flight: Flight? { state.withLock { $0.flight } }

        fileprivate func use<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
            state.withLock { body(&$0) }
        }
    }

    /// Why a download that had its slot was not begun.
    enum Interruption: Error {
        /// Another process is downloading the same.
        case isBusy
        /// Another flight has brought the image.
        case hasLanded
    }

    /// What is needed to download `request` for `key`.
    ///
    /// - Parameter started: When the request was begun: one that fails again and again waits once.
    func departure(
        of request: DownloadRequest, _ key: CacheKey, _ options: ImageOptions, started: Int
    ) -> Departure {
        // What is not to be read from the disk afterwards is not worth waiting for.
        let isAlone = options.forceRefresh || options.cacheMemoryOnly || options.fromMemoryCacheOrRefresh
        return Departure(
            identity: isAlone ? nil : request.flight(to: key),
            FlightPatience(from: started, span: Int(request.timeout * 1e9)))
    }

    /// Downloads, unless the image turns out to be there, or another process brings it.
    ///
    /// One that another process is downloading is waited for without a slot, as long as it gets on: one that hangs holds
    /// nobody up for more than the request's timeout. No thread waits, and a cancelled wait ends at once.
    ///
    /// - Returns: The image, if it has been found in the cache; otherwise the download.
    func fly(
        _ departure: Departure, _ request: DownloadRequest, _ key: CacheKey, in cache: ImageCache,
        _ outgoing: OutgoingRequest, _ standing: Standing?, priority: CallPriority,
        report: (@Sendable (DownloadProgress) -> Void)?
    ) async throws -> (hit: ImageCache.Hit?, download: Download?) {
        let monotonic = configuration.clock.monotonic
        while true {
            do {
                let download = try await downloader.download(
                    request, priority: priority,
                    report: { progress in
                        departure.flight?.noteProgress(at: monotonic())
                        report?(progress)
                    },
                    boarding: { [self] in
                        try await board(departure, in: cache)
                        guard let hit = try await landed(key, in: cache, outgoing, departure, standing) else { return }
                        departure.use { $0.hit = hit }
                        throw Interruption.hasLanded
                    })
                return (nil, download)
            } catch Interruption.hasLanded {
                // It may have been somebody else's boarding that found another one's image.
                if let hit = departure.use({ $0.hit }) { return (hit, nil) }
            } catch Interruption.isBusy {
                try await wait(departure, in: cache)
                // Then no slot is needed.
                if let hit = try await landed(key, in: cache, outgoing, departure, standing) { return (hit, nil) }
            }
        }
    }

    /// Takes the flight, with the slot in hand.
    ///
    /// - Throws: ``Interruption/isBusy`` when another process has it.
    private func board(_ departure: Departure, in cache: ImageCache) async throws {
        guard let identity = departure.identity, departure.use({ !$0.isSettled }) else { return }
        let atOnce = cache.flights.takeAtOnce(identity)
        let attempt = if let atOnce { atOnce } else { try await pool.run { cache.flights.take(identity) } }
        switch attempt {
        case .taken(let flight):
            departure.use { state in
                state.flight = flight
                state.isSettled = true
            }
        case .impossible: departure.use { $0.isSettled = true }
        case .busy: throw Interruption.isBusy
        }
    }

    /// Waits until no other process has the flight, or does not get on with it.
    private func wait(_ departure: Departure, in cache: ImageCache) async throws {
        guard let identity = departure.identity else { return }
        waitingFlights.add(1, ordering: .relaxed)
        defer { waitingFlights.subtract(1, ordering: .relaxed) }
        while true {
            let isOver = try await pool.run { () -> Bool in
                // Given back at once: it is taken anew with the next slot.
                if case .busy = cache.flights.take(identity) { return false }
                return true
            }
            departure.use { $0.hasWaited = true }
            if isOver { return }
            let progress = cache.flights.progress(of: identity)
            let (now, waiters) = (configuration.clock.monotonic(), waitingFlights.load(ordering: .relaxed))
            let pause = departure.use { $0.patience.next(at: now, progress: progress, waiters: waiters) }
            guard let pause else { return departure.use { $0.isSettled = true } }
            try await Task.sleep(for: pause)
        }
    }

    /// The image, when another flight has brought it since the cache was last looked at.
    ///
    /// - Parameter standing: What was found then.
    private func landed(
        _ key: CacheKey, in cache: ImageCache, _ outgoing: OutgoingRequest, _ departure: Departure,
        _ standing: Standing?
    ) async throws -> ImageCache.Hit? {
        let options = outgoing.options
        guard !options.forceRefresh else { return nil }
        @Sendable func look(mayWait: Bool) throws -> ImageCache.Hit? {
            var found = try cache.hit(for: key, options: options, burst: 0, mayWait: mayWait)
            if mayWait, let hit = found { found = try cache.renewed(hit, options: options) }
            guard let hit = found, hit.record.path != nil || options.cacheMemoryOnly,
                mayAnswer(hit.record, to: outgoing.url, options), Self.allows(hit, options, mayWait: mayWait),
                satisfies(hit, in: cache, outgoing, standing)
            else { return nil }
            return hit
        }
        guard departure.use({ $0.hasWaited }) else { return try look(mayWait: false) }
        guard let hit = try await pool.run({ try look(mayWait: true) }) else { return nil }
        sharedDownloads.add(1, ordering: .relaxed)
        return hit
    }
}
