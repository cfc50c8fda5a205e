---@meta
-- Made by clients/generate.py from protocol/openrpc.json.

--- One processing step: an object with one member, the name of the processor.
---@alias halcyon.Processor { downsample: { width: number, height: number } }|{ resize: { width?: number, height?: number, mode?: "none"|"aspectFit"|"aspectFill", upscale?: boolean, kernel?: "nearest"|"linear"|"cubic"|"mitchell"|"lanczos2"|"lanczos3", focus?: { x?: number, y?: number } } }|{ crop: { width: number, height: number, anchor?: { x?: number, y?: number }|"smart"|"entropy", x?: number, y?: number, unit?: "pixels"|"fraction" } }|{ pad: { width: number, height: number, backgroundColor?: string, gravity?: "center"|"top"|"bottom"|"left"|"right"|"topLeft"|"topRight"|"bottomLeft"|"bottomRight", upscale?: boolean } }|{ trim: { tolerance?: number } }|{ flip: { horizontal?: boolean, vertical?: boolean } }|{ rotate: { degrees?: number, auto?: boolean } }|{ roundCorner: { radius: number|{ fraction: number }, corners?: ("topLeft"|"topRight"|"bottomLeft"|"bottomRight")[], targetSize?: { width: number, height: number }, backgroundColor?: string } }|{ circle: { diameter?: number, backgroundColor?: string } }|{ blur: { radius: number } }|{ sharpen: { radius?: number, amount?: number } }|{ pixelate: { size: number } }|{ overlay: { color: string, fraction?: number } }|{ tint: { color: string } }|{ colorControls: { brightness?: number, contrast?: number, saturation?: number, inputEV?: number } }|{ gamma: { gamma: number } }|{ blackWhite: table<string, any> }|{ border: { color: string, width: number, radius?: number|{ fraction: number }, corners?: ("topLeft"|"topRight"|"bottomLeft"|"bottomRight")[] } }|{ blend: { mode: "normal"|"multiply"|"screen"|"overlay"|"darken"|"lighten"|"colorDodge"|"colorBurn"|"hardLight"|"softLight"|"difference"|"exclusion", alpha?: number, backgroundColor?: string } }|{ compositing: { operation: "clear"|"copy"|"sourceOver"|"sourceIn"|"sourceOut"|"sourceAtop"|"destinationOver"|"destinationIn"|"destinationOut"|"destinationAtop"|"xor"|"plusLighter", alpha?: number, backgroundColor?: string } }|{ watermark: { data: string, gravity?: "center"|"top"|"bottom"|"left"|"right"|"topLeft"|"topRight"|"bottomLeft"|"bottomRight", opacity?: number, margin?: number, scale?: number } }|{ format: { to: "png"|"jpeg"|"gif"|"webp"|"avif"|"heic"|"tiff"|"bmp"|"ico"|"jxl", quality?: number } }

---@class halcyon.ImageOptions
---@field forceRefresh? boolean Do not read from the caches, but write to them. Default: false.
---@field fromMemoryCacheOrRefresh? boolean Look in memory only, then download. Default: false.
---@field onlyFromCache? boolean Never download; an image that is not cached is the error notCached. Default: false.
---@field cacheMemoryOnly? boolean Keep the image in memory only; the result has no path. Default: false.
---@field waitForCache? boolean Answer only when the image is in the cache. Default: true.
---@field memoryCacheExpiration? halcyon.Expiration How long memory keeps the image.
---@field diskCacheExpiration? halcyon.Expiration How long the disk keeps the image.
---@field memoryCacheAccessExtendingExpiration? "none"|"cacheTime"|halcyon.Expiration What an access does to the expiration in memory; as the cache is configured when left out.
---@field diskCacheAccessExtendingExpiration? "none"|"cacheTime"|halcyon.Expiration What an access does to the expiration on disk; as the cache is configured when left out.
---@field forcedCacheFileExtension? string The extension of the cached file, instead of the format's.
---@field queryDataWhenInMemory? boolean Read the bytes even when only the path was asked for. Default: false.
---@field memory? boolean Keep the image in memory; when false, memory does not keep it. Default: true.
---@field originalCache? string Another cache to search before downloading; what it has is stored here too.
---@field cacheOriginalImage? boolean Keep the original of a processed image too, so that more can be made of it. Default: true.
---@field cacheSerializer? { format?: "png"|"jpeg"|"gif"|"webp"|"avif"|"heic"|"tiff"|"bmp"|"ico"|"jxl", quality?: integer, lossless?: boolean, progressive?: boolean, background?: string, maxBytes?: integer, stripMetadata?: boolean, profile?: "keep"|"sRGB" } How a processed image is written; by default as the result needs.
---@field onlyLoadFirstFrame? boolean Use only the first frame of an animation, as a still. Default: false.
---@field frame? integer Use one frame of an animation, by its number from 0, as a still.
---@field scaleDownLargeImages? boolean Shrink an image of more than 15728640 pixels to that many. Default: false.
---@field scaleFactor? number The factor for the lengths of processors, which are then in points, not pixels. Default: 1.
---@field preloadAllAnimationData? boolean Accepted for clients of other libraries: all frames are always kept. Default: false.
---@field backgroundDecode? boolean Accepted for clients of other libraries: images are always decoded in another process. Default: false.
---@field verifyDecode? boolean Answer and keep the image only once all of it has been decoded; as the cache is configured when left out.
---@field thumbHash? boolean Also answer with a ThumbHash, a BlurHash and the dominant colour, computed once and kept with the entry. Default: false.
---@field maxPixels? integer The largest number of pixels in a frame of an image to process; for a JPEG, after shrinking while decoding. Default: 50000000.
---@field maxFrames? integer The largest number of frames of an image to process. Default: 2000.
---@field maxAnimationPixels? integer The largest number of pixels of all its frames together. Default: 250000000.
---@field decodeSeconds? number The longest time that processing may take, in seconds. Default: 20.
---@field maxEntityBytes? integer The largest number of bytes that entities may add to an SVG where they are used. Default: 1000000.
---@field lease? number The time that an answered path stays valid, in seconds. Default: 60.
---@field revalidate? "never"|"ifExpired"|"always"|"http" When a stored image is revalidated with its server: never, ifExpired, always, or as HTTP's rules say (http); as the cache is configured when left out.
---@field staleIfError? number How long after expiring a stored image may be used when its server cannot be reached, in seconds; as long as the server allows when left out.
---@field offline? boolean Use nothing from the network, and answer what is stored, even if it has expired. Default: false.
---@field negativeCache? number How long a permanent failure is remembered, in seconds; as the cache is configured when left out.
---@field timeout? number The longest wait for the next bytes, in seconds; as the downloader is configured when left out.
---@field deadline? number The longest time for the whole request, in seconds; no limit by default.
---@field minBytesPerSecond? number The lowest permitted speed of a download, in bytes per second, measured over two timeouts; 0 for no limit. Default: 100.
---@field downloadPriority? number|"veryLow"|"low"|"normal"|"high"|"veryHigh" The priority among waiting downloads, higher first: 0 to 1, or veryLow, low, normal, high or veryHigh. Default: 0.5.
---@field alsoPrefetchToMemory? boolean Prefetch into memory too; for prefetch only. Default: false.
---@field onLastCancel? "abort"|"finish" What happens to the download when the last request that waits for it is cancelled. Default: "abort".
---@field slot? string The place that the image is for, such as a view: a newer request for the same place cancels this one.
---@field downloadReport? boolean Also answer with the result and the timing of the download, if there was one. Default: false.
---@field merge? boolean Share the download with other requests for the same image. Default: true.
---@field headers? table<string, string> Request headers.
---@field method? "GET"|"POST"|"PUT" The HTTP method; POST when there is a body. Default: "GET".
---@field body? string|{ base64: string } The body of a request other than GET: text, or bytes as base64; at most 1048576 bytes.
---@field dataModifier? "base64" A transformation of the downloaded bytes before they are checked: base64 decodes text that encodes the image, also as a data URL.
---@field authorization? { basic: { user: string, password: string } }|{ bearer: string } Credentials, sent to the host of the URL only.
---@field scope? string A name for the user of the request, such as an account. Images loaded with credentials are kept apart by this name instead of by the credentials, and so outlast a change of token.
---@field credentialScope? "separate"|"shared" Whether images loaded with credentials are kept apart by user (separate) or shared with everyone (shared). Default: "separate".
---@field remote? "use"|"skip"|"share" The use of the tier that several machines share: for what is nobody's own (use), not at all (skip), or for private images too (share). Default: "use".
---@field delegates? ("downloader/modifyRequest"|"downloader/redirect"|"downloader/validateStatus"|"downloader/challenge")[] The questions that the client is asked about this download, instead of those named in initialize; an empty list for none.
---@field redirect? "follow"|"same-origin"|"none" The redirects to follow: all, those to the same scheme, host and port, or none. Default: "follow".
---@field maxRedirects? integer The largest number of redirects to follow. Default: 10.
---@field maxBytes? integer The largest body accepted, in bytes. Default: 134217728.
---@field validStatusCodes? integer[] The status codes to accept; by default 200 to 399, except 206.
---@field acceptContentTypes? string[] The media types to accept, such as image/*, if the server names one; by default only the bytes decide.
---@field retry? { maxRetries?: integer, interval?: { seconds: number }|{ exponential: number } } Whether and when to try a failed download again.
---@field waitForConnectivity? number How long a failed download waits for a network when this machine has none, in seconds; then it is tried again at once.
---@field alternativeSources? string[] URLs to try in order when the first one fails.
---@field hedgeAfter? number The time after which the next source is started beside one that has not answered, in seconds.
---@field integrity? string Digests, as in Subresource Integrity, one of which the bytes must have.
---@field onFailureImage? string A path or URL of an image to use when everything failed.

--- How long an entry is kept; a negative number means for ever.
---@alias halcyon.Expiration "never"|"expired"|{ seconds: number }|{ days: number }|{ date: string }

---@class halcyon.ImageResult
---@field key string The cache key.
---@field cache string The name of the cache.
---@field processorIdentifier string The identifier of the processors; empty for an original.
---@field cacheType "none"|"memory"|"disk"|"remote" Where the image came from; none means just downloaded.
---@field path string|nil A complete file; null when the image is only in memory.
---@field uri string|nil The file's URL; null when there is none.
---@field format "png"|"jpeg"|"gif"|"webp"|"avif"|"heic"|"tiff"|"bmp"|"ico"|"svg"|"jxl"|"jp2"|"pnm"|"icns"|"pdf" The picture format, by signature.
---@field mimeType string The media type of the format.
---@field width integer Pixels across, as coded.
---@field height integer Pixels down, as coded.
---@field orientation? integer The orientation, 1 to 8 as in EXIF; left out for images stored by an older version (use probe).
---@field hasAlpha? boolean Whether the image may be transparent; left out for images stored by an older version (use probe).
---@field displayWidth? integer Pixels across after applying the orientation; left out for images stored by an older version (use probe).
---@field displayHeight? integer Pixels down after applying the orientation; left out for images stored by an older version (use probe).
---@field frameCount integer The number of frames or pages; 1 for stills and for JPEG XL.
---@field framesDropped? integer How many frames or pages of the original a processed image lacks although all were wanted; left out for none.
---@field frameSeconds? number[] How long each frame of an animation is shown, in seconds, where that is known.
---@field delays? integer[] Former name of frameSeconds, in milliseconds.
---@field loopCount? integer How often an animation is played, where that is known; 0 for ever.
---@field byteCount integer The size of the image file, in bytes.
---@field data? string The bytes, when asked for.
---@field url? string Where it was downloaded from, after redirects.
---@field etag? string The server's entity tag.
---@field lastModified? string The server's date of last change, as sent.
---@field expiresAt string|nil When the entry on disk expires; null for never.
---@field dataUrl? string The image as a data URL, when asked for.
---@field thumbHash? string A ThumbHash of the image, when asked for and there is a codec worker.
---@field blurHash? string A BlurHash of the image, in 28 letters, with the ThumbHash.
---@field dominantColor? string The colour that most of the image has, with the ThumbHash.
---@field pixels? { path: string, uri: string, width: integer, height: integer, stride: integer, frameCount: integer, byteCount: integer, loopCount: integer, frameSeconds: number[], delays: integer[], framesDropped?: integer } A file of raw pixels, when asked for: sRGB, RGBA with eight bits each, frames one below the other. The other fields describe the original.
---@field leased? boolean False when the path could not be leased, because leases already use half of the size limit.
---@field stale? boolean True when the image has expired, or its server was not asked although the request wanted that.
---@field revalidated? boolean True when the server confirmed that the image has not changed.
---@field placeholder? boolean True when this is the substitute for an image that could not be loaded.
---@field memoryCached? boolean False when memory should keep the bytes but did not.
---@field memoryReason? string Why memory did not keep the bytes, naming the setting.
---@field stored? "noStore"|"tooLarge"|"noRoom"|"diskFailed"|"busy"|"expired"|"memoryOff"|"notAsked"|"occupied" Why no tier keeps the image that was just loaded; left out when one does.
---@field downloadReport? { url: string, finalUrl: string, finalURL: string, statusCode: integer|nil, status: integer|nil, byteCount: integer, bytes: integer, resumedBytes: integer, seconds: number, timings: { dns: number, connect: number, tls: number, firstByte: number|nil }, reused: boolean, redirects: integer, httpVersion: string|nil, fromRevalidation: boolean, error: string|nil } The result and the timing of the download, when asked for and there was one.

---@class halcyon.StoreResult
---@field key string The cache key.
---@field cache string The name of the cache.
---@field processorIdentifier string The identifier of the processors; empty for an original.
---@field cacheType "none"|"memory"|"disk"|"remote" Where the image came from; none means just downloaded.
---@field path string|nil A complete file; null when the image is only in memory.
---@field uri string|nil The file's URL; null when there is none.
---@field format "png"|"jpeg"|"gif"|"webp"|"avif"|"heic"|"tiff"|"bmp"|"ico"|"svg"|"jxl"|"jp2"|"pnm"|"icns"|"pdf" The picture format, by signature.
---@field mimeType string The media type of the format.
---@field width integer Pixels across, as coded.
---@field height integer Pixels down, as coded.
---@field orientation? integer The orientation, 1 to 8 as in EXIF; left out for images stored by an older version (use probe).
---@field hasAlpha? boolean Whether the image may be transparent; left out for images stored by an older version (use probe).
---@field displayWidth? integer Pixels across after applying the orientation; left out for images stored by an older version (use probe).
---@field displayHeight? integer Pixels down after applying the orientation; left out for images stored by an older version (use probe).
---@field frameCount integer The number of frames or pages; 1 for stills and for JPEG XL.
---@field framesDropped? integer How many frames or pages of the original a processed image lacks although all were wanted; left out for none.
---@field frameSeconds? number[] How long each frame of an animation is shown, in seconds, where that is known.
---@field delays? integer[] Former name of frameSeconds, in milliseconds.
---@field loopCount? integer How often an animation is played, where that is known; 0 for ever.
---@field byteCount integer The size of the image file, in bytes.
---@field data? string The bytes, when asked for.
---@field url? string Where it was downloaded from, after redirects.
---@field etag? string The server's entity tag.
---@field lastModified? string The server's date of last change, as sent.
---@field expiresAt string|nil When the entry on disk expires; null for never.
---@field leased? boolean False when the path could not be leased, because leases already use half of the size limit.
---@field stored { memory: boolean, disk: boolean, reason?: "noStore"|"tooLarge"|"noRoom"|"diskFailed"|"busy"|"expired"|"memoryOff"|"notAsked"|"occupied" } The tiers that hold the image now: memory its bytes, disk its file; with a reason when nothing was stored.
---@field reason? string Why memory does not hold the bytes, or nothing was stored.

---@class halcyon.RemoveResult
---@field removed boolean Whether anything was removed.
---@field memory boolean Whether something was removed from memory.
---@field disk boolean Whether something was removed from disk.
---@field leased boolean Whether a path was removed before its lease ended.
---@field readOnlyPath? string The file of a read-only folder that still answers for the key; left out for none.
---@field remote? { count: integer, problem: string|nil } The objects that the remote tier was told to remove, and why some are still there; left out unless remote was given.

---@class halcyon.IsCachedResult
---@field cached boolean Whether a tier has the image.
---@field cacheType "none"|"memory"|"disk"|"remote" The first tier of this machine that has it; none for no tier.

---@class halcyon.CachePathResult
---@field path string Where the image is, or would be.
---@field uri string The same as a URL.
---@field exists boolean Whether the image is there.
---@field leased? boolean False when the path could not be leased, because leases already use half of the size limit.

---@class halcyon.SizeResult
---@field disk { count: integer, byteCount: integer, bytes: integer, bytesLimit: integer, limitBytes: integer, allocatedBytes?: integer, leasedBytes?: integer } The disk tier: entries, bytes, bytes in whole blocks, the limit (0 for none), and the bytes of removed files that wait for their leases to end.
---@field memory { count: integer, byteCount: integer, bytes: integer, bytesLimit: integer, limitBytes: integer, allocatedBytes?: integer, leasedBytes?: integer } Entries, bytes and the limit of the memory tier.

---@class halcyon.DownloadResult
---@field format "png"|"jpeg"|"gif"|"webp"|"avif"|"heic"|"tiff"|"bmp"|"ico"|"svg"|"jxl"|"jp2"|"pnm"|"icns"|"pdf" The picture format, by signature.
---@field mimeType string The media type of the format.
---@field width integer Pixels across, as coded.
---@field height integer Pixels down, as coded.
---@field frameCount integer The number of frames or pages; 1 for stills and for JPEG XL.
---@field frameSeconds? number[] How long each frame of an animation is shown, in seconds, where that is known.
---@field delays? integer[] Former name of frameSeconds, in milliseconds.
---@field loopCount? integer How often an animation is played, where that is known; 0 for ever.
---@field byteCount integer The size of the image file, in bytes.
---@field data? string The bytes, when asked for.
---@field url? string Where it was downloaded from, after redirects.
---@field etag? string The server's entity tag.
---@field lastModified? string The server's date of last change, as sent.
---@field downloadReport? { url: string, finalUrl: string, finalURL: string, statusCode: integer|nil, status: integer|nil, byteCount: integer, bytes: integer, resumedBytes: integer, seconds: number, timings: { dns: number, connect: number, tls: number, firstByte: number|nil }, reused: boolean, redirects: integer, httpVersion: string|nil, fromRevalidation: boolean, error: string|nil } The result and the timing of the download, when asked for and there was one.

---@class halcyon.ProbeResult
---@field format "png"|"jpeg"|"gif"|"webp"|"avif"|"heic"|"tiff"|"bmp"|"ico"|"svg"|"jxl"|"jp2"|"pnm"|"icns"|"pdf" The picture format, by signature.
---@field mimeType string The media type of the format.
---@field width integer Pixels across, as coded.
---@field height integer Pixels down, as coded.
---@field orientation integer|nil The orientation, 1 to 8 as in EXIF; null when the first kilobytes do not show it.
---@field frameCount integer|nil The number of frames or pages; null when the first kilobytes do not show it.
---@field frameSeconds? number[] How long each frame of an animation is shown, in seconds; left out when the first kilobytes do not show it.
---@field delays? integer[] Former name of frameSeconds, in milliseconds.
---@field loopCount? integer How often an animation is played, 0 for ever; left out when the first kilobytes do not show it.
---@field hasAlpha boolean|nil Whether the image may be transparent; null when the first kilobytes do not show it.
---@field byteCount integer|nil The size in bytes; null when the server does not say.
---@field cacheType "none"|"memory"|"disk"|"remote" The tier that was read; none for the source.
---@field displayWidth? integer Pixels across after applying the orientation; left out when the first kilobytes do not show it.
---@field displayHeight? integer Pixels down after applying the orientation; left out when the first kilobytes do not show it.

---@class halcyon.PrefetchResult
---@field completed string[] URLs that were loaded.
---@field skipped string[] URLs whose images were already cached.
---@field failed { url: string, error: table<string, any> }[] URLs that failed or were stopped, with their errors.
---@field notStored? ({ url: string, stored: "noStore"|"tooLarge"|"noRoom"|"diskFailed"|"busy"|"expired"|"memoryOff"|"notAsked"|"occupied" })[] URLs that were loaded but that no tier keeps, with the reason; left out when empty.

---@class halcyon.StopResult
---@field stopped boolean Whether that prefetch was running.

---@class halcyon.PriorityResult
---@field changed boolean Whether that request was running.

---@class halcyon.CancelResult
---@field cancelled integer How many requests were cancelled.

---@class halcyon.PauseResult
---@field paused "none"|"prefetch"|"all" The downloads that are held back.
---@field running integer How many downloads are running, and continue.
---@field waiting integer How many downloads wait for their turn.

---@class halcyon.ClearResult
---@field count integer Entries removed.
---@field byteCount integer Bytes freed.
---@field bytes integer Former name of byteCount.
---@field leased integer About how many paths were removed before their leases ended.
---@field remote? { count: integer, problem: string|nil } The objects that the remote tier was told to remove, and why some are still there; left out unless remote was given.

---@class halcyon.ForgetResult
---@field forgotten integer How many failures were forgotten.

---@class halcyon.FailuresResult
---@field failures { url: string, key: string, error: table<string, any>, seconds: number }[] The failures, oldest first: URL, cache key, error, and for how many more seconds it is remembered.

---@class halcyon.StatsResult
---@field memoryHits integer Images answered from memory.
---@field diskHits integer Images answered from disk.
---@field misses integer Images that were in no cache.
---@field merged integer Requests that joined running work.
---@field downloads integer Downloads that ended well.
---@field sharedDownloads integer Images that this process waited for while another one downloaded them.
---@field failedDownloads integer Downloads that failed or were cancelled.
---@field downloadedBytes integer Bytes of bodies received.
---@field runningDownloads integer Downloads that are running.
---@field stalledDownloads integer Running downloads whose servers have sent nothing for a second.
---@field waitingDownloads integer Downloads waiting for their turn, or for another process that downloads the same.
---@field evictions integer Images evicted from disk to stay within its limit.
---@field damagedFiles integer Images removed because another program had changed their files.
---@field rememberedFailures integer Remembered failures, which are repeated without asking the server.
---@field notStored table<string, integer> Loaded images that should have been kept but no tier keeps, by reason; including those that nobody waited for, and originals of processed images.
---@field remote? { hits: integer, misses: integer, errors: integer, wrong: integer, uploads: integer, dropped: integer, queued: integer, bytesRead: integer, bytesWritten: integer, breaker: "closed"|"open"|"half-open" } The remote tier; left out when there is none.
---@field requestsInFlight integer Requests that have not been answered yet.
---@field output { heldBytes: integer, bytesLimit: integer, limitBytes: integer, waits: integer } Output that the client has not read yet: the bytes held, their limit (outputLimit), and how often requests had to wait for the client to read.
---@field uptimeSeconds number Seconds since the server started.
---@field latency table<string, halcyon.Latency> The time from reading to answering requests, by method.

---@class halcyon.Latency
---@field count integer Requests that were answered, with a result or an error.
---@field p50 number The median in milliseconds, exact to an eighth of the value.
---@field p95 number The 95th percentile in milliseconds, exact to an eighth of the value.
---@field p99 number The 99th percentile in milliseconds, exact to an eighth of the value.
---@field max number The longest time in milliseconds.

---@class halcyon.RemoteCheckResult
---@field ok boolean Whether all that the mode needs works; false when there is no remote tier.
---@field url string|nil The address without secrets; null when there is no remote tier.
---@field mode "read-write"|"read-only"|"write-only"|null Whether the tier is read, written or both; null when there is none.
---@field steps ({ name: "read"|"write"|"remove"|"claim"|"clock", seconds: number, problem: string|nil })[] What was tried, in order; after a problem nothing more is.
---@field clockAhead number|nil The seconds that its clock is ahead of this machine's; null when it did not tell the time.

---@class halcyon.EntryDetails
---@field key string|nil The cache key; null while only the file is known, until the image is next requested.
---@field processorIdentifier string|nil The identifier of the processors; empty for an original.
---@field user string|nil A digest of the user that the image belongs to; null for an image that all users share.
---@field hash string|nil The hash that names the file; null in a read-only folder.
---@field path string|nil The file; null for an image that is only in memory.
---@field uri string|nil The same as a URL.
---@field format string|nil The picture format, by signature.
---@field mimeType string|nil The media type of the format.
---@field width integer|nil Pixels across, as coded.
---@field height integer|nil Pixels down, as coded.
---@field frameCount integer|nil The number of frames or pages; 1 for stills and for JPEG XL.
---@field byteCount integer|nil The size of the file, in bytes.
---@field allocatedBytes integer|nil The space that the file takes on disk, in bytes; null in a read-only folder.
---@field checksum string|nil SHA-256 of the bytes, in hexadecimal.
---@field sharedBy integer|nil How many entries share the file; null in a list.
---@field url string|nil Where it was downloaded from, after redirects.
---@field host string|nil The host it came from.
---@field etag string|nil The server's entity tag.
---@field lastModified string|nil The server's date of last change, as sent.
---@field storedAt string|nil When it was stored.
---@field usedAt string|nil When it was last used, accurate to half a minute.
---@field expiresAt string|nil When it expires; null for never.
---@field leasedUntil string|nil When the lease of its path ends; null when it is not leased.
---@field metadata table<string, string>|nil The metadata that was given to store.
---@field orientation? integer The orientation, 1 to 8 as in EXIF; left out for images stored by an older version (use probe).
---@field hasAlpha? boolean Whether the image may be transparent; left out for images stored by an older version (use probe).
---@field displayWidth? integer Pixels across after applying the orientation; left out for images stored by an older version (use probe).
---@field displayHeight? integer Pixels down after applying the orientation; left out for images stored by an older version (use probe).

---@class halcyon.ListResult
---@field entries halcyon.EntryDetails[] The images of this page.
---@field cursor string|nil The cursor that asks for the next page; null at the end.

---@class halcyon.ExplainResult
---@field key string The key under which the image is kept.
---@field cache string The name of the cache.
---@field hash string The hash that names the file.
---@field path string Where the image is on disk, or would be.
---@field cacheType "none"|"memory"|"disk"|"remote" The tier where the image is and has not expired; or none.
---@field storedAt string|nil When the image was stored.
---@field expiresAt string|nil When the image expires on disk; null for never, and when nothing is stored.
---@field stale boolean|nil Whether the stored image is staler than the request accepts; null when nothing is stored.
---@field verdict "answer"|"answerStale"|"answerAndRefresh"|"revalidate"|"load"|"fail" What retrieve would do.
---@field network boolean Whether the network would be used.
---@field url string|nil The URL that would be requested first; null for none.
---@field reasons string[] The reasons, as sentences for people.
---@field error table<string, any>|nil The error it would fail with, as far as that is known; null for none.

---@class halcyon.CleanResult
---@field count integer Images removed.
---@field byteCount integer The bytes of their files.
---@field bytes integer Former name of byteCount.
---@field hashes string[] The hashes of their keys, which named the files.
---@field keys (string|nil)[] Their keys, in the same order; null where one is not known.

---@class halcyon.VerifyResult
---@field checked integer Entries looked at.
---@field byteCount integer Bytes read.
---@field bytes integer Former name of byteCount.
---@field damaged integer Entries whose files are not what was stored; removed.
---@field missing integer Entries without files; removed.
---@field adopted integer Images without entries; added to the index.
---@field leftovers integer Files left by dead processes, and files that are not images; removed.
---@field corrected integer Totals and records of the index that were wrong; corrected.
---@field unreadable integer Files that could not be read now, for lack of permission or of file descriptors; left alone.
---@field clean boolean Whether nothing was wrong.

---@class halcyon.MemorySettings
---@field totalBytesLimit? integer The size limit of memory, in bytes; 0 keeps nothing. Default: 104857600.
---@field preferredBytesAfterPurge? integer The size that a purge leaves, in bytes; setting only totalBytesLimit makes it three fifths of that. Default: 62914560.
---@field countLimit? integer The largest number of images; 0 for no limit. Default: 0.
---@field entryBytesLimit? integer|nil The largest image to keep, in bytes; null for a tenth of the limit.
---@field expiration? halcyon.Expiration How long an image stays in memory. Default: {"seconds": 300}.
---@field extending? "none"|"cacheTime"|halcyon.Expiration What a use does to the expiration: cacheTime starts it again, none leaves it. Default: "cacheTime".
---@field weakRetention? boolean Whether a purged image is still found while an answer that contains it is being sent. Default: true.

---@class halcyon.DiskSettings
---@field folder? string The folder, as an absolute path; it can be set until the cache is first used.
---@field bytesLimit? integer The size limit of the images on disk, in bytes; 0 for no limit. Default: 2147483648.
---@field purgeRatio? number The size that a purge leaves, as a fraction of the limit. Default: 0.5.
---@field freeSpaceFloor? integer|nil The bytes of the file system to leave free; null for a hundredth of it, between 128 KiB (or an eighth if that is less) and 256 MiB.
---@field expiration? halcyon.Expiration How long an image stays on disk. Default: {"days": 7}.
---@field expireBy? "access"|"modification" What the expiration counts from: the last use (access) or the time of storing (modification). Default: "access".
---@field pathExtension? string The extension of files: from the detected format (sniffed), from the key (fromKey), none, or any other text. Default: "sniffed".
---@field fileNames? "sha256"|"md5" The digest of the key that names files: sha256 or md5. Default: "sha256".
---@field readOnlyPaths? string[] Absolute paths of folders that are searched after this one and never written.
---@field durability? "process"|"disk" When a store is complete: once the system has the bytes (process), or once the disk has them (disk). Default: "process".
---@field revalidate? "never"|"ifExpired"|"always"|"http" When a stored image is revalidated with its server, unless a request says otherwise. Default: "never".
---@field negativeCache? integer How long permanent failures are remembered, in seconds, unless a request says otherwise; 0 for not at all. Default: 0.
---@field verifyDecode? boolean Whether images are answered and kept only after they were decoded completely, unless a request says otherwise. Default: false.
---@field keyRules? { hosts?: string[], keepQuery?: string[], dropQuery?: string[] }[] Query parameters to ignore in keys that are URLs of certain hosts. The first rule that matches a host applies.

---@class halcyon.DownloaderSettings
---@field maxDownloadsPerHost? integer The largest number of downloads from one host at the same time. Default: 4.
---@field maxConcurrentDownloads? integer The largest number of downloads at the same time. Default: 64.
---@field downloadOrder? "fifo"|"lifo" The order of downloads of equal priority: the oldest (fifo) or the newest (lifo) first. Default: "fifo".
---@field downloadsPerSecond? integer The number of downloads that may start per second after a first burst; 0 for no limit. Default: 0.
---@field downloadsPerSecondPerHost? integer The same for one host; 0 for no limit. Default: 0.
---@field downloadBurst? integer The number of downloads that may start at once before the limits per second apply. Default: 25.
---@field timeout? number Seconds to wait for the next bytes, unless a request says otherwise. Default: 15.
---@field hostRules? ({ hosts: string[], headers?: table<string, string>, authorization?: { basic: { user: string, password: string } }|{ bearer: string }, clientCertificate?: string, clientKey?: string })[] What is added to requests to certain hosts, unless the request sets it itself: headers, authorization, a client certificate. Secrets are not shown.
---@field urlRewrites? { from: string, to: string }[] Requests for URLs that begin with from go to to instead; the first rule that matches applies.

---@class halcyon.RemoteSettings
---@field url? string|nil The URL of the tier; null for none. Credentials in it are not shown.
---@field mode? "read-write"|"read-only"|"write-only" Whether the tier is read, written or both. Default: "read-write".
---@field timeout? number The longest time that a request waits for the tier, in seconds. Default: 0.3.
---@field maxBytes? integer The largest image in the tier, in bytes. Default: 16777216.

---@class halcyon.ConfigureResult
---@field memory false|halcyon.MemorySettings The memory tier; false when it is turned off.
---@field disk halcyon.DiskSettings The disk tier.
---@field downloader halcyon.DownloaderSettings The downloader of all caches.
---@field remote halcyon.RemoteSettings The remote tier of all caches.
---@field options halcyon.ImageOptions The options of requests that leave them out, where they are not as built in.

---@class halcyon.CacheSettings
---@field memory false|halcyon.MemorySettings The memory tier; false when it is turned off.
---@field disk halcyon.DiskSettings The disk tier.

---@class halcyon.CachesResult
---@field caches { name: string, folder: string, isOpen: boolean, settings: halcyon.CacheSettings }[] Name, folder, whether this server has used it, and settings, by name.

---@class halcyon.SubscriptionResult
---@field events ("cache/didClean"|"image/didChange"|"activity/didChange"|"download/didFinish"|"remote/didChange"|"log")[] The events that are now subscribed to.

--- The settings of all caches, of single caches by name, of the downloader, and the options of requests that leave them out.
---@class halcyon.Settings
---@field memory? boolean|halcyon.MemorySettings The memory tier.
---@field disk? halcyon.DiskSettings The disk tier.
---@field caches? table<string, { memory?: boolean|halcyon.MemorySettings, disk?: halcyon.DiskSettings }> Settings by the name of the cache.
---@field downloader? halcyon.DownloaderSettings The downloader of all caches.
---@field options? halcyon.ImageOptions The options of requests that leave them out.

---@class halcyon.InitializeResult
---@field serverInfo { name?: string, version?: string } Name and version of the server.
---@field protocolVersion string The version of the protocol.
---@field capabilities table<string, any> What the server can do, by name; test for these names, not for versions.
---@field limits table<string, integer> The limits of the connection.

--- Returns an image from memory, from disk, or else from its URL, and caches it.
---@class halcyon.RetrieveParams
---@field url? string Where the image is: an http, https, file or data URL. Without it, the image cached under key.
---@field key? string The cache key; the URL without its fragment when left out. Alone, nothing is loaded.
---@field cache? string The name of the cache. Default: "default".
---@field processors? halcyon.Processor[]|string The processing steps, in order.
---@field options? halcyon.ImageOptions How to look up, load and keep the image.
---@field as? "path"|"data"|"both"|"none"|"dataUrl"|"pixels" What the result contains. Default: "path".

--- Puts an image into the cache.
---@class halcyon.StoreParams
---@field key string The cache key: any text.
---@field data? string The bytes, as base64. Give this or path.
---@field path? string A file to copy from, absolute or relative to the server's directory.
---@field cache? string The name of the cache. Default: "default".
---@field processors? halcyon.Processor[]|string The processing steps, in order.
---@field options? halcyon.ImageOptions How to look up, load and keep the image.
---@field overwrite? boolean Replace an image that is there. Default: true.
---@field metadata? table<string, string> Metadata to keep with the image, for inspect and list.

--- Removes an image from the cache.
---@class halcyon.RemoveParams
---@field key string The cache key: any text.
---@field cache? string The name of the cache. Default: "default".
---@field processors? halcyon.Processor[]|string The processing steps, in order.
---@field fromMemory? boolean Remove it from memory. Default: true.
---@field fromDisk? boolean Remove it from disk. Default: true.
---@field allVariants? boolean Remove everything made from it by processors too. Default: false.
---@field remote? boolean Remove them from the remote tier too, for all machines. Default: false.
---@field options? halcyon.ImageOptions The other options with which the image was made: cacheSerializer, onlyLoadFirstFrame, scaleFactor and the like.

--- Returns whether an image is cached, and in which tier; nothing is loaded.
---@class halcyon.IsCachedParams
---@field key string The cache key: any text.
---@field cache? string The name of the cache. Default: "default".
---@field processors? halcyon.Processor[]|string The processing steps, in order.
---@field options? halcyon.ImageOptions The other options with which the image was made: cacheSerializer, onlyLoadFirstFrame, scaleFactor and the like.

--- Returns the path at which an image is cached, or would be.
---@class halcyon.CachePathParams
---@field key string The cache key: any text.
---@field cache? string The name of the cache. Default: "default".
---@field processors? halcyon.Processor[]|string The processing steps, in order.
---@field options? halcyon.ImageOptions The other options with which the image was made: cacheSerializer, onlyLoadFirstFrame, scaleFactor and the like.

--- Returns how many images a cache holds and how many bytes they take, without walking a folder.
---@class halcyon.CalculateSizeParams
---@field cache? string The name of the cache. Default: "default".

--- Downloads an image and checks it; no cache is read or written.
---@class halcyon.DownloadParams
---@field url string Where the image is: an http, https, file or data URL.
---@field options? halcyon.ImageOptions How to load the images.
---@field as? "data"|"none" Whether the result holds the bytes. Default: "data".

--- Returns the format, size, orientation, frame count and transparency of an image from its first kilobytes.
---@class halcyon.ProbeParams
---@field url? string Where the image is: an http, https, file or data URL. Without it, the image cached under key.
---@field key? string The cache key; the URL without its fragment when left out. Alone, nothing is loaded.
---@field cache? string The name of the cache that is looked into first. Default: "default".
---@field options? halcyon.ImageOptions How to look up and load the image.

--- Loads images into a cache ahead of time, behind all other downloads.
---@class halcyon.PrefetchParams
---@field urls string[] Where the images are; each is loaded once, even if it is named several times.
---@field cache? string The name of the cache. Default: "default".
---@field options? halcyon.ImageOptions How to load the images.
---@field maxConcurrent? integer How many are loaded at once. Default: 5.
---@field processors? halcyon.Processor[]|string The processing steps, in order.

--- Stops a prefetch, which is then answered: what it had not loaded counts as failed.
---@class halcyon.StopPrefetchParams
---@field id string|integer The id of the prefetch request.

--- Changes the priority of a running retrieve, download or prefetch.
---@class halcyon.SetPriorityParams
---@field id string|integer The id of the request.
---@field priority number|"veryLow"|"low"|"normal"|"high"|"veryHigh" From 0 to 1, or a name; among downloads that wait, the higher goes first.

--- Cancels every running retrieve, download and prefetch, or those that match all the conditions given.
---@class halcyon.CancelAllParams
---@field url? string Only those for this URL; a prefetch goes on with its others.
---@field cache? string Only those for this cache.
---@field slot? string Only the one in this slot.

--- Starts no more downloads until resume; running ones continue, and waiting ones keep their place.
---@class halcyon.PauseParams
---@field what? "all"|"prefetch" All, or only those of prefetch that nobody else waits for. Default: "all".

--- Removes all images of a cache, or those that match.
---@class halcyon.ClearParams
---@field cache? string The name of the cache. Default: "default".
---@field remote? boolean Remove them from the remote tier too, for all machines. Default: false.
---@field host? string Only images from this host.
---@field prefix? string Only images whose keys begin with this.
---@field format? "png"|"jpeg"|"gif"|"webp"|"avif"|"heic"|"tiff"|"bmp"|"ico"|"svg"|"jxl"|"jp2"|"pnm"|"icns"|"pdf" Only images of this format.
---@field minAge? number Only images stored at least that many seconds ago.
---@field maxAge? number Only images stored at most that many seconds ago.

--- Empties the memory tier of a cache.
---@class halcyon.ClearMemoryParams
---@field cache? string The name of the cache. Default: "default".

--- Empties the disk tier of a cache; memory keeps its images, within its limit.
---@class halcyon.ClearDiskParams
---@field cache? string The name of the cache. Default: "default".

--- Forgets remembered failures, so that their URLs are tried again.
---@class halcyon.ForgetFailuresParams
---@field url? string Only those of this URL or cache key.
---@field cache? string The name of the cache. Default: "default".

--- Lists the remembered failures, which are repeated without asking the server.
---@class halcyon.ListFailuresParams
---@field cache? string The name of the cache. Default: "default".

--- Returns everything that is known about a cached image, without loading it or extending its life.
---@class halcyon.InspectParams
---@field key string The cache key: any text.
---@field cache? string The name of the cache. Default: "default".
---@field processors? halcyon.Processor[]|string The processing steps of the image.
---@field options? halcyon.ImageOptions The other options with which the image was made: cacheSerializer and the like.

--- Lists the images on disk, page by page, in an order that does not change when they are used.
---@class halcyon.ListParams
---@field cache? string The name of the cache. Default: "default".
---@field limit? integer Entries a page, 1 to 1000. Default: 100.
---@field cursor? string The cursor of the page before; the first page when left out.
---@field host? string Only images from this host.
---@field prefix? string Only images whose keys begin with this.
---@field format? "png"|"jpeg"|"gif"|"webp"|"avif"|"heic"|"tiff"|"bmp"|"ico"|"svg"|"jxl"|"jp2"|"pnm"|"icns"|"pdf" Only images of this format.
---@field minAge? number Only images stored at least that many seconds ago.
---@field maxAge? number Only images stored at most that many seconds ago.

--- Returns what retrieve would do now and why; nothing is loaded, extended or asked.
---@class halcyon.ExplainParams
---@field url? string Where the image is: an http, https, file or data URL. Without it, the image cached under key.
---@field key? string The cache key; the URL without its fragment when left out. Alone, nothing is loaded.
---@field cache? string The name of the cache. Default: "default".
---@field processors? halcyon.Processor[]|string The processing steps.
---@field options? halcyon.ImageOptions The options of the request.

--- Removes every expired image. A leased path stays valid until its lease ends.
---@class halcyon.CleanExpiredParams
---@field cache? string The name of the cache. Default: "default".

--- Reads every image of a cache, compares it with the index and repairs what is wrong; other requests continue meanwhile.
---@class halcyon.VerifyParams
---@field cache? string The name of the cache. Default: "default".
---@field repair? boolean Put right what is wrong; otherwise it is only counted. Default: true.

--- Changes the settings of a cache, the downloader or the remote tier, or the default options, from now on; settings that are left out keep their values.
---@class halcyon.ConfigureParams
---@field cache? string The name of the cache. Default: "default".
---@field memory? boolean|halcyon.MemorySettings The memory tier: its settings, or whether there is one.
---@field disk? halcyon.DiskSettings The settings of the disk tier.
---@field downloader? halcyon.DownloaderSettings The settings of the downloader of all caches.
---@field remote? halcyon.RemoteSettings The settings of the remote tier of all caches.
---@field options? halcyon.ImageOptions The options of requests that leave them out.

--- Adds a folder that is searched after that of a cache, and never written.
---@class halcyon.AddReadOnlyCachePathParams
---@field path string The absolute path of the folder.
---@field cache? string The name of the cache. Default: "default".

--- Subscribes to events, which then come as notifications.
---@class halcyon.SubscribeParams
---@field events ("cache/didClean"|"image/didChange"|"activity/didChange"|"download/didFinish"|"remote/didChange"|"log")[] The names of the events.

--- Ends subscriptions: none of these events comes after the answer.
---@class halcyon.UnsubscribeParams
---@field events ("cache/didClean"|"image/didChange"|"activity/didChange"|"download/didFinish"|"remote/didChange"|"log")[] The names of the events.

--- Introduces the client; optional. Other members that clients of language servers send are ignored.
---@class halcyon.InitializeParams
---@field processId? integer The client's process; the server ends when it does.
---@field initializationOptions? halcyon.Settings Settings of caches; flags and the environment come before them.
---@field capabilities? { delegates?: string[]|table<string, boolean> } What the client can do; delegates in it names the questions it answers.

--- Images left a disk tier because they had expired or space was needed; not sent for remove or clear.
---@class halcyon.CacheDidCleanEvent
---@field cache string The name of the cache.
---@field hashes string[] Names of files without extension.
---@field keys (string|nil)[] Cache keys; null where one is not known.
---@field reason "expired"|"sizeLimit" Why.

--- An image was answered although it was stale (stale-while-revalidate), and has been replaced since.
---@class halcyon.ImageDidChangeEvent
---@field cache string The name of the cache.
---@field key string The cache key.
---@field url string The URL.
---@field path string|nil A file.

--- Downloads have been running for a while, or have stopped: for an activity indicator.
---@class halcyon.ActivityDidChangeEvent
---@field active boolean Whether downloads are running.
---@field count integer How many.

--- A transfer has succeeded or failed: one event each, however many requests shared it.
---@class halcyon.DownloadDidFinishEvent
---@field url string The URL.
---@field finalUrl string The URL after redirects.
---@field finalURL string Former name of finalUrl.
---@field statusCode integer|nil The status code of the response.
---@field status integer|nil Former name of statusCode.
---@field byteCount integer The size in bytes.
---@field bytes integer Former name of byteCount.
---@field resumedBytes integer The bytes that an earlier transfer had loaded.
---@field seconds number A number of seconds.
---@field timings { dns: number, connect: number, tls: number, firstByte: number|nil } Seconds by phase.
---@field reused boolean Whether an open connection was reused.
---@field redirects integer How many redirects were followed.
---@field httpVersion string|nil The version of HTTP.
---@field fromRevalidation boolean Whether the server confirmed what was cached.
---@field error string|nil The error, as a request would get it.

--- The remote tier is left out because it failed (open), is tried again (half-open), or is used again (closed).
---@class halcyon.RemoteDidChangeEvent
---@field breaker "closed"|"open"|"half-open" Whether the tier is used (closed), left out (open) or being tried (half-open).
---@field reason string|nil Why.

--- A line of the log, of the level that is logged or above; at most 100 in a second.
---@class halcyon.LogEvent
---@field level string The level.
---@field message string A sentence.
---@field metadata table<string, string> Names and values.
---@field omitted? integer How many lines were left out before this one.

--- How should this request be sent? Null sends nothing, and the download fails with downloadCancelledBeforeStarting.
---@class halcyon.DownloaderModifyRequestParams
---@field url string The URL.
---@field method "GET"|"POST"|"PUT" The HTTP method.
---@field headers table<string, string> Header fields by name.

---@alias halcyon.DownloaderModifyRequestResult { url?: string, headers?: table<string, string>, method?: "GET"|"POST"|"PUT", body?: string|{ base64: string } }|nil

--- How should this redirect be followed? Null stops here, and the redirecting response itself is judged.
---@class halcyon.DownloaderRedirectParams
---@field from string The beginning to replace.
---@field statusCode integer The status code of the response.
---@field status integer Former name of statusCode.
---@field url string The URL.
---@field method "GET"|"POST"|"PUT" The HTTP method.
---@field headers table<string, string> Header fields by name.

---@alias halcyon.DownloaderRedirectResult { url?: string, headers?: table<string, string>, method?: "GET"|"POST"|"PUT", body?: string|{ base64: string } }|nil

--- Is the body of this response wanted? Null decides by validStatusCodes.
---@class halcyon.DownloaderValidateStatusParams
---@field url string The URL.
---@field statusCode integer The status code of the response.
---@field status integer Former name of statusCode.
---@field contentType string|nil The declared media type.

---@alias halcyon.DownloaderValidateStatusResult { accept: boolean }|nil

--- Which credentials should this server get? "default" continues as if not asked, "cancel" gives up.
---@class halcyon.DownloaderChallengeParams
---@field url string The URL.
---@field host string The host.
---@field realm string|nil The realm of the challenge.
---@field scheme string The authentication scheme.
---@field isProxy boolean Whether a proxy asks for credentials.
---@field failures integer How often credentials were already refused.

---@alias halcyon.DownloaderChallengeResult "default"|"cancel"|{ use: { user: string, password: string }|{ bearer: string } }|nil

---@alias halcyon.EventName "cache/didClean"|"image/didChange"|"activity/didChange"|"download/didFinish"|"remote/didChange"|"log"
---@alias halcyon.ErrorName "invalidParams"|"internalError"|"requestCancelled"|"serverCancelled"|"badData"|"notModified"|"invalidStatusCode"|"notCached"|"processingFailed"|"limitExceeded"|"dataModifyingFailed"|"invalidURL"|"connectionFailed"|"timedOut"|"tlsFailed"|"forbiddenAddress"|"unreadableFile"|"downloadCancelledBeforeStarting"|"storageFailed"

--- The questions of the server that a client may answer; nil leaves a matter to the server, vim.NIL is null.
---@class halcyon.Delegates
---@field ["downloader/modifyRequest"]? fun(params: halcyon.DownloaderModifyRequestParams): halcyon.DownloaderModifyRequestResult|vim.NIL|nil How should this request be sent? Null sends nothing, and the download fails with downloadCancelledBeforeStarting.
---@field ["downloader/redirect"]? fun(params: halcyon.DownloaderRedirectParams): halcyon.DownloaderRedirectResult|vim.NIL|nil How should this redirect be followed? Null stops here, and the redirecting response itself is judged.
---@field ["downloader/validateStatus"]? fun(params: halcyon.DownloaderValidateStatusParams): halcyon.DownloaderValidateStatusResult|vim.NIL|nil Is the body of this response wanted? Null decides by validStatusCodes.
---@field ["downloader/challenge"]? fun(params: halcyon.DownloaderChallengeParams): halcyon.DownloaderChallengeResult|vim.NIL|nil Which credentials should this server get? "default" continues as if not asked, "cancel" gives up.

--- Each method: `params` may be left out where none is needed, and so may `options`.
---@class halcyon.Methods
---@field retrieve fun(params: halcyon.RetrieveParams|string, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.ImageResult)): halcyon.Handle Returns an image from memory, from disk, or else from its URL, and caches it.
---@field store fun(params: halcyon.StoreParams|string, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.StoreResult)): halcyon.Handle Puts an image into the cache.
---@field remove fun(params: halcyon.RemoveParams|string, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.RemoveResult)): halcyon.Handle Removes an image from the cache.
---@field isCached fun(params: halcyon.IsCachedParams|string, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.IsCachedResult)): halcyon.Handle Returns whether an image is cached, and in which tier; nothing is loaded.
---@field cachePath fun(params: halcyon.CachePathParams|string, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.CachePathResult)): halcyon.Handle Returns the path at which an image is cached, or would be.
---@field calculateSize fun(params?: halcyon.CalculateSizeParams, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.SizeResult)): halcyon.Handle Returns how many images a cache holds and how many bytes they take, without walking a folder.
---@field download fun(params: halcyon.DownloadParams|string, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.DownloadResult)): halcyon.Handle Downloads an image and checks it; no cache is read or written.
---@field probe fun(params: halcyon.ProbeParams|string, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.ProbeResult)): halcyon.Handle Returns the format, size, orientation, frame count and transparency of an image from its first kilobytes.
---@field prefetch fun(params: halcyon.PrefetchParams|string[], options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.PrefetchResult)): halcyon.Handle Loads images into a cache ahead of time, behind all other downloads.
---@field stopPrefetch fun(params: halcyon.StopPrefetchParams|string|integer, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.StopResult)): halcyon.Handle Stops a prefetch, which is then answered: what it had not loaded counts as failed.
---@field setPriority fun(params: halcyon.SetPriorityParams|string|integer, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.PriorityResult)): halcyon.Handle Changes the priority of a running retrieve, download or prefetch.
---@field cancelAll fun(params?: halcyon.CancelAllParams, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.CancelResult)): halcyon.Handle Cancels every running retrieve, download and prefetch, or those that match all the conditions given.
---@field pause fun(params?: halcyon.PauseParams, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.PauseResult)): halcyon.Handle Starts no more downloads until resume; running ones continue, and waiting ones keep their place.
---@field resume fun(params: nil, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.PauseResult)): halcyon.Handle Starts downloads again after pause.
---@field clear fun(params?: halcyon.ClearParams, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.ClearResult)): halcyon.Handle Removes all images of a cache, or those that match.
---@field clearMemory fun(params?: halcyon.ClearMemoryParams, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.ClearResult)): halcyon.Handle Empties the memory tier of a cache.
---@field clearDisk fun(params?: halcyon.ClearDiskParams, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.ClearResult)): halcyon.Handle Empties the disk tier of a cache; memory keeps its images, within its limit.
---@field forgetFailures fun(params?: halcyon.ForgetFailuresParams, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.ForgetResult)): halcyon.Handle Forgets remembered failures, so that their URLs are tried again.
---@field listFailures fun(params?: halcyon.ListFailuresParams, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.FailuresResult)): halcyon.Handle Lists the remembered failures, which are repeated without asking the server.
---@field stats fun(params: nil, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.StatsResult)): halcyon.Handle Returns what the server has done since it started.
---@field checkRemote fun(params: nil, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.RemoteCheckResult)): halcyon.Handle Tries whether the remote tier can be read and written, and how far its clock is off.
---@field inspect fun(params: halcyon.InspectParams|string, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.EntryDetails)): halcyon.Handle Returns everything that is known about a cached image, without loading it or extending its life.
---@field list fun(params?: halcyon.ListParams, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.ListResult)): halcyon.Handle Lists the images on disk, page by page, in an order that does not change when they are used.
---@field explain fun(params: halcyon.ExplainParams|string, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.ExplainResult)): halcyon.Handle Returns what retrieve would do now and why; nothing is loaded, extended or asked.
---@field cleanExpired fun(params?: halcyon.CleanExpiredParams, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.CleanResult)): halcyon.Handle Removes every expired image. A leased path stays valid until its lease ends.
---@field verify fun(params?: halcyon.VerifyParams, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.VerifyResult)): halcyon.Handle Reads every image of a cache, compares it with the index and repairs what is wrong; other requests continue meanwhile.
---@field configure fun(params?: halcyon.ConfigureParams, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.ConfigureResult)): halcyon.Handle Changes the settings of a cache, the downloader or the remote tier, or the default options, from now on; settings that are left out keep their values.
---@field addReadOnlyCachePath fun(params: halcyon.AddReadOnlyCachePathParams|string, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.CacheSettings)): halcyon.Handle Adds a folder that is searched after that of a cache, and never written.
---@field caches fun(params: nil, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.CachesResult)): halcyon.Handle Lists the caches that are open, configured, or found in the cache folder.
---@field subscribe fun(params: halcyon.SubscribeParams|("cache/didClean"|"image/didChange"|"activity/didChange"|"download/didFinish"|"remote/didChange"|"log")[], options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.SubscriptionResult)): halcyon.Handle Subscribes to events, which then come as notifications.
---@field unsubscribe fun(params: halcyon.UnsubscribeParams|("cache/didClean"|"image/didChange"|"activity/didChange"|"download/didFinish"|"remote/didChange"|"log")[], options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.SubscriptionResult)): halcyon.Handle Ends subscriptions: none of these events comes after the answer.
---@field ping fun(params: nil, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: nil)): halcyon.Handle Answers null: shows that the server is alive, and its latency. Parameters are ignored.
---@field discover fun(params: nil, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: table<string, any>)): halcyon.Handle Returns this document.
