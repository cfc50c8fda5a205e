// Made by clients/generate.py from protocol/openrpc.json.
import type { CacheSettings } from "./settings.js";

/** Where an answer came from, or where an entry is; "none" = loaded now, or nowhere. */
export type CacheType = "none" | "memory" | "disk" | "remote";

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
 * A file of raw pixels, when asked for: sRGB, RGBA with eight bits each, frames one below the other. The other fields
 * describe the original.
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

/** Why no tier keeps the image that was just loaded; left out when one does. */
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

/** Where the time of a transfer went, in seconds. */
export interface DownloadTimings {
  /** Seconds for resolving the name. */
  dns: number;
  /** Seconds for the connection. */
  connect: number;
  /** Seconds for TLS. */
  tls: number;
  /** Seconds to the first byte of the response. */
  firstByte: number | null;
}

/** The result and the timing of the download, when asked for and there was one. */
export interface DownloadFinished {
  /** The URL. */
  url: string;
  /** The URL that answered, after all redirects. */
  finalUrl: string;
  /** @deprecated Former name of finalUrl. */
  finalURL: string;
  /** Null when there was no answer. */
  statusCode: number | null;
  /** @deprecated Former name of statusCode. */
  status: number | null;
  /** The size in bytes. */
  byteCount: number;
  /** @deprecated Former name of byteCount. */
  bytes: number;
  /** Bytes that were kept from an earlier transfer. */
  resumedBytes: number;
  /** A number of seconds. */
  seconds: number;
  /** Seconds by phase. */
  timings: DownloadTimings;
  /** Whether the connection was open already. */
  reused: boolean;
  /** How many redirects were followed. */
  redirects: number;
  /** The version of HTTP. */
  httpVersion: string | null;
  /** Whether the server confirmed what was cached, and sent no body. */
  fromRevalidation: boolean;
  /** The name of the error; null when it went well. */
  error: string | null;
}

/** An image that is in the cache, or was just loaded. */
export interface ImageResult {
  /** The cache key. */
  key: string;
  /** The name of the cache. */
  cache: string;
  /** The identifier of the processors; empty for an original. */
  processorIdentifier: string;
  /** Where the image came from; none means just downloaded. */
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
   * A file of raw pixels, when asked for: sRGB, RGBA with eight bits each, frames one below the other. The other fields
   * describe the original.
   */
  pixels?: Pixels;
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
  stored?: NotStoredReason;
  /** The result and the timing of the download, when asked for and there was one. */
  downloadReport?: DownloadFinished;
}

/** The tiers that hold the image now: memory its bytes, disk its file; with a reason when nothing was stored. */
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
  /** The tiers that hold the image now: memory its bytes, disk its file; with a reason when nothing was stored. */
  stored: StoredTiers;
  /** Why memory does not hold the bytes, or nothing was stored. */
  reason?: string;
}

/**
 * The objects that the remote tier was told to remove, and why some are still there; left out unless remote was given.
 */
export interface RemoveResultRemote {
  /** How many. */
  count: number;
  /** What is wrong; null for nothing. */
  problem: string | null;
}

/** What `remove` took away. */
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
  /**
   * The objects that the remote tier was told to remove, and why some are still there; left out unless remote was
   * given.
   */
  remote?: RemoveResultRemote;
}

/** Whether and where an image is cached. */
export interface CacheState {
  /** Whether a tier has the image. */
  cached: boolean;
  /** The first tier of this machine that has it; none for no tier. */
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
  /** False when the path could not be leased, because leases already use half of the size limit. */
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
  /** The space they take, in bytes of whole blocks. */
  allocatedBytes?: number;
  /** The leased part, in bytes. */
  leasedBytes?: number;
}

/** How much one cache holds, on disk and in memory. */
export interface CacheSize {
  /**
   * The disk tier: entries, bytes, bytes in whole blocks, the limit (0 for none), and the bytes of removed files that
   * wait for their leases to end.
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
  data?: Buffer;
  /** Where it was downloaded from, after redirects. */
  url?: string;
  /** The server's entity tag. */
  etag?: string;
  /** The server's date of last change, as sent. */
  lastModified?: string;
  /** The result and the timing of the download, when asked for and there was one. */
  downloadReport?: DownloadFinished;
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
  /** The orientation, 1 to 8 as in EXIF; null when the first kilobytes do not show it. */
  orientation: number | null;
  /** The number of frames or pages; null when the first kilobytes do not show it. */
  frameCount: number | null;
  /** How long each frame of an animation is shown, in seconds; left out when the first kilobytes do not show it. */
  frameSeconds?: number[];
  /** @deprecated Former name of frameSeconds, in milliseconds. */
  delays?: number[];
  /** How often an animation is played, 0 for ever; left out when the first kilobytes do not show it. */
  loopCount?: number;
  /** Whether the image may be transparent; null when the first kilobytes do not show it. */
  hasAlpha: boolean | null;
  /** The size in bytes; null when the server does not say. */
  byteCount: number | null;
  /** The tier that was read; none for the source. */
  cacheType: CacheType;
  /** Pixels across after applying the orientation; left out when the first kilobytes do not show it. */
  displayWidth?: number;
  /** Pixels down after applying the orientation; left out when the first kilobytes do not show it. */
  displayHeight?: number;
}

/** An error as the server answers it. */
export type ErrorAnswer = { code: number; message: string; data?: Record<string, unknown> };

/** A URL whose image could not be loaded, and the error. */
export interface PrefetchFailure {
  /** The URL. */
  url: string;
  /** The error, as a request would get it. */
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
  /** URLs whose images were already cached. */
  skipped: string[];
  /** URLs that failed or were stopped, with their errors. */
  failed: PrefetchFailure[];
  /** URLs that were loaded but that no tier keeps, with the reason; left out when empty. */
  notStored?: UnstoredImage[];
}

/** Which downloads are not started now. */
export interface PauseState {
  /** The downloads that are held back. */
  paused: "none" | "prefetch" | "all";
  /** How many downloads are running, and continue. */
  running: number;
  /** How many downloads wait for their turn. */
  waiting: number;
}

/** What `clear` and the methods like it removed: how many images, how many bytes. */
export interface Cleared {
  /** Entries removed. */
  count: number;
  /** Bytes freed. */
  byteCount: number;
  /** @deprecated Former name of byteCount. */
  bytes: number;
  /** About how many paths were removed before their leases ended. */
  leased: number;
  /**
   * The objects that the remote tier was told to remove, and why some are still there; left out unless remote was
   * given.
   */
  remote?: RemoveResultRemote;
}

/** A failure that is repeated without asking, for a while. */
export interface RememberedFailure {
  /** The URL. */
  url: string;
  /** The cache key that its image was to have. */
  key: string;
  /** The error, as a request would get it. */
  error: ErrorAnswer;
  /** For how many seconds it is remembered yet. */
  seconds: number;
}

/** The remote tier; left out when there is none. */
export interface StatsResultRemote {
  /** Images that the tier answered. */
  hits: number;
  /** Images that it did not have, not in time, or none of use. */
  misses: number;
  /** Operations that failed. */
  errors: number;
  /** Objects that were not what their names say. */
  wrong: number;
  /** Objects that were uploaded. */
  uploads: number;
  /** Uploads that were left out: too many waited, or the tier was left out. */
  dropped: number;
  /** Uploads that wait or run. */
  queued: number;
  /** The bytes of objects that were read. */
  bytesRead: number;
  /** The bytes of objects that were written. */
  bytesWritten: number;
  /** Whether the tier is used (closed), left out (open) or being tried (half-open). */
  breaker: "closed" | "open" | "half-open";
}

/**
 * Output that the client has not read yet: the bytes held, their limit (outputLimit), and how often requests had to
 * wait for the client to read.
 */
export interface StatsResultOutput {
  /** The bytes held. */
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

/** The server's counters. */
export interface Stats {
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
  /**
   * Loaded images that should have been kept but no tier keeps, by reason; including those that nobody waited for, and
   * originals of processed images.
   */
  notStored: Record<string, number>;
  /** The remote tier; left out when there is none. */
  remote?: StatsResultRemote;
  /** Requests that have not been answered yet. */
  requestsInFlight: number;
  /**
   * Output that the client has not read yet: the bytes held, their limit (outputLimit), and how often requests had to
   * wait for the client to read.
   */
  output: StatsResultOutput;
  /** Seconds since the server started. */
  uptimeSeconds: number;
  /** The time from reading to answering requests, by method. */
  latency: Record<string, Latency>;
}

export interface RemoteCheckResultSteps {
  /** The name. */
  name: "read" | "write" | "remove" | "claim" | "clock";
  /** A number of seconds. */
  seconds: number;
  /** What is wrong; null for nothing. */
  problem: string | null;
}

export interface RemoteCheckResult {
  /** Whether all that the mode needs works; false when there is no remote tier. */
  ok: boolean;
  /** The address without secrets; null when there is no remote tier. */
  url: string | null;
  /** Whether the tier is read, written or both; null when there is none. */
  mode: "read-write" | "read-only" | "write-only" | null;
  /** What was tried, in order; after a problem nothing more is. */
  steps: RemoteCheckResultSteps[];
  /** The seconds that its clock is ahead of this machine's; null when it did not tell the time. */
  clockAhead: number | null;
}

/** What is known of one image in a cache. Dates are ISO 8601, sizes in bytes. */
export interface EntryDetails {
  /** The cache key; null while only the file is known, until the image is next requested. */
  key: string | null;
  /** The identifier of the processors; empty for an original. */
  processorIdentifier: string | null;
  /** A digest of the user that the image belongs to; null for an image that all users share. */
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
  /** The number of frames or pages; 1 for stills and for JPEG XL. */
  frameCount: number | null;
  /** The size of the file, in bytes. */
  byteCount: number | null;
  /** The space that the file takes on disk, in bytes; null in a read-only folder. */
  allocatedBytes: number | null;
  /** SHA-256 of the bytes, in hexadecimal. */
  checksum: string | null;
  /** How many entries share the file; null in a list. */
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
  /** When it was last used, accurate to half a minute. */
  usedAt: string | null;
  /** When it expires; null for never. */
  expiresAt: string | null;
  /** When the lease of its path ends; null when it is not leased. */
  leasedUntil: string | null;
  /** The metadata that was given to store. */
  metadata: Record<string, string> | null;
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
  /** The tier where the image is and has not expired; or none. */
  cacheType: CacheType;
  /** When the image was stored. */
  storedAt: string | null;
  /** When the image expires on disk; null for never, and when nothing is stored. */
  expiresAt: string | null;
  /** Whether the stored image is staler than the request accepts; null when nothing is stored. */
  stale: boolean | null;
  /** What retrieve would do. */
  verdict: "answer" | "answerStale" | "answerAndRefresh" | "revalidate" | "load" | "fail";
  /** Whether the network would be used. */
  network: boolean;
  /** The URL that would be requested first; null for none. */
  url: string | null;
  /** The reasons, as sentences for people. */
  reasons: string[];
  /** The error it would fail with, as far as that is known; null for none. */
  error: ErrorAnswer | null;
}

/** What `cleanExpired` removed. */
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
