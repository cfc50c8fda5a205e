---@meta
-- Made by clients/generate.py from protocol/openrpc.json.

--- One step of the making of an image: an object with one member, the processor's name.
---@alias halcyon.Processor { downsample: { width: number, height: number } }|{ resize: { width?: number, height?: number, mode?: "none"|"aspectFit"|"aspectFill", upscale?: boolean, kernel?: "nearest"|"linear"|"cubic"|"mitchell"|"lanczos2"|"lanczos3", focus?: { x?: number, y?: number } } }|{ crop: { width: number, height: number, anchor?: { x?: number, y?: number }|"smart"|"entropy", x?: number, y?: number, unit?: "pixels"|"fraction" } }|{ pad: { width: number, height: number, backgroundColor?: string, gravity?: "center"|"top"|"bottom"|"left"|"right"|"topLeft"|"topRight"|"bottomLeft"|"bottomRight", upscale?: boolean } }|{ trim: { tolerance?: number } }|{ flip: { horizontal?: boolean, vertical?: boolean } }|{ rotate: { degrees?: number, auto?: boolean } }|{ roundCorner: { radius: number|{ fraction: number }, corners?: ("topLeft"|"topRight"|"bottomLeft"|"bottomRight")[], targetSize?: { width: number, height: number }, backgroundColor?: string } }|{ circle: { diameter?: number, backgroundColor?: string } }|{ blur: { radius: number } }|{ sharpen: { radius?: number, amount?: number } }|{ pixelate: { size: number } }|{ overlay: { color: string, fraction?: number } }|{ tint: { color: string } }|{ colorControls: { brightness?: number, contrast?: number, saturation?: number, inputEV?: number } }|{ gamma: { gamma: number } }|{ blackWhite: table<string, any> }|{ border: { color: string, width: number, radius?: number|{ fraction: number }, corners?: ("topLeft"|"topRight"|"bottomLeft"|"bottomRight")[] } }|{ blend: { mode: "normal"|"multiply"|"screen"|"overlay"|"darken"|"lighten"|"colorDodge"|"colorBurn"|"hardLight"|"softLight"|"difference"|"exclusion", alpha?: number, backgroundColor?: string } }|{ compositing: { operation: "clear"|"copy"|"sourceOver"|"sourceIn"|"sourceOut"|"sourceAtop"|"destinationOver"|"destinationIn"|"destinationOut"|"destinationAtop"|"xor"|"plusLighter", alpha?: number, backgroundColor?: string } }|{ watermark: { data: string, gravity?: "center"|"top"|"bottom"|"left"|"right"|"topLeft"|"topRight"|"bottomLeft"|"bottomRight", opacity?: number, margin?: number, scale?: number } }|{ format: { to: "png"|"jpeg"|"gif"|"webp"|"avif"|"heic"|"tiff"|"bmp"|"ico"|"jxl", quality?: number } }

---@class halcyon.ImageOptions
---@field forceRefresh? boolean Ignore the caches for reading; still write them. Default: false.
---@field fromMemoryCacheOrRefresh? boolean Look in memory only, then load. Default: false.
---@field onlyFromCache? boolean Never load; what is not cached is the error notCached. Default: false.
---@field cacheMemoryOnly? boolean Keep the image in memory only; the result has no path. Default: false.
---@field waitForCache? boolean Answer only when the image is in the cache. Default: true.
---@field memoryCacheExpiration? halcyon.Expiration How long memory keeps the image.
---@field diskCacheExpiration? halcyon.Expiration How long the disk keeps the image.
---@field memoryCacheAccessExtendingExpiration? "none"|"cacheTime"|halcyon.Expiration What an access does to the life in memory; as the cache is configured when left out.
---@field diskCacheAccessExtendingExpiration? "none"|"cacheTime"|halcyon.Expiration What an access does to the life on disk; as the cache is configured when left out.
---@field forcedCacheFileExtension? string The extension of the cached file, instead of the format's.
---@field queryDataWhenInMemory? boolean Read the bytes even when only the path was asked for. Default: false.
---@field memory? boolean Keep the image in memory; else it is only answered. Default: true.
---@field originalCache? string Another cache to look into before loading; what it has is stored here too.
---@field cacheOriginalImage? boolean Keep the original of a processed image too, so that more can be made of it. Default: true.
---@field cacheSerializer? { format?: "png"|"jpeg"|"gif"|"webp"|"avif"|"heic"|"tiff"|"bmp"|"ico"|"jxl", quality?: integer, lossless?: boolean, progressive?: boolean, background?: string, maxBytes?: integer, stripMetadata?: boolean, profile?: "keep"|"sRGB" } How a processed image is written; as the result asks for by default.
---@field onlyLoadFirstFrame? boolean Take the first frame of an animation, as a still. Default: false.
---@field frame? integer Take one frame of an animation, by its number from 0, as a still.
---@field scaleDownLargeImages? boolean Make an image of more than 15728640 pixels smaller, until it has so many. Default: false.
---@field scaleFactor? number What the lengths of processors are multiplied by: they are then in points, not pixels. Default: 1.
---@field preloadAllAnimationData? boolean Accepted for clients of other libraries: all frames are always kept. Default: false.
---@field backgroundDecode? boolean Accepted for clients of other libraries: images are always decoded in another process. Default: false.
---@field verifyDecode? boolean Answer and keep the image only once all of it has been decoded; as the cache is configured when left out.
---@field thumbHash? boolean Answer with a ThumbHash, a BlurHash and the dominant colour too, made once and kept with the entry. Default: false.
---@field maxPixels? integer The most pixels that a frame of an image to be processed may have; of a JPEG as it is shrunk on loading. Default: 50000000.
---@field maxFrames? integer The most frames that an image to be processed may have. Default: 2000.
---@field maxAnimationPixels? integer The most pixels that all frames of it may have together. Default: 250000000.
---@field decodeSeconds? number The most seconds that its processing may take. Default: 20.
---@field maxEntityBytes? integer The most bytes that the entities of a drawing may add to it where they are used. Default: 1000000.
---@field lease? number Seconds for which a path that is answered stays valid. Default: 60.
---@field revalidate? "never"|"ifExpired"|"always"|"http" Whether and when a stored image is checked with its server: never, ifExpired, always, or as its server says (http); as the cache is configured when left out.
---@field staleIfError? number Seconds past its time for which a stored image stands in when its server cannot be asked; as far as the server allows it when left out.
---@field offline? boolean Load nothing from the network, and answer whatever is stored, also when its time is over. Default: false.
---@field negativeCache? number Seconds for which a failure that would come again is remembered; as the cache is configured when left out.
---@field timeout? number Seconds to wait for the next bytes; as the downloader is configured when left out.
---@field deadline? number Seconds until the image must be there, whatever it waits for; without end by default.
---@field minBytesPerSecond? number The slowest that a download may be, over two timeouts; 0 for no such limit. Default: 100.
---@field downloadPriority? number|"veryLow"|"low"|"normal"|"high"|"veryHigh" Among downloads that wait, the higher goes first: 0 to 1, or veryLow, low, normal, high or veryHigh. Default: 0.5.
---@field alsoPrefetchToMemory? boolean Prefetch into memory too; for prefetch only. Default: false.
---@field onLastCancel? "abort"|"finish" What becomes of the download when the last who waits for it is cancelled. Default: "abort".
---@field slot? string A place that the image is for: a newer request for the same place cancels this one.
---@field merge? boolean Share the download with others who want the same. Default: true.
---@field headers? table<string, string> Request headers.
---@field method? "GET"|"POST"|"PUT" What the server is asked to do; POST when there is a body. Default: "GET".
---@field body? string|{ base64: string } What a request other than GET brings along: text, or bytes as base64; at most 1048576 bytes.
---@field dataModifier? "base64" What is done to what was downloaded before anything looks at it: base64 for text that stands for the image, also as a data URL.
---@field authorization? { basic: { user: string, password: string } }|{ bearer: string } Credentials, sent to the host of the URL only.
---@field scope? string A name for the user of the request, such as an account; what is loaded with credentials is kept apart by it instead of by the credentials, and outlasts a change of token.
---@field credentialScope? "separate"|"shared" Whether what is loaded with credentials is kept apart from what others load: separate, or shared with all. Default: "separate".
---@field delegates? ("downloader/modifyRequest"|"downloader/redirect"|"downloader/validateStatus"|"downloader/challenge")[] What the client is asked about this download, instead of what it said in initialize; an empty list for nothing.
---@field redirect? "follow"|"same-origin"|"none" Which redirects are followed: all, those to the same scheme, host and port, or none. Default: "follow".
---@field maxRedirects? integer How many redirects are followed. Default: 10.
---@field maxBytes? integer The largest body accepted, in bytes. Default: 134217728.
---@field validStatusCodes? integer[] The status codes accepted; 200 to 399 but 206 by default.
---@field acceptContentTypes? string[] Media types of which a server must name one, if it names any, such as image/*; by default the bytes decide alone.
---@field retry? { maxRetries?: integer, interval?: { seconds: number }|{ exponential: number } } Whether and when a failed download is tried again.
---@field waitForConnectivity? number Seconds for which a download that failed waits for a network, when this machine has none; then it is tried again at once.
---@field alternativeSources? string[] URLs tried in order when the first fails.
---@field hedgeAfter? number Seconds after which the next source is begun beside one that has not answered.
---@field integrity? string Digests of which the bytes must have one, as in Subresource Integrity.
---@field onFailureImage? string A path or URL that stands in when everything failed.

--- How long an entry lives; a negative number means for ever.
---@alias halcyon.Expiration "never"|"expired"|{ seconds: number }|{ days: number }|{ date: string }

---@class halcyon.ImageResult
---@field key string The cache key.
---@field cache string The name of the cache.
---@field processorIdentifier string What was done to the original; empty for nothing.
---@field cacheType "none"|"memory"|"disk" Where the answer came from; none means it was loaded now.
---@field path string|nil A complete file; null when the image is only in memory.
---@field uri string|nil The file's URL; null when there is none.
---@field format "png"|"jpeg"|"gif"|"webp"|"avif"|"heic"|"tiff"|"bmp"|"ico"|"svg"|"jxl"|"jp2"|"pnm"|"icns"|"pdf" The picture format, by signature.
---@field mimeType string The media type of the format.
---@field width integer Pixels across, as coded.
---@field height integer Pixels down, as coded.
---@field orientation? integer How it is to be turned, 1 to 8 as in EXIF; left out for what an older version stored; probe tells.
---@field hasAlpha? boolean Whether it may be transparent; left out for what an older version stored; probe tells.
---@field displayWidth? integer Pixels across when it is turned as orientation says; left out for what an older version stored; probe tells.
---@field displayHeight? integer Pixels down when it is turned as orientation says; left out for what an older version stored; probe tells.
---@field frameCount integer Pictures of an animation or pages; 1 for stills, and for JPEG XL.
---@field framesDropped? integer How many frames or pages of the original a processed image lacks, although all were asked for; left out for none.
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
---@field pixels? { path: string, uri: string, width: integer, height: integer, stride: integer, frameCount: integer, byteCount: integer, loopCount: integer, frameSeconds: number[], delays: integer[], framesDropped?: integer } A file of raw pixels, when asked for: RGBA, eight bits each, sRGB, the frames one below the other. The other fields are those of the original.
---@field leased? boolean False when the path is not lent, for what is lent has used its half of the limit.
---@field stale? boolean True when its time is over, or its server was not asked although the request wanted that.
---@field revalidated? boolean True when its server was asked, and said that it has not changed.
---@field placeholder? boolean True when this stands in for an image that could not be had.
---@field memoryCached? boolean False when memory was to keep the bytes, but did not.
---@field memoryReason? string Why memory did not keep the bytes, naming the setting.
---@field stored? "noStore"|"tooLarge"|"noRoom"|"diskFailed"|"busy"|"expired"|"memoryOff"|"notAsked"|"occupied" The reason why no tier keeps the image, which was loaded now; left out when a tier keeps it.

---@class halcyon.StoreResult
---@field key string The cache key.
---@field cache string The name of the cache.
---@field processorIdentifier string What was done to the original; empty for nothing.
---@field cacheType "none"|"memory"|"disk" Where the answer came from; none means it was loaded now.
---@field path string|nil A complete file; null when the image is only in memory.
---@field uri string|nil The file's URL; null when there is none.
---@field format "png"|"jpeg"|"gif"|"webp"|"avif"|"heic"|"tiff"|"bmp"|"ico"|"svg"|"jxl"|"jp2"|"pnm"|"icns"|"pdf" The picture format, by signature.
---@field mimeType string The media type of the format.
---@field width integer Pixels across, as coded.
---@field height integer Pixels down, as coded.
---@field orientation? integer How it is to be turned, 1 to 8 as in EXIF; left out for what an older version stored; probe tells.
---@field hasAlpha? boolean Whether it may be transparent; left out for what an older version stored; probe tells.
---@field displayWidth? integer Pixels across when it is turned as orientation says; left out for what an older version stored; probe tells.
---@field displayHeight? integer Pixels down when it is turned as orientation says; left out for what an older version stored; probe tells.
---@field frameCount integer Pictures of an animation or pages; 1 for stills, and for JPEG XL.
---@field framesDropped? integer How many frames or pages of the original a processed image lacks, although all were asked for; left out for none.
---@field frameSeconds? number[] How long each frame of an animation is shown, in seconds, where that is known.
---@field delays? integer[] Former name of frameSeconds, in milliseconds.
---@field loopCount? integer How often an animation is played, where that is known; 0 for ever.
---@field byteCount integer The size of the image file, in bytes.
---@field data? string The bytes, when asked for.
---@field url? string Where it was downloaded from, after redirects.
---@field etag? string The server's entity tag.
---@field lastModified? string The server's date of last change, as sent.
---@field expiresAt string|nil When the entry on disk expires; null for never.
---@field leased? boolean False when the path is not lent, for what is lent has used its half of the limit.
---@field stored { memory: boolean, disk: boolean, reason?: "noStore"|"tooLarge"|"noRoom"|"diskFailed"|"busy"|"expired"|"memoryOff"|"notAsked"|"occupied" } Which tiers hold the image now: memory its bytes, disk its file. With reason when nothing was stored.
---@field reason? string Why memory does not hold the bytes, or nothing was stored.

---@class halcyon.RemoveResult
---@field removed boolean Whether anything was removed.
---@field memory boolean Whether something was removed from memory.
---@field disk boolean Whether something was removed from disk.
---@field leased boolean Whether a path that was lent out went before its time.

---@class halcyon.IsCachedResult
---@field cached boolean Whether a tier has the image.
---@field cacheType "none"|"memory"|"disk" The first tier that has it.

---@class halcyon.CachePathResult
---@field path string Where the image is, or would be.
---@field uri string The same as a URL.
---@field exists boolean Whether the image is there.
---@field leased? boolean False when the path is not lent, for what is lent has used its half of the limit.

---@class halcyon.SizeResult
---@field disk { count: integer, byteCount: integer, bytes: integer, bytesLimit: integer, limitBytes: integer, allocatedBytes?: integer, leasedBytes?: integer } Entries, bytes, bytes in whole blocks, the limit (0 for none), and the bytes of files that are no longer in the cache and go when their leases end, of the disk tier.
---@field memory { count: integer, byteCount: integer, bytes: integer, bytesLimit: integer, limitBytes: integer, allocatedBytes?: integer, leasedBytes?: integer } Entries, bytes and the limit of the memory tier.

---@class halcyon.DownloadResult
---@field format "png"|"jpeg"|"gif"|"webp"|"avif"|"heic"|"tiff"|"bmp"|"ico"|"svg"|"jxl"|"jp2"|"pnm"|"icns"|"pdf" The picture format, by signature.
---@field mimeType string The media type of the format.
---@field width integer Pixels across, as coded.
---@field height integer Pixels down, as coded.
---@field frameCount integer Pictures of an animation or pages; 1 for stills, and for JPEG XL.
---@field frameSeconds? number[] How long each frame of an animation is shown, in seconds, where that is known.
---@field delays? integer[] Former name of frameSeconds, in milliseconds.
---@field loopCount? integer How often an animation is played, where that is known; 0 for ever.
---@field byteCount integer The size of the image file, in bytes.
---@field data? string The bytes, when asked for.
---@field url? string Where it was downloaded from, after redirects.
---@field etag? string The server's entity tag.
---@field lastModified? string The server's date of last change, as sent.

---@class halcyon.ProbeResult
---@field format "png"|"jpeg"|"gif"|"webp"|"avif"|"heic"|"tiff"|"bmp"|"ico"|"svg"|"jxl"|"jp2"|"pnm"|"icns"|"pdf" The picture format, by signature.
---@field mimeType string The media type of the format.
---@field width integer Pixels across, as coded.
---@field height integer Pixels down, as coded.
---@field orientation integer|nil How it is to be turned, 1 to 8 as in EXIF; null when its start does not tell.
---@field frameCount integer|nil Pictures of an animation or pages; null when its start does not tell.
---@field frameSeconds? number[] How long each frame of an animation is shown, in seconds; left out when its start does not tell.
---@field delays? integer[] Former name of frameSeconds, in milliseconds.
---@field loopCount? integer How often an animation is played, 0 for ever; left out when its start does not tell.
---@field hasAlpha boolean|nil Whether it may be transparent; null when its start does not tell.
---@field byteCount integer|nil Its size in bytes; null when its server does not say.
---@field cacheType "none"|"memory"|"disk" Where it was looked at; none for its source.
---@field displayWidth? integer Pixels across when it is turned as orientation says; left out when its start does not tell.
---@field displayHeight? integer Pixels down when it is turned as orientation says; left out when its start does not tell.

---@class halcyon.PrefetchResult
---@field completed string[] URLs that were loaded.
---@field skipped string[] URLs whose images were cached already.
---@field failed { url: string, error: table<string, any> }[] URLs whose images could not be had, or were stopped, with their errors.
---@field notStored? ({ url: string, stored: "noStore"|"tooLarge"|"noRoom"|"diskFailed"|"busy"|"expired"|"memoryOff"|"notAsked"|"occupied" })[] URLs that were loaded and whose images no tier keeps, with the reason; left out when empty.

---@class halcyon.StopResult
---@field stopped boolean Whether that prefetch was under way.

---@class halcyon.PriorityResult
---@field changed boolean Whether that request was under way.

---@class halcyon.CancelResult
---@field cancelled integer How many requests were cancelled.

---@class halcyon.PauseResult
---@field paused "none"|"prefetch"|"all" Which downloads are not started.
---@field running integer How many downloads are under way, and go on.
---@field waiting integer How many wait for their turn.

---@class halcyon.ClearResult
---@field count integer Entries removed.
---@field byteCount integer Bytes freed.
---@field bytes integer Former name of byteCount.
---@field leased integer About how many paths that were lent out went before their time.

---@class halcyon.ForgetResult
---@field forgotten integer How many failures were forgotten.

---@class halcyon.FailuresResult
---@field failures { url: string, key: string, error: table<string, any>, seconds: number }[] The failures, the oldest first: URL, cache key, error, and for how many seconds more.

---@class halcyon.StatsResult
---@field memoryHits integer Images answered from memory.
---@field diskHits integer Images answered from disk.
---@field misses integer Images that no cache had.
---@field merged integer Callers that joined work under way.
---@field downloads integer Downloads that ended well.
---@field sharedDownloads integer Images that another process had downloaded while this one waited for it.
---@field failedDownloads integer Downloads that failed or were cancelled.
---@field downloadedBytes integer Bytes of bodies received.
---@field runningDownloads integer Downloads under way.
---@field stalledDownloads integer Those of them whose servers have said nothing for a second.
---@field waitingDownloads integer Downloads waiting for their turn, or for another process that downloads the same.
---@field evictions integer Images evicted from disk for their size.
---@field damagedFiles integer Images taken out because their files had been changed by another program.
---@field rememberedFailures integer Failures that are remembered, and repeated without asking.
---@field notStored table<string, integer> Loaded images that no tier keeps although they were to be kept, by reason; also those that nobody waits for, and the originals of made images.
---@field requestsInFlight integer Requests being worked on.
---@field output { heldBytes: integer, bytesLimit: integer, limitBytes: integer, waits: integer } What is made for the client and not yet read by it: the bytes held, their limit (outputLimit), and how often requests had to wait for the client to read.
---@field uptimeSeconds number Seconds since the server started.
---@field latency table<string, halcyon.Latency> How long requests took from being read to being answered, by method.

---@class halcyon.Latency
---@field count integer Requests that were answered, well or not.
---@field p50 number Milliseconds that half of them did not surpass, to an eighth.
---@field p95 number Milliseconds that 95 % of them did not surpass, to an eighth.
---@field p99 number Milliseconds that 99 % of them did not surpass, to an eighth.
---@field max number Milliseconds of the one that took longest.

---@class halcyon.EntryDetails
---@field key string|nil The cache key; null when only the file is known, until the image is asked for.
---@field processorIdentifier string|nil What was done to the original; empty for nothing.
---@field user string|nil A digest of the user whom the image belongs to; null for an image that users share.
---@field hash string|nil The hash that names the file; null in a read-only folder.
---@field path string|nil The file; null for an image that is only in memory.
---@field uri string|nil The same as a URL.
---@field format string|nil The picture format, by signature.
---@field mimeType string|nil The media type of the format.
---@field width integer|nil Pixels across, as coded.
---@field height integer|nil Pixels down, as coded.
---@field frameCount integer|nil Pictures of an animation or pages; 1 for stills, and for JPEG XL.
---@field byteCount integer|nil The size of the file, in bytes.
---@field allocatedBytes integer|nil What the file takes on the disk; null in a read-only folder.
---@field checksum string|nil SHA-256 of the bytes, in hexadecimal.
---@field sharedBy integer|nil How many entries have the same file; null in a list.
---@field url string|nil Where it was downloaded from, after redirects.
---@field host string|nil The host it came from.
---@field etag string|nil The server's entity tag.
---@field lastModified string|nil The server's date of last change, as sent.
---@field storedAt string|nil When it was stored.
---@field usedAt string|nil When it was last used, to within half a minute.
---@field expiresAt string|nil When it expires; null for never.
---@field leasedUntil string|nil Until when its path is lent out; null when it is not.
---@field metadata table<string, string>|nil What the caller of store wanted kept.
---@field orientation? integer How it is to be turned, 1 to 8 as in EXIF; left out for what an older version stored; probe tells.
---@field hasAlpha? boolean Whether it may be transparent; left out for what an older version stored; probe tells.
---@field displayWidth? integer Pixels across when it is turned as orientation says; left out for what an older version stored; probe tells.
---@field displayHeight? integer Pixels down when it is turned as orientation says; left out for what an older version stored; probe tells.

---@class halcyon.ListResult
---@field entries halcyon.EntryDetails[] The images of this page.
---@field cursor string|nil What the next page is asked for with; null at the end.

---@class halcyon.ExplainResult
---@field key string The key under which the image is kept.
---@field cache string The name of the cache.
---@field hash string The hash that names the file.
---@field path string Where the image is on disk, or would be.
---@field cacheType "none"|"memory"|"disk" Which tier has the image, its time not being over.
---@field storedAt string|nil When what is stored was stored.
---@field expiresAt string|nil When its time on disk is over; null for never, and when nothing is stored.
---@field stale boolean|nil Whether what is stored is not as fresh as the request wants it; null when nothing is.
---@field verdict "answer"|"answerStale"|"answerAndRefresh"|"revalidate"|"load"|"fail" What would be done.
---@field network boolean Whether the network would be used.
---@field url string|nil The URL that would be asked first; null when none would.
---@field reasons string[] Why: sentences for people.
---@field error table<string, any>|nil What it would fail with, as far as that is known; null for nothing.

---@class halcyon.CleanResult
---@field count integer Images removed.
---@field byteCount integer Bytes of their files.
---@field bytes integer Former name of byteCount.
---@field hashes string[] The hashes of their keys, which named the files.
---@field keys (string|nil)[] Their keys, at the same places; null where it is not known.

---@class halcyon.VerifyResult
---@field checked integer Entries looked at.
---@field byteCount integer Bytes read.
---@field bytes integer Former name of byteCount.
---@field damaged integer Entries whose files are not what was stored; taken out.
---@field missing integer Entries without files; taken out.
---@field adopted integer Images without entries; taken in.
---@field leftovers integer Files of dead writers, and files that are no images; removed.
---@field corrected integer Sums and notes of the index that were wrong; put right.
---@field unreadable integer Files that could not be read now, for want of a permission or of descriptors; left alone.
---@field clean boolean Whether nothing was wrong.

---@class halcyon.MemorySettings
---@field totalBytesLimit? integer The most memory holds, in bytes; 0 holds nothing. Default: 104857600.
---@field preferredBytesAfterPurge? integer What a purge leaves, in bytes; setting totalBytesLimit alone makes it three fifths of that. Default: 62914560.
---@field countLimit? integer The most images; 0 for no limit. Default: 0.
---@field entryBytesLimit? integer|nil The most one image may take, in bytes; null for a tenth of the limit.
---@field expiration? halcyon.Expiration How long an image stays in memory. Default: {"seconds": 300}.
---@field extending? "none"|"cacheTime"|halcyon.Expiration What a use does to that: cacheTime begins it anew, none leaves it. Default: "cacheTime".
---@field weakRetention? boolean Whether an image that was purged is found as long as an answer with it is under way. Default: true.

---@class halcyon.DiskSettings
---@field folder? string The folder, an absolute path; it can be named until the cache is first used.
---@field bytesLimit? integer The most the images take on disk, in bytes; 0 for no limit. Default: 2147483648.
---@field purgeRatio? number What a purge leaves, as a part of the limit. Default: 0.5.
---@field freeSpaceFloor? integer|nil Bytes of the file system that stay free; null for a hundredth of it, 128 KiB (at most an eighth) to 256 MiB.
---@field expiration? halcyon.Expiration How long an image stays on disk. Default: {"days": 7}.
---@field expireBy? "access"|"modification" What that counts from: the last use (access) or the storing (modification). Default: "access".
---@field pathExtension? string The extension of files: of the format found (sniffed), of the key (fromKey), none, or any other text. Default: "sniffed".
---@field fileNames? "sha256"|"md5" How files are named: by sha256 or md5 of the key. Default: "sha256".
---@field readOnlyPaths? string[] Absolute paths of folders that are searched after this one and never written.
---@field durability? "process"|"disk" When a store is done: the system has the bytes (process), or the disk (disk). Default: "process".
---@field revalidate? "never"|"ifExpired"|"always"|"http" Whether and when a stored image is checked with its server, unless a request says otherwise. Default: "never".
---@field negativeCache? integer Seconds for which failures that would come again are remembered, unless a request says otherwise; 0 for not at all. Default: 0.
---@field verifyDecode? boolean Whether images are only answered and kept once all of them has been decoded, unless a request says otherwise. Default: false.
---@field keyRules? { hosts?: string[], keepQuery?: string[], dropQuery?: string[] }[] Query parameters that make no other image: keys that are URLs of the hosts are kept without them. The first rule for a host counts.

---@class halcyon.DownloaderSettings
---@field maxDownloadsPerHost? integer Downloads at once from one host. Default: 4.
---@field maxConcurrentDownloads? integer Downloads at once in all. Default: 64.
---@field downloadOrder? "fifo"|"lifo" Which of equal priority goes first: the oldest (fifo) or newest (lifo). Default: "fifo".
---@field downloadsPerSecond? integer Downloads started a second, after a first burst; 0 for no limit. Default: 0.
---@field downloadsPerSecondPerHost? integer The same for one host; 0 for no limit. Default: 0.
---@field downloadBurst? integer How many may start at once before downloadsPerSecond, or that of a host, counts. Default: 25.
---@field timeout? number Seconds to wait for the next bytes, unless a request says otherwise. Default: 15.
---@field hostRules? ({ hosts: string[], headers?: table<string, string>, authorization?: { basic: { user: string, password: string } }|{ bearer: string }, clientCertificate?: string, clientKey?: string })[] What is added to requests for some hosts, where they say nothing else: headers, authorization, a client certificate. Secrets are not shown.
---@field urlRewrites? { from: string, to: string }[] Requests for URLs that begin with from go to to instead; the first counts.

---@class halcyon.ConfigureResult
---@field memory false|halcyon.MemorySettings The memory tier; false when it is switched off.
---@field disk halcyon.DiskSettings The disk tier.
---@field downloader halcyon.DownloaderSettings The downloader of all caches.

---@class halcyon.CacheSettings
---@field memory false|halcyon.MemorySettings The memory tier; false when it is switched off.
---@field disk halcyon.DiskSettings The disk tier.

---@class halcyon.CachesResult
---@field caches { name: string, folder: string, isOpen: boolean, settings: halcyon.CacheSettings }[] Name, folder, whether this server has used it, and settings, by name.

---@class halcyon.SubscriptionResult
---@field events ("cache/didClean"|"image/didChange"|"activity/didChange"|"download/didFinish"|"log")[] The events now subscribed.

--- Settings of all caches, of single ones by name, and of the downloader.
---@class halcyon.Settings
---@field memory? boolean|halcyon.MemorySettings The memory tier.
---@field disk? halcyon.DiskSettings The disk tier.
---@field caches? table<string, { memory?: boolean|halcyon.MemorySettings, disk?: halcyon.DiskSettings }> Settings by the name of the cache.
---@field downloader? halcyon.DownloaderSettings The downloader of all caches.

---@class halcyon.InitializeResult
---@field serverInfo { name?: string, version?: string } Name and version of the server.
---@field protocolVersion string The version of the protocol.
---@field capabilities table<string, any> What the server can do, by name; test for the names, not for versions.
---@field limits table<string, integer> What the connection accepts.

--- Returns an image: from memory, else from disk, else from its URL, whence it is cached.
---@class halcyon.RetrieveParams
---@field url? string Where the image is: an http, https, file or data URL. Without it, what is cached under key is meant.
---@field key? string The cache key; the URL without its fragment when left out. Alone, nothing is loaded.
---@field cache? string The name of the cache. Default: "default".
---@field processors? halcyon.Processor[]|string What is done to the original, in order.
---@field options? halcyon.ImageOptions How to look up, load and keep the image.
---@field as? "path"|"data"|"both"|"none"|"dataUrl"|"pixels" What the result holds of the image. Default: "path".

--- Puts an image into the cache.
---@class halcyon.StoreParams
---@field key string The cache key: any text.
---@field data? string The bytes, as base64. Give this or path.
---@field path? string A file to copy from, absolute or relative to the server's directory.
---@field cache? string The name of the cache. Default: "default".
---@field processors? halcyon.Processor[]|string What is done to the original, in order.
---@field options? halcyon.ImageOptions How to look up, load and keep the image.
---@field overwrite? boolean Replace an image that is there. Default: true.
---@field metadata? table<string, string> What is to be kept with the image, for inspect and list.

--- Removes an image from the cache.
---@class halcyon.RemoveParams
---@field key string The cache key: any text.
---@field cache? string The name of the cache. Default: "default".
---@field processors? halcyon.Processor[]|string What is done to the original, in order.
---@field fromMemory? boolean Remove it from memory. Default: true.
---@field fromDisk? boolean Remove it from disk. Default: true.
---@field allVariants? boolean Remove everything made from it by processors too. Default: false.
---@field options? halcyon.ImageOptions What else was said when the image was made: cacheSerializer, onlyLoadFirstFrame, scaleFactor and the like.

--- Tells whether an image is cached, and where; nothing is loaded.
---@class halcyon.IsCachedParams
---@field key string The cache key: any text.
---@field cache? string The name of the cache. Default: "default".
---@field processors? halcyon.Processor[]|string What is done to the original, in order.
---@field options? halcyon.ImageOptions What else was said when the image was made: cacheSerializer, onlyLoadFirstFrame, scaleFactor and the like.

--- Tells where an image is in the cache, or would be.
---@class halcyon.CachePathParams
---@field key string The cache key: any text.
---@field cache? string The name of the cache. Default: "default".
---@field processors? halcyon.Processor[]|string What is done to the original, in order.
---@field options? halcyon.ImageOptions What else was said when the image was made: cacheSerializer, onlyLoadFirstFrame, scaleFactor and the like.

--- Tells how many images a cache holds and how large they are, without walking a folder.
---@class halcyon.CalculateSizeParams
---@field cache? string The name of the cache. Default: "default".

--- Loads an image and checks it; no cache is looked into or written.
---@class halcyon.DownloadParams
---@field url string Where the image is: an http, https, file or data URL.
---@field options? halcyon.ImageOptions How to load the images.
---@field as? "data"|"none" Whether the result holds the bytes. Default: "data".

--- Tells format, size, orientation, frames and transparency of an image from its first kilobytes.
---@class halcyon.ProbeParams
---@field url? string Where the image is: an http, https, file or data URL. Without it, what is cached under key is meant.
---@field key? string The cache key; the URL without its fragment when left out. Alone, nothing is loaded.
---@field cache? string The name of the cache that is looked into first. Default: "default".
---@field options? halcyon.ImageOptions How to look up and load the image.

--- Loads images into a cache before somebody wants them, behind all other downloads.
---@class halcyon.PrefetchParams
---@field urls string[] Where the images are; each is loaded once, however often it is named.
---@field cache? string The name of the cache. Default: "default".
---@field options? halcyon.ImageOptions How to load the images.
---@field maxConcurrent? integer How many are loaded at once. Default: 5.
---@field processors? halcyon.Processor[]|string What is done to the originals, in order.

--- Stops a prefetch, which is then answered: what it has not loaded has failed.
---@class halcyon.StopPrefetchParams
---@field id string|integer The id of the prefetch request.

--- Changes how urgent a retrieve, download or prefetch under way is.
---@class halcyon.SetPriorityParams
---@field id string|integer The id of the request.
---@field priority number|"veryLow"|"low"|"normal"|"high"|"veryHigh" From 0 to 1, or a name; among downloads that wait, the higher goes first.

--- Cancels every retrieve, download and prefetch under way, or those that match all that is given.
---@class halcyon.CancelAllParams
---@field url? string Only those for this URL; a prefetch goes on with its others.
---@field cache? string Only those for this cache.
---@field slot? string Only the one in this slot.

--- Starts no more downloads until resume; what is under way goes on, and what waits keeps its place.
---@class halcyon.PauseParams
---@field what? "all"|"prefetch" All, or only those of prefetch that nobody else waits for. Default: "all".

--- Empties a cache: memory and disk.
---@class halcyon.ClearParams
---@field cache? string The name of the cache. Default: "default".

--- Empties the memory tier of a cache.
---@class halcyon.ClearMemoryParams
---@field cache? string The name of the cache. Default: "default".

--- Empties the disk tier of a cache; memory keeps its images as far as its limit goes.
---@class halcyon.ClearDiskParams
---@field cache? string The name of the cache. Default: "default".

--- Forgets failures that are remembered, so that they are asked for again.
---@class halcyon.ForgetFailuresParams
---@field url? string Only those of this URL or cache key.
---@field cache? string The name of the cache. Default: "default".

--- Lists the failures that are remembered, and repeated without asking.
---@class halcyon.ListFailuresParams
---@field cache? string The name of the cache. Default: "default".

--- Tells everything that is known of a cached image, without loading or prolonging it.
---@class halcyon.InspectParams
---@field key string The cache key: any text.
---@field cache? string The name of the cache. Default: "default".
---@field processors? halcyon.Processor[]|string What was done to the original.
---@field options? halcyon.ImageOptions What else was said when the image was made: cacheSerializer and the like.

--- Lists what the disk tier of a cache holds, page by page, in an order that no use changes.
---@class halcyon.ListParams
---@field cache? string The name of the cache. Default: "default".
---@field limit? integer Entries a page, 1 to 1000. Default: 100.
---@field cursor? string What the page before came with; the first page when left out.
---@field host? string Only images from this host.
---@field prefix? string Only images whose keys begin so.
---@field format? "png"|"jpeg"|"gif"|"webp"|"avif"|"heic"|"tiff"|"bmp"|"ico"|"svg"|"jxl"|"jp2"|"pnm"|"icns"|"pdf" Only images of this format.
---@field minAge? number Only images stored at least so many seconds ago.
---@field maxAge? number Only images stored at most so many seconds ago.

--- Tells what retrieve would do now and why; nothing is loaded, prolonged or asked.
---@class halcyon.ExplainParams
---@field url? string Where the image is: an http, https, file or data URL. Without it, what is cached under key is meant.
---@field key? string The cache key; the URL without its fragment when left out. Alone, nothing is loaded.
---@field cache? string The name of the cache. Default: "default".
---@field processors? halcyon.Processor[]|string What is done to the original.
---@field options? halcyon.ImageOptions The options of the request.

--- Removes every image whose time is over. A path that is lent out stays valid.
---@class halcyon.CleanExpiredParams
---@field cache? string The name of the cache. Default: "default".

--- Reads every image of a cache through, holds it against the index, and puts right what is wrong; others go on.
---@class halcyon.VerifyParams
---@field cache? string The name of the cache. Default: "default".
---@field repair? boolean Put right what is wrong; otherwise it is only counted. Default: true.

--- Changes the settings of a cache, or of the downloader, from now on; what is left out stays as it was.
---@class halcyon.ConfigureParams
---@field cache? string The name of the cache. Default: "default".
---@field memory? boolean|halcyon.MemorySettings The memory tier: its settings, or whether there is one.
---@field disk? halcyon.DiskSettings The settings of the disk tier.
---@field downloader? halcyon.DownloaderSettings The settings of the downloader of all caches.

--- Adds a folder that is searched after that of a cache, and never written.
---@class halcyon.AddReadOnlyCachePathParams
---@field path string The absolute path of the folder.
---@field cache? string The name of the cache. Default: "default".

--- Asks to be told of events by notifications; nothing is sent before.
---@class halcyon.SubscribeParams
---@field events ("cache/didClean"|"image/didChange"|"activity/didChange"|"download/didFinish"|"log")[] The names of the events.

--- Ends subscriptions: none of these events follows the answer.
---@class halcyon.UnsubscribeParams
---@field events ("cache/didClean"|"image/didChange"|"activity/didChange"|"download/didFinish"|"log")[] The names of the events.

--- Introduces the client; optional. Whatever a language server's client sends besides is let pass.
---@class halcyon.InitializeParams
---@field processId? integer The client's process; the server ends when it does.
---@field initializationOptions? halcyon.Settings Settings of caches; flags and the environment come before them.
---@field capabilities? { delegates?: string[]|table<string, boolean> } What the client can do; delegates in it names what it wants to be asked.

--- Images went from a disk tier because their time was over or room was needed; never for remove or clear.
---@class halcyon.CacheDidCleanEvent
---@field cache string The name of the cache.
---@field hashes string[] Names of files without extension.
---@field keys (string|nil)[] Cache keys, null where one is not known.
---@field reason "expired"|"sizeLimit" Why.

--- An image was answered although it was stale (stale-while-revalidate), and has been replaced since.
---@class halcyon.ImageDidChangeEvent
---@field cache string The name of the cache.
---@field key string The cache key.
---@field url string The URL.
---@field path string|nil A file.

--- Downloads have been running for a while, or have stopped: what a sign of activity shows.
---@class halcyon.ActivityDidChangeEvent
---@field active boolean Whether downloads are running.
---@field count integer How many.

--- A transfer has ended, well or not: once each, however many requests shared it.
---@class halcyon.DownloadDidFinishEvent
---@field url string The URL.
---@field finalUrl string The URL after redirects.
---@field finalURL string Former name of finalUrl.
---@field statusCode integer|nil The status of the answer.
---@field status integer|nil Former name of statusCode.
---@field byteCount integer The size in bytes.
---@field bytes integer Former name of byteCount.
---@field resumedBytes integer Those that an earlier transfer had loaded.
---@field seconds number A number of seconds.
---@field timings { dns: number, connect: number, tls: number, firstByte: number|nil } Seconds by phase.
---@field reused boolean Whether the connection was open already.
---@field redirects integer How many redirects were followed.
---@field httpVersion string|nil The version of HTTP.
---@field fromRevalidation boolean Whether the server confirmed what was cached.
---@field error string|nil The error, as of a request.

--- A line of the log, of the level that is logged or above; at most 100 in a second.
---@class halcyon.LogEvent
---@field level string The level.
---@field message string A sentence.
---@field metadata table<string, string> Names and values.
---@field omitted? integer How many lines were left out before.

--- How is this request to be sent? Null sends none, and the download fails with downloadCancelledBeforeStarting.
---@class halcyon.DownloaderModifyRequestParams
---@field url string The URL.
---@field method "GET"|"POST"|"PUT" The HTTP method.
---@field headers table<string, string> Header fields by name.

---@alias halcyon.DownloaderModifyRequestResult { url?: string, headers?: table<string, string>, method?: "GET"|"POST"|"PUT", body?: string|{ base64: string } }|nil

--- How is this redirect to be followed? Null stops here, and the answer that redirects is judged as it is.
---@class halcyon.DownloaderRedirectParams
---@field from string What it was.
---@field statusCode integer The status of the answer.
---@field status integer Former name of statusCode.
---@field url string The URL.
---@field method "GET"|"POST"|"PUT" The HTTP method.
---@field headers table<string, string> Header fields by name.

---@alias halcyon.DownloaderRedirectResult { url?: string, headers?: table<string, string>, method?: "GET"|"POST"|"PUT", body?: string|{ base64: string } }|nil

--- Is the body of this answer wanted? Null judges it by validStatusCodes.
---@class halcyon.DownloaderValidateStatusParams
---@field url string The URL.
---@field statusCode integer The status of the answer.
---@field status integer Former name of statusCode.
---@field contentType string|nil The declared media type.

---@alias halcyon.DownloaderValidateStatusResult { accept: boolean }|nil

--- Which credentials does this server get? "default" goes on as without the question, "cancel" gives up.
---@class halcyon.DownloaderChallengeParams
---@field url string The URL.
---@field host string The host.
---@field realm string|nil The realm of the challenge.
---@field scheme string The way to log in.
---@field isProxy boolean Whether a proxy asks.
---@field failures integer How often credentials were refused.

---@alias halcyon.DownloaderChallengeResult "default"|"cancel"|{ use: { user: string, password: string }|{ bearer: string } }|nil

---@alias halcyon.EventName "cache/didClean"|"image/didChange"|"activity/didChange"|"download/didFinish"|"log"
---@alias halcyon.ErrorName "invalidParams"|"internalError"|"requestCancelled"|"serverCancelled"|"badData"|"notModified"|"invalidStatusCode"|"notCached"|"processingFailed"|"limitExceeded"|"dataModifyingFailed"|"invalidURL"|"connectionFailed"|"timedOut"|"tlsFailed"|"forbiddenAddress"|"unreadableFile"|"downloadCancelledBeforeStarting"|"storageFailed"

--- The questions of the server that a client may answer; nil leaves a matter to the server, vim.NIL is null.
---@class halcyon.Delegates
---@field ["downloader/modifyRequest"]? fun(params: halcyon.DownloaderModifyRequestParams): halcyon.DownloaderModifyRequestResult|vim.NIL|nil How is this request to be sent? Null sends none, and the download fails with downloadCancelledBeforeStarting.
---@field ["downloader/redirect"]? fun(params: halcyon.DownloaderRedirectParams): halcyon.DownloaderRedirectResult|vim.NIL|nil How is this redirect to be followed? Null stops here, and the answer that redirects is judged as it is.
---@field ["downloader/validateStatus"]? fun(params: halcyon.DownloaderValidateStatusParams): halcyon.DownloaderValidateStatusResult|vim.NIL|nil Is the body of this answer wanted? Null judges it by validStatusCodes.
---@field ["downloader/challenge"]? fun(params: halcyon.DownloaderChallengeParams): halcyon.DownloaderChallengeResult|vim.NIL|nil Which credentials does this server get? "default" goes on as without the question, "cancel" gives up.

--- Each method: `params` may be left out where none is needed, and so may `options`.
---@class halcyon.Methods
---@field retrieve fun(params: halcyon.RetrieveParams|string, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.ImageResult)): halcyon.Handle Returns an image: from memory, else from disk, else from its URL, whence it is cached.
---@field store fun(params: halcyon.StoreParams|string, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.StoreResult)): halcyon.Handle Puts an image into the cache.
---@field remove fun(params: halcyon.RemoveParams|string, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.RemoveResult)): halcyon.Handle Removes an image from the cache.
---@field isCached fun(params: halcyon.IsCachedParams|string, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.IsCachedResult)): halcyon.Handle Tells whether an image is cached, and where; nothing is loaded.
---@field cachePath fun(params: halcyon.CachePathParams|string, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.CachePathResult)): halcyon.Handle Tells where an image is in the cache, or would be.
---@field calculateSize fun(params?: halcyon.CalculateSizeParams, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.SizeResult)): halcyon.Handle Tells how many images a cache holds and how large they are, without walking a folder.
---@field download fun(params: halcyon.DownloadParams|string, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.DownloadResult)): halcyon.Handle Loads an image and checks it; no cache is looked into or written.
---@field probe fun(params: halcyon.ProbeParams|string, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.ProbeResult)): halcyon.Handle Tells format, size, orientation, frames and transparency of an image from its first kilobytes.
---@field prefetch fun(params: halcyon.PrefetchParams|string[], options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.PrefetchResult)): halcyon.Handle Loads images into a cache before somebody wants them, behind all other downloads.
---@field stopPrefetch fun(params: halcyon.StopPrefetchParams|string|integer, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.StopResult)): halcyon.Handle Stops a prefetch, which is then answered: what it has not loaded has failed.
---@field setPriority fun(params: halcyon.SetPriorityParams|string|integer, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.PriorityResult)): halcyon.Handle Changes how urgent a retrieve, download or prefetch under way is.
---@field cancelAll fun(params?: halcyon.CancelAllParams, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.CancelResult)): halcyon.Handle Cancels every retrieve, download and prefetch under way, or those that match all that is given.
---@field pause fun(params?: halcyon.PauseParams, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.PauseResult)): halcyon.Handle Starts no more downloads until resume; what is under way goes on, and what waits keeps its place.
---@field resume fun(params: nil, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.PauseResult)): halcyon.Handle Starts downloads again after pause.
---@field clear fun(params?: halcyon.ClearParams, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.ClearResult)): halcyon.Handle Empties a cache: memory and disk.
---@field clearMemory fun(params?: halcyon.ClearMemoryParams, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.ClearResult)): halcyon.Handle Empties the memory tier of a cache.
---@field clearDisk fun(params?: halcyon.ClearDiskParams, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.ClearResult)): halcyon.Handle Empties the disk tier of a cache; memory keeps its images as far as its limit goes.
---@field forgetFailures fun(params?: halcyon.ForgetFailuresParams, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.ForgetResult)): halcyon.Handle Forgets failures that are remembered, so that they are asked for again.
---@field listFailures fun(params?: halcyon.ListFailuresParams, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.FailuresResult)): halcyon.Handle Lists the failures that are remembered, and repeated without asking.
---@field stats fun(params: nil, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.StatsResult)): halcyon.Handle Tells what the server has done since it started.
---@field inspect fun(params: halcyon.InspectParams|string, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.EntryDetails)): halcyon.Handle Tells everything that is known of a cached image, without loading or prolonging it.
---@field list fun(params?: halcyon.ListParams, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.ListResult)): halcyon.Handle Lists what the disk tier of a cache holds, page by page, in an order that no use changes.
---@field explain fun(params: halcyon.ExplainParams|string, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.ExplainResult)): halcyon.Handle Tells what retrieve would do now and why; nothing is loaded, prolonged or asked.
---@field cleanExpired fun(params?: halcyon.CleanExpiredParams, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.CleanResult)): halcyon.Handle Removes every image whose time is over. A path that is lent out stays valid.
---@field verify fun(params?: halcyon.VerifyParams, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.VerifyResult)): halcyon.Handle Reads every image of a cache through, holds it against the index, and puts right what is wrong; others go on.
---@field configure fun(params?: halcyon.ConfigureParams, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.ConfigureResult)): halcyon.Handle Changes the settings of a cache, or of the downloader, from now on; what is left out stays as it was.
---@field addReadOnlyCachePath fun(params: halcyon.AddReadOnlyCachePathParams|string, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.CacheSettings)): halcyon.Handle Adds a folder that is searched after that of a cache, and never written.
---@field caches fun(params: nil, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.CachesResult)): halcyon.Handle Lists the caches that are open, configured, or found in the cache folder.
---@field subscribe fun(params: halcyon.SubscribeParams|("cache/didClean"|"image/didChange"|"activity/didChange"|"download/didFinish"|"log")[], options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.SubscriptionResult)): halcyon.Handle Asks to be told of events by notifications; nothing is sent before.
---@field unsubscribe fun(params: halcyon.UnsubscribeParams|("cache/didClean"|"image/didChange"|"activity/didChange"|"download/didFinish"|"log")[], options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: halcyon.SubscriptionResult)): halcyon.Handle Ends subscriptions: none of these events follows the answer.
---@field ping fun(params: nil, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: nil)): halcyon.Handle Answers null: a probe of life and latency. Any parameters are ignored.
---@field discover fun(params: nil, options?: halcyon.CallOptions, callback?: fun(err: halcyon.Error?, result: table<string, any>)): halcyon.Handle Returns this document.
