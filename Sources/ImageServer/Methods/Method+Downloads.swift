internal import ImageEngine
internal import JSONRPC
internal import Platform

extension Method {
    /// Methods on downloads.
    static let downloads: [Method] = [
        download, probe, prefetch, stopPrefetch, setPriority, cancelAll, pause, resume,
    ]

    private static let optionsParam = Param(options: "How to load the images.")

    private static let download = Method(
        "download", "Downloads an image and checks it; no cache is read or written.",
        Param<URLText>("url", "Where the image is: an http, https, file or data URL."), optionsParam,
        Param<DownloadForm>("as", "Whether the result holds the bytes.", default: .data, "data")
    ) { invocation, url, options, form -> Outcome<DownloadReply> in
        let server = invocation.server
        let cache = try server.cache(nil)
        let tokens = invocation.progress
        var options = server.addingClientDelegate(to: options) ?? ImageOptions()
        options.lookup.forceRefresh = true
        options.storage.keepNothing()
        // No image in the cache has this key.
        let resource = Resource(url: url.text, cacheKey: "download " + url.text)
        let priority = CallPriority(options.caller.downloadPriority)
        let open = OpenLoad(
            server.openRequests, cache: cache.name, urls: [url.text], slot: options.caller.slot, priority: priority)
        return .begun {
            open.begin($0)
        } later: { [options] call in
            let reporter = tokens.map { ProgressReporter<DownloadProgress>(call: call, tokens: $0) }
            reporter?.begin(title: "download", message: String(url.text.prefix(200)), .start)
            var report: (@Sendable (DownloadProgress) -> Void)?
            if let reporter { report = { reporter.report($0) } }
            do {
                let caller = ImageCaller(
                    priority: priority, report: report, joined: { open.slotPlace?.stopPrevious() })
                var image = try await server.manager.image(
                    ImageRequest(resource, in: cache, options: options, needs: .bytes, caller: caller))
                func checkedReply() throws -> ImageReply {
                    try ImageReply(image: image, form: form == .data ? .data : .none, for: options).checked(
                        instead: "retrieve it, and ask for its path", source: url.text)
                }
                guard form == .data else { return DownloadReply(reply: try checkedReply()) }
                // Not kept: its bytes would be there while it waits.
                _ = try checkedReply()
                if !call.hasRoom(for: image.inlineMemory) {
                    image = try await server.manager.settingBytesAside(of: image)
                }
                try await call.waitForRoom(for: image.inlineMemory)
                image = try await server.manager.loadingBytes(of: image, in: cache, options: options)
                return DownloadReply(reply: ImageReply(image: image, form: .data, for: options))
            } catch let error as ImageError {
                throw error.rpcError()
            }
        }
    }

    /// Reads the properties of an image without loading it.
    private static let probe = Method(
        "probe",
        "Returns the format, size, orientation, frame count and transparency of an image from its first kilobytes.",
        anyOf: ["url", "key"], imageURLParam, imageKeyParam,
        Param<String?>(
            "cache", "The name of the cache that is looked into first.", default: nil, "default",
            schema: CacheName.schema),
        Param(options: "How to look up and load the image.")
    ) { invocation, url, key, cacheName, options -> Outcome<ProbeReply> in
        let server = invocation.server
        let cache = try server.cache(cacheName)
        var options = options
        let resource = try Resource(url, key, in: cache, &options)
        let given = server.addingClientDelegate(to: options) ?? ImageOptions()
        let priority = CallPriority(given.caller.downloadPriority)
        let urls = url.map { [$0.text] } ?? []
        let open = OpenLoad(server.openRequests, cache: cache.name, urls: urls, priority: priority)
        let access = RequestOrder.Access(cache: cache.name, scope: .key(ExactText(resource.cacheKey)), kind: .look)
        let caller = ImageCaller(priority: priority, arrived: server.manager.now)
        return .inTwoParts(access) { call in
            open.begin(call)
            call.end(after: given.caller.deadline) {
                if open.hasStarted { return nil }
                return ImageError.timedOut(url: resource.name, option: "deadline", seconds: $0).rpcError(of: resource)
            }
        } _: { _ in
            open.noteStart()
            return try await naming(resource) {
                let rest = try await server.manager.beginProbe(resource, in: cache, options: given, caller: caller)
                return { try await naming(resource) { ProbeReply(found: try await rest()) } }
            }
        }
    }

    /// Runs `body`, whose errors name the key of the image.
    private static func naming<Value>(
        _ resource: Resource, _ body: () async throws -> Value
    ) async throws -> Value {
        do { return try await body() } catch let error as ImageError { throw error.rpcError(of: resource) }
    }

    private static let prefetch = Method(
        "prefetch", "Loads images into a cache ahead of time, behind all other downloads.",
        Param<TextList>("urls", "Where the images are; each is loaded once, even if it is named several times."),
        cacheParam, optionsParam,
        Param<Concurrency>("maxConcurrent", "How many are loaded at once.", default: Concurrency(count: 5), 5),
        Param<ProcessorList?>("processors", "The processing steps, in order.", default: nil, [])
    ) { invocation, urls, cacheName, given, concurrency, processors -> Outcome<PrefetchReply> in
        let server = invocation.server
        let cache = try server.cache(cacheName)
        let tokens = invocation.progress
        let options = try processors.options(given)
        let prefetcher = ImagePrefetcher(
            urls.texts, manager: server.manager, cache: cache,
            options: server.addingClientDelegate(to: options) ?? ImageOptions(),
            concurrency: concurrency.count)
        let open = OpenLoad(
            server.openRequests, cache: cache.name, urls: urls.texts, priority: prefetcher.priority,
            prefetcher: prefetcher)
        return .begun {
            open.begin($0)
        } later: { call in
            let reporter = tokens.map { ProgressReporter<PrefetchProgress>(call: call, tokens: $0) }
            let total = Set(urls.texts.map { ExactText($0) }).count
            let start = ImagePrefetcher.Progress(completed: 0, skipped: 0, failed: 0, total: total)
            reporter?.begin(title: "prefetch", PrefetchProgress(counts: start))
            let report = try await prefetcher.run { reporter?.report(PrefetchProgress(counts: $0)) }
            return PrefetchReply(report: report)
        }
    }

    private static let stopPrefetch = Method(
        "stopPrefetch", "Stops a prefetch, which is then answered: what it had not loaded counts as failed.",
        Param<RequestIDValue>("id", "The id of the prefetch request.")
    ) { invocation, id -> Outcome<StoppedReply> in
        let prefetcher = invocation.server.openRequest(id.id)?.prefetcher
        prefetcher?.stop()
        return .now(StoppedReply(isStopped: prefetcher != nil))
    }

    private static let setPriority = Method(
        "setPriority", "Changes the priority of a running retrieve, download or prefetch.",
        Param<RequestIDValue>("id", "The id of the request."),
        Param<Priority>("priority", "From 0 to 1, or a name; among downloads that wait, the higher goes first.")
    ) { invocation, id, priority -> Outcome<ChangedReply> in
        let request = invocation.server.openRequest(id.id)
        request?.priority?.value = priority.value
        return .now(ChangedReply(isChanged: request != nil))
    }

    private static let pause = Method(
        "pause", "Starts no more downloads until resume; running ones continue, and waiting ones keep their place.",
        Param<Pausable>("what", "All, or only those of prefetch that nobody else waits for.", default: .all, "all")
    ) { invocation, what -> Outcome<PauseReply> in
        .now(pausing(invocation.server.manager.downloader, what.pause))
    }

    private static let resume = Method("resume", "Starts downloads again after pause.") {
        invocation -> Outcome<PauseReply> in
        .now(pausing(invocation.server.manager.downloader, .none))
    }

    private static func pausing(_ downloader: ImageDownloader, _ pause: ImageDownloader.Pause) -> PauseReply {
        let pause = downloader.pause(pause)
        let load = downloader.load
        return PauseReply(pause: pause, running: load.running, waiting: load.waiting)
    }

    private static let cancelAll = Method(
        "cancelAll",
        "Cancels every running retrieve, download and prefetch, or those that match all the conditions given.",
        Param<KeyText?>("url", "Only those for this URL; a prefetch goes on with its others.", default: nil),
        Param<KeyText?>("cache", "Only those for this cache.", default: nil, schema: CacheName.schema),
        Param<KeyText?>("slot", "Only the one in this slot.", default: nil)
    ) { invocation, url, cache, slot -> Outcome<CancelledReply> in
        .now(CancelledReply(count: invocation.server.cancel(url: url?.text, cache: cache?.text, slot: slot?.text)))
    }
}
