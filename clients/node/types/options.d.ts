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

/** How long an entry is kept; a negative number means for ever. */
export type Expiration = "never" | "expired" | ForSeconds | ForDays | UntilDate;

/** What an access does to the expiration: nothing, the time it had at first, or a new one. */
export type ExpirationExtending = "none" | "cacheTime" | Expiration;

/** How a processed image is written; by default as the result needs. */
export interface CacheSerializer {
  /** With transparency PNG, opaque JPEG, animated as the original, unless given. */
  format?: "png" | "jpeg" | "gif" | "webp" | "avif" | "heic" | "tiff" | "bmp" | "ico" | "jxl";
  /** From 1 to 100. */
  quality?: number;
  /** Compress without loss, where the format can. */
  lossless?: boolean;
  /** Show coarsely first while loading, where the format can. */
  progressive?: boolean;
  /** The colour below what is transparent. */
  background?: string;
  /** The largest file; quality is lowered until it is kept. */
  maxBytes?: number;
  /** `true` removes EXIF and similar metadata; `false` keeps all of it, including where the picture was taken. */
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
  /** The first pause in seconds, doubled each time. */
  exponential: number;
}

/** Whether and when to try a failed download again. */
export interface Retry {
  /** How often it is tried again. */
  maxRetries?: number;
  /** How long to wait before each try. */
  interval?: ForSeconds | ExponentialInterval;
}

/** Options of one call; what is left out has the server's default. */
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
  memoryCacheAccessExtendingExpiration?: ExpirationExtending;
  /** What an access does to the expiration on disk; as the cache is configured when left out. */
  diskCacheAccessExtendingExpiration?: ExpirationExtending;
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
  cacheSerializer?: CacheSerializer;
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
  /**
   * Also answer with a ThumbHash, a BlurHash and the dominant colour, computed once and kept with the entry. Default:
   * false.
   */
  thumbHash?: boolean;
  /**
   * The largest number of pixels in a frame of an image to process; for a JPEG, after shrinking while decoding.
   * Default: 50000000.
   */
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
  /**
   * When a stored image is revalidated with its server: never, ifExpired, always, or as HTTP's rules say (http); as the
   * cache is configured when left out.
   */
  revalidate?: "never" | "ifExpired" | "always" | "http";
  /**
   * How long after expiring a stored image may be used when its server cannot be reached, in seconds; as long as the
   * server allows when left out.
   */
  staleIfError?: number;
  /** Use nothing from the network, and answer what is stored, even if it has expired. Default: false. */
  offline?: boolean;
  /** How long a permanent failure is remembered, in seconds; as the cache is configured when left out. */
  negativeCache?: number;
  /** The longest wait for the next bytes, in seconds; as the downloader is configured when left out. */
  timeout?: number;
  /** The longest time for the whole request, in seconds; no limit by default. */
  deadline?: number;
  /**
   * The lowest permitted speed of a download, in bytes per second, measured over two timeouts; 0 for no limit. Default:
   * 100.
   */
  minBytesPerSecond?: number;
  /**
   * The priority among waiting downloads, higher first: 0 to 1, or veryLow, low, normal, high or veryHigh. Default:
   * 0.5.
   */
  downloadPriority?: number | "veryLow" | "low" | "normal" | "high" | "veryHigh";
  /** Prefetch into memory too; for prefetch only. Default: false. */
  alsoPrefetchToMemory?: boolean;
  /** What happens to the download when the last request that waits for it is cancelled. Default: "abort". */
  onLastCancel?: "abort" | "finish";
  /** The place that the image is for, such as a view: a newer request for the same place cancels this one. */
  slot?: string;
  /** Also answer with the result and the timing of the download, if there was one. Default: false. */
  downloadReport?: boolean;
  /** Share the download with other requests for the same image. Default: true. */
  merge?: boolean;
  /** Request headers. */
  headers?: Record<string, string>;
  /** The HTTP method; POST when there is a body. Default: "GET". */
  method?: "GET" | "POST" | "PUT";
  /** The body of a request other than GET: text, or bytes as base64; at most 1048576 bytes. */
  body?: string | ImageOptionsBodyBase64;
  /**
   * A transformation of the downloaded bytes before they are checked: base64 decodes text that encodes the image, also
   * as a data URL.
   */
  dataModifier?: "base64";
  /** Credentials, sent to the host of the URL only. */
  authorization?: Authorization;
  /**
   * A name for the user of the request, such as an account. Images loaded with credentials are kept apart by this name
   * instead of by the credentials, and so outlast a change of token.
   */
  scope?: string;
  /**
   * Whether images loaded with credentials are kept apart by user (separate) or shared with everyone (shared). Default:
   * "separate".
   */
  credentialScope?: "separate" | "shared";
  /**
   * The use of the tier that several machines share: for what is nobody's own (use), not at all (skip), or for private
   * images too (share). Default: "use".
   */
  remote?: "use" | "skip" | "share";
  /**
   * The questions that the client is asked about this download, instead of those named in initialize; an empty list for
   * none.
   */
  delegates?: QuestionName[];
  /** The redirects to follow: all, those to the same scheme, host and port, or none. Default: "follow". */
  redirect?: "follow" | "same-origin" | "none";
  /** The largest number of redirects to follow. Default: 10. */
  maxRedirects?: number;
  /** The largest body accepted, in bytes. Default: 134217728. */
  maxBytes?: number;
  /** The status codes to accept; by default 200 to 399, except 206. */
  validStatusCodes?: number[];
  /** The media types to accept, such as image/*, if the server names one; by default only the bytes decide. */
  acceptContentTypes?: string[];
  /** Whether and when to try a failed download again. */
  retry?: Retry;
  /**
   * How long a failed download waits for a network when this machine has none, in seconds; then it is tried again at
   * once.
   */
  waitForConnectivity?: number;
  /** URLs to try in order when the first one fails. */
  alternativeSources?: string[];
  /** The time after which the next source is started beside one that has not answered, in seconds. */
  hedgeAfter?: number;
  /** Digests, as in Subresource Integrity, one of which the bytes must have. */
  integrity?: string;
  /** A path or URL of an image to use when everything failed. */
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

/** Shrinks the image while it is decoded, to fit within the size; never enlarges it. */
export interface DownsampleProcessor {
  downsample: DownsampleParameters;
}

/** The point that stays in the picture: from 0, at the left or top, to 1. */
export interface FocalPoint {
  /** The horizontal position, from 0 to 1. */
  x?: number;
  /** The vertical position, from 0 to 1. */
  y?: number;
}

export interface ResizeParameters {
  /** Pixels across. */
  width?: number;
  /** Pixels down. */
  height?: number;
  /** How the image is fitted to the size. */
  mode?: "none" | "aspectFit" | "aspectFill";
  /** Whether a smaller image is enlarged. */
  upscale?: boolean;
  /** The resampling filter; lanczos3 when left out, nearest keeps hard edges. */
  kernel?: "nearest" | "linear" | "cubic" | "mitchell" | "lanczos2" | "lanczos3";
  /** The point that aspectFill crops around. */
  focus?: FocalPoint;
}

/**
 * Resizes the image: stretched to the size (none), fitting within it (aspectFit) or covering it (aspectFill). With only
 * one side given, the other follows from the shape. With a focus, aspectFill crops around that point.
 */
export interface ResizeProcessor {
  resize: ResizeParameters;
}

/** Which part is taken: from 0, at the left or top, to 1. */
export interface CropAnchor {
  /** The horizontal position, from 0 to 1. */
  x?: number;
  /** The vertical position, from 0 to 1. */
  y?: number;
}

export interface CropParameters {
  /** Pixels across. */
  width: number;
  /** Pixels down. */
  height: number;
  /** Which part is kept: a position as fractions of the surplus, or by content; the middle when left out. */
  anchor?: CropAnchor | "smart" | "entropy";
  /** The left edge of the part, from that of the image. */
  x?: number;
  /** The upper edge of the part, from that of the image. */
  y?: number;
  /** The unit of all lengths: pixels when left out, or fraction for fractions of the sides. */
  unit?: "pixels" | "fraction";
}

/**
 * Crops the image to its middle, or as anchor says: at a side, or by content (smart, entropy). With x or y, crops to
 * the rectangle with that corner, which must lie within the image. With the unit fraction, lengths are fractions of the
 * sides.
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
  /** Where the image is placed; in the middle when left out. */
  gravity?: "center" | "top" | "bottom" | "left" | "right" | "topLeft" | "topRight" | "bottomLeft" | "bottomRight";
  /** Whether a smaller image is enlarged. */
  upscale?: boolean;
}

/**
 * Fits the image within the size and places it on a canvas of exactly that size, which is transparent unless
 * backgroundColor is given.
 */
export interface PadProcessor {
  pad: PadParameters;
}

export interface TrimParameters {
  /** The largest difference in a channel, of 255, that counts as the same colour; 10 when left out. */
  tolerance?: number;
}

/**
 * Removes margins that have the colour of the first pixel; differences in a channel up to tolerance, of 255, count as
 * the same colour. An image of a single colour stays as it is.
 */
export interface TrimProcessor {
  trim: TrimParameters;
}

export interface FlipParameters {
  /** Whether left and right are swapped. */
  horizontal?: boolean;
  /** Whether top and bottom are swapped. */
  vertical?: boolean;
}

/** Mirrors the image: left to right (horizontal), top to bottom (vertical), or both. */
export interface FlipProcessor {
  flip: FlipParameters;
}

export interface RotateParameters {
  /** Degrees clockwise. */
  degrees?: number;
  /** As the EXIF orientation says. */
  auto?: boolean;
}

/** Rotates the image clockwise by degrees; or, with auto, only as its EXIF orientation says. */
export interface RotateProcessor {
  rotate: RotateParameters;
}

/** A radius as a part of the shorter side. */
export interface RadiusFraction {
  /** From 0 to 1: of the shorter side for a radius, of the image that stays visible for a tint. */
  fraction: number;
}

export interface RoundCornerParameters {
  /** The radius, in pixels or as a fraction. */
  radius: number | RadiusFraction;
  /** The corners to round; all when left out. */
  corners?: ("topLeft" | "topRight" | "bottomLeft" | "bottomRight")[];
  /** The size that the radius is meant for. */
  targetSize?: DownsampleParameters;
  /** a colour as "#rgb", "#rgba", "#rrggbb", "#rrggbbaa", "black", "white" or "transparent" */
  backgroundColor?: string;
}

/** Rounds the corners; outside them the image is transparent unless backgroundColor is given. */
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
 * Crops the image to the largest circle around its middle; with a diameter, after resizing the image to cover it.
 * Outside the circle is backgroundColor, or nothing.
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
  /** The factor of the difference; 1 when left out. */
  amount?: number;
}

/** Sharpens the image: adds its difference from a blurred copy, multiplied by amount. */
export interface SharpenProcessor {
  sharpen: SharpenParameters;
}

export interface PixelateParameters {
  /** The side of a square, in pixels. */
  size: number;
}

/** Turns the image into squares of a single colour with sides of that size. */
export interface PixelateProcessor {
  pixelate: PixelateParameters;
}

export interface OverlayParameters {
  /** a colour as "#rgb", "#rgba", "#rrggbb", "#rrggbbaa", "black", "white" or "transparent" */
  color: string;
  /** From 0 to 1: of the shorter side for a radius, of the image that stays visible for a tint. */
  fraction?: number;
}

/**
 * Lays a colour over the image; fraction is how much of the image stays: 0 for only the colour, 1 for only the image.
 */
export interface OverlayProcessor {
  overlay: OverlayParameters;
}

export interface TintParameters {
  /** a colour as "#rgb", "#rgba", "#rrggbb", "#rrggbbaa", "black", "white" or "transparent" */
  color: string;
}

/** Gives everything that is not transparent a single colour. */
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

/** Makes midtones lighter (above 1) or darker (below 1): raises each sample to the power 1/gamma. */
export interface GammaProcessor {
  /** 1 leaves it as it is. */
  gamma: GammaParameters;
}

export interface BlackWhiteParameters {
}

/** Turns the image into shades of grey. */
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
  /** The corners to round; all when left out. */
  corners?: ("topLeft" | "topRight" | "bottomLeft" | "bottomRight")[];
}

/** Draws a line along the edges, inside the image. */
export interface BorderProcessor {
  border: BorderParameters;
}

export interface BlendParameters {
  /** How the image is fitted to the size. */
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

/** Blends the image with a colour below it. */
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

/** Composites the image over a colour by an operation of Porter and Duff. */
export interface CompositingProcessor {
  compositing: CompositingParameters;
}

export interface WatermarkParameters {
  /** The file of the picture, in base64. */
  data: string;
  /** Where the picture is placed; at the bottom right when left out. */
  gravity?: "center" | "top" | "bottom" | "left" | "right" | "topLeft" | "topRight" | "bottomLeft" | "bottomRight";
  /** From 0 to 1; 1, the picture as it is, when left out. */
  opacity?: number;
  /** The distance from the edges, in pixels. */
  margin?: number;
  /** Its width as a fraction of the image's width. */
  scale?: number;
}

/**
 * Lays another picture over the image: a PNG, JPEG, WebP or GIF of at most 256 KiB. scale is its width as a fraction of
 * the image's width; without it, the picture has its own size where that fits between the margins.
 */
export interface WatermarkProcessor {
  watermark: WatermarkParameters;
}

/** The format. */
export interface FormatParameters {
  /** The format to convert to. */
  to: "png" | "jpeg" | "gif" | "webp" | "avif" | "heic" | "tiff" | "bmp" | "ico" | "jxl";
  /** From 1 to 100, on the scale of JPEG for every format. */
  quality?: number;
}

/** Converts the result to a format. */
export interface FormatProcessor {
  /** The format. */
  format: FormatParameters;
}

/** One processing step: an object with one member, the name of the processor. */
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
