internal import ImageEngine
internal import ImageRecipes
internal import JSONRPC

extension ProcessorField {
    /// The processors that change sizes and shapes.
    static let geometry: [ProcessorField] = [
        ProcessorField(
            "downsample", "Shrinks the image while it is decoded, to fit within the size; never enlarges it.",
            Member.size, required: ["width", "height"], examples: ["downsample:90x60"]
        ) { .downsample(try Member.size($0)) },
        ProcessorField(
            "resize",
            "Resizes the image: stretched to the size (none), fitting within it (aspectFit) or covering it (aspectFill). With only one side given, the other follows from the shape. With a focus, aspectFill crops around that point.",
            [
                ("width", Member.length), ("height", Member.length), ("mode", Member.names(ResizeMode.self)),
                ("upscale", Bool.schema), ("kernel", Member.names(ResizeKernel.self)), ("focus", Member.point),
            ],
            examples: [
                "resize:60x90", "resize:90x", "resize:240x180,upscale,kernel=nearest",
                "resize:60x60,aspectFill,focus=0.2x0.5",
            ]
        ) { view in
            var focus: FocalPoint?
            if let point = try Member.point(view, "focus") {
                focus = try FocalPoint(x: point.0 ?? 0.5, y: point.1 ?? 0.5)
            }
            return .resize(
                try Resize(
                    width: try Member.number(view, "width"), height: try Member.number(view, "height"),
                    mode: try Member.name(view, "mode") ?? .none, upscale: try Member.flag(view, "upscale") ?? false,
                    kernel: try Member.name(view, "kernel") ?? .lanczos3, focus: focus))
        },
        ProcessorField(
            "crop",
            "Crops the image to its middle, or as anchor says: at a side, or by content (smart, entropy). With x or y, crops to the rectangle with that corner, which must lie within the image. With the unit fraction, lengths are fractions of the sides.",
            [
                ("width", Member.length), ("height", Member.length), ("anchor", Member.anchorSchema),
                ("x", Member.range(0, 65_535).described(as: "The left edge of the part, from that of the image.")),
                ("y", Member.range(0, 65_535).described(as: "The upper edge of the part, from that of the image.")),
                ("unit", Member.names(Crop.Unit.self)),
            ], required: ["width", "height"],
            examples: ["crop:60x60", "crop:60x60,smart", "crop:60x60,x=10,y=30", "crop:0.5x0.5,unit=fraction,x=0.5"]
        ) { .crop(try Member.crop($0)) },
        ProcessorField(
            "pad",
            "Fits the image within the size and places it on a canvas of exactly that size, which is transparent unless backgroundColor is given.",
            Member.size + [
                ("backgroundColor", Member.colorSchema), ("gravity", Member.names(Gravity.self)),
                ("upscale", Bool.schema),
            ], required: ["width", "height"], examples: ["pad:110x110,fc0", "pad:110x110,gravity=bottomRight"]
        ) {
            .pad(
                try Pad(
                    size: try Member.size($0), background: try Member.color($0, "backgroundColor"),
                    gravity: try Member.name($0, "gravity") ?? .center,
                    upscale: try Member.flag($0, "upscale") ?? false))
        },
        ProcessorField(
            "trim",
            "Removes margins that have the colour of the first pixel; differences in a channel up to tolerance, of 255, count as the same colour. An image of a single colour stays as it is.",
            [("tolerance", Member.range(0, 255))], examples: ["trim"]
        ) { .trim(try Trim(tolerance: try Member.number($0, "tolerance") ?? 10)) },
        ProcessorField(
            "flip", "Mirrors the image: left to right (horizontal), top to bottom (vertical), or both.",
            [("horizontal", Bool.schema), ("vertical", Bool.schema)],
            examples: ["flip:horizontal", "flip:vertical"]
        ) {
            .flip(
                try Flip(
                    horizontal: try Member.flag($0, "horizontal") ?? false,
                    vertical: try Member.flag($0, "vertical") ?? false))
        },
        ProcessorField(
            "rotate", "Rotates the image clockwise by degrees; or, with auto, only as its EXIF orientation says.",
            [("degrees", ["type": "number"]), ("auto", Bool.schema)], examples: ["rotate:90", "rotate:20"]
        ) { view in
            if let degrees = try Member.number(view, "degrees") { return .rotate(try .byDegrees(degrees)) }
            guard try Member.flag(view, "auto") == true else {
                throw RecipeError(parameter: "degrees", expected: "a number, or auto: true", received: "neither")
            }
            return .rotate(.auto)
        },
        ProcessorField(
            "roundCorner", "Rounds the corners; outside them the image is transparent unless backgroundColor is given.",
            [
                ("radius", Member.radius), ("corners", Member.cornersSchema),
                ("targetSize", Member.object(Member.size, required: ["width", "height"])),
                ("backgroundColor", Member.colorSchema),
            ], required: ["radius"],
            examples: ["roundCorner:20", "roundCorner:radius.fraction=0.5,targetSize=60x60,backgroundColor=fc0"]
        ) { view in
            var target: PixelSize?
            if let size = view.member("targetSize"), !size.isNull {
                do throws(Mismatch) { try Member.check(size, ["width", "height"]) } catch {
                    throw error.within("targetSize")
                }
                do { target = try Member.size(size) } catch let error as RecipeError {
                    throw Mismatch(error).within("targetSize")
                }
            }
            return .roundCorner(
                try RoundCorner(
                    radius: try Member.required(try Member.radius(view), "radius"),
                    corners: try Member.corners(view) ?? .all, targetSize: target,
                    background: try Member.color(view, "backgroundColor")))
        },
        ProcessorField(
            "circle",
            "Crops the image to the largest circle around its middle; with a diameter, after resizing the image to cover it. Outside the circle is backgroundColor, or nothing.",
            [("diameter", Member.length), ("backgroundColor", Member.colorSchema)],
            examples: ["circle", "circle:60,fc0"]
        ) {
            .circle(
                try Circle(
                    diameter: try Member.number($0, "diameter"), background: try Member.color($0, "backgroundColor")))
        },
    ]
}
