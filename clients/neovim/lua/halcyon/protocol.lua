-- Made by clients/generate.py from protocol/openrpc.json.
return {
  --- Every method that is answered: its parameters in their order, the one that stands alone, its summary.
  methods = {
    ["retrieve"] = {
      params = { "url", "key", "cache", "processors", "options", "as" },
      alone = "url",
      takes_list = false,
      summary = "Returns an image: from memory, else from disk, else from its URL, whence it is cached.",
    },
    ["store"] = {
      params = { "key", "data", "path", "cache", "processors", "options", "overwrite", "metadata" },
      alone = "key",
      takes_list = false,
      summary = "Puts an image into the cache.",
    },
    ["remove"] = {
      params = { "key", "cache", "processors", "fromMemory", "fromDisk", "allVariants", "options" },
      alone = "key",
      takes_list = false,
      summary = "Removes an image from the cache.",
    },
    ["isCached"] = {
      params = { "key", "cache", "processors", "options" },
      alone = "key",
      takes_list = false,
      summary = "Tells whether an image is cached, and where; nothing is loaded.",
    },
    ["cachePath"] = {
      params = { "key", "cache", "processors", "options" },
      alone = "key",
      takes_list = false,
      summary = "Tells where an image is in the cache, or would be.",
    },
    ["calculateSize"] = {
      params = { "cache" },
      summary = "Tells how many images a cache holds and how large they are, without walking a folder.",
    },
    ["download"] = {
      params = { "url", "options", "as" },
      alone = "url",
      takes_list = false,
      summary = "Loads an image and checks it; no cache is looked into or written.",
    },
    ["probe"] = {
      params = { "url", "key", "cache", "options" },
      alone = "url",
      takes_list = false,
      summary = "Tells format, size, orientation, frames and transparency of an image from its first kilobytes.",
    },
    ["prefetch"] = {
      params = { "urls", "cache", "options", "maxConcurrent", "processors" },
      alone = "urls",
      takes_list = true,
      summary = "Loads images into a cache before somebody wants them, behind all other downloads.",
    },
    ["stopPrefetch"] = {
      params = { "id" },
      alone = "id",
      takes_list = false,
      summary = "Stops a prefetch, which is then answered: what it has not loaded has failed.",
    },
    ["setPriority"] = {
      params = { "id", "priority" },
      alone = "id",
      takes_list = false,
      summary = "Changes how urgent a retrieve, download or prefetch under way is.",
    },
    ["cancelAll"] = {
      params = { "url", "cache", "slot" },
      summary = "Cancels every retrieve, download and prefetch under way, or those that match all that is given.",
    },
    ["pause"] = {
      params = { "what" },
      summary = "Starts no more downloads until resume; what is under way goes on, and what waits keeps its place.",
    },
    ["resume"] = {
      params = {},
      summary = "Starts downloads again after pause.",
    },
    ["clear"] = {
      params = { "cache" },
      summary = "Empties a cache: memory and disk.",
    },
    ["clearMemory"] = {
      params = { "cache" },
      summary = "Empties the memory tier of a cache.",
    },
    ["clearDisk"] = {
      params = { "cache" },
      summary = "Empties the disk tier of a cache; memory keeps its images as far as its limit goes.",
    },
    ["forgetFailures"] = {
      params = { "url", "cache" },
      summary = "Forgets failures that are remembered, so that they are asked for again.",
    },
    ["listFailures"] = {
      params = { "cache" },
      summary = "Lists the failures that are remembered, and repeated without asking.",
    },
    ["stats"] = {
      params = {},
      summary = "Tells what the server has done since it started.",
    },
    ["inspect"] = {
      params = { "key", "cache", "processors", "options" },
      alone = "key",
      takes_list = false,
      summary = "Tells everything that is known of a cached image, without loading or prolonging it.",
    },
    ["list"] = {
      params = { "cache", "limit", "cursor", "host", "prefix", "format", "minAge", "maxAge" },
      summary = "Lists what the disk tier of a cache holds, page by page, in an order that no use changes.",
    },
    ["explain"] = {
      params = { "url", "key", "cache", "processors", "options" },
      alone = "url",
      takes_list = false,
      summary = "Tells what retrieve would do now and why; nothing is loaded, prolonged or asked.",
    },
    ["cleanExpired"] = {
      params = { "cache" },
      summary = "Removes every image whose time is over. A path that is lent out stays valid.",
    },
    ["verify"] = {
      params = { "cache", "repair" },
      summary = "Reads every image of a cache through, holds it against the index, and puts right what is wrong; others go on.",
    },
    ["configure"] = {
      params = { "cache", "memory", "disk", "downloader" },
      summary = "Changes the settings of a cache, or of the downloader, from now on; what is left out stays as it was.",
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
      summary = "Asks to be told of events by notifications; nothing is sent before.",
    },
    ["unsubscribe"] = {
      params = { "events" },
      alone = "events",
      takes_list = true,
      summary = "Ends subscriptions: none of these events follows the answer.",
    },
    ["ping"] = {
      params = {},
      summary = "Answers null: a probe of life and latency. Any parameters are ignored.",
    },
    ["rpc.discover"] = {
      params = {},
      summary = "Returns this document.",
    },
    ["initialize"] = {
      params = { "processId", "initializationOptions", "capabilities" },
      summary = "Introduces the client; optional. Whatever a language server's client sends besides is let pass.",
    },
    ["shutdown"] = {
      params = {},
      summary = "Ends the session: after it only exit may follow.",
    },
  },
  options = { "forceRefresh", "fromMemoryCacheOrRefresh", "onlyFromCache", "cacheMemoryOnly", "waitForCache", "memoryCacheExpiration", "diskCacheExpiration", "memoryCacheAccessExtendingExpiration", "diskCacheAccessExtendingExpiration", "forcedCacheFileExtension", "queryDataWhenInMemory", "memory", "originalCache", "cacheOriginalImage", "cacheSerializer", "onlyLoadFirstFrame", "frame", "scaleDownLargeImages", "scaleFactor", "preloadAllAnimationData", "backgroundDecode", "verifyDecode", "thumbHash", "maxPixels", "maxFrames", "maxAnimationPixels", "decodeSeconds", "maxEntityBytes", "lease", "revalidate", "staleIfError", "offline", "negativeCache", "timeout", "deadline", "minBytesPerSecond", "downloadPriority", "alsoPrefetchToMemory", "onLastCancel", "slot", "merge", "headers", "method", "body", "dataModifier", "authorization", "scope", "credentialScope", "delegates", "redirect", "maxRedirects", "maxBytes", "validStatusCodes", "acceptContentTypes", "retry", "waitForConnectivity", "alternativeSources", "hedgeAfter", "integrity", "onFailureImage" },
  events = { "cache/didClean", "image/didChange", "activity/didChange", "download/didFinish", "log" },
  delegates = { "downloader/modifyRequest", "downloader/redirect", "downloader/validateStatus", "downloader/challenge" },
  --- Members that hold objects: where an empty table must be written as {}.
  objects = { "anchor", "authorization", "basic", "blackWhite", "blend", "blur", "body", "border", "cacheSerializer", "caches", "capabilities", "circle", "colorControls", "compositing", "crop", "disk", "diskCacheAccessExtendingExpiration", "diskCacheExpiration", "downloader", "downsample", "expiration", "extending", "flip", "focus", "format", "gamma", "headers", "initializationOptions", "interval", "memory", "memoryCacheAccessExtendingExpiration", "memoryCacheExpiration", "metadata", "options", "overlay", "pad", "pixelate", "radius", "resize", "retry", "rotate", "roundCorner", "sharpen", "targetSize", "tint", "trim", "use", "watermark" },
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
