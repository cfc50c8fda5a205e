internal import ImageEngine
internal import ImageRecipes
internal import JSONRPC

/// The processors to apply, from left to right, without those that change nothing.
struct ProcessorList: WireValue {
    let processors: [ImageProcessor]

    /// The largest number of processors in a list.
    static let limit = 64

    static var schema: JSONLiteral {
        ["type": "array", "items": ImageProcessor.schema, "maxItems": .integer(limit)]
    }

    static func decode(_ view: JSONView) throws(Mismatch) -> ProcessorList {
        guard view.kind == .array else {
            throw .expected("a list of processors such as [{\"blur\": {\"radius\": 3}}]", view)
        }
        guard view.count <= limit else {
            throw Mismatch(
                path: "", message: "has \(view.count) processors, over \(limit)",
                expected: "at most \(limit) processors", received: "\(view.count) processors")
        }
        var processors: [ImageProcessor] = []
        for index in 0..<view.count {
            guard let element = view.element(index) else { continue }
            do { processors.append(try ImageProcessor.decode(element)) } catch { throw error.within("\(index)") }
        }
        return ProcessorList(processors: processors.canonical)
    }
}

extension ImageProcessor: WireValue {
    static var schema: JSONLiteral { .schema("Processor") { definition } }

    /// The schema that ``schema`` refers to, generated from the table.
    private static var definition: JSONLiteral {
        [
            "description": "One step of the making of an image: an object with one member, the processor's name.",
            "oneOf": .array(
                ProcessorField.all.map { field in
                    [
                        "type": "object", "description": .string(field.summary),
                        "properties": .object([(field.name, field.schema)]), "required": [.string(field.name)],
                        "additionalProperties": false,
                    ]
                }),
        ]
    }

    static func decode(_ view: JSONView) throws(Mismatch) -> ImageProcessor {
        guard view.kind == .object, view.count == 1 else {
            throw .expected("an object with one member, the processor's name", view)
        }
        var found: ImageProcessor?
        try view.forEachMember { (name, value) throws(Mismatch) in
            let name = String(decoding: name, as: UTF8.self)
            guard let field = ProcessorField.named(name) else {
                throw .unknown(name, among: ProcessorField.all.map(\.name), what: "processor")
            }
            do throws(Mismatch) { found = try field.decode(value) } catch { throw error.within(name) }
        }
        guard let found else { throw .expected("an object with one member, the processor's name", view) }
        return found
    }
}

/// One processor in the protocol: its name, its description, its schema and its decoder.
struct ProcessorField: Sendable {
    let name: String
    let summary: String
    let schema: JSONLiteral
    private let members: [String]
    private let read: @Sendable (JSONView) throws -> ImageProcessor

    private init(
        _ name: String, _ summary: String, _ members: [(String, JSONLiteral)], required: [String] = [],
        _ read: @escaping @Sendable (JSONView) throws -> ImageProcessor
    ) {
        self.name = name
        self.summary = summary
        schema = ProcessorMember.object(members, required: required)
        self.members = members.map(\.0)
        self.read = read
    }

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    static func named(_ name: String) -> ProcessorField? { byName[name] }

    func decode(_ view: JSONView) throws(Mismatch) -> ImageProcessor {
        try ProcessorMember.check(view, members)
        do { return try read(view) } catch let error as Mismatch { throw error } catch let error as RecipeError {
            throw Mismatch(error)
        } catch { throw .expected("the parameters of \(name)", view) }
    }

    private typealias Member = ProcessorMember

    /// Every processor, in the order of the documentation.
    static let all: [ProcessorField] = [
        ProcessorField(
            "downsample", "Shrinks the image while it is decoded until it lies within the size; never enlarges it.",
            Member.size, required: ["width", "height"]
        ) { .downsample(try Member.size($0)) },
        ProcessorField(
            "resize",
            "Gives the image another size: stretched (none), within it (aspectFit) or covering it (aspectFill). With one side given, the other follows.",
            [
                ("width", Member.length), ("height", Member.length), ("mode", Member.names(ResizeMode.self)),
                ("upscale", Bool.schema),
            ]
        ) {
            .resize(
                try Resize(
                    width: try Member.number($0, "width"), height: try Member.number($0, "height"),
                    mode: try Member.name($0, "mode") ?? .none, upscale: try Member.flag($0, "upscale") ?? false))
        },
        ProcessorField(
            "crop", "Takes a part of the image; its middle, unless anchor says otherwise.",
            Member.size + [("anchor", Member.object([("x", Member.fraction), ("y", Member.fraction)]))],
            required: ["width", "height"]
        ) { view in
            let size = try Member.size(view)
            guard let anchor = view.member("anchor"), !anchor.isNull else { return .crop(try Crop(size: size)) }
            do throws(Mismatch) { try Member.check(anchor, ["x", "y"]) } catch { throw error.within("anchor") }
            return .crop(
                try Crop(
                    size: size, anchorX: try Member.number(anchor, "x", in: "anchor") ?? 0.5,
                    anchorY: try Member.number(anchor, "y", in: "anchor") ?? 0.5))
        },
        ProcessorField(
            "roundCorner", "Makes the corners round, and transparent unless backgroundColor is given.",
            [
                ("radius", Member.radius), ("corners", Member.cornersSchema),
                ("targetSize", Member.object(Member.size, required: ["width", "height"])),
                ("backgroundColor", Member.colorSchema),
            ], required: ["radius"]
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
            "blur", "Blurs the image; a radius of 0 leaves it as it is.", [("radius", Member.range(0, 500))],
            required: ["radius"]
        ) { .blur(try Blur(radius: try Member.required(try Member.number($0, "radius"), "radius"))) },
        ProcessorField(
            "overlay", "Lays a colour over the image: fraction 0 for the plain colour, 1 for the plain image.",
            [("color", Member.colorSchema), ("fraction", Member.fraction)], required: ["color"]
        ) {
            .overlay(
                try Overlay(
                    color: try Member.required(try Member.color($0, "color"), "color"),
                    fraction: try Member.number($0, "fraction") ?? 0.5))
        },
        ProcessorField(
            "tint", "Gives everything that is not transparent the colour.", [("color", Member.colorSchema)],
            required: ["color"]
        ) { .tint(try Member.required(try Member.color($0, "color"), "color")) },
        ProcessorField(
            "colorControls", "Changes brightness, contrast, saturation and exposure.",
            [
                ("brightness", Member.range(-1, 1)), ("contrast", Member.range(0, 4)),
                ("saturation", Member.range(0, 4)), ("inputEV", Member.range(-10, 10)),
            ]
        ) {
            .colorControls(
                try ColorControls(
                    brightness: try Member.number($0, "brightness") ?? 0,
                    contrast: try Member.number($0, "contrast") ?? 1,
                    saturation: try Member.number($0, "saturation") ?? 1,
                    inputEV: try Member.number($0, "inputEV") ?? 0))
        },
        ProcessorField("blackWhite", "Makes greys of the image.", []) { _ in .blackWhite },
        ProcessorField(
            "border", "Draws a line along the edges, inside the image.",
            [
                ("color", Member.colorSchema), ("width", Member.range(0, 65_535)), ("radius", Member.radius),
                ("corners", Member.cornersSchema),
            ], required: ["color", "width"]
        ) {
            .border(
                try Border(
                    color: try Member.required(try Member.color($0, "color"), "color"),
                    width: try Member.required(try Member.number($0, "width"), "width"),
                    radius: try Member.radius($0) ?? .pixels(0), corners: try Member.corners($0) ?? .all))
        },
        ProcessorField(
            "blend", "Mixes the image with a colour below it.",
            [
                ("mode", Member.names(BlendMode.self)), ("alpha", Member.fraction),
                ("backgroundColor", Member.colorSchema),
            ], required: ["mode"]
        ) {
            .blend(
                try Blend(
                    mode: try Member.required(try Member.name($0, "mode"), "mode"),
                    alpha: try Member.number($0, "alpha") ?? 1, background: try Member.color($0, "backgroundColor")))
        },
        ProcessorField(
            "compositing", "Lays the image over a colour, as Porter and Duff have it.",
            [
                ("operation", Member.names(CompositingOperation.self)), ("alpha", Member.fraction),
                ("backgroundColor", Member.colorSchema),
            ], required: ["operation"]
        ) {
            .compositing(
                try Compositing(
                    operation: try Member.required(try Member.name($0, "operation"), "operation"),
                    alpha: try Member.number($0, "alpha") ?? 1, background: try Member.color($0, "backgroundColor")))
        },
        ProcessorField(
            "rotate", "Turns the image clockwise by degrees; or, with auto, only as its EXIF orientation says.",
            [("degrees", ["type": "number"]), ("auto", Bool.schema)]
        ) { view in
            if let degrees = try Member.number(view, "degrees") { return .rotate(try .byDegrees(degrees)) }
            guard try Member.flag(view, "auto") == true else {
                throw RecipeError(parameter: "degrees", expected: "a number, or auto: true", received: "neither")
            }
            return .rotate(.auto)
        },
        ProcessorField(
            "format", "Writes the result in a format.",
            [("to", Member.formatSchema), ("quality", Member.range(1, 100))], required: ["to"]
        ) {
            .format(
                try FormatChange(
                    to: try Member.required(try Member.format($0, "to"), "to"),
                    quality: try Member.number($0, "quality")))
        },
    ]
}

extension Mismatch {
    /// The error for a value that a processor does not accept.
    init(_ error: RecipeError) {
        self.init(
            path: error.parameter, message: "must be \(error.expected), not \(error.received)",
            expected: error.expected, received: error.received)
    }
}
