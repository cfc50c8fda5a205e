// Made by clients/generate.py from protocol/openrpc.json.

/** A span of time in seconds. */
export interface ForSeconds {
  /** A number of seconds. */
  seconds: number;
}

/** A span of time in days. */
export interface ForDays {
  /** A number of days. */
  days: number;
}

/** A point in time, as ISO 8601. */
export interface UntilDate {
  /** A moment (RFC 3339). */
  date: string;
}

/** How long an entry lives; a negative number means for ever. */
export type Expiration = "never" | "expired" | ForSeconds | ForDays | UntilDate;

/** What an access does to the expiration: nothing, the time it had at first, or a new one. */
export type ExpirationExtending = "none" | "cacheTime" | Expiration;

/** How a processed image is written; as the result asks for by default. */
export interface CacheSerializer {
  /** With transparency PNG, opaque JPEG, animated as the original, unless given. */
  format?: "png" | "jpeg" | "gif" | "webp" | "avif" | "heic" | "tiff" | "bmp" | "ico" | "jxl";
  /** From 1 to 100. */
  quality?: number;
  /** Without loss, where the format can. */
  lossless?: boolean;
  /** Coarse first, where the format can. */
  progressive?: boolean;
  /** The colour below what is transparent. */
  background?: string;
  /** The largest file; quality is lowered until it is kept. */
  maxBytes?: number;
  /** `true`: without EXIF and the like; `false`: with all of it, also where the picture was taken. */
  stripMetadata?: boolean;
  /** Whether the colour profile is kept; it is, unless given. */
  profile?: "keep" | "sRGB";
}

export interface ImageOptionsBodyBase64 {
  /** Bytes as base64. */
  base64: string;
}

/** User and password of HTTP basic authentication. */
export interface BasicCredentials {
  /** The user. */
  user: string;
  /** The password. */
  password: string;
}

/** Sends `Authorization: Basic …`. */
export interface BasicAuthorization {
  /** User and password. */
  basic: BasicCredentials;
}

/** Sends `Authorization: Bearer …`. */
export interface BearerAuthorization {
  /** The token. */
  bearer: string;
}

/** Credentials, sent to the host of the URL only. */
export type Authorization = BasicAuthorization | BearerAuthorization;

/** A question that the server asks about a download. */
export type QuestionName =
  | "downloader/modifyRequest"
  | "downloader/redirect"
  | "downloader/validateStatus"
  | "downloader/challenge";

/** A pause that doubles each time, from this many seconds. */
export interface ExponentialInterval {
  /** Seconds before the first, doubled each time. */
  exponential: number;
}

/** Whether and when a failed download is tried again. */
export interface Retry {
  /** How often it is tried again. */
  maxRetries?: number;
  /** How long to wait before each try. */
  interval?: ForSeconds | ExponentialInterval;
}

/** Options of one call; what is left out has the server's default. */
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
  memoryCacheAccessExtendingExpiration?: ExpirationExtending;
  /** What an access does to the life on disk; as the cache is configured when left out. */
  diskCacheAccessExtendingExpiration?: ExpirationExtending;
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
  cacheSerializer?: CacheSerializer;
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
  /**
   * Answer with a ThumbHash, a BlurHash and the dominant colour too, made once and kept with the entry. Default: false.
   */
  thumbHash?: boolean;
  /**
   * The most pixels that a frame of an image to be processed may have; of a JPEG as it is shrunk on loading. Default:
   * 50000000.
   */
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
  /**
   * Whether and when a stored image is checked with its server: never, ifExpired, always, or as its server says (http);
   * as the cache is configured when left out.
   */
  revalidate?: "never" | "ifExpired" | "always" | "http";
  /**
   * Seconds past its time for which a stored image stands in when its server cannot be asked; as far as the server
   * allows it when left out.
   */
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
  /**
   * Among downloads that wait, the higher goes first: 0 to 1, or veryLow, low, normal, high or veryHigh. Default: 0.5.
   */
  downloadPriority?: number | "veryLow" | "low" | "normal" | "high" | "veryHigh";
  /** Prefetch into memory too; for prefetch only. Default: false. */
  alsoPrefetchToMemory?: boolean;
  /** What becomes of the download when the last who waits for it is cancelled. Default: "abort". */
  onLastCancel?: "abort" | "finish";
  /** A place that the image is for: a newer request for the same place cancels this one. */
  slot?: string;
  /** Share the download with others who want the same. Default: true. */
  merge?: boolean;
  /** Request headers. */
  headers?: Record<string, string>;
  /** What the server is asked to do; POST when there is a body. Default: "GET". */
  method?: "GET" | "POST" | "PUT";
  /** What a request other than GET brings along: text, or bytes as base64; at most 1048576 bytes. */
  body?: string | ImageOptionsBodyBase64;
  /**
   * What is done to what was downloaded before anything looks at it: base64 for text that stands for the image, also as
   * a data URL.
   */
  dataModifier?: "base64";
  /** Credentials, sent to the host of the URL only. */
  authorization?: Authorization;
  /**
   * A name for the user of the request, such as an account; what is loaded with credentials is kept apart by it instead
   * of by the credentials, and outlasts a change of token.
   */
  scope?: string;
  /**
   * Whether what is loaded with credentials is kept apart from what others load: separate, or shared with all. Default:
   * "separate".
   */
  credentialScope?: "separate" | "shared";
  /** What the client is asked about this download, instead of what it said in initialize; an empty list for nothing. */
  delegates?: QuestionName[];
  /** Which redirects are followed: all, those to the same scheme, host and port, or none. Default: "follow". */
  redirect?: "follow" | "same-origin" | "none";
  /** How many redirects are followed. Default: 10. */
  maxRedirects?: number;
  /** The largest body accepted, in bytes. Default: 134217728. */
  maxBytes?: number;
  /** The status codes accepted; 200 to 399 but 206 by default. */
  validStatusCodes?: number[];
  /**
   * Media types of which a server must name one, if it names any, such as image/*; by default the bytes decide alone.
   */
  acceptContentTypes?: string[];
  /** Whether and when a failed download is tried again. */
  retry?: Retry;
  /**
   * Seconds for which a download that failed waits for a network, when this machine has none; then it is tried again at
   * once.
   */
  waitForConnectivity?: number;
  /** URLs tried in order when the first fails. */
  alternativeSources?: string[];
  /** Seconds after which the next source is begun beside one that has not answered. */
  hedgeAfter?: number;
  /** Digests of which the bytes must have one, as in Subresource Integrity. */
  integrity?: string;
  /** A path or URL that stands in when everything failed. */
  onFailureImage?: string;
  /** What is meant for others; the server lets it pass. */
  [extension: `_${string}` | `x-${string}`]: unknown;
}

export interface DownsampleParameters {
  /** Pixels across. */
  width: number;
  /** Pixels down. */
  height: number;
}

/** Shrinks the image while it is decoded until it lies within the size; never enlarges it. */
export interface DownsampleProcessor {
  downsample: DownsampleParameters;
}

/** The point that stays in the picture: from 0, at the left or top, to 1. */
export interface FocalPoint {
  /** Across, from 0 to 1. */
  x?: number;
  /** Down, from 0 to 1. */
  y?: number;
}

export interface ResizeParameters {
  /** Pixels across. */
  width?: number;
  /** Pixels down. */
  height?: number;
  /** How it is done. */
  mode?: "none" | "aspectFit" | "aspectFill";
  /** Whether a smaller image is enlarged. */
  upscale?: boolean;
  /** How pixels are made of others; lanczos3 when left out, nearest for sharp squares. */
  kernel?: "nearest" | "linear" | "cubic" | "mitchell" | "lanczos2" | "lanczos3";
  /** The point around which what exceeds the size is cut off, with aspectFill. */
  focus?: FocalPoint;
}

/**
 * Gives the image another size: stretched (none), within it (aspectFit) or covering it (aspectFill). With one side
 * given, the other follows. With a focus, what exceeds the size is cut off around that point.
 */
export interface ResizeProcessor {
  resize: ResizeParameters;
}

/** Which part is taken: from 0, at the left or top, to 1. */
export interface CropAnchor {
  /** Across, from 0 to 1. */
  x?: number;
  /** Down, from 0 to 1. */
  y?: number;
}

export interface CropParameters {
  /** Pixels across. */
  width: number;
  /** Pixels down. */
  height: number;
  /** Which part is taken, as fractions of what is left over, or by what is seen; the middle when left out. */
  anchor?: CropAnchor | "smart" | "entropy";
  /** The left edge of the part, from that of the image. */
  x?: number;
  /** The upper edge of the part, from that of the image. */
  y?: number;
  /** Of all lengths: pixels when left out, or fraction for parts of the sides. */
  unit?: "pixels" | "fraction";
}

/**
 * Takes a part of the image; its middle, unless anchor says otherwise: by what is cut off, or by the pixels (smart,
 * entropy). With x or y, the rectangle with that corner, which must lie within the image. With the unit fraction,
 * lengths are parts of the sides.
 */
export interface CropProcessor {
  crop: CropParameters;
}

export interface PadParameters {
  /** Pixels across. */
  width: number;
  /** Pixels down. */
  height: number;
  /** a colour as "#rgb", "#rgba", "#rrggbb", "#rrggbbaa", "black", "white" or "transparent" */
  backgroundColor?: string;
  /** Where the image lies; in the middle when left out. */
  gravity?: "center" | "top" | "bottom" | "left" | "right" | "topLeft" | "topRight" | "bottomLeft" | "bottomRight";
  /** Whether a smaller image is enlarged. */
  upscale?: boolean;
}

/**
 * Makes the image fit within the size and lays it on a ground of exactly that size, which is transparent unless
 * backgroundColor is given.
 */
export interface PadProcessor {
  pad: PadParameters;
}

export interface TrimParameters {
  /** The largest difference in a channel of 255 that is none; 10 when left out. */
  tolerance?: number;
}

/**
 * Removes margins of the colour of the first pixel; tolerance is the largest difference in a channel of 255 that counts
 * as the same. An image of one colour stays as it is.
 */
export interface TrimProcessor {
  trim: TrimParameters;
}

export interface FlipParameters {
  /** Whether left and right are exchanged. */
  horizontal?: boolean;
  /** Whether top and bottom are exchanged. */
  vertical?: boolean;
}

/** Exchanges left and right (horizontal), top and bottom (vertical), or both. */
export interface FlipProcessor {
  flip: FlipParameters;
}

export interface RotateParameters {
  /** Degrees clockwise. */
  degrees?: number;
  /** As the EXIF orientation says. */
  auto?: boolean;
}

/** Turns the image clockwise by degrees; or, with auto, only as its EXIF orientation says. */
export interface RotateProcessor {
  rotate: RotateParameters;
}

/** A radius as a part of the shorter side. */
export interface RadiusFraction {
  /** A fraction. */
  fraction: number;
}

export interface RoundCornerParameters {
  /** The radius, in pixels or as a fraction. */
  radius: number | RadiusFraction;
  /** Which corners; all when left out. */
  corners?: ("topLeft" | "topRight" | "bottomLeft" | "bottomRight")[];
  /** The size that the radius is meant for. */
  targetSize?: DownsampleParameters;
  /** a colour as "#rgb", "#rgba", "#rrggbb", "#rrggbbaa", "black", "white" or "transparent" */
  backgroundColor?: string;
}

/** Makes the corners round, and transparent unless backgroundColor is given. */
export interface RoundCornerProcessor {
  roundCorner: RoundCornerParameters;
}

export interface CircleParameters {
  /** Pixels across; the shorter side when left out. */
  diameter?: number;
  /** a colour as "#rgb", "#rgba", "#rrggbb", "#rrggbbaa", "black", "white" or "transparent" */
  backgroundColor?: string;
}

/**
 * Cuts out the largest circle around the middle; with a diameter, of the image made to cover that. Around it is
 * backgroundColor, or nothing.
 */
export interface CircleProcessor {
  circle: CircleParameters;
}

export interface BlurParameters {
  /** The radius, in pixels or as a fraction. */
  radius: number;
}

/** Blurs the image; a radius of 0 leaves it as it is. */
export interface BlurProcessor {
  blur: BlurParameters;
}

export interface SharpenParameters {
  /** The radius, in pixels or as a fraction. */
  radius?: number;
  /** How often the difference is added; once when left out. */
  amount?: number;
}

/** Adds the difference to a blurred image, as often as amount says. */
export interface SharpenProcessor {
  sharpen: SharpenParameters;
}

export interface PixelateParameters {
  /** The side of a square, in pixels. */
  size: number;
}

/** Makes squares of one colour, with sides of that size, of the image. */
export interface PixelateProcessor {
  pixelate: PixelateParameters;
}

export interface OverlayParameters {
  /** a colour as "#rgb", "#rgba", "#rrggbb", "#rrggbbaa", "black", "white" or "transparent" */
  color: string;
  /** A fraction. */
  fraction?: number;
}

/** Lays a colour over the image: fraction 0 for the plain colour, 1 for the plain image. */
export interface OverlayProcessor {
  overlay: OverlayParameters;
}

export interface TintParameters {
  /** a colour as "#rgb", "#rgba", "#rrggbb", "#rrggbbaa", "black", "white" or "transparent" */
  color: string;
}

/** Gives everything that is not transparent the colour. */
export interface TintProcessor {
  tint: TintParameters;
}

export interface ColorControlsParameters {
  /** 0 leaves it as it is. */
  brightness?: number;
  /** 1 leaves it as it is. */
  contrast?: number;
  /** 1 leaves it as it is. */
  saturation?: number;
  /** The exposure; 0 leaves it as it is. */
  inputEV?: number;
}

/** Changes brightness, contrast, saturation and exposure. */
export interface ColorControlsProcessor {
  colorControls: ColorControlsParameters;
}

/** 1 leaves it as it is. */
export interface GammaParameters {
  /** 1 leaves it as it is. */
  gamma: number;
}

/** Makes the middle tones lighter, above 1, or darker: each sample to the power of 1/gamma. */
export interface GammaProcessor {
  /** 1 leaves it as it is. */
  gamma: GammaParameters;
}

export interface BlackWhiteParameters {
}

/** Makes greys of the image. */
export interface BlackWhiteProcessor {
  blackWhite: BlackWhiteParameters;
}

export interface BorderParameters {
  /** a colour as "#rgb", "#rgba", "#rrggbb", "#rrggbbaa", "black", "white" or "transparent" */
  color: string;
  /** Pixels across. */
  width: number;
  /** The radius, in pixels or as a fraction. */
  radius?: number | RadiusFraction;
  /** Which corners; all when left out. */
  corners?: ("topLeft" | "topRight" | "bottomLeft" | "bottomRight")[];
}

/** Draws a line along the edges, inside the image. */
export interface BorderProcessor {
  border: BorderParameters;
}

export interface BlendParameters {
  /** How it is done. */
  mode:
    | "normal"
    | "multiply"
    | "screen"
    | "overlay"
    | "darken"
    | "lighten"
    | "colorDodge"
    | "colorBurn"
    | "hardLight"
    | "softLight"
    | "difference"
    | "exclusion";
  /** How opaque the image is. */
  alpha?: number;
  /** a colour as "#rgb", "#rgba", "#rrggbb", "#rrggbbaa", "black", "white" or "transparent" */
  backgroundColor?: string;
}

/** Mixes the image with a colour below it. */
export interface BlendProcessor {
  blend: BlendParameters;
}

export interface CompositingParameters {
  /** The name of the operation. */
  operation:
    | "clear"
    | "copy"
    | "sourceOver"
    | "sourceIn"
    | "sourceOut"
    | "sourceAtop"
    | "destinationOver"
    | "destinationIn"
    | "destinationOut"
    | "destinationAtop"
    | "xor"
    | "plusLighter";
  /** How opaque the image is. */
  alpha?: number;
  /** a colour as "#rgb", "#rgba", "#rrggbb", "#rrggbbaa", "black", "white" or "transparent" */
  backgroundColor?: string;
}

/** Lays the image over a colour, as Porter and Duff have it. */
export interface CompositingProcessor {
  compositing: CompositingParameters;
}

export interface WatermarkParameters {
  /** The file of the picture, in base64. */
  data: string;
  /** Where it lies; at the bottom right when left out. */
  gravity?: "center" | "top" | "bottom" | "left" | "right" | "topLeft" | "topRight" | "bottomLeft" | "bottomRight";
  /** 1 for the picture as it is, and when left out. */
  opacity?: number;
  /** The pixels between it and the edges. */
  margin?: number;
  /** Its width as a part of that of the image. */
  scale?: number;
}

/**
 * Lays another picture over the image: a PNG, JPEG, WebP or GIF of 256 KiB at most. scale is its width as a part of
 * that of the image; without it, and where it fits between the margins, it has its own size.
 */
export interface WatermarkProcessor {
  watermark: WatermarkParameters;
}

/** The format. */
export interface FormatParameters {
  /** What it becomes. */
  to: "png" | "jpeg" | "gif" | "webp" | "avif" | "heic" | "tiff" | "bmp" | "ico" | "jxl";
  /** From 1 to 100, on the scale of JPEG in every format. */
  quality?: number;
}

/** Writes the result in a format. */
export interface FormatProcessor {
  /** The format. */
  format: FormatParameters;
}

/** One step of the making of an image: an object with one member, the processor's name. */
export type Processor =
  | DownsampleProcessor
  | ResizeProcessor
  | CropProcessor
  | PadProcessor
  | TrimProcessor
  | FlipProcessor
  | RotateProcessor
  | RoundCornerProcessor
  | CircleProcessor
  | BlurProcessor
  | SharpenProcessor
  | PixelateProcessor
  | OverlayProcessor
  | TintProcessor
  | ColorControlsProcessor
  | GammaProcessor
  | BlackWhiteProcessor
  | BorderProcessor
  | BlendProcessor
  | CompositingProcessor
  | WatermarkProcessor
  | FormatProcessor;

/**
 * Steps applied left to right, each an object with one member, the name of the processor; or a compact text, as in
 * `resize:200x200/format:webp`.
 */
export type Processors = string | readonly Processor[];

/** How an image is answered: where its file is, its bytes, both, neither, or as a data URL or raw pixels. */
export type As = "path" | "data" | "both" | "none" | "dataUrl" | "pixels";
