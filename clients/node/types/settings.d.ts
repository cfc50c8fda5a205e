// Made by clients/generate.py from protocol/openrpc.json.
import type { Authorization, Expiration, ExpirationExtending } from "./options.js";

/** Settings of the memory tier; what is left out stays as it was. */
export interface MemorySettings {
  /** The most memory holds, in bytes; 0 holds nothing. Default: 104857600. */
  totalBytesLimit?: number;
  /** What a purge leaves, in bytes; setting totalBytesLimit alone makes it three fifths of that. Default: 62914560. */
  preferredBytesAfterPurge?: number;
  /** The most images; 0 for no limit. Default: 0. */
  countLimit?: number;
  /** The most one image may take, in bytes; null for a tenth of the limit. */
  entryBytesLimit?: number | null;
  /** How long an image stays in memory. Default: {"seconds": 300}. */
  expiration?: Expiration;
  /** What a use does to that: cacheTime begins it anew, none leaves it. Default: "cacheTime". */
  extending?: ExpirationExtending;
  /** Whether an image that was purged is found as long as an answer with it is under way. Default: true. */
  weakRetention?: boolean;
}

/** Query parameters that are left out of keys that are URLs of these hosts; names may end in `*`. */
export interface KeyRule {
  /** The hosts that it counts for. */
  hosts?: string[];
  /** The only parameters of a query that count. */
  keepQuery?: string[];
  /** The parameters of a query that do not count. */
  dropQuery?: string[];
}

/** Settings of the disk tier; what is left out stays as it was. */
export interface DiskSettings {
  /** The folder, an absolute path; it can be named until the cache is first used. */
  folder?: string;
  /** The most the images take on disk, in bytes; 0 for no limit. Default: 2147483648. */
  bytesLimit?: number;
  /** What a purge leaves, as a part of the limit. Default: 0.5. */
  purgeRatio?: number;
  /** Bytes of the file system that stay free; null for a hundredth of it, 128 KiB (at most an eighth) to 256 MiB. */
  freeSpaceFloor?: number | null;
  /** How long an image stays on disk. Default: {"days": 7}. */
  expiration?: Expiration;
  /** What that counts from: the last use (access) or the storing (modification). Default: "access". */
  expireBy?: "access" | "modification";
  /**
   * The extension of files: of the format found (sniffed), of the key (fromKey), none, or any other text. Default:
   * "sniffed".
   */
  pathExtension?: string;
  /** How files are named: by sha256 or md5 of the key. Default: "sha256". */
  fileNames?: "sha256" | "md5";
  /** Absolute paths of folders that are searched after this one and never written. */
  readOnlyPaths?: string[];
  /** When a store is done: the system has the bytes (process), or the disk (disk). Default: "process". */
  durability?: "process" | "disk";
  /** Whether and when a stored image is checked with its server, unless a request says otherwise. Default: "never". */
  revalidate?: "never" | "ifExpired" | "always" | "http";
  /**
   * Seconds for which failures that would come again are remembered, unless a request says otherwise; 0 for not at all.
   * Default: 0.
   */
  negativeCache?: number;
  /**
   * Whether images are only answered and kept once all of them has been decoded, unless a request says otherwise.
   * Default: false.
   */
  verifyDecode?: boolean;
  /**
   * Query parameters that make no other image: keys that are URLs of the hosts are kept without them. The first rule
   * for a host counts.
   */
  keyRules?: KeyRule[];
}

/** What is added to requests for these hosts; secrets read `…` in answers. */
export interface HostRule {
  /** The hosts that it counts for. */
  hosts: string[];
  /** Header fields by name. */
  headers?: Record<string, string>;
  /** The credentials. */
  authorization?: Authorization;
  /** The file of a certificate (PEM). */
  clientCertificate?: string;
  /** The file of its private key (PEM). */
  clientKey?: string;
}

/** Requests for URLs that begin with `from` go to `to` instead. */
export interface URLRewrite {
  /** What it was. */
  from: string;
  /** What it becomes. */
  to: string;
}

/** Settings of the downloader of all caches; what is left out stays as it was. */
export interface DownloaderSettings {
  /** Downloads at once from one host. Default: 4. */
  maxDownloadsPerHost?: number;
  /** Downloads at once in all. Default: 64. */
  maxConcurrentDownloads?: number;
  /** Which of equal priority goes first: the oldest (fifo) or newest (lifo). Default: "fifo". */
  downloadOrder?: "fifo" | "lifo";
  /** Downloads started a second, after a first burst; 0 for no limit. Default: 0. */
  downloadsPerSecond?: number;
  /** The same for one host; 0 for no limit. Default: 0. */
  downloadsPerSecondPerHost?: number;
  /** How many may start at once before downloadsPerSecond, or that of a host, counts. Default: 25. */
  downloadBurst?: number;
  /** Seconds to wait for the next bytes, unless a request says otherwise. Default: 15. */
  timeout?: number;
  /**
   * What is added to requests for some hosts, where they say nothing else: headers, authorization, a client
   * certificate. Secrets are not shown.
   */
  hostRules?: HostRule[];
  /** Requests for URLs that begin with from go to to instead; the first counts. */
  urlRewrites?: URLRewrite[];
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
  /** The downloader of all caches. */
  downloader: Required<DownloaderSettings>;
}
