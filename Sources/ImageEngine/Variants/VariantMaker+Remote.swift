internal import Platform

/// Made images of other machines.
extension VariantMaker {
    /// The way of a request to the remote tier for a made image; `nil` when there is no such tier.
    func remote(_ request: ImageRequest, _ key: CacheKey) -> RemoteAccess? {
        RemoteAccess.loading(
            request.resource, request.outgoing, to: key, in: request.cache, needs: request.needs, engine)
    }

    /// The made image out of the remote tier, stored here, for all equal requests; `nil` when the tier has none, or the original
    /// is here: then it is made from that.
    func remotelyMade(_ request: ImageRequest) async throws -> ImageResult? {
        let (cache, options) = (request.cache, request.options)
        let key = options.processing.recipe.cacheKey(engine.lookup.ownKey(request.resource, options))
        guard let remote = remote(request, key), remote.mayRead, !options.staysInCache,
            !engine.lookup.isOffline(options),
            try engine.lookup.lacks(
                engine.lookup.keys(request.resource, options), in: engine.lookup.originals(for: cache, options))
        else { return nil }
        // Nothing has an empty mark that was made here.
        let job = VariantKey(
            cache: cache.name, key: key, mark: "", options: options.keepingForVariants, needs: request.needs)
        do {
            return try await engine.jobs.value(
                for: HashedOnce(job), priority: request.caller.priority,
                lingers: options.caller.onLastCancel == .finish, joined: { _ in request.caller.joined() }
            ) { [engine] _ in
                guard let store = try await remote.image() else { throw NotInRemoteTier() }
                return remote.answer(with: try await ImageStorer(engine: engine).storeLoaded(store))
            }
        } catch is NotInRemoteTier {
            return nil
        }
    }
}

/// The error of a job that looked for a made image in the remote tier, and found none.
private struct NotInRemoteTier: Error {}
