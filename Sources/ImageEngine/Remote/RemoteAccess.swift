internal import ImageRecipes
internal import Logging
internal import Platform
internal import RemoteStorage

/// The way of one request to the remote tier, for one entry: its object is asked for before the origin, and the image that was
/// downloaded or made goes there.
final class RemoteAccess: Sendable {
    private let tier: RemoteTier
    private let engine: EngineServices
    private let resource: Resource
    private let outgoing: OutgoingRequest
    private let key: CacheKey
    private let cache: ImageCache
    private let needs: ImageNeeds
    let policy: RemotePolicy

    private static let logger = Logger(label: "halcyon.remote")
    /// The pauses between two looks for what another machine downloads, in milliseconds.
    private static let pauses = (first: 5, longest: 250)
    /// The seconds by which an image must be newer than another to be known as newer: times are in whole seconds, and clocks of
    /// two machines.
    private static let margin = 2

    private init(
        _ tier: RemoteTier, _ resource: Resource, _ outgoing: OutgoingRequest, to key: CacheKey, in cache: ImageCache,
        needs: ImageNeeds, _ policy: RemotePolicy, _ engine: EngineServices
    ) {
        (self.tier, self.engine, self.resource, self.outgoing) = (tier, engine, resource, outgoing)
        (self.key, self.cache, self.needs, self.policy) = (key, cache, needs, policy)
    }

    // No initialisers that fail: these would make an object first, for every download and every store.

    /// The way of an image of a source; `nil` when there is no remote tier, or nothing may be asked of the network.
    static func loading(
        _ resource: Resource, _ outgoing: OutgoingRequest, to key: CacheKey, in cache: ImageCache, needs: ImageNeeds,
        isRefresh: Bool = false, _ engine: EngineServices
    ) -> RemoteAccess? {
        guard let tier = engine.remote, !engine.lookup.isOffline(outgoing.options) else { return nil }
        let policy = RemotePolicy(outgoing, of: resource, to: key, isRefresh: isRefresh, engine.scopes)
        return RemoteAccess(tier, resource, outgoing, to: key, in: cache, needs: needs, policy, engine)
    }

    /// The way of an image that a caller gives; `nil` unless the options say that it is shared, or when there is no remote tier.
    static func sharing(
        _ key: CacheKey, in cache: ImageCache, _ options: ImageOptions, _ engine: EngineServices
    ) -> RemoteAccess? {
        guard options.lookup.remote == .share, let tier = engine.remote, !engine.lookup.isOffline(options) else {
            return nil
        }
        let outgoing = OutgoingRequest(url: key.key, options: options)
        return RemoteAccess(
            tier, Resource(url: key.key), outgoing, to: key, in: cache, needs: [], RemotePolicy(use: .share), engine)
    }

    private var name: String { tier.name(of: key) }

    /// `true` when the request may be answered from the tier: then its URL is one that may be loaded from, too.
    var mayRead: Bool {
        policy.mayRead && tier.configuration.mode.reads && engine.downloader.mayReach(outgoing.url)
    }

    // MARK: Reading

    /// `true` when machines claim the downloads of such requests.
    var mayClaim: Bool { tier.hasClaims && outgoing.options.network.merges && mayRead }

    /// Claims the download of the image. No longer than the download may take, because a machine may be lost.
    func claim() async -> (claim: RemoteClaim?, isTaken: Bool) { await tier.claim(name, seconds: patience) }

    /// The longest time that a machine waits for another one, in seconds.
    private var patience: Int { Int(max(1, min(outgoing.options.network.limits.timeoutSeconds, 60))) }

    /// The image out of the tier, ready to be stored; `nil` when it has none that may answer.
    ///
    /// A task of ``InlineExecutor`` goes on with an image on a thread of the pool, which may store it.
    ///
    /// - Parameter isCounted: `false` when the object has been looked for before.
    func image(_ candidate: StoredCandidate? = nil, isCounted: Bool = true) async throws -> PendingStore? {
        guard let object = await tier.object(name, isCounted: isCounted) else { return nil }
        return try await accepted(object, candidate, isCounted: isCounted)
    }

    /// The image that another machine downloads; `nil` when that takes too long, or has ended without one.
    ///
    /// - Parameter look: Called before each look.
    func imageOfOthers(_ candidate: StoredCandidate?, look: @Sendable () -> Void) async throws -> PendingStore? {
        let (name, end) = (name, engine.now + patience * 1_000_000_000)
        var pause = Self.pauses.first
        engine.counts.waitingForMachines.add(1, ordering: .relaxed)
        defer { engine.counts.waitingForMachines.subtract(1, ordering: .relaxed) }
        while engine.now < end {
            // All together look about once in a millisecond.
            let waiters = engine.counts.waitingForMachines.load(ordering: .relaxed)
            try await Task.sleep(for: .milliseconds(max(pause, waiters)))
            pause = min(2 * pause, Self.pauses.longest)
            look()
            // A claim ends when the object is there.
            if await tier.isClaimed(name) { continue }
            guard let object = await tier.object(name, isCounted: false) else { return nil }
            return try await accepted(object, candidate)
        }
        return nil
    }

    /// Why an object does not answer.
    private enum Refusal: Error {
        /// It is not what its name says.
        case wrong
        /// It is too old, too large, or not what the request wants.
        case notOfUse
    }

    /// The image, if it is what the name says, and may answer as if it lay on this machine's disk.
    ///
    /// - Parameter isCounted: `true` when one that does not answer is counted.
    private func accepted(
        _ object: RemoteObject, _ candidate: StoredCandidate?, isCounted: Bool = true
    ) async throws -> PendingStore? {
        do {
            let store = try await engine.pool.run(isLong: object.image.count > BodySpool.memoryLimit) { [self] in
                try judged(object, candidate)
            }
            guard outgoing.options.lookup.verifyDecode == true, key.identifier.isEmpty else { return store }
            let verified = try await DecodeVerifier(engine: engine).verified(store)
            return try await engine.pool.run(isLong: verified.isLong) { verified }
        } catch is CancellationError {
            throw CancellationError()
        } catch Refusal.wrong, ImageError.badData {
            noteWrong(isCounted)
        } catch {
            // The origin may have one that can be decoded, within the limits.
            if isCounted { tier.noteMiss() }
        }
        return nil
    }

    /// The image, but for decoding it. Waits for the disk.
    private func judged(_ object: RemoteObject, _ candidate: StoredCandidate?) throws -> PendingStore {
        let (record, options) = (try record(of: object), outgoing.options)
        let entry = ImageCache.MemoryEntry(record: record, bytes: object.image)
        guard !record.isExpired, object.image.count <= options.network.limits.maxBytes,
            !hasNewer(than: entry, candidate),
            try mayAnswer(ImageCache.Hit(entry: entry, cacheType: .remote), candidate)
        else { throw Refusal.notOfUse }
        let store = PendingStore(
            content: .bytes(object.image), key: key, cache: cache, source: outgoing.url, origin: record.origin,
            options: keeping, needs: needs, patience: outgoing.options.patience)
        let header = try store.header()
        guard header.format == record.header.format else { throw Refusal.wrong }
        if !key.identifier.isEmpty { try options.processing.limits.check(header, source: outgoing.url) }
        return store
    }

    private func record(of object: RemoteObject) throws(Refusal) -> ImageRecord {
        do throws(PortableRecordFault) {
            let record = try ImageRecord(portable: object.record, of: key, from: outgoing.url, cache.disk.clock)
            if record.byteCount != object.image.count { throw .malformed }
            return record
        } catch {
            throw error == .malformed ? .wrong : .notOfUse
        }
    }

    /// `true` when this machine has received a newer image, even if that may not answer any more: it does not go back in time.
    /// Waits for the disk.
    private func hasNewer(than other: ImageCache.MemoryEntry, _ candidate: StoredCandidate?) -> Bool {
        guard let own = candidate?.hit.record ?? (try? cache.disk.recordEvenExpired(key)),
            own.receivedAt + Self.margin > other.record.receivedAt
        else { return false }
        return own.checksum != other.bytes?.withUnsafeBytes { Digest(of: $0) }
    }

    private var keeping: ImageOptions {
        if key.identifier.isEmpty { return outgoing.options.keepingOnlyCacheOptions }
        var keeping = outgoing.options.keepingForVariants
        keeping.processing.recipe = ImageRecipe()
        return keeping
    }

    /// `true` when an image may answer the request. Waits for the disk.
    private func mayAnswer(_ hit: ImageCache.Hit, _ candidate: StoredCandidate?) throws -> Bool {
        var asking = outgoing.options
        // What has not been decoded is, before it is stored.
        asking.lookup.verifyDecode = nil
        if !key.identifier.isEmpty {
            guard try engine.lookup.isUsable(hit.record, of: resource, in: cache, asking) else { return false }
            asking.lookup.integrity = nil
        }
        let request = OutgoingRequest(url: outgoing.url, options: asking, wasAsked: outgoing.wasAsked)
        return engine.lookup.satisfies(hit, in: cache, resource, request, candidate, mayWait: true)
    }

    private func noteWrong(_ isCounted: Bool) {
        let name = name
        Self.logger.notice("an object of the remote tier is not what its name says", metadata: ["object": "\(name)"])
        tier.noteWrong(name, isCounted: isCounted)
    }

    /// Counts an image as a hit of the tier.
    func answer(with image: ImageResult) -> ImageResult {
        tier.noteHit()
        var answer = image
        answer.cacheType = .remote
        return answer
    }

    // MARK: Writing

    /// Gives the tier what was downloaded or made, and stored, if that may leave the machine.
    ///
    /// - Parameters:
    ///   - bytes: Those of the image, if they are in memory.
    ///   - claim: The right to download it, which ends when the object is there.
    func upload(_ image: ImageResult, _ bytes: [UInt8]? = nil, _ claim: RemoteClaim? = nil) {
        let (record, clock) = (image.record, cache.disk.clock)
        guard tier.configuration.mode.writes, image.notStored == nil, record.storedAt != 0,
            policy.mayWrite(isShareable: record.answer?.metadata.isShareable == true),
            policy.use == .share || record.key.partition.isEmpty, record.key.identifier == key.identifier
        else { return }
        let seconds = record.remainingSeconds(clock)
        if let seconds, seconds <= 0 { return }
        tier.upload(
            RemoteUpload(tier.name(of: record.key), byteCount: record.byteCount, seconds: seconds, claim: claim) {
                guard let image = try bytes ?? record.path.map({ try Files.read($0, followsLinks: false) }),
                    image.count == record.byteCount
                else { return nil }
                if bytes == nil, let checksum = record.checksum {
                    guard image.withUnsafeBytes({ Digest(of: $0) }) == checksum else { return nil }
                }
                return RemoteObject(record: record.portable(clock), image: image)
            })
    }
}

extension ImageRecord {
    /// When its bytes or those that it was made of were received; when it was stored, if they came from no server.
    fileprivate var receivedAt: Int { answer?.metadata.receivedAt ?? storedAt }
}

extension RemoteTier {
    /// The name of the object of an entry. What codec workers have made has another one for each release, because releases may
    /// make other pixels by the same recipe.
    func name(of key: CacheKey) -> String {
        RemoteObject.name(of: key.portableParts + (key.identifier.isEmpty ? [] : [configuration.release]))
    }
}
