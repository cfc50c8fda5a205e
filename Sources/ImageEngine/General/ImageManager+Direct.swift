/// Images that are loaded without a task, as long as nothing out of the ordinary happens.
///
/// A task for each part of a load, with frames for everything that might happen, costs several times what the transfer of
/// a small image does. So a plain request goes from thread to thread by itself: the one that asks queues it, the
/// transport's sends it, one of the pool's stores what came and answers. Whatever else happens goes on in a task.
extension ImageManager {
    /// Begins to load an image that a ``glance(at:in:options:needsBytes:burst:)`` has just found missing.
    ///
    /// - Parameter then: Hears of the end, once and from any thread; not before this returns, unless the caller leaves.
    /// - Returns: What ends the wait of this caller, with a `CancellationError`. nil if the request is not plain, and
    ///   nothing has been done: ``image(_:in:options:needs:caller:isMissing:)`` takes every one.
    public func begin(
        _ resource: Resource, in cache: ImageCache, options given: ImageOptions, needs: ImageNeeds, caller: ImageCaller,
        then: @escaping @Sendable (Result<ImageResult, any Error>) -> Void
    ) -> (@Sendable () -> Void)? {
        let options = completed(given, for: cache)
        let key = CacheKey(resource.cacheKey)
        // What has been stored here since is in memory.
        guard options.isPlain, !isOffline(options), cache.memory.peek(key) == nil,
            case .network(let url)? = try? source(of: resource.url),
            let request = try? DownloadRequest(url: url, options: options),
            (try? admit(request, key, in: cache, options)) != nil
        else { return nil }
        count(.none)
        let started = configuration.clock.monotonic()
        let flying = Flying(
            resource: resource, key: key, cache: cache, request: request,
            outgoing: OutgoingRequest(url: url, options: options), needs: needs, started: started)
        let place = wishes.join(
            flying.wish, priority: caller.priority, lingers: options.onLastCancel == .finish, report: caller.report
        ) { [self] effort, landing in
            begin(flying, effort, landing)
        } resume: { [self] result in
            guard case .failure(let error as ImageError) = result else { return then(result) }
            remember(error.first, url, key: resource.cacheKey, in: cache, options)
            then(.failure(error.first))
        }
        caller.joined()
        return { [wishes] in wishes.leave(place.ticket) }
    }

    /// Begins the work that all share who want the image.
    func begin(
        _ flying: Flying, _ effort: Coalescer<Wish, ImageResult>.Effort, _ landing: Landing<ImageResult>
    ) {
        let departure = departure(of: flying)
        guard flying.isPlain else { return landing.goOn { [self] in try await fly(flying, departure, effort) } }
        let boarding = ImageDownloader.Boarding(
            atOnce: { [self] in boardAtOnce(flying, departure) },
            later: { [self] in try await board(flying, departure) })
        let ticket = downloader.begin(
            flying.request, priority: effort.priority, report: noting(effort.report, departure), boarding: boarding
        ) { [self] result in
            switch result {
            case .success(let download):
                pool.submit(briefFor: download.body.isInMemory ? flying.cache.ifBrief : nil) { [self] in
                    keep(download, flying, landing) { result in
                        landing.end(result)
                        withExtendedLifetime(departure) {}
                    }
                }
            case .failure(is Interruption), .failure(is ImageDownloader.EndedForAnother):
                landing.goOn { [self] in try await fly(flying, departure, effort) }
            // Not on the thread that tells: whoever waits may begin anew at once.
            case .failure(let error): landing.goOn { throw error }
            }
        }
        landing.onCancel { [downloader] in downloader.leave(ticket) }
    }

    /// Stores what has come. Waits for the disk, but not for the index.
    private func keep(
        _ download: Download, _ flying: Flying, _ landing: Landing<ImageResult>,
        then: @escaping @Sendable (Result<ImageResult, any Error>) -> Void
    ) {
        if landing.isCancelled { return then(.failure(CancellationError())) }
        var store = store(arrival(of: download, flying))
        store.maySurpass = store.needs.contains(.file)
        Self.keep(store) { then($0.mapError { $0 }) }
    }
}

extension ImageManager.Flying {
    /// Whether what comes is stored as it is, if it is an image.
    fileprivate var isPlain: Bool {
        let options = wish.options
        return standing == nil && request.dataModifier == nil && options.verifyDecode != true
            && options.revalidate != .http && (options.waitForCache || needs.contains(.file))
    }
}

extension ImageOptions {
    /// Whether the image itself is to be loaded from its URL, once and without asking anybody before. The cache's own
    /// settings are in the options already.
    fileprivate var isPlain: Bool {
        let fields = box.fields
        return fields.recipe.isEmpty && fields.verifyDecode != true && !fields.wantsPreview
            && fields.originalCache == nil && fields.alternativeSources.isEmpty && fields.onFailureImage == nil
            && fields.retry.maxRetries == 0 && fields.waitForConnectivity == nil && fields.deadline == nil
            && fields.delegates == nil && (fields.revalidate ?? .never) == .never && fields.staleIfError == nil
            && !fields.forceRefresh && !fields.onlyFromCache
    }
}
