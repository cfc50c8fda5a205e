// Made by clients/generate.py from protocol/openrpc.json.
import type { CacheSettings } from "./settings.js";

/** Where an answer came from, or where an entry is; "none" = loaded now, or nowhere. */
export type CacheType = "none" | "memory" | "disk";

/** The formats of pictures. */
export type PictureFormat =
  | "png"
  | "jpeg"
  | "gif"
  | "webp"
  | "avif"
  | "heic"
  | "tiff"
  | "bmp"
  | "ico"
  | "svg"
  | "jxl"
  | "jp2"
  | "pnm"
  | "icns"
  | "pdf";

/**
 * A file of raw pixels, when asked for: RGBA, eight bits each, sRGB, the frames one below the other. The other fields
 * are those of the original.
 */
export interface Pixels {
  /** A file. */
  path: string;
  /** The file's URL. */
  uri: string;
  /** Pixels across. */
  width: number;
  /** Pixels down. */
  height: number;
  /** Bytes from one row to the next. */
  stride: number;
  /** How many pictures. */
  frameCount: number;
  /** The size in bytes. */
  byteCount: number;
  /** How often the animation is played; 0 for ever. */
  loopCount: number;
  /** Seconds each frame is shown. */
  frameSeconds: number[];
  /** @deprecated Former name of frameSeconds, in milliseconds. */
  delays: number[];
  /** How many pictures of the original are missing; left out for none. */
  framesDropped?: number;
}

/** The reason why no tier keeps the image, which was loaded now; left out when a tier keeps it. */
export type NotStoredReason =
  | "noStore"
  | "tooLarge"
  | "noRoom"
  | "diskFailed"
  | "busy"
  | "expired"
  | "memoryOff"
  | "notAsked"
  | "occupied";

/** An image that is in the cache, or was just loaded. */
export interface ImageResult {
  /** The cache key. */
  key: string;
  /** The name of the cache. */
  cache: string;
  /** What was done to the original; empty for nothing. */
  processorIdentifier: string;
  /** Where the answer came from; none means it was loaded now. */
  cacheType: CacheType;
  /** A complete file; null when the image is only in memory. */
  path: string | null;
  /** The file's URL; null when there is none. */
  uri: string | null;
  /** The picture format, by signature. */
  format: PictureFormat;
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
  /**
   * How many frames or pages of the original a processed image lacks, although all were asked for; left out for none.
   */
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
  data?: Buffer;
  /** Where it was downloaded from, after redirects. */
  url?: string;
  /** The server's entity tag. */
  etag?: string;
  /** The server's date of last change, as sent. */
  lastModified?: string;
  /** When the entry on disk expires; null for never. */
  expiresAt: string | null;
  /** The image as a data URL, when asked for. */
  dataUrl?: string;
  /** A ThumbHash of the image, when asked for and there is a codec worker. */
  thumbHash?: string;
  /** A BlurHash of the image, in 28 letters, with the ThumbHash. */
  blurHash?: string;
  /** The colour that most of the image has, with the ThumbHash. */
  dominantColor?: string;
  /**
   * A file of raw pixels, when asked for: RGBA, eight bits each, sRGB, the frames one below the other. The other fields
   * are those of the original.
   */
  pixels?: Pixels;
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
  stored?: NotStoredReason;
}

/** Which tiers hold the image now: memory its bytes, disk its file. With reason when nothing was stored. */
export interface StoredTiers {
  /** The memory tier. */
  memory: boolean;
  /** The disk tier. */
  disk: boolean;
  /** Why. */
  reason?: NotStoredReason;
}

/** An image that was put into the cache. */
export interface StoreResult extends Omit<ImageResult, "stored"> {
  /** Which tiers hold the image now: memory its bytes, disk its file. With reason when nothing was stored. */
  stored: StoredTiers;
  /** Why memory does not hold the bytes, or nothing was stored. */
  reason?: string;
}

/** What `remove` took away. */
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

/** Whether and where an image is cached. */
export interface CacheState {
  /** Whether a tier has the image. */
  cached: boolean;
  /** The first tier that has it. */
  cacheType: CacheType;
}

/** Where an image is, or would be. */
export interface CachePath {
  /** Where the image is, or would be. */
  path: string;
  /** The same as a URL. */
  uri: string;
  /** Whether the image is there. */
  exists: boolean;
  /** False when the path is not lent, for what is lent has used its half of the limit. */
  leased?: boolean;
}

/** Images on disk. Sizes are in bytes; a limit of 0 is none. */
export interface DiskSize {
  /** Number of entries. */
  count: number;
  /** Sum of their lengths. */
  byteCount: number;
  /** @deprecated Former name of byteCount. */
  bytes: number;
  /** The limit; 0 for none. */
  bytesLimit: number;
  /** @deprecated Former name of bytesLimit. */
  limitBytes: number;
  /** What they take on the file system. */
  allocatedBytes?: number;
  /** What has left the cache and goes when its leases end. */
  leasedBytes?: number;
}

/** Images in the server's memory. Sizes are in bytes. */
export interface MemorySize {
  /** Number of entries. */
  count: number;
  /** Sum of their lengths. */
  byteCount: number;
  /** @deprecated Former name of byteCount. */
  bytes: number;
  /** The limit. */
  bytesLimit: number;
  /** @deprecated Former name of bytesLimit. */
  limitBytes: number;
  /** What they take, in bytes. */
  allocatedBytes?: number;
  /** What is lent out of it, in bytes. */
  leasedBytes?: number;
}

/** How much one cache holds, on disk and in memory. */
export interface CacheSize {
  /**
   * Entries, bytes, bytes in whole blocks, the limit (0 for none), and the bytes of files that are no longer in the
   * cache and go when their leases end, of the disk tier.
   */
  disk: DiskSize;
  /** Entries, bytes and the limit of the memory tier. */
  memory: MemorySize;
}

/** An image that was loaded past all caches. */
export interface DownloadResult {
  /** The picture format, by signature. */
  format: PictureFormat;
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
  data?: Buffer;
  /** Where it was downloaded from, after redirects. */
  url?: string;
  /** The server's entity tag. */
  etag?: string;
  /** The server's date of last change, as sent. */
  lastModified?: string;
}

/** What the first kilobytes of an image tell. */
export interface ProbeResult {
  /** The picture format, by signature. */
  format: PictureFormat;
  /** The media type of the format. */
  mimeType: string;
  /** Pixels across, as coded. */
  width: number;
  /** Pixels down, as coded. */
  height: number;
  /** How it is to be turned, 1 to 8 as in EXIF; null when its start does not tell. */
  orientation: number | null;
  /** Pictures of an animation or pages; null when its start does not tell. */
  frameCount: number | null;
  /** How long each frame of an animation is shown, in seconds; left out when its start does not tell. */
  frameSeconds?: number[];
  /** @deprecated Former name of frameSeconds, in milliseconds. */
  delays?: number[];
  /** How often an animation is played, 0 for ever; left out when its start does not tell. */
  loopCount?: number;
  /** Whether it may be transparent; null when its start does not tell. */
  hasAlpha: boolean | null;
  /** Its size in bytes; null when its server does not say. */
  byteCount: number | null;
  /** Where it was looked at; none for its source. */
  cacheType: CacheType;
  /** Pixels across when it is turned as orientation says; left out when its start does not tell. */
  displayWidth?: number;
  /** Pixels down when it is turned as orientation says; left out when its start does not tell. */
  displayHeight?: number;
}

/** An error as the server answers it. */
export type ErrorAnswer = { code: number; message: string; data?: Record<string, unknown> };

/** A URL whose image could not be had, and the error. */
export interface PrefetchFailure {
  /** The URL. */
  url: string;
  /** The error, as of a request. */
  error: ErrorAnswer;
}

export interface UnstoredImage {
  /** The URL. */
  url: string;
  /** Why no tier keeps it. */
  stored: NotStoredReason;
}

/** What became of the URLs that were to be loaded ahead of time. */
export interface PrefetchResult {
  /** URLs that were loaded. */
  completed: string[];
  /** URLs whose images were cached already. */
  skipped: string[];
  /** URLs whose images could not be had, or were stopped, with their errors. */
  failed: PrefetchFailure[];
  /** URLs that were loaded and whose images no tier keeps, with the reason; left out when empty. */
  notStored?: UnstoredImage[];
}

/** Which downloads are not started now. */
export interface PauseState {
  /** Which downloads are not started. */
  paused: "none" | "prefetch" | "all";
  /** How many downloads are under way, and go on. */
  running: number;
  /** How many wait for their turn. */
  waiting: number;
}

/** What `clear` and its kin took away: how many images, how many bytes. */
export interface Cleared {
  /** Entries removed. */
  count: number;
  /** Bytes freed. */
  byteCount: number;
  /** @deprecated Former name of byteCount. */
  bytes: number;
  /** About how many paths that were lent out went before their time. */
  leased: number;
}

/** A failure that is repeated without asking, for a while. */
export interface RememberedFailure {
  /** The URL. */
  url: string;
  /** The cache key that its image was to have. */
  key: string;
  /** The error, as of a request. */
  error: ErrorAnswer;
  /** For how many seconds it is remembered yet. */
  seconds: number;
}

/**
 * What is made for the client and not yet read by it: the bytes held, their limit (outputLimit), and how often requests
 * had to wait for the client to read.
 */
export interface StatsResultOutput {
  /** What is held, in bytes. */
  heldBytes: number;
  /** The limit, in bytes. */
  bytesLimit: number;
  /** @deprecated Former name of bytesLimit. */
  limitBytes: number;
  /** How often requests had to wait. */
  waits: number;
}

/** How long the requests of one method took, in milliseconds. */
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

/** The server's counters. */
export interface Stats {
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
  /**
   * Loaded images that no tier keeps although they were to be kept, by reason; also those that nobody waits for, and
   * the originals of made images.
   */
  notStored: Record<string, number>;
  /** Requests being worked on. */
  requestsInFlight: number;
  /**
   * What is made for the client and not yet read by it: the bytes held, their limit (outputLimit), and how often
   * requests had to wait for the client to read.
   */
  output: StatsResultOutput;
  /** Seconds since the server started. */
  uptimeSeconds: number;
  /** How long requests took from being read to being answered, by method. */
  latency: Record<string, Latency>;
}

/** What is known of one image in a cache. Dates are ISO 8601, sizes in bytes. */
export interface EntryDetails {
  /** The cache key; null when only the file is known, until the image is asked for. */
  key: string | null;
  /** What was done to the original; empty for nothing. */
  processorIdentifier: string | null;
  /** A digest of the user whom the image belongs to; null for an image that users share. */
  user: string | null;
  /** The hash that names the file; null in a read-only folder. */
  hash: string | null;
  /** The file; null for an image that is only in memory. */
  path: string | null;
  /** The same as a URL. */
  uri: string | null;
  /** The picture format, by signature. */
  format: string | null;
  /** The media type of the format. */
  mimeType: string | null;
  /** Pixels across, as coded. */
  width: number | null;
  /** Pixels down, as coded. */
  height: number | null;
  /** Pictures of an animation or pages; 1 for stills, and for JPEG XL. */
  frameCount: number | null;
  /** The size of the file, in bytes. */
  byteCount: number | null;
  /** What the file takes on the disk; null in a read-only folder. */
  allocatedBytes: number | null;
  /** SHA-256 of the bytes, in hexadecimal. */
  checksum: string | null;
  /** How many entries have the same file; null in a list. */
  sharedBy: number | null;
  /** Where it was downloaded from, after redirects. */
  url: string | null;
  /** The host it came from. */
  host: string | null;
  /** The server's entity tag. */
  etag: string | null;
  /** The server's date of last change, as sent. */
  lastModified: string | null;
  /** When it was stored. */
  storedAt: string | null;
  /** When it was last used, to within half a minute. */
  usedAt: string | null;
  /** When it expires; null for never. */
  expiresAt: string | null;
  /** Until when its path is lent out; null when it is not. */
  leasedUntil: string | null;
  /** What the caller of store wanted kept. */
  metadata: Record<string, string> | null;
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
  cursor: string | null;
}

/** What `retrieve` would do now, and why. */
export interface Explanation {
  /** The key under which the image is kept. */
  key: string;
  /** The name of the cache. */
  cache: string;
  /** The hash that names the file. */
  hash: string;
  /** Where the image is on disk, or would be. */
  path: string;
  /** Which tier has the image, its time not being over. */
  cacheType: CacheType;
  /** When what is stored was stored. */
  storedAt: string | null;
  /** When its time on disk is over; null for never, and when nothing is stored. */
  expiresAt: string | null;
  /** Whether what is stored is not as fresh as the request wants it; null when nothing is. */
  stale: boolean | null;
  /** What would be done. */
  verdict: "answer" | "answerStale" | "answerAndRefresh" | "revalidate" | "load" | "fail";
  /** Whether the network would be used. */
  network: boolean;
  /** The URL that would be asked first; null when none would. */
  url: string | null;
  /** Why: sentences for people. */
  reasons: string[];
  /** What it would fail with, as far as that is known; null for nothing. */
  error: ErrorAnswer | null;
}

/** What `cleanExpired` removed. */
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
  keys: (string | null)[];
}

/** What `verify` found, in entries and files. */
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

/** A cache that is open, configured, or found in the cache folder. */
export interface KnownCache {
  /** The name. */
  name: string;
  /** Absolute path of its folder. */
  folder: string;
  /** Whether this server has used it. */
  isOpen: boolean;
  settings: CacheSettings;
}
