internal import Synchronization

extension ImageManager {
    /// What came of waiting for a turn to download.
    struct Boarding: Sendable {
        /// Nil when nobody is to wait for this download.
        var flight: Flight?
        /// Whether another process was downloading the same.
        var hasWaited = false
    }

    /// Waits until no other process downloads the same, but no longer than the request's timeout since it was begun: one
    /// that hangs or fails again and again holds nobody up for more than that.
    ///
    /// No thread waits, and a cancelled wait ends at once.
    func board(
        _ request: DownloadRequest, _ key: CacheKey, in cache: ImageCache, _ options: ImageOptions, started: Int
    ) async throws -> Boarding {
        var boarding = Boarding()
        // What is not to be read from the disk afterwards is not worth waiting for.
        if options.forceRefresh || options.cacheMemoryOnly || options.fromMemoryCacheOrRefresh { return boarding }
        let identity = request.flight(to: key)
        var patience = FlightPatience(end: started + Int(request.timeout * 1e9))
        defer { if boarding.hasWaited { waitingFlights.subtract(1, ordering: .relaxed) } }
        while true {
            switch try await pool.run({ cache.flights.take(identity) }) {
            case .taken(let flight):
                boarding.flight = flight
                return boarding
            case .impossible: return boarding
            case .busy:
                if !boarding.hasWaited { waitingFlights.add(1, ordering: .relaxed) }
                boarding.hasWaited = true
                guard let pause = patience.next(at: configuration.clock.monotonic()) else { return boarding }
                try await Task.sleep(for: pause)
            }
        }
    }

    /// The image, when another flight has brought it since the cache was last looked at.
    ///
    /// - Parameter standing: What was found then.
    func landed(
        _ key: CacheKey, in cache: ImageCache, _ options: ImageOptions, _ boarding: Boarding, _ standing: Standing?
    ) async throws -> ImageCache.Hit? {
        guard !options.forceRefresh else { return nil }
        @Sendable func look(mayWait: Bool) throws -> ImageCache.Hit? {
            var found = try cache.hit(for: key, options: options, burst: 0, mayWait: mayWait)
            if mayWait, let hit = found { found = try cache.renewed(hit, options: options) }
            guard let hit = found, hit.record.path != nil || options.cacheMemoryOnly,
                Self.allows(hit, options, mayWait: mayWait), satisfies(hit, in: cache, options, standing)
            else { return nil }
            return hit
        }
        guard boarding.hasWaited else { return try look(mayWait: false) }
        guard let hit = try await pool.run({ try look(mayWait: true) }) else { return nil }
        sharedDownloads.add(1, ordering: .relaxed)
        return hit
    }
}
