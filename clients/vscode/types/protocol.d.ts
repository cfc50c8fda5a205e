// Made by clients/generate.py from protocol/openrpc.json.

/** One step of the making of an image: an object with one member, the processor's name. */
export type Processor = { downsample: { width: number; height: number } }|{ resize: { width?: number; height?: number; mode?: "none"|"aspectFit"|"aspectFill"; upscale?: boolean; kernel?: "nearest"|"linear"|"cubic"|"mitchell"|"lanczos2"|"lanczos3"; focus?: { x?: number; y?: number } } }|{ crop: { width: number; height: number; anchor?: { x?: number; y?: number }|"smart"|"entropy"; x?: number; y?: number; unit?: "pixels"|"fraction" } }|{ pad: { width: number; height: number; backgroundColor?: string; gravity?: "center"|"top"|"bottom"|"left"|"right"|"topLeft"|"topRight"|"bottomLeft"|"bottomRight"; upscale?: boolean } }|{ trim: { tolerance?: number } }|{ flip: { horizontal?: boolean; vertical?: boolean } }|{ rotate: { degrees?: number; auto?: boolean } }|{ roundCorner: { radius: number|{ fraction: number }; corners?: ("topLeft"|"topRight"|"bottomLeft"|"bottomRight")[]; targetSize?: { width: number; height: number }; backgroundColor?: string } }|{ circle: { diameter?: number; backgroundColor?: string } }|{ blur: { radius: number } }|{ sharpen: { radius?: number; amount?: number } }|{ pixelate: { size: number } }|{ overlay: { color: string; fraction?: number } }|{ tint: { color: string } }|{ colorControls: { brightness?: number; contrast?: number; saturation?: number; inputEV?: number } }|{ gamma: { gamma: number } }|{ blackWhite: Record<string, unknown> }|{ border: { color: string; width: number; radius?: number|{ fraction: number }; corners?: ("topLeft"|"topRight"|"bottomLeft"|"bottomRight")[] } }|{ blend: { mode: "normal"|"multiply"|"screen"|"overlay"|"darken"|"lighten"|"colorDodge"|"colorBurn"|"hardLight"|"softLight"|"difference"|"exclusion"; alpha?: number; backgroundColor?: string } }|{ compositing: { operation: "clear"|"copy"|"sourceOver"|"sourceIn"|"sourceOut"|"sourceAtop"|"destinationOver"|"destinationIn"|"destinationOut"|"destinationAtop"|"xor"|"plusLighter"; alpha?: number; backgroundColor?: string } }|{ watermark: { data: string; gravity?: "center"|"top"|"bottom"|"left"|"right"|"topLeft"|"topRight"|"bottomLeft"|"bottomRight"; opacity?: number; margin?: number; scale?: number } }|{ format: { to: "png"|"jpeg"|"gif"|"webp"|"avif"|"heic"|"tiff"|"bmp"|"ico"|"jxl"; quality?: number } };

export interface ImageOptions {
  /** Ignore the caches for reading; still write them. Default: false. */
  forceRefresh?: boolean;
  /** Look in memory only, then load. Default: false. */
  fromMemoryCacheOrRefresh?: boolean;
  /** Never load; what is not cached is the error notCached. Default: false. */
  onlyFromCache?: boolean;
  /** Keep the image in memory only; the result has no path. Default: false. */
  cacheMemoryOnly?: boolean;
  /** Answer only when the image is in the cache. Default: true. */
  waitForCache?: boolean;
  /** How long memory keeps the image. */
  memoryCacheExpiration?: Expiration;
  /** How long the disk keeps the image. */
  diskCacheExpiration?: Expiration;
  /** What an access does to the life in memory; as the cache is configured when left out. */
  memoryCacheAccessExtendingExpiration?: "none"|"cacheTime"|Expiration;
  /** What an access does to the life on disk; as the cache is configured when left out. */
  diskCacheAccessExtendingExpiration?: "none"|"cacheTime"|Expiration;
  /** The extension of the cached file, instead of the format's. */
  forcedCacheFileExtension?: string;
  /** Read the bytes even when only the path was asked for. Default: false. */
  queryDataWhenInMemory?: boolean;
  /** Keep the image in memory; else it is only answered. Default: true. */
  memory?: boolean;
  /** Another cache to look into before loading; what it has is stored here too. */
  originalCache?: string;
  /** Keep the original of a processed image too, so that more can be made of it. Default: true. */
  cacheOriginalImage?: boolean;
  /** How a processed image is written; as the result asks for by default. */
  cacheSerializer?: { format?: "png"|"jpeg"|"gif"|"webp"|"avif"|"heic"|"tiff"|"bmp"|"ico"|"jxl"; quality?: number; lossless?: boolean; progressive?: boolean; background?: string; maxBytes?: number; stripMetadata?: boolean; profile?: "keep"|"sRGB" };
  /** Take the first frame of an animation, as a still. Default: false. */
  onlyLoadFirstFrame?: boolean;
  /** Take one frame of an animation, by its number from 0, as a still. */
  frame?: number;
  /** Make an image of more than 15728640 pixels smaller, until it has so many. Default: false. */
  scaleDownLargeImages?: boolean;
  /** What the lengths of processors are multiplied by: they are then in points, not pixels. Default: 1. */
  scaleFactor?: number;
  /** Accepted for clients of other libraries: all frames are always kept. Default: false. */
  preloadAllAnimationData?: boolean;
  /** Accepted for clients of other libraries: images are always decoded in another process. Default: false. */
  backgroundDecode?: boolean;
  /** Answer and keep the image only once all of it has been decoded; as the cache is configured when left out. */
  verifyDecode?: boolean;
  /** Answer with a ThumbHash, a BlurHash and the dominant colour too, made once and kept with the entry. Default: false. */
  thumbHash?: boolean;
  /** The most pixels that a frame of an image to be processed may have; of a JPEG as it is shrunk on loading. Default: 50000000. */
  maxPixels?: number;
  /** The most frames that an image to be processed may have. Default: 2000. */
  maxFrames?: number;
  /** The most pixels that all frames of it may have together. Default: 250000000. */
  maxAnimationPixels?: number;
  /** The most seconds that its processing may take. Default: 20. */
  decodeSeconds?: number;
  /** The most bytes that the entities of a drawing may add to it where they are used. Default: 1000000. */
  maxEntityBytes?: number;
  /** Seconds for which a path that is answered stays valid. Default: 60. */
  lease?: number;
  /** Whether and when a stored image is checked with its server: never, ifExpired, always, or as its server says (http); as the cache is configured when left out. */
  revalidate?: "never"|"ifExpired"|"always"|"http";
  /** Seconds past its time for which a stored image stands in when its server cannot be asked; as far as the server allows it when left out. */
  staleIfError?: number;
  /** Load nothing from the network, and answer whatever is stored, also when its time is over. Default: false. */
  offline?: boolean;
  /** Seconds for which a failure that would come again is remembered; as the cache is configured when left out. */
  negativeCache?: number;
  /** Seconds to wait for the next bytes; as the downloader is configured when left out. */
  timeout?: number;
  /** Seconds until the image must be there, whatever it waits for; without end by default. */
  deadline?: number;
  /** The slowest that a download may be, over two timeouts; 0 for no such limit. Default: 100. */
  minBytesPerSecond?: number;
  /** Among downloads that wait, the higher goes first: 0 to 1, or veryLow, low, normal, high or veryHigh. Default: 0.5. */
  downloadPriority?: number|"veryLow"|"low"|"normal"|"high"|"veryHigh";
  /** Prefetch into memory too; for prefetch only. Default: false. */
  alsoPrefetchToMemory?: boolean;
  /** What becomes of the download when the last who waits for it is cancelled. Default: "abort". */
  onLastCancel?: "abort"|"finish";
  /** A place that the image is for: a newer request for the same place cancels this one. */
  slot?: string;
  /** Share the download with others who want the same. Default: true. */
  merge?: boolean;
  /** Request headers. */
  headers?: Record<string, string>;
  /** What the server is asked to do; POST when there is a body. Default: "GET". */
  method?: "GET"|"POST"|"PUT";
  /** What a request other than GET brings along: text, or bytes as base64; at most 1048576 bytes. */
  body?: string|{ base64: string };
  /** What is done to what was downloaded before anything looks at it: base64 for text that stands for the image, also as a data URL. */
  dataModifier?: "base64";
  /** Credentials, sent to the host of the URL only. */
  authorization?: { basic: { user: string; password: string } }|{ bearer: string };
  /** A name for the user of the request, such as an account; what is loaded with credentials is kept apart by it instead of by the credentials, and outlasts a change of token. */
  scope?: string;
  /** Whether what is loaded with credentials is kept apart from what others load: separate, or shared with all. Default: "separate". */
  credentialScope?: "separate"|"shared";
  /** What the client is asked about this download, instead of what it said in initialize; an empty list for nothing. */
  delegates?: ("downloader/modifyRequest"|"downloader/redirect"|"downloader/validateStatus"|"downloader/challenge")[];
  /** Which redirects are followed: all, those to the same scheme, host and port, or none. Default: "follow". */
  redirect?: "follow"|"same-origin"|"none";
  /** How many redirects are followed. Default: 10. */
  maxRedirects?: number;
  /** The largest body accepted, in bytes. Default: 134217728. */
  maxBytes?: number;
  /** The status codes accepted; 200 to 399 but 206 by default. */
  validStatusCodes?: number[];
  /** Media types of which a server must name one, if it names any, such as image/*; by default the bytes decide alone. */
  acceptContentTypes?: string[];
  /** Whether and when a failed download is tried again. */
  retry?: { maxRetries?: number; interval?: { seconds: number }|{ exponential: number } };
  /** Seconds for which a download that failed waits for a network, when this machine has none; then it is tried again at once. */
  waitForConnectivity?: number;
  /** URLs tried in order when the first fails. */
  alternativeSources?: string[];
  /** Seconds after which the next source is begun beside one that has not answered. */
  hedgeAfter?: number;
  /** Digests of which the bytes must have one, as in Subresource Integrity. */
  integrity?: string;
  /** A path or URL that stands in when everything failed. */
  onFailureImage?: string;
}

/** How long an entry lives; a negative number means for ever. */
export type Expiration = "never"|"expired"|{ seconds: number }|{ days: number }|{ date: string };

export interface ImageResult {
  /** The cache key. */
  key: string;
  /** The name of the cache. */
  cache: string;
  /** What was done to the original; empty for nothing. */
  processorIdentifier: string;
  /** Where the answer came from; none means it was loaded now. */
  cacheType: "none"|"memory"|"disk";
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
  /** How it is to be turned, 1 to 8 as in EXIF; left out for what an older version stored; probe tells. */
  orientation?: number;
  /** Whether it may be transparent; left out for what an older version stored; probe tells. */
  hasAlpha?: boolean;
  /** Pixels across when it is turned as orientation says; left out for what an older version stored; probe tells. */
  displayWidth?: number;
  /** Pixels down when it is turned as orientation says; left out for what an older version stored; probe tells. */
  displayHeight?: number;
  /** Pictures of an animation or pages; 1 for stills, and for JPEG XL. */
  frameCount: number;
  /** How many frames or pages of the original a processed image lacks, although all were asked for; left out for none. */
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
  /** A file of raw pixels, when asked for: RGBA, eight bits each, sRGB, the frames one below the other. The other fields are those of the original. */
  pixels?: { path: string; uri: string; width: number; height: number; stride: number; frameCount: number; byteCount: number; loopCount: number; frameSeconds: number[]; delays: number[]; framesDropped?: number };
  /** False when the path is not lent, for what is lent has used its half of the limit. */
  leased?: boolean;
  /** True when its time is over, or its server was not asked although the request wanted that. */
  stale?: boolean;
  /** True when its server was asked, and said that it has not changed. */
  revalidated?: boolean;
  /** True when this stands in for an image that could not be had. */
  placeholder?: boolean;
  /** False when memory was to keep the bytes, but did not. */
  memoryCached?: boolean;
  /** Why memory did not keep the bytes, naming the setting. */
  memoryReason?: string;
  /** The reason why no tier keeps the image, which was loaded now; left out when a tier keeps it. */
  stored?: "noStore"|"tooLarge"|"noRoom"|"diskFailed"|"busy"|"expired"|"memoryOff"|"notAsked"|"occupied";
}

export interface StoreResult {
  /** The cache key. */
  key: string;
  /** The name of the cache. */
  cache: string;
  /** What was done to the original; empty for nothing. */
  processorIdentifier: string;
  /** Where the answer came from; none means it was loaded now. */
  cacheType: "none"|"memory"|"disk";
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
  /** How it is to be turned, 1 to 8 as in EXIF; left out for what an older version stored; probe tells. */
  orientation?: number;
  /** Whether it may be transparent; left out for what an older version stored; probe tells. */
  hasAlpha?: boolean;
  /** Pixels across when it is turned as orientation says; left out for what an older version stored; probe tells. */
  displayWidth?: number;
  /** Pixels down when it is turned as orientation says; left out for what an older version stored; probe tells. */
  displayHeight?: number;
  /** Pictures of an animation or pages; 1 for stills, and for JPEG XL. */
  frameCount: number;
  /** How many frames or pages of the original a processed image lacks, although all were asked for; left out for none. */
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
  /** False when the path is not lent, for what is lent has used its half of the limit. */
  leased?: boolean;
  /** Which tiers hold the image now: memory its bytes, disk its file. With reason when nothing was stored. */
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
  /** Whether a path that was lent out went before its time. */
  leased: boolean;
}

export interface IsCachedResult {
  /** Whether a tier has the image. */
  cached: boolean;
  /** The first tier that has it. */
  cacheType: "none"|"memory"|"disk";
}

export interface CachePathResult {
  /** Where the image is, or would be. */
  path: string;
  /** The same as a URL. */
  uri: string;
  /** Whether the image is there. */
  exists: boolean;
  /** False when the path is not lent, for what is lent has used its half of the limit. */
  leased?: boolean;
}

export interface SizeResult {
  /** Entries, bytes, bytes in whole blocks, the limit (0 for none), and the bytes of files that are no longer in the cache and go when their leases end, of the disk tier. */
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
  /** Pictures of an animation or pages; 1 for stills, and for JPEG XL. */
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
  /** How it is to be turned, 1 to 8 as in EXIF; null when its start does not tell. */
  orientation: number|null;
  /** Pictures of an animation or pages; null when its start does not tell. */
  frameCount: number|null;
  /** How long each frame of an animation is shown, in seconds; left out when its start does not tell. */
  frameSeconds?: number[];
  /** @deprecated Former name of frameSeconds, in milliseconds. */
  delays?: number[];
  /** How often an animation is played, 0 for ever; left out when its start does not tell. */
  loopCount?: number;
  /** Whether it may be transparent; null when its start does not tell. */
  hasAlpha: boolean|null;
  /** Its size in bytes; null when its server does not say. */
  byteCount: number|null;
  /** Where it was looked at; none for its source. */
  cacheType: "none"|"memory"|"disk";
  /** Pixels across when it is turned as orientation says; left out when its start does not tell. */
  displayWidth?: number;
  /** Pixels down when it is turned as orientation says; left out when its start does not tell. */
  displayHeight?: number;
}

export interface PrefetchResult {
  /** URLs that were loaded. */
  completed: string[];
  /** URLs whose images were cached already. */
  skipped: string[];
  /** URLs whose images could not be had, or were stopped, with their errors. */
  failed: { url: string; error: Record<string, unknown> }[];
  /** URLs that were loaded and whose images no tier keeps, with the reason; left out when empty. */
  notStored?: ({ url: string; stored: "noStore"|"tooLarge"|"noRoom"|"diskFailed"|"busy"|"expired"|"memoryOff"|"notAsked"|"occupied" })[];
}

export interface StopResult {
  /** Whether that prefetch was under way. */
  stopped: boolean;
}

export interface PriorityResult {
  /** Whether that request was under way. */
  changed: boolean;
}

export interface CancelResult {
  /** How many requests were cancelled. */
  cancelled: number;
}

export interface PauseResult {
  /** Which downloads are not started. */
  paused: "none"|"prefetch"|"all";
  /** How many downloads are under way, and go on. */
  running: number;
  /** How many wait for their turn. */
  waiting: number;
}

export interface ClearResult {
  /** Entries removed. */
  count: number;
  /** Bytes freed. */
  byteCount: number;
  /** @deprecated Former name of byteCount. */
  bytes: number;
  /** About how many paths that were lent out went before their time. */
  leased: number;
}

export interface ForgetResult {
  /** How many failures were forgotten. */
  forgotten: number;
}

export interface FailuresResult {
  /** The failures, the oldest first: URL, cache key, error, and for how many seconds more. */
  failures: { url: string; key: string; error: Record<string, unknown>; seconds: number }[];
}

export interface StatsResult {
  /** Images answered from memory. */
  memoryHits: number;
  /** Images answered from disk. */
  diskHits: number;
  /** Images that no cache had. */
  misses: number;
  /** Callers that joined work under way. */
  merged: number;
  /** Downloads that ended well. */
  downloads: number;
  /** Images that another process had downloaded while this one waited for it. */
  sharedDownloads: number;
  /** Downloads that failed or were cancelled. */
  failedDownloads: number;
  /** Bytes of bodies received. */
  downloadedBytes: number;
  /** Downloads under way. */
  runningDownloads: number;
  /** Those of them whose servers have said nothing for a second. */
  stalledDownloads: number;
  /** Downloads waiting for their turn, or for another process that downloads the same. */
  waitingDownloads: number;
  /** Images evicted from disk for their size. */
  evictions: number;
  /** Images taken out because their files had been changed by another program. */
  damagedFiles: number;
  /** Failures that are remembered, and repeated without asking. */
  rememberedFailures: number;
  /** Loaded images that no tier keeps although they were to be kept, by reason; also those that nobody waits for, and the originals of made images. */
  notStored: Record<string, number>;
  /** Requests being worked on. */
  requestsInFlight: number;
  /** What is made for the client and not yet read by it: the bytes held, their limit (outputLimit), and how often requests had to wait for the client to read. */
  output: { heldBytes: number; bytesLimit: number; limitBytes: number; waits: number };
  /** Seconds since the server started. */
  uptimeSeconds: number;
  /** How long requests took from being read to being answered, by method. */
  latency: Record<string, Latency>;
}

export interface Latency {
  /** Requests that were answered, well or not. */
  count: number;
  /** Milliseconds that half of them did not surpass, to an eighth. */
  p50: number;
  /** Milliseconds that 95 % of them did not surpass, to an eighth. */
  p95: number;
  /** Milliseconds that 99 % of them did not surpass, to an eighth. */
  p99: number;
  /** Milliseconds of the one that took longest. */
  max: number;
}

export interface EntryDetails {
  /** The cache key; null when only the file is known, until the image is asked for. */
  key: string|null;
  /** What was done to the original; empty for nothing. */
  processorIdentifier: string|null;
  /** A digest of the user whom the image belongs to; null for an image that users share. */
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
  /** Pictures of an animation or pages; 1 for stills, and for JPEG XL. */
  frameCount: number|null;
  /** The size of the file, in bytes. */
  byteCount: number|null;
  /** What the file takes on the disk; null in a read-only folder. */
  allocatedBytes: number|null;
  /** SHA-256 of the bytes, in hexadecimal. */
  checksum: string|null;
  /** How many entries have the same file; null in a list. */
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
  /** When it was last used, to within half a minute. */
  usedAt: string|null;
  /** When it expires; null for never. */
  expiresAt: string|null;
  /** Until when its path is lent out; null when it is not. */
  leasedUntil: string|null;
  /** What the caller of store wanted kept. */
  metadata: Record<string, string>|null;
  /** How it is to be turned, 1 to 8 as in EXIF; left out for what an older version stored; probe tells. */
  orientation?: number;
  /** Whether it may be transparent; left out for what an older version stored; probe tells. */
  hasAlpha?: boolean;
  /** Pixels across when it is turned as orientation says; left out for what an older version stored; probe tells. */
  displayWidth?: number;
  /** Pixels down when it is turned as orientation says; left out for what an older version stored; probe tells. */
  displayHeight?: number;
}

export interface ListResult {
  /** The images of this page. */
  entries: EntryDetails[];
  /** What the next page is asked for with; null at the end. */
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
  /** Which tier has the image, its time not being over. */
  cacheType: "none"|"memory"|"disk";
  /** When what is stored was stored. */
  storedAt: string|null;
  /** When its time on disk is over; null for never, and when nothing is stored. */
  expiresAt: string|null;
  /** Whether what is stored is not as fresh as the request wants it; null when nothing is. */
  stale: boolean|null;
  /** What would be done. */
  verdict: "answer"|"answerStale"|"answerAndRefresh"|"revalidate"|"load"|"fail";
  /** Whether the network would be used. */
  network: boolean;
  /** The URL that would be asked first; null when none would. */
  url: string|null;
  /** Why: sentences for people. */
  reasons: string[];
  /** What it would fail with, as far as that is known; null for nothing. */
  error: Record<string, unknown>|null;
}

export interface CleanResult {
  /** Images removed. */
  count: number;
  /** Bytes of their files. */
  byteCount: number;
  /** @deprecated Former name of byteCount. */
  bytes: number;
  /** The hashes of their keys, which named the files. */
  hashes: string[];
  /** Their keys, at the same places; null where it is not known. */
  keys: (string|null)[];
}

export interface VerifyResult {
  /** Entries looked at. */
  checked: number;
  /** Bytes read. */
  byteCount: number;
  /** @deprecated Former name of byteCount. */
  bytes: number;
  /** Entries whose files are not what was stored; taken out. */
  damaged: number;
  /** Entries without files; taken out. */
  missing: number;
  /** Images without entries; taken in. */
  adopted: number;
  /** Files of dead writers, and files that are no images; removed. */
  leftovers: number;
  /** Sums and notes of the index that were wrong; put right. */
  corrected: number;
  /** Files that could not be read now, for want of a permission or of descriptors; left alone. */
  unreadable: number;
  /** Whether nothing was wrong. */
  clean: boolean;
}

export interface MemorySettings {
  /** The most memory holds, in bytes; 0 holds nothing. Default: 104857600. */
  totalBytesLimit?: number;
  /** What a purge leaves, in bytes; setting totalBytesLimit alone makes it three fifths of that. Default: 62914560. */
  preferredBytesAfterPurge?: number;
  /** The most images; 0 for no limit. Default: 0. */
  countLimit?: number;
  /** The most one image may take, in bytes; null for a tenth of the limit. */
  entryBytesLimit?: number|null;
  /** How long an image stays in memory. Default: {"seconds": 300}. */
  expiration?: Expiration;
  /** What a use does to that: cacheTime begins it anew, none leaves it. Default: "cacheTime". */
  extending?: "none"|"cacheTime"|Expiration;
  /** Whether an image that was purged is found as long as an answer with it is under way. Default: true. */
  weakRetention?: boolean;
}

export interface DiskSettings {
  /** The folder, an absolute path; it can be named until the cache is first used. */
  folder?: string;
  /** The most the images take on disk, in bytes; 0 for no limit. Default: 2147483648. */
  bytesLimit?: number;
  /** What a purge leaves, as a part of the limit. Default: 0.5. */
  purgeRatio?: number;
  /** Bytes of the file system that stay free; null for a hundredth of it, 128 KiB (at most an eighth) to 256 MiB. */
  freeSpaceFloor?: number|null;
  /** How long an image stays on disk. Default: {"days": 7}. */
  expiration?: Expiration;
  /** What that counts from: the last use (access) or the storing (modification). Default: "access". */
  expireBy?: "access"|"modification";
  /** The extension of files: of the format found (sniffed), of the key (fromKey), none, or any other text. Default: "sniffed". */
  pathExtension?: string;
  /** How files are named: by sha256 or md5 of the key. Default: "sha256". */
  fileNames?: "sha256"|"md5";
  /** Absolute paths of folders that are searched after this one and never written. */
  readOnlyPaths?: string[];
  /** When a store is done: the system has the bytes (process), or the disk (disk). Default: "process". */
  durability?: "process"|"disk";
  /** Whether and when a stored image is checked with its server, unless a request says otherwise. Default: "never". */
  revalidate?: "never"|"ifExpired"|"always"|"http";
  /** Seconds for which failures that would come again are remembered, unless a request says otherwise; 0 for not at all. Default: 0. */
  negativeCache?: number;
  /** Whether images are only answered and kept once all of them has been decoded, unless a request says otherwise. Default: false. */
  verifyDecode?: boolean;
  /** Query parameters that make no other image: keys that are URLs of the hosts are kept without them. The first rule for a host counts. */
  keyRules?: { hosts?: string[]; keepQuery?: string[]; dropQuery?: string[] }[];
}

export interface DownloaderSettings {
  /** Downloads at once from one host. Default: 4. */
  maxDownloadsPerHost?: number;
  /** Downloads at once in all. Default: 64. */
  maxConcurrentDownloads?: number;
  /** Which of equal priority goes first: the oldest (fifo) or newest (lifo). Default: "fifo". */
  downloadOrder?: "fifo"|"lifo";
  /** Downloads started a second, after a first burst; 0 for no limit. Default: 0. */
  downloadsPerSecond?: number;
  /** The same for one host; 0 for no limit. Default: 0. */
  downloadsPerSecondPerHost?: number;
  /** How many may start at once before downloadsPerSecond, or that of a host, counts. Default: 25. */
  downloadBurst?: number;
  /** Seconds to wait for the next bytes, unless a request says otherwise. Default: 15. */
  timeout?: number;
  /** What is added to requests for some hosts, where they say nothing else: headers, authorization, a client certificate. Secrets are not shown. */
  hostRules?: ({ hosts: string[]; headers?: Record<string, string>; authorization?: { basic: { user: string; password: string } }|{ bearer: string }; clientCertificate?: string; clientKey?: string })[];
  /** Requests for URLs that begin with from go to to instead; the first counts. */
  urlRewrites?: { from: string; to: string }[];
}

export interface ConfigureResult {
  /** The memory tier; false when it is switched off. */
  memory: false|MemorySettings;
  /** The disk tier. */
  disk: DiskSettings;
  /** The downloader of all caches. */
  downloader: DownloaderSettings;
}

export interface CacheSettings {
  /** The memory tier; false when it is switched off. */
  memory: false|MemorySettings;
  /** The disk tier. */
  disk: DiskSettings;
}

export interface CachesResult {
  /** Name, folder, whether this server has used it, and settings, by name. */
  caches: { name: string; folder: string; isOpen: boolean; settings: CacheSettings }[];
}

export interface SubscriptionResult {
  /** The events now subscribed. */
  events: ("cache/didClean"|"image/didChange"|"activity/didChange"|"download/didFinish"|"log")[];
}

/** Settings of all caches, of single ones by name, and of the downloader. */
export interface Settings {
  /** The memory tier. */
  memory?: boolean|MemorySettings;
  /** The disk tier. */
  disk?: DiskSettings;
  /** Settings by the name of the cache. */
  caches?: Record<string, { memory?: boolean|MemorySettings; disk?: DiskSettings }>;
  /** The downloader of all caches. */
  downloader?: DownloaderSettings;
}

export interface InitializeResult {
  /** Name and version of the server. */
  serverInfo: { name?: string; version?: string };
  /** The version of the protocol. */
  protocolVersion: string;
  /** What the server can do, by name; test for the names, not for versions. */
  capabilities: Record<string, unknown>;
  /** What the connection accepts. */
  limits: Record<string, number>;
}

/** Returns an image: from memory, else from disk, else from its URL, whence it is cached. */
export interface RetrieveParams {
  /** Where the image is: an http, https, file or data URL. Without it, what is cached under key is meant. */
  url?: string;
  /** The cache key; the URL without its fragment when left out. Alone, nothing is loaded. */
  key?: string;
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** What is done to the original, in order. */
  processors?: Processor[]|string;
  /** How to look up, load and keep the image. */
  options?: ImageOptions;
  /** What the result holds of the image. Default: "path". */
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
  /** What is done to the original, in order. */
  processors?: Processor[]|string;
  /** How to look up, load and keep the image. */
  options?: ImageOptions;
  /** Replace an image that is there. Default: true. */
  overwrite?: boolean;
  /** What is to be kept with the image, for inspect and list. */
  metadata?: Record<string, string>;
}

/** Removes an image from the cache. */
export interface RemoveParams {
  /** The cache key: any text. */
  key: string;
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** What is done to the original, in order. */
  processors?: Processor[]|string;
  /** Remove it from memory. Default: true. */
  fromMemory?: boolean;
  /** Remove it from disk. Default: true. */
  fromDisk?: boolean;
  /** Remove everything made from it by processors too. Default: false. */
  allVariants?: boolean;
  /** What else was said when the image was made: cacheSerializer, onlyLoadFirstFrame, scaleFactor and the like. */
  options?: ImageOptions;
}

/** Tells whether an image is cached, and where; nothing is loaded. */
export interface IsCachedParams {
  /** The cache key: any text. */
  key: string;
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** What is done to the original, in order. */
  processors?: Processor[]|string;
  /** What else was said when the image was made: cacheSerializer, onlyLoadFirstFrame, scaleFactor and the like. */
  options?: ImageOptions;
}

/** Tells where an image is in the cache, or would be. */
export interface CachePathParams {
  /** The cache key: any text. */
  key: string;
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** What is done to the original, in order. */
  processors?: Processor[]|string;
  /** What else was said when the image was made: cacheSerializer, onlyLoadFirstFrame, scaleFactor and the like. */
  options?: ImageOptions;
}

/** Tells how many images a cache holds and how large they are, without walking a folder. */
export interface CalculateSizeParams {
  /** The name of the cache. Default: "default". */
  cache?: string;
}

/** Loads an image and checks it; no cache is looked into or written. */
export interface DownloadParams {
  /** Where the image is: an http, https, file or data URL. */
  url: string;
  /** How to load the images. */
  options?: ImageOptions;
  /** Whether the result holds the bytes. Default: "data". */
  as?: "data"|"none";
}

/** Tells format, size, orientation, frames and transparency of an image from its first kilobytes. */
export interface ProbeParams {
  /** Where the image is: an http, https, file or data URL. Without it, what is cached under key is meant. */
  url?: string;
  /** The cache key; the URL without its fragment when left out. Alone, nothing is loaded. */
  key?: string;
  /** The name of the cache that is looked into first. Default: "default". */
  cache?: string;
  /** How to look up and load the image. */
  options?: ImageOptions;
}

/** Loads images into a cache before somebody wants them, behind all other downloads. */
export interface PrefetchParams {
  /** Where the images are; each is loaded once, however often it is named. */
  urls: string[];
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** How to load the images. */
  options?: ImageOptions;
  /** How many are loaded at once. Default: 5. */
  maxConcurrent?: number;
  /** What is done to the originals, in order. */
  processors?: Processor[]|string;
}

/** Stops a prefetch, which is then answered: what it has not loaded has failed. */
export interface StopPrefetchParams {
  /** The id of the prefetch request. */
  id: string|number;
}

/** Changes how urgent a retrieve, download or prefetch under way is. */
export interface SetPriorityParams {
  /** The id of the request. */
  id: string|number;
  /** From 0 to 1, or a name; among downloads that wait, the higher goes first. */
  priority: number|"veryLow"|"low"|"normal"|"high"|"veryHigh";
}

/** Cancels every retrieve, download and prefetch under way, or those that match all that is given. */
export interface CancelAllParams {
  /** Only those for this URL; a prefetch goes on with its others. */
  url?: string;
  /** Only those for this cache. */
  cache?: string;
  /** Only the one in this slot. */
  slot?: string;
}

/** Starts no more downloads until resume; what is under way goes on, and what waits keeps its place. */
export interface PauseParams {
  /** All, or only those of prefetch that nobody else waits for. Default: "all". */
  what?: "all"|"prefetch";
}

/** Empties a cache: memory and disk. */
export interface ClearParams {
  /** The name of the cache. Default: "default". */
  cache?: string;
}

/** Empties the memory tier of a cache. */
export interface ClearMemoryParams {
  /** The name of the cache. Default: "default". */
  cache?: string;
}

/** Empties the disk tier of a cache; memory keeps its images as far as its limit goes. */
export interface ClearDiskParams {
  /** The name of the cache. Default: "default". */
  cache?: string;
}

/** Forgets failures that are remembered, so that they are asked for again. */
export interface ForgetFailuresParams {
  /** Only those of this URL or cache key. */
  url?: string;
  /** The name of the cache. Default: "default". */
  cache?: string;
}

/** Lists the failures that are remembered, and repeated without asking. */
export interface ListFailuresParams {
  /** The name of the cache. Default: "default". */
  cache?: string;
}

/** Tells everything that is known of a cached image, without loading or prolonging it. */
export interface InspectParams {
  /** The cache key: any text. */
  key: string;
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** What was done to the original. */
  processors?: Processor[]|string;
  /** What else was said when the image was made: cacheSerializer and the like. */
  options?: ImageOptions;
}

/** Lists what the disk tier of a cache holds, page by page, in an order that no use changes. */
export interface ListParams {
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** Entries a page, 1 to 1000. Default: 100. */
  limit?: number;
  /** What the page before came with; the first page when left out. */
  cursor?: string;
  /** Only images from this host. */
  host?: string;
  /** Only images whose keys begin so. */
  prefix?: string;
  /** Only images of this format. */
  format?: "png"|"jpeg"|"gif"|"webp"|"avif"|"heic"|"tiff"|"bmp"|"ico"|"svg"|"jxl"|"jp2"|"pnm"|"icns"|"pdf";
  /** Only images stored at least so many seconds ago. */
  minAge?: number;
  /** Only images stored at most so many seconds ago. */
  maxAge?: number;
}

/** Tells what retrieve would do now and why; nothing is loaded, prolonged or asked. */
export interface ExplainParams {
  /** Where the image is: an http, https, file or data URL. Without it, what is cached under key is meant. */
  url?: string;
  /** The cache key; the URL without its fragment when left out. Alone, nothing is loaded. */
  key?: string;
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** What is done to the original. */
  processors?: Processor[]|string;
  /** The options of the request. */
  options?: ImageOptions;
}

/** Removes every image whose time is over. A path that is lent out stays valid. */
export interface CleanExpiredParams {
  /** The name of the cache. Default: "default". */
  cache?: string;
}

/** Reads every image of a cache through, holds it against the index, and puts right what is wrong; others go on. */
export interface VerifyParams {
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** Put right what is wrong; otherwise it is only counted. Default: true. */
  repair?: boolean;
}

/** Changes the settings of a cache, or of the downloader, from now on; what is left out stays as it was. */
export interface ConfigureParams {
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** The memory tier: its settings, or whether there is one. */
  memory?: boolean|MemorySettings;
  /** The settings of the disk tier. */
  disk?: DiskSettings;
  /** The settings of the downloader of all caches. */
  downloader?: DownloaderSettings;
}

/** Adds a folder that is searched after that of a cache, and never written. */
export interface AddReadOnlyCachePathParams {
  /** The absolute path of the folder. */
  path: string;
  /** The name of the cache. Default: "default". */
  cache?: string;
}

/** Asks to be told of events by notifications; nothing is sent before. */
export interface SubscribeParams {
  /** The names of the events. */
  events: ("cache/didClean"|"image/didChange"|"activity/didChange"|"download/didFinish"|"log")[];
}

/** Ends subscriptions: none of these events follows the answer. */
export interface UnsubscribeParams {
  /** The names of the events. */
  events: ("cache/didClean"|"image/didChange"|"activity/didChange"|"download/didFinish"|"log")[];
}

/** Introduces the client; optional. Whatever a language server's client sends besides is let pass. */
export interface InitializeParams {
  /** The client's process; the server ends when it does. */
  processId?: number;
  /** Settings of caches; flags and the environment come before them. */
  initializationOptions?: Settings;
  /** What the client can do; delegates in it names what it wants to be asked. */
  capabilities?: { delegates?: string[]|Record<string, boolean> };
}

/** Images went from a disk tier because their time was over or room was needed; never for remove or clear. */
export interface CacheDidCleanEvent {
  /** The name of the cache. */
  cache: string;
  /** Names of files without extension. */
  hashes: string[];
  /** Cache keys, null where one is not known. */
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

/** Downloads have been running for a while, or have stopped: what a sign of activity shows. */
export interface ActivityDidChangeEvent {
  /** Whether downloads are running. */
  active: boolean;
  /** How many. */
  count: number;
}

/** A transfer has ended, well or not: once each, however many requests shared it. */
export interface DownloadDidFinishEvent {
  /** The URL. */
  url: string;
  /** The URL after redirects. */
  finalUrl: string;
  /** @deprecated Former name of finalUrl. */
  finalURL: string;
  /** The status of the answer. */
  statusCode: number|null;
  /** @deprecated Former name of statusCode. */
  status: number|null;
  /** The size in bytes. */
  byteCount: number;
  /** @deprecated Former name of byteCount. */
  bytes: number;
  /** Those that an earlier transfer had loaded. */
  resumedBytes: number;
  /** A number of seconds. */
  seconds: number;
  /** Seconds by phase. */
  timings: { dns: number; connect: number; tls: number; firstByte: number|null };
  /** Whether the connection was open already. */
  reused: boolean;
  /** How many redirects were followed. */
  redirects: number;
  /** The version of HTTP. */
  httpVersion: string|null;
  /** Whether the server confirmed what was cached. */
  fromRevalidation: boolean;
  /** The error, as of a request. */
  error: string|null;
}

/** A line of the log, of the level that is logged or above; at most 100 in a second. */
export interface LogEvent {
  /** The level. */
  level: string;
  /** A sentence. */
  message: string;
  /** Names and values. */
  metadata: Record<string, string>;
  /** How many lines were left out before. */
  omitted?: number;
}

/** How is this request to be sent? Null sends none, and the download fails with downloadCancelledBeforeStarting. */
export interface DownloaderModifyRequestParams {
  /** The URL. */
  url: string;
  /** The HTTP method. */
  method: "GET"|"POST"|"PUT";
  /** Header fields by name. */
  headers: Record<string, string>;
}

export type DownloaderModifyRequestResult = { url?: string; headers?: Record<string, string>; method?: "GET"|"POST"|"PUT"; body?: string|{ base64: string } }|null;

/** How is this redirect to be followed? Null stops here, and the answer that redirects is judged as it is. */
export interface DownloaderRedirectParams {
  /** What it was. */
  from: string;
  /** The status of the answer. */
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

/** Is the body of this answer wanted? Null judges it by validStatusCodes. */
export interface DownloaderValidateStatusParams {
  /** The URL. */
  url: string;
  /** The status of the answer. */
  statusCode: number;
  /** @deprecated Former name of statusCode. */
  status: number;
  /** The declared media type. */
  contentType: string|null;
}

export type DownloaderValidateStatusResult = { accept: boolean }|null;

/** Which credentials does this server get? "default" goes on as without the question, "cancel" gives up. */
export interface DownloaderChallengeParams {
  /** The URL. */
  url: string;
  /** The host. */
  host: string;
  /** The realm of the challenge. */
  realm: string|null;
  /** The way to log in. */
  scheme: string;
  /** Whether a proxy asks. */
  isProxy: boolean;
  /** How often credentials were refused. */
  failures: number;
}

export type DownloaderChallengeResult = "default"|"cancel"|{ use: { user: string; password: string }|{ bearer: string } }|null;

/** The parameters and the result of each method. */
export interface Methods {
  /** Returns an image: from memory, else from disk, else from its URL, whence it is cached. */
  "retrieve": { params: RetrieveParams; result: ImageResult };
  /** Puts an image into the cache. */
  "store": { params: StoreParams; result: StoreResult };
  /** Removes an image from the cache. */
  "remove": { params: RemoveParams; result: RemoveResult };
  /** Tells whether an image is cached, and where; nothing is loaded. */
  "isCached": { params: IsCachedParams; result: IsCachedResult };
  /** Tells where an image is in the cache, or would be. */
  "cachePath": { params: CachePathParams; result: CachePathResult };
  /** Tells how many images a cache holds and how large they are, without walking a folder. */
  "calculateSize": { params: CalculateSizeParams | undefined; result: SizeResult };
  /** Loads an image and checks it; no cache is looked into or written. */
  "download": { params: DownloadParams; result: DownloadResult };
  /** Tells format, size, orientation, frames and transparency of an image from its first kilobytes. */
  "probe": { params: ProbeParams; result: ProbeResult };
  /** Loads images into a cache before somebody wants them, behind all other downloads. */
  "prefetch": { params: PrefetchParams; result: PrefetchResult };
  /** Stops a prefetch, which is then answered: what it has not loaded has failed. */
  "stopPrefetch": { params: StopPrefetchParams; result: StopResult };
  /** Changes how urgent a retrieve, download or prefetch under way is. */
  "setPriority": { params: SetPriorityParams; result: PriorityResult };
  /** Cancels every retrieve, download and prefetch under way, or those that match all that is given. */
  "cancelAll": { params: CancelAllParams | undefined; result: CancelResult };
  /** Starts no more downloads until resume; what is under way goes on, and what waits keeps its place. */
  "pause": { params: PauseParams | undefined; result: PauseResult };
  /** Starts downloads again after pause. */
  "resume": { params: undefined; result: PauseResult };
  /** Empties a cache: memory and disk. */
  "clear": { params: ClearParams | undefined; result: ClearResult };
  /** Empties the memory tier of a cache. */
  "clearMemory": { params: ClearMemoryParams | undefined; result: ClearResult };
  /** Empties the disk tier of a cache; memory keeps its images as far as its limit goes. */
  "clearDisk": { params: ClearDiskParams | undefined; result: ClearResult };
  /** Forgets failures that are remembered, so that they are asked for again. */
  "forgetFailures": { params: ForgetFailuresParams | undefined; result: ForgetResult };
  /** Lists the failures that are remembered, and repeated without asking. */
  "listFailures": { params: ListFailuresParams | undefined; result: FailuresResult };
  /** Tells what the server has done since it started. */
  "stats": { params: undefined; result: StatsResult };
  /** Tells everything that is known of a cached image, without loading or prolonging it. */
  "inspect": { params: InspectParams; result: EntryDetails };
  /** Lists what the disk tier of a cache holds, page by page, in an order that no use changes. */
  "list": { params: ListParams | undefined; result: ListResult };
  /** Tells what retrieve would do now and why; nothing is loaded, prolonged or asked. */
  "explain": { params: ExplainParams; result: ExplainResult };
  /** Removes every image whose time is over. A path that is lent out stays valid. */
  "cleanExpired": { params: CleanExpiredParams | undefined; result: CleanResult };
  /** Reads every image of a cache through, holds it against the index, and puts right what is wrong; others go on. */
  "verify": { params: VerifyParams | undefined; result: VerifyResult };
  /** Changes the settings of a cache, or of the downloader, from now on; what is left out stays as it was. */
  "configure": { params: ConfigureParams | undefined; result: ConfigureResult };
  /** Adds a folder that is searched after that of a cache, and never written. */
  "addReadOnlyCachePath": { params: AddReadOnlyCachePathParams; result: CacheSettings };
  /** Lists the caches that are open, configured, or found in the cache folder. */
  "caches": { params: undefined; result: CachesResult };
  /** Asks to be told of events by notifications; nothing is sent before. */
  "subscribe": { params: SubscribeParams; result: SubscriptionResult };
  /** Ends subscriptions: none of these events follows the answer. */
  "unsubscribe": { params: UnsubscribeParams; result: SubscriptionResult };
  /** Answers null: a probe of life and latency. Any parameters are ignored. */
  "ping": { params: undefined; result: null };
  /** Returns this document. */
  "rpc.discover": { params: undefined; result: Record<string, unknown> };
  /** Introduces the client; optional. Whatever a language server's client sends besides is let pass. */
  "initialize": { params: InitializeParams | undefined; result: InitializeResult };
  /** Ends the session: after it only exit may follow. */
  "shutdown": { params: undefined; result: null };
}

/** What comes with each event. */
export interface Events {
  "cache/didClean": CacheDidCleanEvent;
  "image/didChange": ImageDidChangeEvent;
  "activity/didChange": ActivityDidChangeEvent;
  "download/didFinish": DownloadDidFinishEvent;
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
