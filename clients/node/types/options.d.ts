import type { Delegates } from "./delegates.js";

/** When something in a cache stops being valid. `days` and `seconds` count from now; `date` is ISO 8601. */
export type Expiration = "never" | "expired" | { seconds: number } | { days: number } | { date: string };

/** How reading an entry moves its expiration: not at all, by its first lifetime again, or to a new one. */
export type ExpirationExtending = "none" | "cacheTime" | Expiration;

/** How cached and fresh images are chosen between, and how fresh ones are kept. */
export interface CacheOptions {
  /** Download although the image is cached. Default: false. */
  forceRefresh?: boolean;
  /** Look in memory only, then download. Default: false. */
  fromMemoryCacheOrRefresh?: boolean;
  /** Never download; a miss is the error `notCached`. Default: false. */
  onlyFromCache?: boolean;
  /** Keep the image in memory and not on disk; the result's `path` is then null. Default: false. */
  cacheMemoryOnly?: boolean;
  /** Answer only when the image is on disk. Default: true. */
  waitForCache?: boolean;
  /** Lifetime in memory. Default: 300 seconds. */
  memoryCacheExpiration?: Expiration;
  /** Lifetime on disk. Default: 7 days. */
  diskCacheExpiration?: Expiration;
  /** What a hit in memory does to the lifetime there. Default: as the cache is configured. */
  memoryCacheAccessExtendingExpiration?: ExpirationExtending;
  /** What a hit on disk does to the lifetime there. Default: as the cache is configured. */
  diskCacheAccessExtendingExpiration?: ExpirationExtending;
  /** The extension of the file on disk, without the dot. Default: that of the format found in the bytes. */
  forcedCacheFileExtension?: string;
  /** Read the bytes from disk although the image is in memory. Default: false. */
  queryDataWhenInMemory?: boolean;
  /** Keep the image in memory; otherwise it is only answered. Default: true. */
  memory?: boolean;
  /** The name of another cache to look into before downloading; what it has is stored here too. Default: none. */
  originalCache?: string;
  /** For how many seconds a path that is answered stays valid. Default: 60. */
  lease?: number;
  /** Whether and when a stored image is checked with its server. Default: as the cache is configured. */
  revalidate?: "never" | "ifExpired" | "always" | "http";
  /** Seconds past its time for which a stored image stands in when its server cannot be asked. */
  staleIfError?: number;
  /** Load nothing from the network, and answer whatever is stored. Default: false. */
  offline?: boolean;
  /** Seconds for which a failure that would come again is remembered. Default: as the cache is configured. */
  negativeCache?: number;
}

/** How a processed image is written. */
export interface CacheSerializer {
  /** Default: with transparency PNG, opaque JPEG, animated as the original. */
  format?: "png" | "jpeg" | "gif" | "webp" | "avif" | "heic" | "tiff";
  /** From 1 to 100. */
  quality?: number;
  lossless?: boolean;
  progressive?: boolean;
  /** The colour below what is transparent. */
  background?: string;
  /** The largest file; quality is lowered until it is kept. */
  maxBytes?: number;
  stripMetadata?: boolean;
  /** Whether the colour profile is kept. Default: `"keep"`. */
  profile?: "keep" | "sRGB";
}

/** How an image is downloaded. */
export interface DownloadOptions {
  /** Longest wait for the next bytes, in seconds. Default: 15. Exceeding it is the error `timedOut`. */
  timeout?: number;
  /** Longest time for the whole transfer, in seconds. Default: none. Exceeding it is the error `timedOut`. */
  deadline?: number;
  /** Slowest accepted, in bytes a second over two timeouts; 0 for no such limit. Default: 100. Else the error `timedOut`. */
  minBytesPerSecond?: number;
  /** From 0 to 1, or a name; higher starts earlier. Default: 0.5, which is `"normal"`. */
  downloadPriority?: number | "veryLow" | "low" | "normal" | "high" | "veryHigh";
  /** Whether the download goes on when the last who waits for it is cancelled. Default: `"abort"`. */
  onLastCancel?: "abort" | "finish";
  /** A place that the image is for: a newer request for it cancels this one. Default: none. */
  slot?: string;
  /** Share the download with others who want the same. Default: true. */
  merge?: boolean;
  /** Headers of the request, by name. */
  headers?: Record<string, string>;
  /** Credentials; they are not sent on to another host. */
  authorization?: { basic: { user: string; password: string } } | { bearer: string };
  /** What the delegates of the client are asked about this download; an empty list for nothing. Default: everything they answer. */
  delegates?: (keyof Delegates)[];
  /** Which redirects are followed; another is the error `limitExceeded`. Default: `"follow"`. */
  redirect?: "follow" | "same-origin" | "none";
  /** Most redirects followed. Default: 10. Exceeding it is the error `limitExceeded`. */
  maxRedirects?: number;
  /** Most bytes of an image. Exceeding it is the error `limitExceeded`. */
  maxBytes?: number;
  /** The status codes that are accepted; any other is the error `invalidStatusCode`. Default: 200 to 399. */
  validStatusCodes?: number[];
  /** Media types such as `image/*` that the server may name; any other is the error `badData`. Default: whatever it names. */
  acceptContentTypes?: string[];
  /** Try again after a failure that may pass; `exponential` is the first wait in seconds, doubled each time. */
  retry?: { maxRetries: number; interval?: { seconds: number } | { exponential: number } };
  /** Seconds to wait for a network when there is none, and then try again at once. Default: 0. */
  waitForConnectivity?: number;
  /** URLs tried in this order when `url` fails. */
  alternativeSources?: string[];
  /** Keep the original of a processed image too. Default: true. */
  cacheOriginalImage?: boolean;
  /** How a processed image is written. Default: in the format that suits the result. */
  cacheSerializer?: CacheSerializer;
  /** Take the first frame of an animation, as a still. Default: false. */
  onlyLoadFirstFrame?: boolean;
  /** Take one frame of an animation, from 0, as a still. Default: all. */
  frame?: number;
  /** Make an image of more than 15,728,640 pixels smaller. Default: false. */
  scaleDownLargeImages?: boolean;
  /** What the lengths of processors are multiplied by. Default: 1. */
  scaleFactor?: number;
  /** Accepted, and without effect: all frames are always kept. */
  preloadAllAnimationData?: boolean;
  /** Accepted, and without effect: images are always decoded in another process. */
  backgroundDecode?: boolean;
  /** Answer with a ThumbHash and the dominant colour too. Default: false. */
  thumbHash?: boolean;
  /** Most pixels of a frame of an image to be processed. Default: 50,000,000. Else the error `limitExceeded`. */
  maxPixels?: number;
  /** Most frames of an image to be processed. Default: 2,000. Else the error `limitExceeded`. */
  maxFrames?: number;
  /** Most pixels of all its frames. Default: 250,000,000. Else the error `limitExceeded`. */
  maxAnimationPixels?: number;
  /** Longest time for processing, in seconds. Default: 20. Else the error `limitExceeded`. */
  decodeSeconds?: number;
  /** Most bytes that the entities of an SVG may add. Default: 1,000,000. Else the error `limitExceeded`. */
  maxEntityBytes?: number;
  /** Seconds after which the next source is begun beside one that has not answered. Default: only after a failure. */
  hedgeAfter?: number;
  /** Digests of which the bytes must have one, as in Subresource Integrity; else the error `badData`. */
  integrity?: string;
  /** Path or URL of a stand-in for an image that cannot be had; the result then says `placeholder: true`. */
  onFailureImage?: string;
}

/**
 * The options of `retrieve` and `store`. An option the server does not know is the error `invalidParams`, which names
 * the nearest one it knows; a newer server may know more than are listed here.
 */
export interface ImageOptions extends CacheOptions, DownloadOptions {
  [name: string]: unknown;
}
