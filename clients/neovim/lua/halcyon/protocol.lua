-- Made by clients/generate.py from protocol/openrpc.json.
return {
  --- Every method that is answered: its parameters in their order, the one that stands alone, its summary.
  methods = {
    ["retrieve"] = {
      params = { "url", "key", "cache", "processors", "options", "as" },
      alone = "url",
      takes_list = false,
      summary = "Returns an image from memory, from disk, or else from its URL, and caches it.",
    },
    ["store"] = {
      params = { "key", "data", "path", "cache", "processors", "options", "overwrite", "metadata" },
      alone = "key",
      takes_list = false,
      summary = "Puts an image into the cache.",
    },
    ["remove"] = {
      params = { "key", "cache", "processors", "fromMemory", "fromDisk", "allVariants", "remote", "options" },
      alone = "key",
      takes_list = false,
      summary = "Removes an image from the cache.",
    },
    ["isCached"] = {
      params = { "key", "cache", "processors", "options" },
      alone = "key",
      takes_list = false,
      summary = "Returns whether an image is cached, and in which tier; nothing is loaded.",
    },
    ["cachePath"] = {
      params = { "key", "cache", "processors", "options" },
      alone = "key",
      takes_list = false,
      summary = "Returns the path at which an image is cached, or would be.",
    },
    ["calculateSize"] = {
      params = { "cache" },
      summary = "Returns how many images a cache holds and how many bytes they take, without walking a folder.",
    },
    ["download"] = {
      params = { "url", "options", "as" },
      alone = "url",
      takes_list = false,
      summary = "Downloads an image and checks it; no cache is read or written.",
    },
    ["probe"] = {
      params = { "url", "key", "cache", "options" },
      alone = "url",
      takes_list = false,
      summary = "Returns the format, size, orientation, frame count and transparency of an image from its first kilobytes.",
    },
    ["prefetch"] = {
      params = { "urls", "cache", "options", "maxConcurrent", "processors" },
      alone = "urls",
      takes_list = true,
      summary = "Loads images into a cache ahead of time, behind all other downloads.",
    },
    ["stopPrefetch"] = {
      params = { "id" },
      alone = "id",
      takes_list = false,
      summary = "Stops a prefetch, which is then answered: what it had not loaded counts as failed.",
    },
    ["setPriority"] = {
      params = { "id", "priority" },
      alone = "id",
      takes_list = false,
      summary = "Changes the priority of a running retrieve, download or prefetch.",
    },
    ["cancelAll"] = {
      params = { "url", "cache", "slot" },
      summary = "Cancels every running retrieve, download and prefetch, or those that match all the conditions given.",
    },
    ["pause"] = {
      params = { "what" },
      summary = "Starts no more downloads until resume; running ones continue, and waiting ones keep their place.",
    },
    ["resume"] = {
      params = {},
      summary = "Starts downloads again after pause.",
    },
    ["clear"] = {
      params = { "cache", "remote", "host", "prefix", "format", "minAge", "maxAge" },
      summary = "Removes all images of a cache, or those that match.",
    },
    ["clearMemory"] = {
      params = { "cache" },
      summary = "Empties the memory tier of a cache.",
    },
    ["clearDisk"] = {
      params = { "cache" },
      summary = "Empties the disk tier of a cache; memory keeps its images, within its limit.",
    },
    ["forgetFailures"] = {
      params = { "url", "cache" },
      summary = "Forgets remembered failures, so that their URLs are tried again.",
    },
    ["listFailures"] = {
      params = { "cache" },
      summary = "Lists the remembered failures, which are repeated without asking the server.",
    },
    ["stats"] = {
      params = {},
      summary = "Returns what the server has done since it started.",
    },
    ["checkRemote"] = {
      params = {},
      summary = "Tries whether the remote tier can be read and written, and how far its clock is off.",
    },
    ["inspect"] = {
      params = { "key", "cache", "processors", "options" },
      alone = "key",
      takes_list = false,
      summary = "Returns everything that is known about a cached image, without loading it or extending its life.",
    },
    ["list"] = {
      params = { "cache", "limit", "cursor", "host", "prefix", "format", "minAge", "maxAge" },
      summary = "Lists the images on disk, page by page, in an order that does not change when they are used.",
    },
    ["explain"] = {
      params = { "url", "key", "cache", "processors", "options" },
      alone = "url",
      takes_list = false,
      summary = "Returns what retrieve would do now and why; nothing is loaded, extended or asked.",
    },
    ["cleanExpired"] = {
      params = { "cache" },
      summary = "Removes every expired image. A leased path stays valid until its lease ends.",
    },
    ["verify"] = {
      params = { "cache", "repair" },
      summary = "Reads every image of a cache, compares it with the index and repairs what is wrong; other requests continue meanwhile.",
    },
    ["configure"] = {
      params = { "cache", "memory", "disk", "downloader", "remote", "options" },
      summary = "Changes the settings of a cache, the downloader or the remote tier, or the default options, from now on; settings that are left out keep their values.",
    },
    ["addReadOnlyCachePath"] = {
      params = { "path", "cache" },
      alone = "path",
      takes_list = false,
      summary = "Adds a folder that is searched after that of a cache, and never written.",
    },
    ["caches"] = {
      params = {},
      summary = "Lists the caches that are open, configured, or found in the cache folder.",
    },
    ["subscribe"] = {
      params = { "events" },
      alone = "events",
      takes_list = true,
      summary = "Subscribes to events, which then come as notifications.",
    },
    ["unsubscribe"] = {
      params = { "events" },
      alone = "events",
      takes_list = true,
      summary = "Ends subscriptions: none of these events comes after the answer.",
    },
    ["ping"] = {
      params = {},
      summary = "Answers null: shows that the server is alive, and its latency. Parameters are ignored.",
    },
    ["rpc.discover"] = {
      params = {},
      summary = "Returns this document.",
    },
    ["initialize"] = {
      params = { "processId", "initializationOptions", "capabilities" },
      summary = "Introduces the client; optional. Other members that clients of language servers send are ignored.",
    },
    ["shutdown"] = {
      params = {},
      summary = "Ends the session: only exit may follow.",
    },
  },
  options = { "forceRefresh", "fromMemoryCacheOrRefresh", "onlyFromCache", "cacheMemoryOnly", "waitForCache", "memoryCacheExpiration", "diskCacheExpiration", "memoryCacheAccessExtendingExpiration", "diskCacheAccessExtendingExpiration", "forcedCacheFileExtension", "queryDataWhenInMemory", "memory", "originalCache", "cacheOriginalImage", "cacheSerializer", "onlyLoadFirstFrame", "frame", "scaleDownLargeImages", "scaleFactor", "preloadAllAnimationData", "backgroundDecode", "verifyDecode", "thumbHash", "maxPixels", "maxFrames", "maxAnimationPixels", "decodeSeconds", "maxEntityBytes", "lease", "revalidate", "staleIfError", "offline", "negativeCache", "timeout", "deadline", "minBytesPerSecond", "downloadPriority", "alsoPrefetchToMemory", "onLastCancel", "slot", "downloadReport", "merge", "headers", "method", "body", "dataModifier", "authorization", "scope", "credentialScope", "remote", "delegates", "redirect", "maxRedirects", "maxBytes", "validStatusCodes", "acceptContentTypes", "retry", "waitForConnectivity", "alternativeSources", "hedgeAfter", "integrity", "onFailureImage" },
  events = { "cache/didClean", "image/didChange", "activity/didChange", "download/didFinish", "remote/didChange", "log" },
  delegates = { "downloader/modifyRequest", "downloader/redirect", "downloader/validateStatus", "downloader/challenge" },
  --- Members that hold objects: where an empty table must be written as {}.
  objects = { "anchor", "authorization", "basic", "blackWhite", "blend", "blur", "body", "border", "cacheSerializer", "caches", "capabilities", "circle", "colorControls", "compositing", "crop", "disk", "diskCacheAccessExtendingExpiration", "diskCacheExpiration", "downloader", "downsample", "expiration", "extending", "flip", "focus", "format", "gamma", "headers", "initializationOptions", "interval", "memory", "memoryCacheAccessExtendingExpiration", "memoryCacheExpiration", "metadata", "options", "overlay", "pad", "pixelate", "radius", "remote", "resize", "retry", "rotate", "roundCorner", "sharpen", "targetSize", "tint", "trim", "use", "watermark" },
  errors = {
    invalidParams = -32602,
    internalError = -32603,
    requestCancelled = -32800,
    serverCancelled = -32802,
    badData = 10000,
    notModified = 10001,
    invalidStatusCode = 10002,
    notCached = 10003,
    processingFailed = 10004,
    limitExceeded = 10005,
    dataModifyingFailed = 10006,
    invalidURL = 20000,
    connectionFailed = 20001,
    timedOut = 20002,
    tlsFailed = 20003,
    forbiddenAddress = 20004,
    unreadableFile = 20005,
    downloadCancelledBeforeStarting = 30000,
    storageFailed = 40000,
  },
  message_bytes = 67108864,
}
