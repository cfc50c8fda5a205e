"""Descriptions of types and members that have none in the protocol, by the paths of their schemas."""

SUMMARIES = {
    "PrefetchResult.failed[].error": "An error as the server answers it.",
    "FailuresResult.failures[].error": "An error as the server answers it.",
    "ExplainResult.error|": "An error as the server answers it.",
    "IsCachedParams": "Names one image of a cache.",
    "CalculateSizeParams": "Names one of the server's caches.",
    "ImageResult": "An image that is in the cache, or was just loaded.",
    "StoreResult": "An image that was put into the cache.",
    "DownloadResult": "An image that was loaded past all caches.",
    "ProbeResult": "What the first kilobytes of an image tell.",
    "PrefetchResult": "What became of the URLs that were to be loaded ahead of time.",
    "RemoveResult": "What `remove` took away.",
    "IsCachedResult": "Whether and where an image is cached.",
    "CachePathResult": "Where an image is, or would be.",
    "SizeResult.disk": "Images on disk. Sizes are in bytes; a limit of 0 is none.",
    "SizeResult.memory": "Images in the server's memory. Sizes are in bytes.",
    "SizeResult": "How much one cache holds, on disk and in memory.",
    "ClearResult": "What `clear` and the methods like it removed: how many images, how many bytes.",
    "CleanResult": "What `cleanExpired` removed.",
    "VerifyResult": "What `verify` found, in entries and files.",
    "EntryDetails": "What is known of one image in a cache. Dates are ISO 8601, sizes in bytes.",
    "MemorySettings": "Settings of the memory tier; what is left out stays as it was.",
    "DiskSettings": "Settings of the disk tier; what is left out stays as it was.",
    "DownloaderSettings": "Settings of the downloader of all caches; what is left out stays as it was.",
    "CacheSettings": "The settings in force of one cache.",
    "ConfigureResult": "The settings in force of one cache, and of the downloader of all.",
    "CachesResult.caches[]": "A cache that is open, configured, or found in the cache folder.",
    "DiskSettings.keyRules[]": (
        "Query parameters that are left out of keys that are URLs of these hosts; names may end in `*`."
    ),
    "DownloaderSettings.hostRules[]": "What is added to requests for these hosts; secrets read `…` in answers.",
    "DownloaderSettings.urlRewrites[]": "Requests for URLs that begin with `from` go to `to` instead.",
    "Expiration|seconds": "A span of time in seconds.",
    "Expiration|days": "A span of time in days.",
    "Expiration|date": "A point in time, as ISO 8601.",
    "ImageOptions.memoryCacheAccessExtendingExpiration": (
        "What an access does to the expiration: nothing, the time it had at first, or a new one."
    ),
    "ImageOptions.authorization|basic.basic": "User and password of HTTP basic authentication.",
    "ImageOptions.authorization|basic": "Sends `Authorization: Basic …`.",
    "ImageOptions.authorization|bearer": "Sends `Authorization: Bearer …`.",
    "ImageOptions.retry.interval|exponential": "A pause that doubles each time, from this many seconds.",
    "RetrieveParams.processors": (
        "Steps applied left to right, each an object with one member, the name of the processor; or a compact text, as "
        "in `resize:200x200/format:webp`."
    ),
    "RetrieveParams.as": (
        "How an image is answered: where its file is, its bytes, both, neither, or as a data URL or raw " "pixels."
    ),
    "ImageOptions": "Options of one call; what is left out has the server's default.",
    "ImageResult.cacheType": 'Where an answer came from, or where an entry is; "none" = loaded now, or nowhere.',
    "ImageResult.format": "The formats of pictures.",
    "ImageOptions.delegates[]": "A question that the server asks about a download.",
    "ExplainResult": "What `retrieve` would do now, and why.",
    "PauseResult": "Which downloads are not started now.",
    "StatsResult": "The server's counters.",
    "FailuresResult.failures[]": "A failure that is repeated without asking, for a while.",
    "DownloaderModifyRequestParams": "A request as it is to be sent: what `downloader/modifyRequest` asks about.",
    "DownloaderModifyRequestResult": (
        "A request as it is to be sent now; null sends none, or does not follow a redirect."
    ),
    "DownloaderRedirectParams": (
        "A redirect that is about to be followed; `url` and `headers` are those of the next request."
    ),
    "DownloaderValidateStatusParams": "An answer, before its body is read.",
    "DownloaderValidateStatusResult": "Whether the body is wanted; null leaves that to `validStatusCodes`.",
    "DownloaderChallengeParams": "A server or proxy that wants credentials.",
    "DownloaderChallengeResult": (
        'Credentials to try, "default" to go on as without the question, "cancel" to give the download up.'
    ),
    "PrefetchResult.failed[]": "A URL whose image could not be loaded, and the error.",
    "Latency": "How long the requests of one method took, in milliseconds.",
    **dict.fromkeys(
        ("DownloadDidFinishEvent.timings", "ImageResult.downloadReport.timings"), "Where the time of a transfer went, in seconds."
    ),
    "Processor|crop.crop.anchor|x": "Which part is taken: from 0, at the left or top, to 1.",
    "Processor|resize.resize.focus": "The point that stays in the picture: from 0, at the left or top, to 1.",
    "Processor|roundCorner.roundCorner.radius|fraction": "A radius as a part of the shorter side.",
    "DownloaderModifyRequestResult|url": "What is to be otherwise about a request; what is left out stays.",
    "DownloaderValidateStatusResult|accept": "Whether the body of an answer is wanted.",
    "DownloaderChallengeResult|use": "The credentials that a server gets.",
}

MEMBERS = {
    "StoreParams.data": "The bytes of the image; about 48 MiB at most. Give this or path.",
    "StoreParams.path": "A file to copy from; a relative path counts from the working directory of this program.",
    "AddReadOnlyCachePathParams.path": "The folder; a relative path counts from the working directory of this program.",
    "ListParams.limit": "How many are fetched at a time, 1 to 1000.",
    "ImageOptions.retry.maxRetries": "How often it is tried again.",
    "ImageOptions.retry.interval": "How long to wait before each try.",
    "ImageOptions.cacheSerializer.format": "With transparency PNG, opaque JPEG, animated as the original, unless given.",
    "ImageOptions.cacheSerializer.quality": "From 1 to 100.",
    "ImageOptions.cacheSerializer.background": "The colour below what is transparent.",
    "ImageOptions.cacheSerializer.maxBytes": "The largest file; quality is lowered until it is kept.",
    "ImageOptions.cacheSerializer.profile": "Whether the colour profile is kept; it is, unless given.",
    "ImageResult.pixels.stride": "Bytes from one row to the next.",
    "ImageResult.pixels.frameSeconds": "Seconds each frame is shown.",
    "ImageResult.pixels.loopCount": "How often the animation is played; 0 for ever.",
    "SizeResult.disk.count": "Number of entries.",
    "SizeResult.disk.byteCount": "Sum of their lengths.",
    "SizeResult.disk.allocatedBytes": "What they take on the file system.",
    "SizeResult.disk.bytesLimit": "The limit; 0 for none.",
    "SizeResult.disk.leasedBytes": "What has left the cache and goes when its leases end.",
    "SizeResult.memory.count": "Number of entries.",
    "SizeResult.memory.byteCount": "Sum of their lengths.",
    "SizeResult.memory.bytesLimit": "The limit.",
    "CachesResult.caches[].folder": "Absolute path of its folder.",
    "CachesResult.caches[].isOpen": "Whether this server has used it.",
    "FailuresResult.failures[].key": "The cache key that its image was to have.",
    "FailuresResult.failures[].seconds": "For how many seconds it is remembered yet.",
    "CacheDidCleanEvent.keys": "At the same places as `hashes`; null where a key is not known.",
    "ImageDidChangeEvent.path": "The new file; null when there is none.",
    "ActivityDidChangeEvent.count": "How many downloads are running.",
    **{
        "%s.%s" % (report, name): words
        for report in ("DownloadDidFinishEvent", "ImageResult.downloadReport")
        for name, words in {
            "finalUrl": "The URL that answered, after all redirects.",
            "statusCode": "Null when there was no answer.",
            "resumedBytes": "Bytes that were kept from an earlier transfer.",
            "reused": "Whether the connection was open already.",
            "fromRevalidation": "Whether the server confirmed what was cached, and sent no body.",
            "error": "The name of the error; null when it went well.",
        }.items()
    },
    "LogEvent.omitted": "How many lines before it were not told.",
    "DownloaderRedirectParams.from": "The URL that redirects.",
    "DownloaderRedirectParams.statusCode": "The status it redirects with.",
    "DownloaderChallengeParams.host": "The host of that URL, or of the proxy.",
    "DownloaderChallengeParams.scheme": "In small letters: basic, digest, bearer and others.",
    "DownloaderChallengeParams.failures": "How many answers it has turned down already.",
}
