internal import Platform

/// The stored image at the start of a load: it is revalidated, or it answers when the load fails.
///
/// A reference: most loads have none, and those that wait in thousands pay for one word.
final class StoredCandidate: Sendable {
    let hit: ImageCache.Hit
    /// The validators that make the request conditional; `nil` for an unconditional load.
    let validators: Validators?
    /// `true` when it may not answer before its server permits it.
    let isForeign: Bool
    /// The key of the made image, when the candidate is a made image instead of the original.
    let variant: VariantKey?

    init(
        hit: ImageCache.Hit, validators: Validators? = nil, isForeign: Bool = false, variant: VariantKey? = nil
    ) {
        (self.hit, self.validators, self.isForeign, self.variant) = (hit, validators, isForeign, variant)
    }

    /// The candidate for another source, for which the validators mean nothing.
    var unasked: StoredCandidate { StoredCandidate(hit: hit, isForeign: isForeign) }
}

/// The response of a server to the request of a ``FetchPlan``.
struct FetchedImage: Sendable {
    let plan: FetchPlan
    var download: Download
    /// The scope in which the response may answer other requests.
    var scope: HTTPScope
    /// The entry that it goes to.
    private var key: CacheKey
    private let scopes: RequestScopes
    /// The policy of the remote tier for the request; `nil` when there is no such tier.
    private let remote: RemotePolicy?

    /// A response; remembers the credentials that the download used.
    init(_ download: Download, _ plan: FetchPlan, _ scopes: RequestScopes, remote: RemotePolicy? = nil) {
        let options = plan.options
        scopes.noteLogin(of: download, for: plan.request, options)
        (self.plan, self.download, self.scopes, self.remote) = (plan, download, scopes, remote)
        key = scopes.key(plan.key, for: download, of: plan.outgoing)
        scope = scopes.scope(of: plan.request.url, options, login: download.login)
    }

    /// The image with the response to the unconditional request.
    func replaced(by whole: Download) -> FetchedImage {
        var replaced = self
        replaced.download = whole
        replaced.scope.login = whole.login ?? scope.login
        replaced.key = scopes.key(key, for: whole, of: plan.outgoing)
        return replaced
    }

    var pendingStore: PendingStore {
        PendingStore(
            content: .body(download.body), key: key, cache: plan.cache, source: plan.request.url, origin: origin,
            options: plan.storing, needs: plan.needs,
            contentType: plan.request.dataModifier == nil ? download.response.contentType : nil,
            successorOf: plan.isRefresh ? plan.storedCandidate?.hit.record : nil, patience: plan.options.patience)
    }

    /// The origin of the image, with its server's caching metadata.
    private var origin: ImageOrigin {
        let (response, clock) = (download.response, plan.cache.disk.clock)
        var origin = ImageOrigin(url: response.url, etag: response.etag, lastModified: response.lastModified)
        var metadata = HTTPMetadata(
            response.fields, status: response.status, to: scope, at: clock.now, wall: clock.wallNow,
            delay: download.delay, isAlternative: ExactText(plan.request.url) != ExactText(plan.resource.url),
            route: RedirectConstraints(download.route, wanted: plan.request.cacheControl, at: clock.wallNow))
        (metadata.isApproved, metadata.isShareable) = (isApproved, isShareable)
        origin.http = metadata.text
        return origin
    }

    private var isApproved: Bool { plan.wasAsked && scope.credentials == nil }

    /// `true` when the response may go to other machines.
    private var isShareable: Bool { remote.map { $0.use != .skip && !$0.adding(download).isPrivate } ?? false }

    /// The result with the stored image that its server has just confirmed. An image of another user is stored for this one,
    /// and one that must not be kept any more is taken out. Waits for the disk.
    ///
    /// - Returns: `nil` when the confirmed image is gone.
    func confirmed(_ lookup: CacheLookup) throws -> ImageResult? {
        guard let stored = plan.storedCandidate else { return nil }
        let (old, options) = (stored.hit.record, stored.variant?.options ?? plan.storing)
        guard let origin = origin(renewing: old.origin, old.answer?.metadata),
            var store = storing(stored, origin, options)
        else { return nil }
        let isOwn = old.key.partition == key.partition
        guard !isOwn || store.plan.reason == .noStore else {
            guard let hit = try plan.cache.revive(stored.hit, origin, options: options.storage) else { return nil }
            var result = try lookup.answer(hit, in: plan.cache, options, plan.needs)
            result.isRevalidated = true
            return result
        }
        if isOwn {
            guard plan.cache.holds(old) else { return nil }
            // Its file may go with the entry.
            if store.needs.takesBytes { store.content = .bytes(try ImageCache.bytes(of: store.content)) }
        }
        let kept = Result { () throws(ImageError) in try store.run() }
        store.note(kept, in: lookup.counts, isAwaited: !plan.isRefresh)
        // The file may have been removed while it was copied.
        if !isOwn, case .failure = kept, !old.isIntact(burst: 0) { return nil }
        var result = try kept.get()
        (result.cacheType, result.isRevalidated) = (stored.hit.cacheType, true)
        return result
    }

    /// The store of a confirmed image; `nil` when the image is gone.
    private func storing(
        _ stored: StoredCandidate, _ origin: ImageOrigin, _ options: ImageOptions
    ) -> PendingStore? {
        let hit = stored.hit
        guard let content = hit.bytes.map({ .bytes($0) }) ?? hit.record.path.map({ DiskStorage.Content.file($0) })
        else { return nil }
        return PendingStore(
            content: content, key: hit.record.key.sameUser(as: key), cache: plan.cache, source: plan.request.url,
            origin: origin, options: options.ofAnySize, needs: stored.variant?.needs ?? plan.needs,
            patience: plan.options.patience)
    }

    /// The origin of an unchanged image: the fields of the response replace the old ones.
    ///
    /// - Returns: `nil` when the response is about another image than the stored one.
    private func origin(renewing old: ImageOrigin, _ metadata: HTTPMetadata?) -> ImageOrigin? {
        let (response, clock) = (download.response, plan.cache.disk.clock)
        if let etag = response.etag {
            guard let known = old.etag, Self.isWeaklyEqual(etag, known) else { return nil }
        } else if let date = response.lastModified, date != old.lastModified {
            return nil
        }
        var origin = old
        origin.etag = response.etag ?? old.etag
        origin.lastModified = response.lastModified ?? old.lastModified
        // A request's `no-store` applies to the response, not to the stored image.
        let route = RedirectConstraints(download.route, wanted: nil, at: clock.wallNow)
        var merged =
            metadata?.merging(
                response.fields, to: scope, at: clock.now, wall: clock.wallNow, delay: download.delay, route: route)
            ?? HTTPMetadata(
                response.fields, to: scope, at: clock.now, wall: clock.wallNow, delay: download.delay, route: route)
        merged.isApproved = isApproved
        merged.isShareable = isShareable && metadata?.isShareable == true
        origin.http = merged.text
        return origin
    }

    private static func isWeaklyEqual(_ one: String, _ other: String) -> Bool {
        func opaque(_ tag: String) -> ExactText { ExactText(tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag) }
        return opaque(one) == opaque(other)
    }
}
