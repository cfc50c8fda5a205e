internal import ImageEngine
internal import ImageRecipes
internal import JSONRPC

extension ProcessorField {
    /// The processors that change pixels, and the format.
    static let colours: [ProcessorField] = [
        ProcessorField(
            "blur", "Blurs the image; a radius of 0 leaves it as it is.", [("radius", Member.range(0, 500))],
            required: ["radius"], examples: ["blur:4"]
        ) { .blur(try Blur(radius: try Member.required(try Member.number($0, "radius"), "radius"))) },
        ProcessorField(
            "sharpen", "Sharpens the image: adds its difference from a blurred copy, multiplied by amount.",
            [("radius", Member.range(0, 500)), ("amount", Member.range(0, 10))], examples: ["sharpen:2,2"]
        ) {
            .sharpen(
                try Sharpen(
                    radius: try Member.number($0, "radius") ?? 1, amount: try Member.number($0, "amount") ?? 1))
        },
        ProcessorField(
            "pixelate", "Turns the image into squares of a single colour with sides of that size.",
            [("size", Member.length.described(as: "The side of a square, in pixels."))], required: ["size"],
            examples: ["pixelate:10"]
        ) { .pixelate(try Pixelate(size: try Member.required(try Member.number($0, "size"), "size"))) },
        ProcessorField(
            "overlay",
            "Lays a colour over the image; fraction is how much of the image stays: 0 for only the colour, 1 for only the image.",
            [("color", Member.colorSchema), ("fraction", Member.fraction)], required: ["color"],
            examples: ["overlay:06c,0.5"]
        ) {
            .overlay(
                try Overlay(
                    color: try Member.required(try Member.color($0, "color"), "color"),
                    fraction: try Member.number($0, "fraction") ?? 0.5))
        },
        ProcessorField(
            "tint", "Gives everything that is not transparent a single colour.", [("color", Member.colorSchema)],
            required: ["color"], examples: ["tint:06c"]
        ) { .tint(try Member.required(try Member.color($0, "color"), "color")) },
        ProcessorField(
            "colorControls", "Changes brightness, contrast, saturation and exposure.",
            [
                ("brightness", Member.range(-1, 1)), ("contrast", Member.range(0, 4)),
                ("saturation", Member.range(0, 4)), ("inputEV", Member.range(-10, 10)),
            ], examples: ["colorControls:saturation=2,contrast=1.3", "colorControls:inputEV=-1"]
        ) {
            .colorControls(
                try ColorControls(
                    brightness: try Member.number($0, "brightness") ?? 0,
                    contrast: try Member.number($0, "contrast") ?? 1,
                    saturation: try Member.number($0, "saturation") ?? 1,
                    inputEV: try Member.number($0, "inputEV") ?? 0))
        },
        ProcessorField(
            "gamma", "Makes midtones lighter (above 1) or darker (below 1): raises each sample to the power 1/gamma.",
            [("gamma", Member.range(0.01, 10))], required: ["gamma"], examples: ["gamma:2.2", "gamma:0.5"]
        ) { .gamma(try Gamma(gamma: try Member.required(try Member.number($0, "gamma"), "gamma"))) },
        ProcessorField("blackWhite", "Turns the image into shades of grey.", [], examples: ["blackWhite"]) { _ in
            .blackWhite
        },
        ProcessorField(
            "border", "Draws a line along the edges, inside the image.",
            [
                ("color", Member.colorSchema), ("width", Member.range(0, 65_535)), ("radius", Member.radius),
                ("corners", Member.cornersSchema),
            ], required: ["color", "width"], examples: ["border:fc0,6", "border:06c,4,radius=20"]
        ) {
            .border(
                try Border(
                    color: try Member.required(try Member.color($0, "color"), "color"),
                    width: try Member.required(try Member.number($0, "width"), "width"),
                    radius: try Member.radius($0) ?? .pixels(0), corners: try Member.corners($0) ?? .all))
        },
        ProcessorField(
            "blend", "Blends the image with a colour below it.",
            [
                ("mode", Member.names(BlendMode.self)), ("alpha", Member.fraction),
                ("backgroundColor", Member.colorSchema),
            ], required: ["mode"], examples: ["blend:multiply,1,fc0"]
        ) {
            .blend(
                try Blend(
                    mode: try Member.required(try Member.name($0, "mode"), "mode"),
                    alpha: try Member.number($0, "alpha") ?? 1, background: try Member.color($0, "backgroundColor")))
        },
        ProcessorField(
            "compositing", "Composites the image over a colour by an operation of Porter and Duff.",
            [
                ("operation", Member.names(CompositingOperation.self)), ("alpha", Member.fraction),
                ("backgroundColor", Member.colorSchema),
            ], required: ["operation"], examples: ["compositing:xor,0.6,06c"]
        ) {
            .compositing(
                try Compositing(
                    operation: try Member.required(try Member.name($0, "operation"), "operation"),
                    alpha: try Member.number($0, "alpha") ?? 1, background: try Member.color($0, "backgroundColor")))
        },
        ProcessorField(
            "watermark",
            "Lays another picture over the image: a PNG, JPEG, WebP or GIF of at most 256 KiB. scale is its width as a fraction of the image's width; without it, the picture has its own size where that fits between the margins.",
            [
                ("data", Base64Bytes.schema.described(as: "The file of the picture, in base64.")),
                (
                    "gravity",
                    Member.names(Gravity.self).described(
                        as: "Where the picture is placed; at the bottom right when left out.")
                ),
                ("opacity", Member.fraction.described(as: "From 0 to 1; 1, the picture as it is, when left out.")),
                ("margin", Member.range(0, 65_535).described(as: "The distance from the edges, in pixels.")),
                ("scale", Member.fraction.described(as: "Its width as a fraction of the image's width.")),
            ], required: ["data"],
            examples: [
                "watermark:gravity=topLeft,margin=6,scale=0.3,data=\(watermarkExample)",
                "watermark:opacity=0.5,data=\(watermarkExample)",
            ]
        ) { .watermark(try Member.watermark($0)) },
        ProcessorField(
            "format", "Converts the result to a format.",
            [("to", Member.formatSchema), ("quality", Member.range(1, 100))], required: ["to"],
            examples: ["format:webp,80"]
        ) {
            .format(
                try FormatChange(
                    to: try Member.required(try Member.format($0, "to"), "to"),
                    quality: try Member.number($0, "quality")))
        },
    ]
}

/// A yellow disc of 12 × 12 pixels, a PNG as it is written in a compact text.
private let watermarkExample =
    "iVBORw0KGgoAAAANSUhEUgAAAAwAAAAMCAYAAABWdVznAAAAL0lEQVR42mNgQAP%2FzzD8R8YMuAC6QrwaCSnG0ESSBmIVwzUNQg"
    + "20DyWyIo6UpAEAAjU4cHjGX2QAAAAASUVORK5CYII%3D"
