// Made by clients/generate.py from protocol/openrpc.json.
import type { Authorization, Expiration, ExpirationExtending, ImageOptions } from "./options.js";

/** Settings of the memory tier; what is left out stays as it was. */
export interface MemorySettings {
  /** The size limit of memory, in bytes; 0 keeps nothing. Default: 104857600. */
  totalBytesLimit?: number;
  /**
   * The size that a purge leaves, in bytes; setting only totalBytesLimit makes it three fifths of that. Default:
   * 62914560.
   */
  preferredBytesAfterPurge?: number;
  /** The largest number of images; 0 for no limit. Default: 0. */
  countLimit?: number;
  /** The largest image to keep, in bytes; null for a tenth of the limit. */
  entryBytesLimit?: number | null;
  /** How long an image stays in memory. Default: {"seconds": 300}. */
  expiration?: Expiration;
  /** What a use does to the expiration: cacheTime starts it again, none leaves it. Default: "cacheTime". */
  extending?: ExpirationExtending;
  /** Whether a purged image is still found while an answer that contains it is being sent. Default: true. */
  weakRetention?: boolean;
}

/** Query parameters that are left out of keys that are URLs of these hosts; names may end in `*`. */
export interface KeyRule {
  /** The hosts that the rule applies to. */
  hosts?: string[];
  /** The only query parameters to keep. */
  keepQuery?: string[];
  /** The query parameters to drop. */
  dropQuery?: string[];
}

/** Settings of the disk tier; what is left out stays as it was. */
export interface DiskSettings {
  /** The folder, as an absolute path; it can be set until the cache is first used. */
  folder?: string;
  /** The size limit of the images on disk, in bytes; 0 for no limit. Default: 2147483648. */
  bytesLimit?: number;
  /** The size that a purge leaves, as a fraction of the limit. Default: 0.5. */
  purgeRatio?: number;
  /**
   * The bytes of the file system to leave free; null for a hundredth of it, between 128 KiB (or an eighth if that is
   * less) and 256 MiB.
   */
  freeSpaceFloor?: number | null;
  /** How long an image stays on disk. Default: {"days": 7}. */
  expiration?: Expiration;
  /**
   * What the expiration counts from: the last use (access) or the time of storing (modification). Default: "access".
   */
  expireBy?: "access" | "modification";
  /**
   * The extension of files: from the detected format (sniffed), from the key (fromKey), none, or any other text.
   * Default: "sniffed".
   */
  pathExtension?: string;
  /** The digest of the key that names files: sha256 or md5. Default: "sha256". */
  fileNames?: "sha256" | "md5";
  /** Absolute paths of folders that are searched after this one and never written. */
  readOnlyPaths?: string[];
  /**
   * When a store is complete: once the system has the bytes (process), or once the disk has them (disk). Default:
   * "process".
   */
  durability?: "process" | "disk";
  /** When a stored image is revalidated with its server, unless a request says otherwise. Default: "never". */
  revalidate?: "never" | "ifExpired" | "always" | "http";
  /**
   * How long permanent failures are remembered, in seconds, unless a request says otherwise; 0 for not at all. Default:
   * 0.
   */
  negativeCache?: number;
  /**
   * Whether images are answered and kept only after they were decoded completely, unless a request says otherwise.
   * Default: false.
   */
  verifyDecode?: boolean;
  /** Query parameters to ignore in keys that are URLs of certain hosts. The first rule that matches a host applies. */
  keyRules?: KeyRule[];
}

/** What is added to requests for these hosts; secrets read `…` in answers. */
export interface HostRule {
  /** The hosts that the rule applies to. */
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
  /** The beginning to replace. */
  from: string;
  /** The format to convert to. */
  to: string;
}

/** Settings of the downloader of all caches; what is left out stays as it was. */
export interface DownloaderSettings {
  /** The largest number of downloads from one host at the same time. Default: 4. */
  maxDownloadsPerHost?: number;
  /** The largest number of downloads at the same time. Default: 64. */
  maxConcurrentDownloads?: number;
  /** The order of downloads of equal priority: the oldest (fifo) or the newest (lifo) first. Default: "fifo". */
  downloadOrder?: "fifo" | "lifo";
  /** The number of downloads that may start per second after a first burst; 0 for no limit. Default: 0. */
  downloadsPerSecond?: number;
  /** The same for one host; 0 for no limit. Default: 0. */
  downloadsPerSecondPerHost?: number;
  /** The number of downloads that may start at once before the limits per second apply. Default: 25. */
  downloadBurst?: number;
  /** Seconds to wait for the next bytes, unless a request says otherwise. Default: 15. */
  timeout?: number;
  /**
   * What is added to requests to certain hosts, unless the request sets it itself: headers, authorization, a client
   * certificate. Secrets are not shown.
   */
  hostRules?: HostRule[];
  /** Requests for URLs that begin with from go to to instead; the first rule that matches applies. */
  urlRewrites?: URLRewrite[];
}

/** The settings in force of one cache. */
export interface CacheSettings {
  /** The memory tier; false when it is turned off. */
  memory: false | Required<MemorySettings>;
  /** The disk tier. */
  disk: Required<DiskSettings>;
}

export interface RemoteSettings {
  /** The URL of the tier; null for none. Credentials in it are not shown. */
  url?: string | null;
  /** Whether the tier is read, written or both. Default: "read-write". */
  mode?: "read-write" | "read-only" | "write-only";
  /** The longest time that a request waits for the tier, in seconds. Default: 0.3. */
  timeout?: number;
  /** The largest image in the tier, in bytes. Default: 16777216. */
  maxBytes?: number;
}

/** The settings in force of one cache, and of the downloader of all. */
export interface ConfiguredSettings extends CacheSettings {
  /** The downloader of all caches. */
  downloader: Required<DownloaderSettings>;
  /** The remote tier of all caches. */
  remote: RemoteSettings;
  /** The options of requests that leave them out, where they are not as built in. */
  options: ImageOptions;
}
