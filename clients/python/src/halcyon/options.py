"""The options of a call, named as the protocol names them.

Made by clients/generate.py from protocol/openrpc.json.
"""

from __future__ import annotations

from typing import Dict, List, Literal, Sequence, TypedDict, Union

__all__ = [
    "As",
    "Authorization",
    "BasicAuthorization",
    "BasicCredentials",
    "BearerAuthorization",
    "BlackWhiteParameters",
    "BlackWhiteProcessor",
    "BlendParameters",
    "BlendProcessor",
    "BlurParameters",
    "BlurProcessor",
    "BorderParameters",
    "BorderProcessor",
    "CacheSerializer",
    "CircleParameters",
    "CircleProcessor",
    "ColorControlsParameters",
    "ColorControlsProcessor",
    "CompositingParameters",
    "CompositingProcessor",
    "CropAnchor",
    "CropParameters",
    "CropProcessor",
    "DownsampleParameters",
    "DownsampleProcessor",
    "Expiration",
    "ExponentialInterval",
    "ExtendingExpiration",
    "FlipParameters",
    "FlipProcessor",
    "FocalPoint",
    "ForDays",
    "FormatParameters",
    "FormatProcessor",
    "ForSeconds",
    "GammaParameters",
    "GammaProcessor",
    "ImageOptions",
    "ImageOptionsBodyBase64",
    "OverlayParameters",
    "OverlayProcessor",
    "PadParameters",
    "PadProcessor",
    "PixelateParameters",
    "PixelateProcessor",
    "Processor",
    "Processors",
    "QuestionName",
    "RadiusFraction",
    "ResizeParameters",
    "ResizeProcessor",
    "Retry",
    "RotateParameters",
    "RotateProcessor",
    "RoundCornerParameters",
    "RoundCornerProcessor",
    "SharpenParameters",
    "SharpenProcessor",
    "TintParameters",
    "TintProcessor",
    "TrimParameters",
    "TrimProcessor",
    "UntilDate",
    "WatermarkParameters",
    "WatermarkProcessor",
]


class ForSeconds(TypedDict):
    """A span of time in seconds."""

    seconds: float
    """A number of seconds."""


class ForDays(TypedDict):
    """A span of time in days."""

    days: float
    """A number of days."""


class UntilDate(TypedDict):
    """A point in time, as ISO 8601."""

    date: str
    """A moment (RFC 3339)."""


Expiration = Union[Literal["never", "expired"], ForSeconds, ForDays, UntilDate]
"""How long an entry is kept; a negative number means for ever."""

ExtendingExpiration = Union[Literal["none", "cacheTime"], Expiration]
"""What an access does to the expiration: nothing, the time it had at first, or a new one."""


class CacheSerializer(TypedDict, total=False):
    """How a processed image is written; by default as the result needs."""

    format: Literal["png", "jpeg", "gif", "webp", "avif", "heic", "tiff", "bmp", "ico", "jxl"]
    """With transparency PNG, opaque JPEG, animated as the original, unless given."""
    quality: int
    """From 1 to 100."""
    lossless: bool
    """Compress without loss, where the format can."""
    progressive: bool
    """Show coarsely first while loading, where the format can."""
    background: str
    """The colour below what is transparent."""
    maxBytes: int
    """The largest file; quality is lowered until it is kept."""
    stripMetadata: bool
    """`True` removes EXIF and similar metadata; `False` keeps all of it, including where the
    picture was taken.
    """
    profile: Literal["keep", "sRGB"]
    """Whether the colour profile is kept; it is, unless given."""


class ImageOptionsBodyBase64(TypedDict):
    base64: str
    """Bytes as base64."""


class BasicCredentials(TypedDict):
    """User and password of HTTP basic authentication."""

    user: str
    """The user."""
    password: str
    """The password."""


class BasicAuthorization(TypedDict):
    """Sends `Authorization: Basic …`."""

    basic: BasicCredentials
    """User and password."""


class BearerAuthorization(TypedDict):
    """Sends `Authorization: Bearer …`."""

    bearer: str
    """The token."""


Authorization = Union[BasicAuthorization, BearerAuthorization]
"""Credentials, sent to the host of the URL only."""

QuestionName = Literal[
    "downloader/modifyRequest",
    "downloader/redirect",
    "downloader/validateStatus",
    "downloader/challenge",
]
"""A question that the server asks about a download."""


class ExponentialInterval(TypedDict):
    """A pause that doubles each time, from this many seconds."""

    exponential: float
    """The first pause in seconds, doubled each time."""


class Retry(TypedDict, total=False):
    """Whether and when to try a failed download again."""

    maxRetries: int
    """How often it is tried again."""
    interval: Union[ForSeconds, ExponentialInterval]
    """How long to wait before each try."""


class ImageOptions(TypedDict, total=False):
    """Options of one call; what is left out has the server's default. An option the server does not
    know is answered with InvalidParams and the nearest name, never ignored.
    """

    forceRefresh: bool
    """Do not read from the caches, but write to them. Default: False."""
    fromMemoryCacheOrRefresh: bool
    """Look in memory only, then download. Default: False."""
    onlyFromCache: bool
    """Never download; an image that is not cached is the error notCached. Default: False."""
    cacheMemoryOnly: bool
    """Keep the image in memory only; the result has no path. Default: False."""
    waitForCache: bool
    """Answer only when the image is in the cache. Default: True."""
    memoryCacheExpiration: Expiration
    """How long memory keeps the image."""
    diskCacheExpiration: Expiration
    """How long the disk keeps the image."""
    memoryCacheAccessExtendingExpiration: ExtendingExpiration
    """What an access does to the expiration in memory; as the cache is configured when left out."""
    diskCacheAccessExtendingExpiration: ExtendingExpiration
    """What an access does to the expiration on disk; as the cache is configured when left out."""
    forcedCacheFileExtension: str
    """The extension of the cached file, instead of the format's."""
    queryDataWhenInMemory: bool
    """Read the bytes even when only the path was asked for. Default: False."""
    memory: bool
    """Keep the image in memory; when False, memory does not keep it. Default: True."""
    originalCache: str
    """Another cache to search before downloading; what it has is stored here too."""
    cacheOriginalImage: bool
    """Keep the original of a processed image too, so that more can be made of it. Default: True."""
    cacheSerializer: CacheSerializer
    """How a processed image is written; by default as the result needs."""
    onlyLoadFirstFrame: bool
    """Use only the first frame of an animation, as a still. Default: False."""
    frame: int
    """Use one frame of an animation, by its number from 0, as a still."""
    scaleDownLargeImages: bool
    """Shrink an image of more than 15728640 pixels to that many. Default: False."""
    scaleFactor: float
    """The factor for the lengths of processors, which are then in points, not pixels. Default: 1.
    """
    preloadAllAnimationData: bool
    """Accepted for clients of other libraries: all frames are always kept. Default: False."""
    backgroundDecode: bool
    """Accepted for clients of other libraries: images are always decoded in another process.
    Default: False.
    """
    verifyDecode: bool
    """Answer and keep the image only once all of it has been decoded; as the cache is configured
    when left out.
    """
    thumbHash: bool
    """Also answer with a ThumbHash, a BlurHash and the dominant colour, computed once and kept with
    the entry. Default: False.
    """
    maxPixels: int
    """The largest number of pixels in a frame of an image to process; for a JPEG, after shrinking
    while decoding. Default: 50000000.
    """
    maxFrames: int
    """The largest number of frames of an image to process. Default: 2000."""
    maxAnimationPixels: int
    """The largest number of pixels of all its frames together. Default: 250000000."""
    decodeSeconds: float
    """The longest time that processing may take, in seconds. Default: 20."""
    maxEntityBytes: int
    """The largest number of bytes that entities may add to an SVG where they are used. Default:
    1000000.
    """
    lease: float
    """The time that an answered path stays valid, in seconds. Default: 60."""
    revalidate: Literal["never", "ifExpired", "always", "http"]
    """When a stored image is revalidated with its server: never, ifExpired, always, or as HTTP's
    rules say (http); as the cache is configured when left out.
    """
    staleIfError: float
    """How long after expiring a stored image may be used when its server cannot be reached, in
    seconds; as long as the server allows when left out.
    """
    offline: bool
    """Use nothing from the network, and answer what is stored, even if it has expired. Default:
    False.
    """
    negativeCache: float
    """How long a permanent failure is remembered, in seconds; as the cache is configured when left
    out.
    """
    timeout: float
    """The longest wait for the next bytes, in seconds; as the downloader is configured when left
    out.
    """
    deadline: float
    """The longest time for the whole request, in seconds; no limit by default."""
    minBytesPerSecond: float
    """The lowest permitted speed of a download, in bytes per second, measured over two timeouts; 0
    for no limit. Default: 100.
    """
    downloadPriority: Union[float, Literal["veryLow", "low", "normal", "high", "veryHigh"]]
    """The priority among waiting downloads, higher first: 0 to 1, or veryLow, low, normal, high or
    veryHigh. Default: 0.5.
    """
    alsoPrefetchToMemory: bool
    """Prefetch into memory too; for prefetch only. Default: False."""
    onLastCancel: Literal["abort", "finish"]
    """What happens to the download when the last request that waits for it is cancelled. Default:
    "abort".
    """
    slot: str
    """The place that the image is for, such as a view: a newer request for the same place cancels
    this one.
    """
    downloadReport: bool
    """Also answer with the result and the timing of the download, if there was one. Default: False.
    """
    merge: bool
    """Share the download with other requests for the same image. Default: True."""
    headers: Dict[str, str]
    """Request headers."""
    method: Literal["GET", "POST", "PUT"]
    """The HTTP method; POST when there is a body. Default: "GET"."""
    body: Union[str, ImageOptionsBodyBase64]
    """The body of a request other than GET: text, or bytes as base64; at most 1048576 bytes."""
    dataModifier: Literal["base64"]
    """A transformation of the downloaded bytes before they are checked: base64 decodes text that
    encodes the image, also as a data URL.
    """
    authorization: Authorization
    """Credentials, sent to the host of the URL only."""
    scope: str
    """A name for the user of the request, such as an account. Images loaded with credentials are
    kept apart by this name instead of by the credentials, and so outlast a change of token.
    """
    credentialScope: Literal["separate", "shared"]
    """Whether images loaded with credentials are kept apart by user (separate) or shared with
    everyone (shared). Default: "separate".
    """
    remote: Literal["use", "skip", "share"]
    """The use of the tier that several machines share: for what is nobody's own (use), not at all
    (skip), or for private images too (share). Default: "use".
    """
    delegates: List[QuestionName]
    """The questions that the client is asked about this download, instead of those named in
    initialize; an empty list for none.
    """
    redirect: Literal["follow", "same-origin", "none"]
    """The redirects to follow: all, those to the same scheme, host and port, or none. Default:
    "follow".
    """
    maxRedirects: int
    """The largest number of redirects to follow. Default: 10."""
    maxBytes: int
    """The largest body accepted, in bytes. Default: 134217728."""
    validStatusCodes: List[int]
    """The status codes to accept; by default 200 to 399, except 206."""
    acceptContentTypes: List[str]
    """The media types to accept, such as image/*, if the server names one; by default only the
    bytes decide.
    """
    retry: Retry
    """Whether and when to try a failed download again."""
    waitForConnectivity: float
    """How long a failed download waits for a network when this machine has none, in seconds; then
    it is tried again at once.
    """
    alternativeSources: List[str]
    """URLs to try in order when the first one fails."""
    hedgeAfter: float
    """The time after which the next source is started beside one that has not answered, in seconds.
    """
    integrity: str
    """Digests, as in Subresource Integrity, one of which the bytes must have."""
    onFailureImage: str
    """A path or URL of an image to use when everything failed."""


class DownsampleParameters(TypedDict):
    width: float
    """Pixels across."""
    height: float
    """Pixels down."""


class DownsampleProcessor(TypedDict):
    """Shrinks the image while it is decoded, to fit within the size; never enlarges it."""

    downsample: DownsampleParameters


class FocalPoint(TypedDict, total=False):
    """The point that stays in the picture: from 0, at the left or top, to 1."""

    x: float
    """The horizontal position, from 0 to 1."""
    y: float
    """The vertical position, from 0 to 1."""


class ResizeParameters(TypedDict, total=False):
    width: float
    """Pixels across."""
    height: float
    """Pixels down."""
    mode: Literal["none", "aspectFit", "aspectFill"]
    """How the image is fitted to the size."""
    upscale: bool
    """Whether a smaller image is enlarged."""
    kernel: Literal["nearest", "linear", "cubic", "mitchell", "lanczos2", "lanczos3"]
    """The resampling filter; lanczos3 when left out, nearest keeps hard edges."""
    focus: FocalPoint
    """The point that aspectFill crops around."""


class ResizeProcessor(TypedDict):
    """Resizes the image: stretched to the size (none), fitting within it (aspectFit) or covering it
    (aspectFill). With only one side given, the other follows from the shape. With a focus,
    aspectFill crops around that point.
    """

    resize: ResizeParameters


class CropAnchor(TypedDict, total=False):
    """Which part is taken: from 0, at the left or top, to 1."""

    x: float
    """The horizontal position, from 0 to 1."""
    y: float
    """The vertical position, from 0 to 1."""


class _CropParameters(TypedDict):
    width: float
    """Pixels across."""
    height: float
    """Pixels down."""


class CropParameters(_CropParameters, total=False):
    anchor: Union[CropAnchor, Literal["smart", "entropy"]]
    """Which part is kept: a position as fractions of the surplus, or by content; the middle when
    left out.
    """
    x: float
    """The left edge of the part, from that of the image."""
    y: float
    """The upper edge of the part, from that of the image."""
    unit: Literal["pixels", "fraction"]
    """The unit of all lengths: pixels when left out, or fraction for fractions of the sides."""


class CropProcessor(TypedDict):
    """Crops the image to its middle, or as anchor says: at a side, or by content (smart, entropy).
    With x or y, crops to the rectangle with that corner, which must lie within the image. With
    the unit fraction, lengths are fractions of the sides.
    """

    crop: CropParameters


class _PadParameters(TypedDict):
    width: float
    """Pixels across."""
    height: float
    """Pixels down."""


class PadParameters(_PadParameters, total=False):
    backgroundColor: str
    """a colour as "#rgb", "#rgba", "#rrggbb", "#rrggbbaa", "black", "white" or "transparent"
    """
    gravity: Literal[
        "center",
        "top",
        "bottom",
        "left",
        "right",
        "topLeft",
        "topRight",
        "bottomLeft",
        "bottomRight",
    ]
    """Where the image is placed; in the middle when left out."""
    upscale: bool
    """Whether a smaller image is enlarged."""


class PadProcessor(TypedDict):
    """Fits the image within the size and places it on a canvas of exactly that size, which is
    transparent unless backgroundColor is given.
    """

    pad: PadParameters


class TrimParameters(TypedDict, total=False):
    tolerance: float
    """The largest difference in a channel, of 255, that counts as the same colour; 10 when left
    out.
    """


class TrimProcessor(TypedDict):
    """Removes margins that have the colour of the first pixel; differences in a channel up to
    tolerance, of 255, count as the same colour. An image of a single colour stays as it is.
    """

    trim: TrimParameters


class FlipParameters(TypedDict, total=False):
    horizontal: bool
    """Whether left and right are swapped."""
    vertical: bool
    """Whether top and bottom are swapped."""


class FlipProcessor(TypedDict):
    """Mirrors the image: left to right (horizontal), top to bottom (vertical), or both."""

    flip: FlipParameters


class RotateParameters(TypedDict, total=False):
    degrees: float
    """Degrees clockwise."""
    auto: bool
    """As the EXIF orientation says."""


class RotateProcessor(TypedDict):
    """Rotates the image clockwise by degrees; or, with auto, only as its EXIF orientation says."""

    rotate: RotateParameters


class RadiusFraction(TypedDict):
    """A radius as a part of the shorter side."""

    fraction: float
    """From 0 to 1: of the shorter side for a radius, of the image that stays visible for a tint."""


class _RoundCornerParameters(TypedDict):
    radius: Union[float, RadiusFraction]
    """The radius, in pixels or as a fraction."""


class RoundCornerParameters(_RoundCornerParameters, total=False):
    corners: List[Literal["topLeft", "topRight", "bottomLeft", "bottomRight"]]
    """The corners to round; all when left out."""
    targetSize: DownsampleParameters
    """The size that the radius is meant for."""
    backgroundColor: str
    """a colour as "#rgb", "#rgba", "#rrggbb", "#rrggbbaa", "black", "white" or "transparent"
    """


class RoundCornerProcessor(TypedDict):
    """Rounds the corners; outside them the image is transparent unless backgroundColor is given."""

    roundCorner: RoundCornerParameters


class CircleParameters(TypedDict, total=False):
    diameter: float
    """Pixels across; the shorter side when left out."""
    backgroundColor: str
    """a colour as "#rgb", "#rgba", "#rrggbb", "#rrggbbaa", "black", "white" or "transparent"
    """


class CircleProcessor(TypedDict):
    """Crops the image to the largest circle around its middle; with a diameter, after resizing the
    image to cover it. Outside the circle is backgroundColor, or nothing.
    """

    circle: CircleParameters


class BlurParameters(TypedDict):
    radius: float
    """The radius, in pixels or as a fraction."""


class BlurProcessor(TypedDict):
    """Blurs the image; a radius of 0 leaves it as it is."""

    blur: BlurParameters


class SharpenParameters(TypedDict, total=False):
    radius: float
    """The radius, in pixels or as a fraction."""
    amount: float
    """The factor of the difference; 1 when left out."""


class SharpenProcessor(TypedDict):
    """Sharpens the image: adds its difference from a blurred copy, multiplied by amount."""

    sharpen: SharpenParameters


class PixelateParameters(TypedDict):
    size: float
    """The side of a square, in pixels."""


class PixelateProcessor(TypedDict):
    """Turns the image into squares of a single colour with sides of that size."""

    pixelate: PixelateParameters


class _OverlayParameters(TypedDict):
    color: str
    """a colour as "#rgb", "#rgba", "#rrggbb", "#rrggbbaa", "black", "white" or "transparent"
    """


class OverlayParameters(_OverlayParameters, total=False):
    fraction: float
    """From 0 to 1: of the shorter side for a radius, of the image that stays visible for a tint."""


class OverlayProcessor(TypedDict):
    """Lays a colour over the image; fraction is how much of the image stays: 0 for only the colour,
    1 for only the image.
    """

    overlay: OverlayParameters


class TintParameters(TypedDict):
    color: str
    """a colour as "#rgb", "#rgba", "#rrggbb", "#rrggbbaa", "black", "white" or "transparent"
    """


class TintProcessor(TypedDict):
    """Gives everything that is not transparent a single colour."""

    tint: TintParameters


class ColorControlsParameters(TypedDict, total=False):
    brightness: float
    """0 leaves it as it is."""
    contrast: float
    """1 leaves it as it is."""
    saturation: float
    """1 leaves it as it is."""
    inputEV: float
    """The exposure; 0 leaves it as it is."""


class ColorControlsProcessor(TypedDict):
    """Changes brightness, contrast, saturation and exposure."""

    colorControls: ColorControlsParameters


class GammaParameters(TypedDict):
    """1 leaves it as it is."""

    gamma: float
    """1 leaves it as it is."""


class GammaProcessor(TypedDict):
    """Makes midtones lighter (above 1) or darker (below 1): raises each sample to the power
    1/gamma.
    """

    gamma: GammaParameters
    """1 leaves it as it is."""


class BlackWhiteParameters(TypedDict):
    pass


class BlackWhiteProcessor(TypedDict):
    """Turns the image into shades of grey."""

    blackWhite: BlackWhiteParameters


class _BorderParameters(TypedDict):
    color: str
    """a colour as "#rgb", "#rgba", "#rrggbb", "#rrggbbaa", "black", "white" or "transparent"
    """
    width: float
    """Pixels across."""


class BorderParameters(_BorderParameters, total=False):
    radius: Union[float, RadiusFraction]
    """The radius, in pixels or as a fraction."""
    corners: List[Literal["topLeft", "topRight", "bottomLeft", "bottomRight"]]
    """The corners to round; all when left out."""


class BorderProcessor(TypedDict):
    """Draws a line along the edges, inside the image."""

    border: BorderParameters


class _BlendParameters(TypedDict):
    mode: Literal[
        "normal",
        "multiply",
        "screen",
        "overlay",
        "darken",
        "lighten",
        "colorDodge",
        "colorBurn",
        "hardLight",
        "softLight",
        "difference",
        "exclusion",
    ]
    """How the image is fitted to the size."""


class BlendParameters(_BlendParameters, total=False):
    alpha: float
    """How opaque the image is."""
    backgroundColor: str
    """a colour as "#rgb", "#rgba", "#rrggbb", "#rrggbbaa", "black", "white" or "transparent"
    """


class BlendProcessor(TypedDict):
    """Blends the image with a colour below it."""

    blend: BlendParameters


class _CompositingParameters(TypedDict):
    operation: Literal[
        "clear",
        "copy",
        "sourceOver",
        "sourceIn",
        "sourceOut",
        "sourceAtop",
        "destinationOver",
        "destinationIn",
        "destinationOut",
        "destinationAtop",
        "xor",
        "plusLighter",
    ]
    """The name of the operation."""


class CompositingParameters(_CompositingParameters, total=False):
    alpha: float
    """How opaque the image is."""
    backgroundColor: str
    """a colour as "#rgb", "#rgba", "#rrggbb", "#rrggbbaa", "black", "white" or "transparent"
    """


class CompositingProcessor(TypedDict):
    """Composites the image over a colour by an operation of Porter and Duff."""

    compositing: CompositingParameters


class _WatermarkParameters(TypedDict):
    data: str
    """The file of the picture, in base64."""


class WatermarkParameters(_WatermarkParameters, total=False):
    gravity: Literal[
        "center",
        "top",
        "bottom",
        "left",
        "right",
        "topLeft",
        "topRight",
        "bottomLeft",
        "bottomRight",
    ]
    """Where the picture is placed; at the bottom right when left out."""
    opacity: float
    """From 0 to 1; 1, the picture as it is, when left out."""
    margin: float
    """The distance from the edges, in pixels."""
    scale: float
    """Its width as a fraction of the image's width."""


class WatermarkProcessor(TypedDict):
    """Lays another picture over the image: a PNG, JPEG, WebP or GIF of at most 256 KiB. scale is
    its width as a fraction of the image's width; without it, the picture has its own size where
    that fits between the margins.
    """

    watermark: WatermarkParameters


class _FormatParameters(TypedDict):
    to: Literal["png", "jpeg", "gif", "webp", "avif", "heic", "tiff", "bmp", "ico", "jxl"]
    """The format to convert to."""


class FormatParameters(_FormatParameters, total=False):
    """The format."""

    quality: float
    """From 1 to 100, on the scale of JPEG for every format."""


class FormatProcessor(TypedDict):
    """Converts the result to a format."""

    format: FormatParameters
    """The format."""


Processor = Union[
    DownsampleProcessor,
    ResizeProcessor,
    CropProcessor,
    PadProcessor,
    TrimProcessor,
    FlipProcessor,
    RotateProcessor,
    RoundCornerProcessor,
    CircleProcessor,
    BlurProcessor,
    SharpenProcessor,
    PixelateProcessor,
    OverlayProcessor,
    TintProcessor,
    ColorControlsProcessor,
    GammaProcessor,
    BlackWhiteProcessor,
    BorderProcessor,
    BlendProcessor,
    CompositingProcessor,
    WatermarkProcessor,
    FormatProcessor,
]
"""One processing step: an object with one member, the name of the processor."""

Processors = Union[str, Sequence[Processor]]
"""Steps applied left to right, each an object with one member, the name of the processor; or a
compact text, as in `resize:200x200/format:webp`.
"""

As = Literal["path", "data", "both", "none", "dataUrl", "pixels"]
"""How an image is answered: where its file is, its bytes, both, neither, or as a data URL or raw
pixels.
"""
