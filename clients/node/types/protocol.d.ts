import type { ImageOptions } from "./options.js";

/** One processor: an object with one field, the processor's name. This version of the server accepts none. */
export type Processor = { [name: string]: unknown };

/** Names one of the server's caches. */
export interface CacheRequest {
  /** Name of the cache. Default: `"default"`. */
  cache?: string;
}

/** Names one image of a cache. */
export interface KeyRequest extends CacheRequest {
  /** The cache key; for an image that was retrieved without one, its URL as given. */
  key: string;
  /** Processors, applied left to right; a processed image has an entry of its own. Default: none. */
  processors?: Processor[];
  /** Those that decide which image it is: `cacheSerializer`, `frame`, `scaleFactor` and the like. */
  options?: ImageOptions;
}

/** What `retrieve` is asked for. */
export interface RetrieveRequest extends CacheRequest {
  /** Where the image is: an http, https, file or data URL. */
  url: string | URL;
  /** The cache key. Default: `url` as given. */
  key?: string;
  /** Processors, applied left to right. Default: none. */
  processors?: Processor[];
  /** How to cache and download. */
  options?: ImageOptions;
  /**
   * How the image is handed out: as a file, as bytes (16 MiB at most, else the error `limitExceeded`), as both, or not
   * at all; or as a data URL, or as a file of raw pixels. Default: `"path"`.
   */
  as?: "path" | "data" | "both" | "none" | "dataUrl" | "pixels";
}

/** What `store` is asked for: the key, and either `path` or `data`. */
export interface StoreRequest extends KeyRequest {
  /** A local file; a relative path counts from the working directory of this process. Faster than `data`. */
  path?: string | URL;
  /** The bytes of the image; 64 MiB at most as a message, which is about 48 MiB of bytes. */
  data?: Uint8Array;
  /** How to cache. */
  options?: ImageOptions;
  /** Replace an image that is there. Default: true. */
  overwrite?: boolean;
  /** What is to be kept with the image, for `inspect` and `listEntries`. Default: nothing. */
  metadata?: Record<string, string>;
}

/** What `remove` is asked for. */
export interface RemoveRequest extends KeyRequest {
  /** Remove it from memory. Default: true. */
  fromMemory?: boolean;
  /** Remove it from disk. Default: true. */
  fromDisk?: boolean;
  /** Remove every processed form of it too. Default: false. */
  allVariants?: boolean;
}

/** Where something was found; `"none"` in an `ImageResult` means that it was downloaded now. */
export type CacheType = "none" | "memory" | "disk";

/** An image, and where it came from. */
export interface ImageResult {
  /** The cache key. */
  key: string;
  /** The name of the cache. */
  cache: string;
  /** Identifies the processors that were applied; empty for none. */
  processorIdentifier: string;
  /** Where the answer came from. */
  cacheType: CacheType;
  /**
   * Absolute path of a complete file, which stays at least 60 seconds; null when the image is in memory only, or when
   * the path is not valid UTF-8 and only `uri` can say it.
   */
  path: string | null;
  /** The same file as a `file:` URL. */
  uri?: string | null;
  /** The format found in the bytes, such as `"png"`. */
  format: string;
  /** The media type of that format, such as `"image/png"`. */
  mimeType: string;
  /** Width in pixels. */
  width: number;
  /** Height in pixels. */
  height: number;
  /** Number of frames; 1 when the image is not animated. */
  frameCount: number;
  /** Of an animation, where that is known: milliseconds each frame is shown. */
  delays?: number[];
  /** Of an animation, where that is known: how often it is played; 0 for ever. */
  loopCount?: number;
  /** Length of the encoded image in bytes. */
  byteCount: number;
  /** The encoded image, when it was asked for as `"data"` or `"both"`. */
  data?: Buffer;
  /** The image as a data URL, when it was asked for as `"dataUrl"`. */
  dataUrl?: string;
  /** Raw pixels, when they were asked for: RGBA, eight bits each, sRGB, the frames one below the other. */
  pixels?: {
    path: string;
    uri: string;
    width: number;
    height: number;
    /** Bytes from one row to the next. */
    stride: number;
    frameCount: number;
    byteCount: number;
    /** Milliseconds each frame is shown. */
    delays: number[];
    /** How often the animation is played; 0 for ever. */
    loopCount: number;
  };
  /** The URL it was downloaded from. */
  url?: string;
  /** The validator the HTTP server gave. */
  etag?: string;
  /** The date the HTTP server gave. */
  lastModified?: string;
  /** When the entry expires, ISO 8601; null for never. */
  expiresAt?: string | null;
  /** With the option `thumbHash`: a ThumbHash in base64. */
  thumbHash?: string;
  /** With the option `thumbHash`: the colour that most of the image has, such as `"#a0b1c2"`. */
  dominantColor?: string;
  /** True when this is the stand-in of `onFailureImage`. */
  placeholder?: boolean;
  /** False when memory was to keep the bytes and did not; `memoryReason` says why. */
  memoryCached?: boolean;
  memoryReason?: string;
}

/** What `store` answers. */
export interface StoreResult extends ImageResult {
  /** Which tiers hold the image: memory its bytes, disk its file. */
  stored: { memory: boolean; disk: boolean };
  /** Why memory does not hold the bytes. */
  reason?: string;
}

/** An `ImageResult` that was asked for with its bytes. */
export interface DataImageResult extends ImageResult {
  data: Buffer;
}

/** What `remove` removed. */
export interface RemoveResult {
  /** Whether anything was removed. */
  removed: boolean;
  /** Whether it was in memory. */
  memory: boolean;
  /** Whether it was on disk. */
  disk: boolean;
  /** Whether a path went that was promised for longer. */
  leased: boolean;
}

/** Whether an image is cached. */
export interface CacheState {
  cached: boolean;
  /** The fastest tier that has it. */
  cacheType: CacheType;
}

/** Where an image is, or would be. */
export interface CachePath {
  /** Absolute path; null when it is not valid UTF-8. */
  path: string | null;
  /** The same as a `file:` URL. */
  uri: string;
  /** Whether the file is there. While it is not, its extension is foretold from the key. */
  exists: boolean;
}

/** What a cache holds. */
export interface CacheSize {
  disk: {
    /** Number of entries. */
    count: number;
    /** Sum of their lengths, in bytes. */
    bytes: number;
    /** What they take on the file system, in bytes. */
    allocatedBytes: number;
    /** The limit in bytes; 0 for none. */
    limitBytes: number;
  };
  memory: {
    /** Number of entries. */
    count: number;
    /** Sum of their lengths, in bytes. */
    bytes: number;
    /** The limit in bytes. */
    limitBytes: number;
  };
}

/** What `clear`, `clearMemory` and `clearDisk` removed. */
export interface Cleared {
  /** Number of entries. */
  count: number;
  /** Sum of their lengths, in bytes. */
  bytes: number;
  /** About how many paths went that were promised for longer. */
  leased: number;
}

/** One report of progress: first `begin`, then any number of `report`, then `end`; at most 10 a second. */
export interface Progress {
  kind: "begin" | "report" | "end";
  title?: string;
  message?: string;
  /** From 0 to 100; absent while the total is not known. */
  percentage?: number;
  /** Bytes received so far; only grows. */
  receivedBytes?: number;
  /** Length of the body in bytes; null when the HTTP server did not say. */
  totalBytes?: number | null;
}
