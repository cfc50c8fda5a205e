import type { Expiration, ExpirationExtending } from "./options.js";
import type { CacheRequest } from "./protocol.js";

/** Settings of the memory tier. Sizes are in bytes. */
export interface MemorySettings {
  /** The most memory holds; 0 holds nothing. Alone it also sets `preferredBytesAfterPurge`, to three fifths. Default: 100 MiB. */
  totalBytesLimit?: number;
  /** What a purge leaves. Default: 60 MiB. */
  preferredBytesAfterPurge?: number;
  /** The most images; 0 for no limit. Default: 0. */
  countLimit?: number;
  /** The most one image may take; null for a tenth of the limit. Default: null. */
  entryBytesLimit?: number | null;
  /** Lifetime in memory. Default: 300 seconds. */
  expiration?: Expiration;
  /** What a use does to that. Default: `"cacheTime"`. */
  extending?: ExpirationExtending;
  /** Whether an image that was purged is found as long as an answer with it is under way. Default: true. */
  weakRetention?: boolean;
}

/** Settings of the disk tier. Sizes are in bytes. */
export interface DiskSettings {
  /** The folder, an absolute path; it can be named until the cache is first used. */
  folder?: string;
  /** The most the images take; 0 for no limit. Default: 2 GiB. */
  bytesLimit?: number;
  /** What a purge leaves, as a part of the limit, 0 to 1. Default: 0.5. */
  purgeRatio?: number;
  /** What stays free on the file system; null for a hundredth of it, at most 256 MiB. Default: null. */
  freeSpaceFloor?: number | null;
  /** Lifetime on disk. Default: 7 days. */
  expiration?: Expiration;
  /** What that counts from: the last use, or the storing. Default: `"access"`. */
  expireBy?: "access" | "modification";
  /** The extension of files: by the bytes, by the key, none, or always the same one. Default: `"sniffed"`. */
  pathExtension?: "sniffed" | "fromKey" | "none" | (string & {});
  /** The hash of the key that names a file. Default: `"sha256"`. */
  fileNames?: "sha256" | "md5";
  /** Folders that are searched after this one and never written, as absolute paths. Default: none. */
  readOnlyPaths?: string[];
  /** When a store is done: the system has the bytes, or the disk has them. Default: `"process"`. */
  durability?: "process" | "disk";
  /** Whether and when a stored image is checked with its server, unless a request says otherwise. Default: `"never"`. */
  revalidate?: "never" | "ifExpired" | "always" | "http";
  /** Seconds for which failures that would come again are remembered; 0 for not at all. Default: 0. */
  negativeCache?: number;
  /** Query parameters that are left out of keys that are URLs of these hosts; names may end in `*`. Default: none. */
  keyRules?: { hosts?: string[]; keepQuery?: string[]; dropQuery?: string[] }[];
}

/** Settings of the downloader of all caches. */
export interface DownloaderSettings {
  /** Downloads at once from one host. Default: 4. */
  maxDownloadsPerHost?: number;
  /** Downloads at once in all. Default: 64. */
  maxConcurrentDownloads?: number;
  /** Which of equal priority goes first: the oldest or the newest. Default: `"fifo"`. */
  downloadOrder?: "fifo" | "lifo";
  /** Downloads started a second, after a first burst; 0 for no limit. Default: 0. */
  downloadsPerSecond?: number;
  /** The same for one host. Default: 0. */
  downloadsPerSecondPerHost?: number;
  /** How many may start at once before these limits count. Default: 25. */
  downloadBurst?: number;
  /** What is added to requests for some hosts; secrets read `…` in answers. Default: none. */
  hostRules?: {
    hosts: string[];
    headers?: Record<string, string>;
    authorization?: { basic: { user: string; password: string } } | { bearer: string };
    clientCertificate?: string;
    clientKey?: string;
  }[];
  /** Requests for URLs that begin with `from` go to `to` instead. Default: none. */
  urlRewrites?: { from: string; to: string }[];
  /** Seconds to wait for the next bytes, unless a request says otherwise. Default: 15. */
  timeout?: number;
}

/** The settings in force of one cache. */
export interface CacheSettings {
  /** The memory tier; false when it is switched off. */
  memory: false | Required<MemorySettings>;
  /** The disk tier. */
  disk: Required<DiskSettings>;
}

/** The settings in force of one cache, and of the downloader of all. */
export interface ConfiguredSettings extends CacheSettings {
  /** The downloader. */
  downloader: Required<DownloaderSettings>;
}

/** What `configure` is asked for. */
export interface ConfigureRequest extends CacheRequest {
  /** The settings of the memory tier, or whether there is one. */
  memory?: boolean | MemorySettings;
  /** The settings of the disk tier. */
  disk?: DiskSettings;
  /** The settings of the downloader of all caches. */
  downloader?: DownloaderSettings;
}

/** A cache that is open, configured, or found in the cache folder. */
export interface KnownCache {
  name: string;
  /** Absolute path of its folder. */
  folder: string;
  /** Whether this server has used it. */
  isOpen: boolean;
  settings: CacheSettings;
}

/** What `addReadOnlyCachePath` is asked for. */
export interface ReadOnlyPathRequest extends CacheRequest {
  /** The folder; a relative path counts from the working directory of this process. */
  path: string | URL;
}

/** What `listEntries` is asked for: which images, and how many a page. */
export interface ListRequest extends CacheRequest {
  /** Only images from this host. */
  host?: string;
  /** Only images whose keys begin so. */
  prefix?: string;
  /** Only images of this format. */
  format?: string;
  /** Only images stored at least so many seconds ago. */
  minAge?: number;
  /** Only images stored at most so many seconds ago. */
  maxAge?: number;
  /** How many are fetched at a time, 1 to 1,000. Default: 100. */
  pageSize?: number;
}

/** What is known of one image in a cache. Dates are ISO 8601; null is what is not known or does not apply. */
export interface EntryDetails {
  /** The cache key; null when only the file is known, until the image is asked for. */
  key: string | null;
  processorIdentifier: string | null;
  /** The hash that names the file. */
  hash: string | null;
  /** The file; null for an image that is only in memory. */
  path: string | null;
  uri: string | null;
  format: string | null;
  mimeType: string | null;
  width: number | null;
  height: number | null;
  frameCount: number | null;
  byteCount: number | null;
  /** What the file takes on the disk, in bytes. */
  allocatedBytes: number | null;
  /** SHA-256 of the bytes. */
  checksum: string | null;
  /** How many entries have the same file; null in a list. */
  sharedBy: number | null;
  url: string | null;
  host: string | null;
  etag: string | null;
  lastModified: string | null;
  storedAt: string | null;
  usedAt: string | null;
  /** Null for never. */
  expiresAt: string | null;
  /** Until when its path was promised. */
  leasedUntil: string | null;
  /** What was given to `store`. */
  metadata: Record<string, string> | null;
}

/** What `cleanExpired` removed. */
export interface CleanResult {
  count: number;
  bytes: number;
  hashes: string[];
  /** At the same places as `hashes`; null where a key is not known. */
  keys: (string | null)[];
}

/** What `verify` is asked for. */
export interface VerifyRequest extends CacheRequest {
  /** Put right what is wrong; otherwise it is only counted. Default: true. */
  repair?: boolean;
}

/** What `verify` found, in entries and files. */
export interface VerifyResult {
  checked: number;
  bytes: number;
  damaged: number;
  missing: number;
  adopted: number;
  leftovers: number;
  corrected: number;
  /** Whether nothing was wrong. */
  clean: boolean;
}

/** Images went from a disk tier because their time was over or room was needed; never for `remove` or `clear`. */
export interface CacheCleaned {
  cache: string;
  hashes: string[];
  /** At the same places as `hashes`; null where a key is not known. */
  keys: (string | null)[];
  reason: "expired" | "sizeLimit";
}

/** A transfer has ended, well or not: once each, however many calls shared it. Times are in seconds. */
export interface DownloadFinished {
  url: string;
  /** The URL that answered, after all redirects. */
  finalURL: string;
  /** Null when there was no answer. */
  status: number | null;
  bytes: number;
  /** Bytes that were kept from an earlier transfer. */
  resumedBytes: number;
  seconds: number;
  timings: { dns: number; connect: number; tls: number; firstByte: number | null };
  /** Whether the connection was open already. */
  reused: boolean;
  redirects: number;
  httpVersion: string | null;
  /** Whether the server confirmed what was cached, and sent no body. */
  fromRevalidation: boolean;
  /** The `kind` of the error; null when it went well. */
  error: string | null;
}

/** A line of the server's log, of the level that is logged or above; at most 100 in a second. */
export interface LogLine {
  level: string;
  message: string;
  metadata: Record<string, string>;
  /** How many lines before it were not told. */
  omitted?: number;
}

/** The events there are, by name, with what each brings. */
export interface CacheEvents {
  "cache/didClean": CacheCleaned;
  "download/didFinish": DownloadFinished;
  log: LogLine;
}

/** What a request would be answered with, and why. Dates are ISO 8601. */
export interface Explanation {
  key: string;
  cache: string;
  /** The hash that names the file. */
  hash: string;
  /** Where the image is on disk, or would be. */
  path: string;
  /** Which tier has it, its time not being over. */
  cacheType: "memory" | "disk" | "none";
  storedAt: string | null;
  expiresAt: string | null;
  /** Whether what is stored is not as fresh as the request wants it; null when nothing is. */
  stale: boolean | null;
  verdict: "answer" | "answerStale" | "answerAndRefresh" | "revalidate" | "load" | "fail";
  /** Whether the network would be used. */
  network: boolean;
  /** The URL that would be asked first. */
  url: string | null;
  /** Sentences for people. */
  reasons: string[];
  /** What it would fail with, as far as that is known. */
  error: { code: number; message: string; data?: Record<string, unknown> } | null;
}

/** A failure that is repeated without asking, for a while. */
export interface RememberedFailure {
  url: string;
  /** The cache key that its image was to have. */
  key: string;
  error: { code: number; message: string; data?: Record<string, unknown> };
  /** For how many seconds it is remembered yet. */
  seconds: number;
}

/** Which failures `forgetFailures` is to forget. */
export interface ForgetRequest extends CacheRequest {
  /** Only those of this URL or cache key. */
  url?: string | URL;
}

/** Which downloads are not started now. */
export interface PauseState {
  paused: "all" | "prefetch" | "none";
  /** How many are under way, and go on. */
  running: number;
  /** How many wait for their turn. */
  waiting: number;
}
