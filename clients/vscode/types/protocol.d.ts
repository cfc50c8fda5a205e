// Made by clients/generate.py from protocol/openrpc.json.

/** One processing step: an object with one member, the name of the processor. */
export type Processor = { downsample: { width: number; height: number } }|{ resize: { width?: number; height?: number; mode?: "none"|"aspectFit"|"aspectFill"; upscale?: boolean; kernel?: "nearest"|"linear"|"cubic"|"mitchell"|"lanczos2"|"lanczos3"; focus?: { x?: number; y?: number } } }|{ crop: { width: number; height: number; anchor?: { x?: number; y?: number }|"smart"|"entropy"; x?: number; y?: number; unit?: "pixels"|"fraction" } }|{ pad: { width: number; height: number; backgroundColor?: string; gravity?: "center"|"top"|"bottom"|"left"|"right"|"topLeft"|"topRight"|"bottomLeft"|"bottomRight"; upscale?: boolean } }|{ trim: { tolerance?: number } }|{ flip: { horizontal?: boolean; vertical?: boolean } }|{ rotate: { degrees?: number; auto?: boolean } }|{ roundCorner: { radius: number|{ fraction: number }; corners?: ("topLeft"|"topRight"|"bottomLeft"|"bottomRight")[]; targetSize?: { width: number; height: number }; backgroundColor?: string } }|{ circle: { diameter?: number; backgroundColor?: string } }|{ blur: { radius: number } }|{ sharpen: { radius?: number; amount?: number } }|{ pixelate: { size: number } }|{ overlay: { color: string; fraction?: number } }|{ tint: { color: string } }|{ colorControls: { brightness?: number; contrast?: number; saturation?: number; inputEV?: number } }|{ gamma: { gamma: number } }|{ blackWhite: Record<string, unknown> }|{ border: { color: string; width: number; radius?: number|{ fraction: number }; corners?: ("topLeft"|"topRight"|"bottomLeft"|"bottomRight")[] } }|{ blend: { mode: "normal"|"multiply"|"screen"|"overlay"|"darken"|"lighten"|"colorDodge"|"colorBurn"|"hardLight"|"softLight"|"difference"|"exclusion"; alpha?: number; backgroundColor?: string } }|{ compositing: { operation: "clear"|"copy"|"sourceOver"|"sourceIn"|"sourceOut"|"sourceAtop"|"destinationOver"|"destinationIn"|"destinationOut"|"destinationAtop"|"xor"|"plusLighter"; alpha?: number; backgroundColor?: string } }|{ watermark: { data: string; gravity?: "center"|"top"|"bottom"|"left"|"right"|"topLeft"|"topRight"|"bottomLeft"|"bottomRight"; opacity?: number; margin?: number; scale?: number } }|{ format: { to: "png"|"jpeg"|"gif"|"webp"|"avif"|"heic"|"tiff"|"bmp"|"ico"|"jxl"; quality?: number } };

export interface ImageOptions {
  /** Do not read from the caches, but write to them. Default: false. */
  forceRefresh?: boolean;
  /** Look in memory only, then download. Default: false. */
  fromMemoryCacheOrRefresh?: boolean;
  /** Never download; an image that is not cached is the error notCached. Default: false. */
  onlyFromCache?: boolean;
  /** Keep the image in memory only; the result has no path. Default: false. */
  cacheMemoryOnly?: boolean;
  /** Answer only when the image is in the cache. Default: true. */
  waitForCache?: boolean;
  /** How long memory keeps the image. */
  memoryCacheExpiration?: Expiration;
  /** How long the disk keeps the image. */
  diskCacheExpiration?: Expiration;
  /** What an access does to the expiration in memory; as the cache is configured when left out. */
  memoryCacheAccessExtendingExpiration?: "none"|"cacheTime"|Expiration;
  /** What an access does to the expiration on disk; as the cache is configured when left out. */
  diskCacheAccessExtendingExpiration?: "none"|"cacheTime"|Expiration;
  /** The extension of the cached file, instead of the format's. */
  forcedCacheFileExtension?: string;
  /** Read the bytes even when only the path was asked for. Default: false. */
  queryDataWhenInMemory?: boolean;
  /** Keep the image in memory; when false, memory does not keep it. Default: true. */
  memory?: boolean;
  /** Another cache to search before downloading; what it has is stored here too. */
  originalCache?: string;
  /** Keep the original of a processed image too, so that more can be made of it. Default: true. */
  cacheOriginalImage?: boolean;
  /** How a processed image is written; by default as the result needs. */
  cacheSerializer?: { format?: "png"|"jpeg"|"gif"|"webp"|"avif"|"heic"|"tiff"|"bmp"|"ico"|"jxl"; quality?: number; lossless?: boolean; progressive?: boolean; background?: string; maxBytes?: number; stripMetadata?: boolean; profile?: "keep"|"sRGB" };
  /** Use only the first frame of an animation, as a still. Default: false. */
  onlyLoadFirstFrame?: boolean;
  /** Use one frame of an animation, by its number from 0, as a still. */
  frame?: number;
  /** Shrink an image of more than 15728640 pixels to that many. Default: false. */
  scaleDownLargeImages?: boolean;
  /** The factor for the lengths of processors, which are then in points, not pixels. Default: 1. */
  scaleFactor?: number;
  /** Accepted for clients of other libraries: all frames are always kept. Default: false. */
  preloadAllAnimationData?: boolean;
  /** Accepted for clients of other libraries: images are always decoded in another process. Default: false. */
  backgroundDecode?: boolean;
  /** Answer and keep the image only once all of it has been decoded; as the cache is configured when left out. */
  verifyDecode?: boolean;
  /** Also answer with a ThumbHash, a BlurHash and the dominant colour, computed once and kept with the entry. Default: false. */
  thumbHash?: boolean;
  /** The largest number of pixels in a frame of an image to process; for a JPEG, after shrinking while decoding. Default: 50000000. */
  maxPixels?: number;
  /** The largest number of frames of an image to process. Default: 2000. */
  maxFrames?: number;
  /** The largest number of pixels of all its frames together. Default: 250000000. */
  maxAnimationPixels?: number;
  /** The longest time that processing may take, in seconds. Default: 20. */
  decodeSeconds?: number;
  /** The largest number of bytes that entities may add to an SVG where they are used. Default: 1000000. */
  maxEntityBytes?: number;
  /** The time that an answered path stays valid, in seconds. Default: 60. */
  lease?: number;
  /** When a stored image is revalidated with its server: never, ifExpired, always, or as HTTP's rules say (http); as the cache is configured when left out. */
  revalidate?: "never"|"ifExpired"|"always"|"http";
  /** How long after expiring a stored image may be used when its server cannot be reached, in seconds; as long as the server allows when left out. */
  staleIfError?: number;
  /** Use nothing from the network, and answer what is stored, even if it has expired. Default: false. */
  offline?: boolean;
  /** How long a permanent failure is remembered, in seconds; as the cache is configured when left out. */
  negativeCache?: number;
  /** The longest wait for the next bytes, in seconds; as the downloader is configured when left out. */
  timeout?: number;
  /** The longest time for the whole request, in seconds; no limit by default. */
  deadline?: number;
  /** The lowest permitted speed of a download, in bytes per second, measured over two timeouts; 0 for no limit. Default: 100. */
  minBytesPerSecond?: number;
  /** The priority among waiting downloads, higher first: 0 to 1, or veryLow, low, normal, high or veryHigh. Default: 0.5. */
  downloadPriority?: number|"veryLow"|"low"|"normal"|"high"|"veryHigh";
  /** Prefetch into memory too; for prefetch only. Default: false. */
  alsoPrefetchToMemory?: boolean;
  /** What happens to the download when the last request that waits for it is cancelled. Default: "abort". */
  onLastCancel?: "abort"|"finish";
  /** The place that the image is for, such as a view: a newer request for the same place cancels this one. */
  slot?: string;
  /** Also answer with the result and the timing of the download, if there was one. Default: false. */
  downloadReport?: boolean;
  /** Share the download with other requests for the same image. Default: true. */
  merge?: boolean;
  /** Request headers. */
  headers?: Record<string, string>;
  /** The HTTP method; POST when there is a body. Default: "GET". */
  method?: "GET"|"POST"|"PUT";
  /** The body of a request other than GET: text, or bytes as base64; at most 1048576 bytes. */
  body?: string|{ base64: string };
  /** A transformation of the downloaded bytes before they are checked: base64 decodes text that encodes the image, also as a data URL. */
  dataModifier?: "base64";
  /** Credentials, sent to the host of the URL only. */
  authorization?: { basic: { user: string; password: string } }|{ bearer: string };
  /** A name for the user of the request, such as an account. Images loaded with credentials are kept apart by this name instead of by the credentials, and so outlast a change of token. */
  scope?: string;
  /** Whether images loaded with credentials are kept apart by user (separate) or shared with everyone (shared). Default: "separate". */
  credentialScope?: "separate"|"shared";
  /** The use of the tier that several machines share: for what is nobody's own (use), not at all (skip), or for private images too (share). Default: "use". */
  remote?: "use"|"skip"|"share";
  /** The questions that the client is asked about this download, instead of those named in initialize; an empty list for none. */
  delegates?: ("downloader/modifyRequest"|"downloader/redirect"|"downloader/validateStatus"|"downloader/challenge")[];
  /** The redirects to follow: all, those to the same scheme, host and port, or none. Default: "follow". */
  redirect?: "follow"|"same-origin"|"none";
  /** The largest number of redirects to follow. Default: 10. */
  maxRedirects?: number;
  /** The largest body accepted, in bytes. Default: 134217728. */
  maxBytes?: number;
  /** The status codes to accept; by default 200 to 399, except 206. */
  validStatusCodes?: number[];
  /** The media types to accept, such as image/*, if the server names one; by default only the bytes decide. */
  acceptContentTypes?: string[];
  /** Whether and when to try a failed download again. */
  retry?: { maxRetries?: number; interval?: { seconds: number }|{ exponential: number } };
  /** How long a failed download waits for a network when this machine has none, in seconds; then it is tried again at once. */
  waitForConnectivity?: number;
  /** URLs to try in order when the first one fails. */
  alternativeSources?: string[];
  /** The time after which the next source is started beside one that has not answered, in seconds. */
  hedgeAfter?: number;
  /** Digests, as in Subresource Integrity, one of which the bytes must have. */
  integrity?: string;
  /** A path or URL of an image to use when everything failed. */
  onFailureImage?: string;
}

/** How long an entry is kept; a negative number means for ever. */
export type Expiration = "never"|"expired"|{ seconds: number }|{ days: number }|{ date: string };

export interface ImageResult {
  /** The cache key. */
  key: string;
  /** The name of the cache. */
  cache: string;
  /** The identifier of the processors; empty for an original. */
  processorIdentifier: string;
  /** Where the image came from; none means just downloaded. */
  cacheType: "none"|"memory"|"disk"|"remote";
  /** A complete file; null when the image is only in memory. */
  path: string|null;
  /** The file's URL; null when there is none. */
  uri: string|null;
  /** The picture format, by signature. */
  format: "png"|"jpeg"|"gif"|"webp"|"avif"|"heic"|"tiff"|"bmp"|"ico"|"svg"|"jxl"|"jp2"|"pnm"|"icns"|"pdf";
  /** The media type of the format. */
  mimeType: string;
  /** Pixels across, as coded. */
  width: number;
  /** Pixels down, as coded. */
  height: number;
  /** The orientation, 1 to 8 as in EXIF; left out for images stored by an older version (use probe). */
  orientation?: number;
  /** Whether the image may be transparent; left out for images stored by an older version (use probe). */
  hasAlpha?: boolean;
  /** Pixels across after applying the orientation; left out for images stored by an older version (use probe). */
  displayWidth?: number;
  /** Pixels down after applying the orientation; left out for images stored by an older version (use probe). */
  displayHeight?: number;
  /** The number of frames or pages; 1 for stills and for JPEG XL. */
  frameCount: number;
  /** How many frames or pages of the original a processed image lacks although all were wanted; left out for none. */
  framesDropped?: number;
  /** How long each frame of an animation is shown, in seconds, where that is known. */
  frameSeconds?: number[];
  /** @deprecated Former name of frameSeconds, in milliseconds. */
  delays?: number[];
  /** How often an animation is played, where that is known; 0 for ever. */
  loopCount?: number;
  /** The size of the image file, in bytes. */
  byteCount: number;
  /** The bytes, when asked for. */
  data?: string;
  /** Where it was downloaded from, after redirects. */
  url?: string;
  /** The server's entity tag. */
  etag?: string;
  /** The server's date of last change, as sent. */
  lastModified?: string;
  /** When the entry on disk expires; null for never. */
  expiresAt: string|null;
  /** The image as a data URL, when asked for. */
  dataUrl?: string;
  /** A ThumbHash of the image, when asked for and there is a codec worker. */
  thumbHash?: string;
  /** A BlurHash of the image, in 28 letters, with the ThumbHash. */
  blurHash?: string;
  /** The colour that most of the image has, with the ThumbHash. */
  dominantColor?: string;
  /** A file of raw pixels, when asked for: sRGB, RGBA with eight bits each, frames one below the other. The other fields describe the original. */
  pixels?: { path: string; uri: string; width: number; height: number; stride: number; frameCount: number; byteCount: number; loopCount: number; frameSeconds: number[]; delays: number[]; framesDropped?: number };
  /** False when the path could not be leased, because leases already use half of the size limit. */
  leased?: boolean;
  /** True when the image has expired, or its server was not asked although the request wanted that. */
  stale?: boolean;
  /** True when the server confirmed that the image has not changed. */
  revalidated?: boolean;
  /** True when this is the substitute for an image that could not be loaded. */
  placeholder?: boolean;
  /** False when memory should keep the bytes but did not. */
  memoryCached?: boolean;
  /** Why memory did not keep the bytes, naming the setting. */
  memoryReason?: string;
  /** Why no tier keeps the image that was just loaded; left out when one does. */
  stored?: "noStore"|"tooLarge"|"noRoom"|"diskFailed"|"busy"|"expired"|"memoryOff"|"notAsked"|"occupied";
  /** The result and the timing of the download, when asked for and there was one. */
  downloadReport?: { url: string; finalUrl: string; finalURL: string; statusCode: number|null; status: number|null; byteCount: number; bytes: number; resumedBytes: number; seconds: number; timings: { dns: number; connect: number; tls: number; firstByte: number|null }; reused: boolean; redirects: number; httpVersion: string|null; fromRevalidation: boolean; error: string|null };
}

export interface StoreResult {
  /** The cache key. */
  key: string;
  /** The name of the cache. */
  cache: string;
  /** The identifier of the processors; empty for an original. */
  processorIdentifier: string;
  /** Where the image came from; none means just downloaded. */
  cacheType: "none"|"memory"|"disk"|"remote";
  /** A complete file; null when the image is only in memory. */
  path: string|null;
  /** The file's URL; null when there is none. */
  uri: string|null;
  /** The picture format, by signature. */
  format: "png"|"jpeg"|"gif"|"webp"|"avif"|"heic"|"tiff"|"bmp"|"ico"|"svg"|"jxl"|"jp2"|"pnm"|"icns"|"pdf";
  /** The media type of the format. */
  mimeType: string;
  /** Pixels across, as coded. */
  width: number;
  /** Pixels down, as coded. */
  height: number;
  /** The orientation, 1 to 8 as in EXIF; left out for images stored by an older version (use probe). */
  orientation?: number;
  /** Whether the image may be transparent; left out for images stored by an older version (use probe). */
  hasAlpha?: boolean;
  /** Pixels across after applying the orientation; left out for images stored by an older version (use probe). */
  displayWidth?: number;
  /** Pixels down after applying the orientation; left out for images stored by an older version (use probe). */
  displayHeight?: number;
  /** The number of frames or pages; 1 for stills and for JPEG XL. */
  frameCount: number;
  /** How many frames or pages of the original a processed image lacks although all were wanted; left out for none. */
  framesDropped?: number;
  /** How long each frame of an animation is shown, in seconds, where that is known. */
  frameSeconds?: number[];
  /** @deprecated Former name of frameSeconds, in milliseconds. */
  delays?: number[];
  /** How often an animation is played, where that is known; 0 for ever. */
  loopCount?: number;
  /** The size of the image file, in bytes. */
  byteCount: number;
  /** The bytes, when asked for. */
  data?: string;
  /** Where it was downloaded from, after redirects. */
  url?: string;
  /** The server's entity tag. */
  etag?: string;
  /** The server's date of last change, as sent. */
  lastModified?: string;
  /** When the entry on disk expires; null for never. */
  expiresAt: string|null;
  /** False when the path could not be leased, because leases already use half of the size limit. */
  leased?: boolean;
  /** The tiers that hold the image now: memory its bytes, disk its file; with a reason when nothing was stored. */
  stored: { memory: boolean; disk: boolean; reason?: "noStore"|"tooLarge"|"noRoom"|"diskFailed"|"busy"|"expired"|"memoryOff"|"notAsked"|"occupied" };
  /** Why memory does not hold the bytes, or nothing was stored. */
  reason?: string;
}

export interface RemoveResult {
  /** Whether anything was removed. */
  removed: boolean;
  /** Whether something was removed from memory. */
  memory: boolean;
  /** Whether something was removed from disk. */
  disk: boolean;
  /** Whether a path was removed before its lease ended. */
  leased: boolean;
  /** The file of a read-only folder that still answers for the key; left out for none. */
  readOnlyPath?: string;
  /** The objects that the remote tier was told to remove, and why some are still there; left out unless remote was given. */
  remote?: { count: number; problem: string|null };
}

export interface IsCachedResult {
  /** Whether a tier has the image. */
  cached: boolean;
  /** The first tier of this machine that has it; none for no tier. */
  cacheType: "none"|"memory"|"disk"|"remote";
}

export interface CachePathResult {
  /** Where the image is, or would be. */
  path: string;
  /** The same as a URL. */
  uri: string;
  /** Whether the image is there. */
  exists: boolean;
  /** False when the path could not be leased, because leases already use half of the size limit. */
  leased?: boolean;
}

export interface SizeResult {
  /** The disk tier: entries, bytes, bytes in whole blocks, the limit (0 for none), and the bytes of removed files that wait for their leases to end. */
  disk: { count: number; byteCount: number; bytes: number; bytesLimit: number; limitBytes: number; allocatedBytes?: number; leasedBytes?: number };
  /** Entries, bytes and the limit of the memory tier. */
  memory: { count: number; byteCount: number; bytes: number; bytesLimit: number; limitBytes: number; allocatedBytes?: number; leasedBytes?: number };
}

export interface DownloadResult {
  /** The picture format, by signature. */
  format: "png"|"jpeg"|"gif"|"webp"|"avif"|"heic"|"tiff"|"bmp"|"ico"|"svg"|"jxl"|"jp2"|"pnm"|"icns"|"pdf";
  /** The media type of the format. */
  mimeType: string;
  /** Pixels across, as coded. */
  width: number;
  /** Pixels down, as coded. */
  height: number;
  /** The number of frames or pages; 1 for stills and for JPEG XL. */
  frameCount: number;
  /** How long each frame of an animation is shown, in seconds, where that is known. */
  frameSeconds?: number[];
  /** @deprecated Former name of frameSeconds, in milliseconds. */
  delays?: number[];
  /** How often an animation is played, where that is known; 0 for ever. */
  loopCount?: number;
  /** The size of the image file, in bytes. */
  byteCount: number;
  /** The bytes, when asked for. */
  data?: string;
  /** Where it was downloaded from, after redirects. */
  url?: string;
  /** The server's entity tag. */
  etag?: string;
  /** The server's date of last change, as sent. */
  lastModified?: string;
  /** The result and the timing of the download, when asked for and there was one. */
  downloadReport?: { url: string; finalUrl: string; finalURL: string; statusCode: number|null; status: number|null; byteCount: number; bytes: number; resumedBytes: number; seconds: number; timings: { dns: number; connect: number; tls: number; firstByte: number|null }; reused: boolean; redirects: number; httpVersion: string|null; fromRevalidation: boolean; error: string|null };
}

export interface ProbeResult {
  /** The picture format, by signature. */
  format: "png"|"jpeg"|"gif"|"webp"|"avif"|"heic"|"tiff"|"bmp"|"ico"|"svg"|"jxl"|"jp2"|"pnm"|"icns"|"pdf";
  /** The media type of the format. */
  mimeType: string;
  /** Pixels across, as coded. */
  width: number;
  /** Pixels down, as coded. */
  height: number;
  /** The orientation, 1 to 8 as in EXIF; null when the first kilobytes do not show it. */
  orientation: number|null;
  /** The number of frames or pages; null when the first kilobytes do not show it. */
  frameCount: number|null;
  /** How long each frame of an animation is shown, in seconds; left out when the first kilobytes do not show it. */
  frameSeconds?: number[];
  /** @deprecated Former name of frameSeconds, in milliseconds. */
  delays?: number[];
  /** How often an animation is played, 0 for ever; left out when the first kilobytes do not show it. */
  loopCount?: number;
  /** Whether the image may be transparent; null when the first kilobytes do not show it. */
  hasAlpha: boolean|null;
  /** The size in bytes; null when the server does not say. */
  byteCount: number|null;
  /** The tier that was read; none for the source. */
  cacheType: "none"|"memory"|"disk"|"remote";
  /** Pixels across after applying the orientation; left out when the first kilobytes do not show it. */
  displayWidth?: number;
  /** Pixels down after applying the orientation; left out when the first kilobytes do not show it. */
  displayHeight?: number;
}

export interface PrefetchResult {
  /** URLs that were loaded. */
  completed: string[];
  /** URLs whose images were already cached. */
  skipped: string[];
  /** URLs that failed or were stopped, with their errors. */
  failed: { url: string; error: Record<string, unknown> }[];
  /** URLs that were loaded but that no tier keeps, with the reason; left out when empty. */
  notStored?: ({ url: string; stored: "noStore"|"tooLarge"|"noRoom"|"diskFailed"|"busy"|"expired"|"memoryOff"|"notAsked"|"occupied" })[];
}

export interface StopResult {
  /** Whether that prefetch was running. */
  stopped: boolean;
}

export interface PriorityResult {
  /** Whether that request was running. */
  changed: boolean;
}

export interface CancelResult {
  /** How many requests were cancelled. */
  cancelled: number;
}

export interface PauseResult {
  /** The downloads that are held back. */
  paused: "none"|"prefetch"|"all";
  /** How many downloads are running, and continue. */
  running: number;
  /** How many downloads wait for their turn. */
  waiting: number;
}

export interface ClearResult {
  /** Entries removed. */
  count: number;
  /** Bytes freed. */
  byteCount: number;
  /** @deprecated Former name of byteCount. */
  bytes: number;
  /** About how many paths were removed before their leases ended. */
  leased: number;
  /** The objects that the remote tier was told to remove, and why some are still there; left out unless remote was given. */
  remote?: { count: number; problem: string|null };
}

export interface ForgetResult {
  /** How many failures were forgotten. */
  forgotten: number;
}

export interface FailuresResult {
  /** The failures, oldest first: URL, cache key, error, and for how many more seconds it is remembered. */
  failures: { url: string; key: string; error: Record<string, unknown>; seconds: number }[];
}

export interface StatsResult {
  /** Images answered from memory. */
  memoryHits: number;
  /** Images answered from disk. */
  diskHits: number;
  /** Images that were in no cache. */
  misses: number;
  /** Requests that joined running work. */
  merged: number;
  /** Downloads that ended well. */
  downloads: number;
  /** Images that this process waited for while another one downloaded them. */
  sharedDownloads: number;
  /** Downloads that failed or were cancelled. */
  failedDownloads: number;
  /** Bytes of bodies received. */
  downloadedBytes: number;
  /** Downloads that are running. */
  runningDownloads: number;
  /** Running downloads whose servers have sent nothing for a second. */
  stalledDownloads: number;
  /** Downloads waiting for their turn, or for another process that downloads the same. */
  waitingDownloads: number;
  /** Images evicted from disk to stay within its limit. */
  evictions: number;
  /** Images removed because another program had changed their files. */
  damagedFiles: number;
  /** Remembered failures, which are repeated without asking the server. */
  rememberedFailures: number;
  /** Loaded images that should have been kept but no tier keeps, by reason; including those that nobody waited for, and originals of processed images. */
  notStored: Record<string, number>;
  /** The remote tier; left out when there is none. */
  remote?: { hits: number; misses: number; errors: number; wrong: number; uploads: number; dropped: number; queued: number; bytesRead: number; bytesWritten: number; breaker: "closed"|"open"|"half-open" };
  /** Requests that have not been answered yet. */
  requestsInFlight: number;
  /** Output that the client has not read yet: the bytes held, their limit (outputLimit), and how often requests had to wait for the client to read. */
  output: { heldBytes: number; bytesLimit: number; limitBytes: number; waits: number };
  /** Seconds since the server started. */
  uptimeSeconds: number;
  /** The time from reading to answering requests, by method. */
  latency: Record<string, Latency>;
}

export interface Latency {
  /** Requests that were answered, with a result or an error. */
  count: number;
  /** The median in milliseconds, exact to an eighth of the value. */
  p50: number;
  /** The 95th percentile in milliseconds, exact to an eighth of the value. */
  p95: number;
  /** The 99th percentile in milliseconds, exact to an eighth of the value. */
  p99: number;
  /** The longest time in milliseconds. */
  max: number;
}

export interface RemoteCheckResult {
  /** Whether all that the mode needs works; false when there is no remote tier. */
  ok: boolean;
  /** The address without secrets; null when there is no remote tier. */
  url: string|null;
  /** Whether the tier is read, written or both; null when there is none. */
  mode: "read-write"|"read-only"|"write-only"|null;
  /** What was tried, in order; after a problem nothing more is. */
  steps: ({ name: "read"|"write"|"remove"|"claim"|"clock"; seconds: number; problem: string|null })[];
  /** The seconds that its clock is ahead of this machine's; null when it did not tell the time. */
  clockAhead: number|null;
}

export interface EntryDetails {
  /** The cache key; null while only the file is known, until the image is next requested. */
  key: string|null;
  /** The identifier of the processors; empty for an original. */
  processorIdentifier: string|null;
  /** A digest of the user that the image belongs to; null for an image that all users share. */
  user: string|null;
  /** The hash that names the file; null in a read-only folder. */
  hash: string|null;
  /** The file; null for an image that is only in memory. */
  path: string|null;
  /** The same as a URL. */
  uri: string|null;
  /** The picture format, by signature. */
  format: string|null;
  /** The media type of the format. */
  mimeType: string|null;
  /** Pixels across, as coded. */
  width: number|null;
  /** Pixels down, as coded. */
  height: number|null;
  /** The number of frames or pages; 1 for stills and for JPEG XL. */
  frameCount: number|null;
  /** The size of the file, in bytes. */
  byteCount: number|null;
  /** The space that the file takes on disk, in bytes; null in a read-only folder. */
  allocatedBytes: number|null;
  /** SHA-256 of the bytes, in hexadecimal. */
  checksum: string|null;
  /** How many entries share the file; null in a list. */
  sharedBy: number|null;
  /** Where it was downloaded from, after redirects. */
  url: string|null;
  /** The host it came from. */
  host: string|null;
  /** The server's entity tag. */
  etag: string|null;
  /** The server's date of last change, as sent. */
  lastModified: string|null;
  /** When it was stored. */
  storedAt: string|null;
  /** When it was last used, accurate to half a minute. */
  usedAt: string|null;
  /** When it expires; null for never. */
  expiresAt: string|null;
  /** When the lease of its path ends; null when it is not leased. */
  leasedUntil: string|null;
  /** The metadata that was given to store. */
  metadata: Record<string, string>|null;
  /** The orientation, 1 to 8 as in EXIF; left out for images stored by an older version (use probe). */
  orientation?: number;
  /** Whether the image may be transparent; left out for images stored by an older version (use probe). */
  hasAlpha?: boolean;
  /** Pixels across after applying the orientation; left out for images stored by an older version (use probe). */
  displayWidth?: number;
  /** Pixels down after applying the orientation; left out for images stored by an older version (use probe). */
  displayHeight?: number;
}

export interface ListResult {
  /** The images of this page. */
  entries: EntryDetails[];
  /** The cursor that asks for the next page; null at the end. */
  cursor: string|null;
}

export interface ExplainResult {
  /** The key under which the image is kept. */
  key: string;
  /** The name of the cache. */
  cache: string;
  /** The hash that names the file. */
  hash: string;
  /** Where the image is on disk, or would be. */
  path: string;
  /** The tier where the image is and has not expired; or none. */
  cacheType: "none"|"memory"|"disk"|"remote";
  /** When the image was stored. */
  storedAt: string|null;
  /** When the image expires on disk; null for never, and when nothing is stored. */
  expiresAt: string|null;
  /** Whether the stored image is staler than the request accepts; null when nothing is stored. */
  stale: boolean|null;
  /** What retrieve would do. */
  verdict: "answer"|"answerStale"|"answerAndRefresh"|"revalidate"|"load"|"fail";
  /** Whether the network would be used. */
  network: boolean;
  /** The URL that would be requested first; null for none. */
  url: string|null;
  /** The reasons, as sentences for people. */
  reasons: string[];
  /** The error it would fail with, as far as that is known; null for none. */
  error: Record<string, unknown>|null;
}

export interface CleanResult {
  /** Images removed. */
  count: number;
  /** The bytes of their files. */
  byteCount: number;
  /** @deprecated Former name of byteCount. */
  bytes: number;
  /** The hashes of their keys, which named the files. */
  hashes: string[];
  /** Their keys, in the same order; null where one is not known. */
  keys: (string|null)[];
}

export interface VerifyResult {
  /** Entries looked at. */
  checked: number;
  /** Bytes read. */
  byteCount: number;
  /** @deprecated Former name of byteCount. */
  bytes: number;
  /** Entries whose files are not what was stored; removed. */
  damaged: number;
  /** Entries without files; removed. */
  missing: number;
  /** Images without entries; added to the index. */
  adopted: number;
  /** Files left by dead processes, and files that are not images; removed. */
  leftovers: number;
  /** Totals and records of the index that were wrong; corrected. */
  corrected: number;
  /** Files that could not be read now, for lack of permission or of file descriptors; left alone. */
  unreadable: number;
  /** Whether nothing was wrong. */
  clean: boolean;
}

export interface MemorySettings {
  /** The size limit of memory, in bytes; 0 keeps nothing. Default: 104857600. */
  totalBytesLimit?: number;
  /** The size that a purge leaves, in bytes; setting only totalBytesLimit makes it three fifths of that. Default: 62914560. */
  preferredBytesAfterPurge?: number;
  /** The largest number of images; 0 for no limit. Default: 0. */
  countLimit?: number;
  /** The largest image to keep, in bytes; null for a tenth of the limit. */
  entryBytesLimit?: number|null;
  /** How long an image stays in memory. Default: {"seconds": 300}. */
  expiration?: Expiration;
  /** What a use does to the expiration: cacheTime starts it again, none leaves it. Default: "cacheTime". */
  extending?: "none"|"cacheTime"|Expiration;
  /** Whether a purged image is still found while an answer that contains it is being sent. Default: true. */
  weakRetention?: boolean;
}

export interface DiskSettings {
  /** The folder, as an absolute path; it can be set until the cache is first used. */
  folder?: string;
  /** The size limit of the images on disk, in bytes; 0 for no limit. Default: 2147483648. */
  bytesLimit?: number;
  /** The size that a purge leaves, as a fraction of the limit. Default: 0.5. */
  purgeRatio?: number;
  /** The bytes of the file system to leave free; null for a hundredth of it, between 128 KiB (or an eighth if that is less) and 256 MiB. */
  freeSpaceFloor?: number|null;
  /** How long an image stays on disk. Default: {"days": 7}. */
  expiration?: Expiration;
  /** What the expiration counts from: the last use (access) or the time of storing (modification). Default: "access". */
  expireBy?: "access"|"modification";
  /** The extension of files: from the detected format (sniffed), from the key (fromKey), none, or any other text. Default: "sniffed". */
  pathExtension?: string;
  /** The digest of the key that names files: sha256 or md5. Default: "sha256". */
  fileNames?: "sha256"|"md5";
  /** Absolute paths of folders that are searched after this one and never written. */
  readOnlyPaths?: string[];
  /** When a store is complete: once the system has the bytes (process), or once the disk has them (disk). Default: "process". */
  durability?: "process"|"disk";
  /** When a stored image is revalidated with its server, unless a request says otherwise. Default: "never". */
  revalidate?: "never"|"ifExpired"|"always"|"http";
  /** How long permanent failures are remembered, in seconds, unless a request says otherwise; 0 for not at all. Default: 0. */
  negativeCache?: number;
  /** Whether images are answered and kept only after they were decoded completely, unless a request says otherwise. Default: false. */
  verifyDecode?: boolean;
  /** Query parameters to ignore in keys that are URLs of certain hosts. The first rule that matches a host applies. */
  keyRules?: { hosts?: string[]; keepQuery?: string[]; dropQuery?: string[] }[];
}

export interface DownloaderSettings {
  /** The largest number of downloads from one host at the same time. Default: 4. */
  maxDownloadsPerHost?: number;
  /** The largest number of downloads at the same time. Default: 64. */
  maxConcurrentDownloads?: number;
  /** The order of downloads of equal priority: the oldest (fifo) or the newest (lifo) first. Default: "fifo". */
  downloadOrder?: "fifo"|"lifo";
  /** The number of downloads that may start per second after a first burst; 0 for no limit. Default: 0. */
  downloadsPerSecond?: number;
  /** The same for one host; 0 for no limit. Default: 0. */
  downloadsPerSecondPerHost?: number;
  /** The number of downloads that may start at once before the limits per second apply. Default: 25. */
  downloadBurst?: number;
  /** Seconds to wait for the next bytes, unless a request says otherwise. Default: 15. */
  timeout?: number;
  /** What is added to requests to certain hosts, unless the request sets it itself: headers, authorization, a client certificate. Secrets are not shown. */
  hostRules?: ({ hosts: string[]; headers?: Record<string, string>; authorization?: { basic: { user: string; password: string } }|{ bearer: string }; clientCertificate?: string; clientKey?: string })[];
  /** Requests for URLs that begin with from go to to instead; the first rule that matches applies. */
  urlRewrites?: { from: string; to: string }[];
}

export interface RemoteSettings {
  /** The URL of the tier; null for none. Credentials in it are not shown. */
  url?: string|null;
  /** Whether the tier is read, written or both. Default: "read-write". */
  mode?: "read-write"|"read-only"|"write-only";
  /** The longest time that a request waits for the tier, in seconds. Default: 0.3. */
  timeout?: number;
  /** The largest image in the tier, in bytes. Default: 16777216. */
  maxBytes?: number;
}

export interface ConfigureResult {
  /** The memory tier; false when it is turned off. */
  memory: false|MemorySettings;
  /** The disk tier. */
  disk: DiskSettings;
  /** The downloader of all caches. */
  downloader: DownloaderSettings;
  /** The remote tier of all caches. */
  remote: RemoteSettings;
  /** The options of requests that leave them out, where they are not as built in. */
  options: ImageOptions;
}

export interface CacheSettings {
  /** The memory tier; false when it is turned off. */
  memory: false|MemorySettings;
  /** The disk tier. */
  disk: DiskSettings;
}

export interface CachesResult {
  /** Name, folder, whether this server has used it, and settings, by name. */
  caches: { name: string; folder: string; isOpen: boolean; settings: CacheSettings }[];
}

export interface SubscriptionResult {
  /** The events that are now subscribed to. */
  events: ("cache/didClean"|"image/didChange"|"activity/didChange"|"download/didFinish"|"remote/didChange"|"log")[];
}

/** The settings of all caches, of single caches by name, of the downloader, and the options of requests that leave them out. */
export interface Settings {
  /** The memory tier. */
  memory?: boolean|MemorySettings;
  /** The disk tier. */
  disk?: DiskSettings;
  /** Settings by the name of the cache. */
  caches?: Record<string, { memory?: boolean|MemorySettings; disk?: DiskSettings }>;
  /** The downloader of all caches. */
  downloader?: DownloaderSettings;
  /** The options of requests that leave them out. */
  options?: ImageOptions;
}

export interface InitializeResult {
  /** Name and version of the server. */
  serverInfo: { name?: string; version?: string };
  /** The version of the protocol. */
  protocolVersion: string;
  /** What the server can do, by name; test for these names, not for versions. */
  capabilities: Record<string, unknown>;
  /** The limits of the connection. */
  limits: Record<string, number>;
}

/** Returns an image from memory, from disk, or else from its URL, and caches it. */
export interface RetrieveParams {
  /** Where the image is: an http, https, file or data URL. Without it, the image cached under key. */
  url?: string;
  /** The cache key; the URL without its fragment when left out. Alone, nothing is loaded. */
  key?: string;
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** The processing steps, in order. */
  processors?: Processor[]|string;
  /** How to look up, load and keep the image. */
  options?: ImageOptions;
  /** What the result contains. Default: "path". */
  as?: "path"|"data"|"both"|"none"|"dataUrl"|"pixels";
}

/** Puts an image into the cache. */
export interface StoreParams {
  /** The cache key: any text. */
  key: string;
  /** The bytes, as base64. Give this or path. */
  data?: string;
  /** A file to copy from, absolute or relative to the server's directory. */
  path?: string;
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** The processing steps, in order. */
  processors?: Processor[]|string;
  /** How to look up, load and keep the image. */
  options?: ImageOptions;
  /** Replace an image that is there. Default: true. */
  overwrite?: boolean;
  /** Metadata to keep with the image, for inspect and list. */
  metadata?: Record<string, string>;
}

/** Removes an image from the cache. */
export interface RemoveParams {
  /** The cache key: any text. */
  key: string;
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** The processing steps, in order. */
  processors?: Processor[]|string;
  /** Remove it from memory. Default: true. */
  fromMemory?: boolean;
  /** Remove it from disk. Default: true. */
  fromDisk?: boolean;
  /** Remove everything made from it by processors too. Default: false. */
  allVariants?: boolean;
  /** Remove them from the remote tier too, for all machines. Default: false. */
  remote?: boolean;
  /** The other options with which the image was made: cacheSerializer, onlyLoadFirstFrame, scaleFactor and the like. */
  options?: ImageOptions;
}

/** Returns whether an image is cached, and in which tier; nothing is loaded. */
export interface IsCachedParams {
  /** The cache key: any text. */
  key: string;
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** The processing steps, in order. */
  processors?: Processor[]|string;
  /** The other options with which the image was made: cacheSerializer, onlyLoadFirstFrame, scaleFactor and the like. */
  options?: ImageOptions;
}

/** Returns the path at which an image is cached, or would be. */
export interface CachePathParams {
  /** The cache key: any text. */
  key: string;
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** The processing steps, in order. */
  processors?: Processor[]|string;
  /** The other options with which the image was made: cacheSerializer, onlyLoadFirstFrame, scaleFactor and the like. */
  options?: ImageOptions;
}

/** Returns how many images a cache holds and how many bytes they take, without walking a folder. */
export interface CalculateSizeParams {
  /** The name of the cache. Default: "default". */
  cache?: string;
}

/** Downloads an image and checks it; no cache is read or written. */
export interface DownloadParams {
  /** Where the image is: an http, https, file or data URL. */
  url: string;
  /** How to load the images. */
  options?: ImageOptions;
  /** Whether the result holds the bytes. Default: "data". */
  as?: "data"|"none";
}

/** Returns the format, size, orientation, frame count and transparency of an image from its first kilobytes. */
export interface ProbeParams {
  /** Where the image is: an http, https, file or data URL. Without it, the image cached under key. */
  url?: string;
  /** The cache key; the URL without its fragment when left out. Alone, nothing is loaded. */
  key?: string;
  /** The name of the cache that is looked into first. Default: "default". */
  cache?: string;
  /** How to look up and load the image. */
  options?: ImageOptions;
}

/** Loads images into a cache ahead of time, behind all other downloads. */
export interface PrefetchParams {
  /** Where the images are; each is loaded once, even if it is named several times. */
  urls: string[];
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** How to load the images. */
  options?: ImageOptions;
  /** How many are loaded at once. Default: 5. */
  maxConcurrent?: number;
  /** The processing steps, in order. */
  processors?: Processor[]|string;
}

/** Stops a prefetch, which is then answered: what it had not loaded counts as failed. */
export interface StopPrefetchParams {
  /** The id of the prefetch request. */
  id: string|number;
}

/** Changes the priority of a running retrieve, download or prefetch. */
export interface SetPriorityParams {
  /** The id of the request. */
  id: string|number;
  /** From 0 to 1, or a name; among downloads that wait, the higher goes first. */
  priority: number|"veryLow"|"low"|"normal"|"high"|"veryHigh";
}

/** Cancels every running retrieve, download and prefetch, or those that match all the conditions given. */
export interface CancelAllParams {
  /** Only those for this URL; a prefetch goes on with its others. */
  url?: string;
  /** Only those for this cache. */
  cache?: string;
  /** Only the one in this slot. */
  slot?: string;
}

/** Starts no more downloads until resume; running ones continue, and waiting ones keep their place. */
export interface PauseParams {
  /** All, or only those of prefetch that nobody else waits for. Default: "all". */
  what?: "all"|"prefetch";
}

/** Removes all images of a cache, or those that match. */
export interface ClearParams {
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** Remove them from the remote tier too, for all machines. Default: false. */
  remote?: boolean;
  /** Only images from this host. */
  host?: string;
  /** Only images whose keys begin with this. */
  prefix?: string;
  /** Only images of this format. */
  format?: "png"|"jpeg"|"gif"|"webp"|"avif"|"heic"|"tiff"|"bmp"|"ico"|"svg"|"jxl"|"jp2"|"pnm"|"icns"|"pdf";
  /** Only images stored at least that many seconds ago. */
  minAge?: number;
  /** Only images stored at most that many seconds ago. */
  maxAge?: number;
}

/** Empties the memory tier of a cache. */
export interface ClearMemoryParams {
  /** The name of the cache. Default: "default". */
  cache?: string;
}

/** Empties the disk tier of a cache; memory keeps its images, within its limit. */
export interface ClearDiskParams {
  /** The name of the cache. Default: "default". */
  cache?: string;
}

/** Forgets remembered failures, so that their URLs are tried again. */
export interface ForgetFailuresParams {
  /** Only those of this URL or cache key. */
  url?: string;
  /** The name of the cache. Default: "default". */
  cache?: string;
}

/** Lists the remembered failures, which are repeated without asking the server. */
export interface ListFailuresParams {
  /** The name of the cache. Default: "default". */
  cache?: string;
}

/** Returns everything that is known about a cached image, without loading it or extending its life. */
export interface InspectParams {
  /** The cache key: any text. */
  key: string;
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** The processing steps of the image. */
  processors?: Processor[]|string;
  /** The other options with which the image was made: cacheSerializer and the like. */
  options?: ImageOptions;
}

/** Lists the images on disk, page by page, in an order that does not change when they are used. */
export interface ListParams {
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** Entries a page, 1 to 1000. Default: 100. */
  limit?: number;
  /** The cursor of the page before; the first page when left out. */
  cursor?: string;
  /** Only images from this host. */
  host?: string;
  /** Only images whose keys begin with this. */
  prefix?: string;
  /** Only images of this format. */
  format?: "png"|"jpeg"|"gif"|"webp"|"avif"|"heic"|"tiff"|"bmp"|"ico"|"svg"|"jxl"|"jp2"|"pnm"|"icns"|"pdf";
  /** Only images stored at least that many seconds ago. */
  minAge?: number;
  /** Only images stored at most that many seconds ago. */
  maxAge?: number;
}

/** Returns what retrieve would do now and why; nothing is loaded, extended or asked. */
export interface ExplainParams {
  /** Where the image is: an http, https, file or data URL. Without it, the image cached under key. */
  url?: string;
  /** The cache key; the URL without its fragment when left out. Alone, nothing is loaded. */
  key?: string;
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** The processing steps. */
  processors?: Processor[]|string;
  /** The options of the request. */
  options?: ImageOptions;
}

/** Removes every expired image. A leased path stays valid until its lease ends. */
export interface CleanExpiredParams {
  /** The name of the cache. Default: "default". */
  cache?: string;
}

/** Reads every image of a cache, compares it with the index and repairs what is wrong; other requests continue meanwhile. */
export interface VerifyParams {
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** Put right what is wrong; otherwise it is only counted. Default: true. */
  repair?: boolean;
}

/** Changes the settings of a cache, the downloader or the remote tier, or the default options, from now on; settings that are left out keep their values. */
export interface ConfigureParams {
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** The memory tier: its settings, or whether there is one. */
  memory?: boolean|MemorySettings;
  /** The settings of the disk tier. */
  disk?: DiskSettings;
  /** The settings of the downloader of all caches. */
  downloader?: DownloaderSettings;
  /** The settings of the remote tier of all caches. */
  remote?: RemoteSettings;
  /** The options of requests that leave them out. */
  options?: ImageOptions;
}

/** Adds a folder that is searched after that of a cache, and never written. */
export interface AddReadOnlyCachePathParams {
  /** The absolute path of the folder. */
  path: string;
  /** The name of the cache. Default: "default". */
  cache?: string;
}

/** Subscribes to events, which then come as notifications. */
export interface SubscribeParams {
  /** The names of the events. */
  events: ("cache/didClean"|"image/didChange"|"activity/didChange"|"download/didFinish"|"remote/didChange"|"log")[];
}

/** Ends subscriptions: none of these events comes after the answer. */
export interface UnsubscribeParams {
  /** The names of the events. */
  events: ("cache/didClean"|"image/didChange"|"activity/didChange"|"download/didFinish"|"remote/didChange"|"log")[];
}

/** Introduces the client; optional. Other members that clients of language servers send are ignored. */
export interface InitializeParams {
  /** The client's process; the server ends when it does. */
  processId?: number;
  /** Settings of caches; flags and the environment come before them. */
  initializationOptions?: Settings;
  /** What the client can do; delegates in it names the questions it answers. */
  capabilities?: { delegates?: string[]|Record<string, boolean> };
}

/** Images left a disk tier because they had expired or space was needed; not sent for remove or clear. */
export interface CacheDidCleanEvent {
  /** The name of the cache. */
  cache: string;
  /** Names of files without extension. */
  hashes: string[];
  /** Cache keys; null where one is not known. */
  keys: (string|null)[];
  /** Why. */
  reason: "expired"|"sizeLimit";
}

/** An image was answered although it was stale (stale-while-revalidate), and has been replaced since. */
export interface ImageDidChangeEvent {
  /** The name of the cache. */
  cache: string;
  /** The cache key. */
  key: string;
  /** The URL. */
  url: string;
  /** A file. */
  path: string|null;
}

/** Downloads have been running for a while, or have stopped: for an activity indicator. */
export interface ActivityDidChangeEvent {
  /** Whether downloads are running. */
  active: boolean;
  /** How many. */
  count: number;
}

/** A transfer has succeeded or failed: one event each, however many requests shared it. */
export interface DownloadDidFinishEvent {
  /** The URL. */
  url: string;
  /** The URL after redirects. */
  finalUrl: string;
  /** @deprecated Former name of finalUrl. */
  finalURL: string;
  /** The status code of the response. */
  statusCode: number|null;
  /** @deprecated Former name of statusCode. */
  status: number|null;
  /** The size in bytes. */
  byteCount: number;
  /** @deprecated Former name of byteCount. */
  bytes: number;
  /** The bytes that an earlier transfer had loaded. */
  resumedBytes: number;
  /** A number of seconds. */
  seconds: number;
  /** Seconds by phase. */
  timings: { dns: number; connect: number; tls: number; firstByte: number|null };
  /** Whether an open connection was reused. */
  reused: boolean;
  /** How many redirects were followed. */
  redirects: number;
  /** The version of HTTP. */
  httpVersion: string|null;
  /** Whether the server confirmed what was cached. */
  fromRevalidation: boolean;
  /** The error, as a request would get it. */
  error: string|null;
}

/** The remote tier is left out because it failed (open), is tried again (half-open), or is used again (closed). */
export interface RemoteDidChangeEvent {
  /** Whether the tier is used (closed), left out (open) or being tried (half-open). */
  breaker: "closed"|"open"|"half-open";
  /** Why. */
  reason: string|null;
}

/** A line of the log, of the level that is logged or above; at most 100 in a second. */
export interface LogEvent {
  /** The level. */
  level: string;
  /** A sentence. */
  message: string;
  /** Names and values. */
  metadata: Record<string, string>;
  /** How many lines were left out before this one. */
  omitted?: number;
}

/** How should this request be sent? Null sends nothing, and the download fails with downloadCancelledBeforeStarting. */
export interface DownloaderModifyRequestParams {
  /** The URL. */
  url: string;
  /** The HTTP method. */
  method: "GET"|"POST"|"PUT";
  /** Header fields by name. */
  headers: Record<string, string>;
}

export type DownloaderModifyRequestResult = { url?: string; headers?: Record<string, string>; method?: "GET"|"POST"|"PUT"; body?: string|{ base64: string } }|null;

/** How should this redirect be followed? Null stops here, and the redirecting response itself is judged. */
export interface DownloaderRedirectParams {
  /** The beginning to replace. */
  from: string;
  /** The status code of the response. */
  statusCode: number;
  /** @deprecated Former name of statusCode. */
  status: number;
  /** The URL. */
  url: string;
  /** The HTTP method. */
  method: "GET"|"POST"|"PUT";
  /** Header fields by name. */
  headers: Record<string, string>;
}

export type DownloaderRedirectResult = { url?: string; headers?: Record<string, string>; method?: "GET"|"POST"|"PUT"; body?: string|{ base64: string } }|null;

/** Is the body of this response wanted? Null decides by validStatusCodes. */
export interface DownloaderValidateStatusParams {
  /** The URL. */
  url: string;
  /** The status code of the response. */
  statusCode: number;
  /** @deprecated Former name of statusCode. */
  status: number;
  /** The declared media type. */
  contentType: string|null;
}

export type DownloaderValidateStatusResult = { accept: boolean }|null;

/** Which credentials should this server get? "default" continues as if not asked, "cancel" gives up. */
export interface DownloaderChallengeParams {
  /** The URL. */
  url: string;
  /** The host. */
  host: string;
  /** The realm of the challenge. */
  realm: string|null;
  /** The authentication scheme. */
  scheme: string;
  /** Whether a proxy asks for credentials. */
  isProxy: boolean;
  /** How often credentials were already refused. */
  failures: number;
}

export type DownloaderChallengeResult = "default"|"cancel"|{ use: { user: string; password: string }|{ bearer: string } }|null;

/** The parameters and the result of each method. */
export interface Methods {
  /** Returns an image from memory, from disk, or else from its URL, and caches it. */
  "retrieve": { params: RetrieveParams; result: ImageResult };
  /** Puts an image into the cache. */
  "store": { params: StoreParams; result: StoreResult };
  /** Removes an image from the cache. */
  "remove": { params: RemoveParams; result: RemoveResult };
  /** Returns whether an image is cached, and in which tier; nothing is loaded. */
  "isCached": { params: IsCachedParams; result: IsCachedResult };
  /** Returns the path at which an image is cached, or would be. */
  "cachePath": { params: CachePathParams; result: CachePathResult };
  /** Returns how many images a cache holds and how many bytes they take, without walking a folder. */
  "calculateSize": { params: CalculateSizeParams | undefined; result: SizeResult };
  /** Downloads an image and checks it; no cache is read or written. */
  "download": { params: DownloadParams; result: DownloadResult };
  /** Returns the format, size, orientation, frame count and transparency of an image from its first kilobytes. */
  "probe": { params: ProbeParams; result: ProbeResult };
  /** Loads images into a cache ahead of time, behind all other downloads. */
  "prefetch": { params: PrefetchParams; result: PrefetchResult };
  /** Stops a prefetch, which is then answered: what it had not loaded counts as failed. */
  "stopPrefetch": { params: StopPrefetchParams; result: StopResult };
  /** Changes the priority of a running retrieve, download or prefetch. */
  "setPriority": { params: SetPriorityParams; result: PriorityResult };
  /** Cancels every running retrieve, download and prefetch, or those that match all the conditions given. */
  "cancelAll": { params: CancelAllParams | undefined; result: CancelResult };
  /** Starts no more downloads until resume; running ones continue, and waiting ones keep their place. */
  "pause": { params: PauseParams | undefined; result: PauseResult };
  /** Starts downloads again after pause. */
  "resume": { params: undefined; result: PauseResult };
  /** Removes all images of a cache, or those that match. */
  "clear": { params: ClearParams | undefined; result: ClearResult };
  /** Empties the memory tier of a cache. */
  "clearMemory": { params: ClearMemoryParams | undefined; result: ClearResult };
  /** Empties the disk tier of a cache; memory keeps its images, within its limit. */
  "clearDisk": { params: ClearDiskParams | undefined; result: ClearResult };
  /** Forgets remembered failures, so that their URLs are tried again. */
  "forgetFailures": { params: ForgetFailuresParams | undefined; result: ForgetResult };
  /** Lists the remembered failures, which are repeated without asking the server. */
  "listFailures": { params: ListFailuresParams | undefined; result: FailuresResult };
  /** Returns what the server has done since it started. */
  "stats": { params: undefined; result: StatsResult };
  /** Tries whether the remote tier can be read and written, and how far its clock is off. */
  "checkRemote": { params: undefined; result: RemoteCheckResult };
  /** Returns everything that is known about a cached image, without loading it or extending its life. */
  "inspect": { params: InspectParams; result: EntryDetails };
  /** Lists the images on disk, page by page, in an order that does not change when they are used. */
  "list": { params: ListParams | undefined; result: ListResult };
  /** Returns what retrieve would do now and why; nothing is loaded, extended or asked. */
  "explain": { params: ExplainParams; result: ExplainResult };
  /** Removes every expired image. A leased path stays valid until its lease ends. */
  "cleanExpired": { params: CleanExpiredParams | undefined; result: CleanResult };
  /** Reads every image of a cache, compares it with the index and repairs what is wrong; other requests continue meanwhile. */
  "verify": { params: VerifyParams | undefined; result: VerifyResult };
  /** Changes the settings of a cache, the downloader or the remote tier, or the default options, from now on; settings that are left out keep their values. */
  "configure": { params: ConfigureParams | undefined; result: ConfigureResult };
  /** Adds a folder that is searched after that of a cache, and never written. */
  "addReadOnlyCachePath": { params: AddReadOnlyCachePathParams; result: CacheSettings };
  /** Lists the caches that are open, configured, or found in the cache folder. */
  "caches": { params: undefined; result: CachesResult };
  /** Subscribes to events, which then come as notifications. */
  "subscribe": { params: SubscribeParams; result: SubscriptionResult };
  /** Ends subscriptions: none of these events comes after the answer. */
  "unsubscribe": { params: UnsubscribeParams; result: SubscriptionResult };
  /** Answers null: shows that the server is alive, and its latency. Parameters are ignored. */
  "ping": { params: undefined; result: null };
  /** Returns this document. */
  "rpc.discover": { params: undefined; result: Record<string, unknown> };
  /** Introduces the client; optional. Other members that clients of language servers send are ignored. */
  "initialize": { params: InitializeParams | undefined; result: InitializeResult };
  /** Ends the session: only exit may follow. */
  "shutdown": { params: undefined; result: null };
}

/** What comes with each event. */
export interface Events {
  "cache/didClean": CacheDidCleanEvent;
  "image/didChange": ImageDidChangeEvent;
  "activity/didChange": ActivityDidChangeEvent;
  "download/didFinish": DownloadDidFinishEvent;
  "remote/didChange": RemoteDidChangeEvent;
  "log": LogEvent;
}

/** The codes that errors of the server have, by name. */
export interface ErrorCodes {
  invalidParams: -32602;
  internalError: -32603;
  requestCancelled: -32800;
  serverCancelled: -32802;
  badData: 10000;
  notModified: 10001;
  invalidStatusCode: 10002;
  notCached: 10003;
  processingFailed: 10004;
  limitExceeded: 10005;
  dataModifyingFailed: 10006;
  invalidURL: 20000;
  connectionFailed: 20001;
  timedOut: 20002;
  tlsFailed: 20003;
  forbiddenAddress: 20004;
  unreadableFile: 20005;
  downloadCancelledBeforeStarting: 30000;
  storageFailed: 40000;
}
