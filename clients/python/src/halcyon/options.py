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
"""How long an entry lives; a negative number means for ever."""

ExtendingExpiration = Union[Literal["none", "cacheTime"], Expiration]
"""What an access does to the expiration: nothing, the time it had at first, or a new one."""


class CacheSerializer(TypedDict, total=False):
    """How a processed image is written; as the result asks for by default."""

    format: Literal["png", "jpeg", "gif", "webp", "avif", "heic", "tiff", "bmp", "ico", "jxl"]
    """With transparency PNG, opaque JPEG, animated as the original, unless given."""
    quality: int
    """From 1 to 100."""
    lossless: bool
    """Without loss, where the format can."""
    progressive: bool
    """Coarse first, where the format can."""
    background: str
    """The colour below what is transparent."""
    maxBytes: int
    """The largest file; quality is lowered until it is kept."""
    stripMetadata: bool
    """`True`: without EXIF and the like; `False`: with all of it, also where the picture was taken.
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
    """Seconds before the first, doubled each time."""


class Retry(TypedDict, total=False):
    """Whether and when a failed download is tried again."""

    maxRetries: int
    """How often it is tried again."""
    interval: Union[ForSeconds, ExponentialInterval]
    """How long to wait before each try."""


class ImageOptions(TypedDict, total=False):
    """Options of one call; what is left out has the server's default. An option the server does not
    know is answered with InvalidParams and the nearest name, never ignored.
    """

    forceRefresh: bool
    """Ignore the caches for reading; still write them. Default: False."""
    fromMemoryCacheOrRefresh: bool
    """Look in memory only, then load. Default: False."""
    onlyFromCache: bool
    """Never load; what is not cached is the error notCached. Default: False."""
    cacheMemoryOnly: bool
    """Keep the image in memory only; the result has no path. Default: False."""
    waitForCache: bool
    """Answer only when the image is in the cache. Default: True."""
    memoryCacheExpiration: Expiration
    """How long memory keeps the image."""
    diskCacheExpiration: Expiration
    """How long the disk keeps the image."""
    memoryCacheAccessExtendingExpiration: ExtendingExpiration
    """What an access does to the life in memory; as the cache is configured when left out."""
    diskCacheAccessExtendingExpiration: ExtendingExpiration
    """What an access does to the life on disk; as the cache is configured when left out."""
    forcedCacheFileExtension: str
    """The extension of the cached file, instead of the format's."""
    queryDataWhenInMemory: bool
    """Read the bytes even when only the path was asked for. Default: False."""
    memory: bool
    """Keep the image in memory; else it is only answered. Default: True."""
    originalCache: str
    """Another cache to look into before loading; what it has is stored here too."""
    cacheOriginalImage: bool
    """Keep the original of a processed image too, so that more can be made of it. Default: True."""
    cacheSerializer: CacheSerializer
    """How a processed image is written; as the result asks for by default."""
    onlyLoadFirstFrame: bool
    """Take the first frame of an animation, as a still. Default: False."""
    frame: int
    """Take one frame of an animation, by its number from 0, as a still."""
    scaleDownLargeImages: bool
    """Make an image of more than 15728640 pixels smaller, until it has so many. Default: False."""
    scaleFactor: float
    """What the lengths of processors are multiplied by: they are then in points, not pixels.
    Default: 1.
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
    """Answer with a ThumbHash, a BlurHash and the dominant colour too, made once and kept with the
    entry. Default: False.
    """
    maxPixels: int
    """The most pixels that a frame of an image to be processed may have; of a JPEG as it is shrunk
    on loading. Default: 50000000.
    """
    maxFrames: int
    """The most frames that an image to be processed may have. Default: 2000."""
    maxAnimationPixels: int
    """The most pixels that all frames of it may have together. Default: 250000000."""
    decodeSeconds: float
    """The most seconds that its processing may take. Default: 20."""
    maxEntityBytes: int
    """The most bytes that the entities of a drawing may add to it where they are used. Default:
    1000000.
    """
    lease: float
    """Seconds for which a path that is answered stays valid. Default: 60."""
    revalidate: Literal["never", "ifExpired", "always", "http"]
    """Whether and when a stored image is checked with its server: never, ifExpired, always, or as
    its server says (http); as the cache is configured when left out.
    """
    staleIfError: float
    """Seconds past its time for which a stored image stands in when its server cannot be asked; as
    far as the server allows it when left out.
    """
    offline: bool
    """Load nothing from the network, and answer whatever is stored, also when its time is over.
    Default: False.
    """
    negativeCache: float
    """Seconds for which a failure that would come again is remembered; as the cache is configured
    when left out.
    """
    timeout: float
    """Seconds to wait for the next bytes; as the downloader is configured when left out."""
    deadline: float
    """Seconds until the image must be there, whatever it waits for; without end by default."""
    minBytesPerSecond: float
    """The slowest that a download may be, over two timeouts; 0 for no such limit. Default: 100."""
    downloadPriority: Union[float, Literal["veryLow", "low", "normal", "high", "veryHigh"]]
    """Among downloads that wait, the higher goes first: 0 to 1, or veryLow, low, normal, high or
    veryHigh. Default: 0.5.
    """
    alsoPrefetchToMemory: bool
    """Prefetch into memory too; for prefetch only. Default: False."""
    onLastCancel: Literal["abort", "finish"]
    """What becomes of the download when the last who waits for it is cancelled. Default: "abort".
    """
    slot: str
    """A place that the image is for: a newer request for the same place cancels this one."""
    merge: bool
    """Share the download with others who want the same. Default: True."""
    headers: Dict[str, str]
    """Request headers."""
    method: Literal["GET", "POST", "PUT"]
    """What the server is asked to do; POST when there is a body. Default: "GET"."""
    body: Union[str, ImageOptionsBodyBase64]
    """What a request other than GET brings along: text, or bytes as base64; at most 1048576 bytes.
    """
    dataModifier: Literal["base64"]
    """What is done to what was downloaded before anything looks at it: base64 for text that stands
    for the image, also as a data URL.
    """
    authorization: Authorization
    """Credentials, sent to the host of the URL only."""
    scope: str
    """A name for the user of the request, such as an account; what is loaded with credentials is
    kept apart by it instead of by the credentials, and outlasts a change of token.
    """
    credentialScope: Literal["separate", "shared"]
    """Whether what is loaded with credentials is kept apart from what others load: separate, or
    shared with all. Default: "separate".
    """
    delegates: List[QuestionName]
    """What the client is asked about this download, instead of what it said in initialize; an empty
    list for nothing.
    """
    redirect: Literal["follow", "same-origin", "none"]
    """Which redirects are followed: all, those to the same scheme, host and port, or none. Default:
    "follow".
    """
    maxRedirects: int
    """How many redirects are followed. Default: 10."""
    maxBytes: int
    """The largest body accepted, in bytes. Default: 134217728."""
    validStatusCodes: List[int]
    """The status codes accepted; 200 to 399 but 206 by default."""
    acceptContentTypes: List[str]
    """Media types of which a server must name one, if it names any, such as image/*; by default the
    bytes decide alone.
    """
    retry: Retry
    """Whether and when a failed download is tried again."""
    waitForConnectivity: float
    """Seconds for which a download that failed waits for a network, when this machine has none;
    then it is tried again at once.
    """
    alternativeSources: List[str]
    """URLs tried in order when the first fails."""
    hedgeAfter: float
    """Seconds after which the next source is begun beside one that has not answered."""
    integrity: str
    """Digests of which the bytes must have one, as in Subresource Integrity."""
    onFailureImage: str
    """A path or URL that stands in when everything failed."""


class DownsampleParameters(TypedDict):
    width: float
    """Pixels across."""
    height: float
    """Pixels down."""


class DownsampleProcessor(TypedDict):
    """Shrinks the image while it is decoded until it lies within the size; never enlarges it."""

    downsample: DownsampleParameters


class FocalPoint(TypedDict, total=False):
    """The point that stays in the picture: from 0, at the left or top, to 1."""

    x: float
    """Across, from 0 to 1."""
    y: float
    """Down, from 0 to 1."""


class ResizeParameters(TypedDict, total=False):
    width: float
    """Pixels across."""
    height: float
    """Pixels down."""
    mode: Literal["none", "aspectFit", "aspectFill"]
    """How it is done."""
    upscale: bool
    """Whether a smaller image is enlarged."""
    kernel: Literal["nearest", "linear", "cubic", "mitchell", "lanczos2", "lanczos3"]
    """How pixels are made of others; lanczos3 when left out, nearest for sharp squares."""
    focus: FocalPoint
    """The point around which what exceeds the size is cut off, with aspectFill."""


class ResizeProcessor(TypedDict):
    """Gives the image another size: stretched (none), within it (aspectFit) or covering it
    (aspectFill). With one side given, the other follows. With a focus, what exceeds the size is
    cut off around that point.
    """

    resize: ResizeParameters


class CropAnchor(TypedDict, total=False):
    """Which part is taken: from 0, at the left or top, to 1."""

    x: float
    """Across, from 0 to 1."""
    y: float
    """Down, from 0 to 1."""


class _CropParameters(TypedDict):
    width: float
    """Pixels across."""
    height: float
    """Pixels down."""


class CropParameters(_CropParameters, total=False):
    anchor: Union[CropAnchor, Literal["smart", "entropy"]]
    """Which part is taken, as fractions of what is left over, or by what is seen; the middle when
    left out.
    """
    x: float
    """The left edge of the part, from that of the image."""
    y: float
    """The upper edge of the part, from that of the image."""
    unit: Literal["pixels", "fraction"]
    """Of all lengths: pixels when left out, or fraction for parts of the sides."""


class CropProcessor(TypedDict):
    """Takes a part of the image; its middle, unless anchor says otherwise: by what is cut off, or
    by the pixels (smart, entropy). With x or y, the rectangle with that corner, which must lie
    within the image. With the unit fraction, lengths are parts of the sides.
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
    """Where the image lies; in the middle when left out."""
    upscale: bool
    """Whether a smaller image is enlarged."""


class PadProcessor(TypedDict):
    """Makes the image fit within the size and lays it on a ground of exactly that size, which is
    transparent unless backgroundColor is given.
    """

    pad: PadParameters


class TrimParameters(TypedDict, total=False):
    tolerance: float
    """The largest difference in a channel of 255 that is none; 10 when left out."""


class TrimProcessor(TypedDict):
    """Removes margins of the colour of the first pixel; tolerance is the largest difference in a
    channel of 255 that counts as the same. An image of one colour stays as it is.
    """

    trim: TrimParameters


class FlipParameters(TypedDict, total=False):
    horizontal: bool
    """Whether left and right are exchanged."""
    vertical: bool
    """Whether top and bottom are exchanged."""


class FlipProcessor(TypedDict):
    """Exchanges left and right (horizontal), top and bottom (vertical), or both."""

    flip: FlipParameters


class RotateParameters(TypedDict, total=False):
    degrees: float
    """Degrees clockwise."""
    auto: bool
    """As the EXIF orientation says."""


class RotateProcessor(TypedDict):
    """Turns the image clockwise by degrees; or, with auto, only as its EXIF orientation says."""

    rotate: RotateParameters


class RadiusFraction(TypedDict):
    """A radius as a part of the shorter side."""

    fraction: float
    """A fraction."""


class _RoundCornerParameters(TypedDict):
    radius: Union[float, RadiusFraction]
    """The radius, in pixels or as a fraction."""


class RoundCornerParameters(_RoundCornerParameters, total=False):
    corners: List[Literal["topLeft", "topRight", "bottomLeft", "bottomRight"]]
    """Which corners; all when left out."""
    targetSize: DownsampleParameters
    """The size that the radius is meant for."""
    backgroundColor: str
    """a colour as "#rgb", "#rgba", "#rrggbb", "#rrggbbaa", "black", "white" or "transparent"
    """


class RoundCornerProcessor(TypedDict):
    """Makes the corners round, and transparent unless backgroundColor is given."""

    roundCorner: RoundCornerParameters


class CircleParameters(TypedDict, total=False):
    diameter: float
    """Pixels across; the shorter side when left out."""
    backgroundColor: str
    """a colour as "#rgb", "#rgba", "#rrggbb", "#rrggbbaa", "black", "white" or "transparent"
    """


class CircleProcessor(TypedDict):
    """Cuts out the largest circle around the middle; with a diameter, of the image made to cover
    that. Around it is backgroundColor, or nothing.
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
    """How often the difference is added; once when left out."""


class SharpenProcessor(TypedDict):
    """Adds the difference to a blurred image, as often as amount says."""

    sharpen: SharpenParameters


class PixelateParameters(TypedDict):
    size: float
    """The side of a square, in pixels."""


class PixelateProcessor(TypedDict):
    """Makes squares of one colour, with sides of that size, of the image."""

    pixelate: PixelateParameters


class _OverlayParameters(TypedDict):
    color: str
    """a colour as "#rgb", "#rgba", "#rrggbb", "#rrggbbaa", "black", "white" or "transparent"
    """


class OverlayParameters(_OverlayParameters, total=False):
    fraction: float
    """A fraction."""


class OverlayProcessor(TypedDict):
    """Lays a colour over the image: fraction 0 for the plain colour, 1 for the plain image."""

    overlay: OverlayParameters


class TintParameters(TypedDict):
    color: str
    """a colour as "#rgb", "#rgba", "#rrggbb", "#rrggbbaa", "black", "white" or "transparent"
    """


class TintProcessor(TypedDict):
    """Gives everything that is not transparent the colour."""

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
    """Makes the middle tones lighter, above 1, or darker: each sample to the power of 1/gamma."""

    gamma: GammaParameters
    """1 leaves it as it is."""


class BlackWhiteParameters(TypedDict):
    pass


class BlackWhiteProcessor(TypedDict):
    """Makes greys of the image."""

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
    """Which corners; all when left out."""


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
    """How it is done."""


class BlendParameters(_BlendParameters, total=False):
    alpha: float
    """How opaque the image is."""
    backgroundColor: str
    """a colour as "#rgb", "#rgba", "#rrggbb", "#rrggbbaa", "black", "white" or "transparent"
    """


class BlendProcessor(TypedDict):
    """Mixes the image with a colour below it."""

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
    """Lays the image over a colour, as Porter and Duff have it."""

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
    """Where it lies; at the bottom right when left out."""
    opacity: float
    """1 for the picture as it is, and when left out."""
    margin: float
    """The pixels between it and the edges."""
    scale: float
    """Its width as a part of that of the image."""


class WatermarkProcessor(TypedDict):
    """Lays another picture over the image: a PNG, JPEG, WebP or GIF of 256 KiB at most. scale is
    its width as a part of that of the image; without it, and where it fits between the margins,
    it has its own size.
    """

    watermark: WatermarkParameters


class _FormatParameters(TypedDict):
    to: Literal["png", "jpeg", "gif", "webp", "avif", "heic", "tiff", "bmp", "ico", "jxl"]
    """What it becomes."""


class FormatParameters(_FormatParameters, total=False):
    """The format."""

    quality: float
    """From 1 to 100, on the scale of JPEG in every format."""


class FormatProcessor(TypedDict):
    """Writes the result in a format."""

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
"""One step of the making of an image: an object with one member, the processor's name."""

Processors = Union[str, Sequence[Processor]]
"""Steps applied left to right, each an object with one member, the name of the processor; or a
compact text, as in `resize:200x200/format:webp`.
"""

As = Literal["path", "data", "both", "none", "dataUrl", "pixels"]
"""How an image is answered: where its file is, its bytes, both, neither, or as a data URL or raw
pixels.
"""
