internal import ImageEngine
internal import ImageRecipes
internal import JSONRPC
internal import Platform

/// Decodes the members of processors and serializers, and defines their schemas. A member that is missing or null is
/// `nil`.
enum ProcessorMember {
    // MARK: Schemas

    static let length: JSONLiteral = ["type": "number", "exclusiveMinimum": 0, "maximum": 65_535]
    static let fraction = range(0, 1)
    static let size: [(String, JSONLiteral)] = [("width", length), ("height", length)]
    static let colorSchema: JSONLiteral = [
        "type": "string", "format": "color", "description": .string(RecipeColor.expectation),
    ]
    static let point = object([("x", fraction), ("y", fraction)])
    static let anchorSchema: JSONLiteral = ["oneOf": [point, names(Crop.Interest.self)]]
    static let cornersSchema: JSONLiteral = [
        "type": "array", "items": ["type": "string", "enum": .array(Corners.named.map { .string($0.name) })],
        "minItems": 1,
    ]
    static let radius: JSONLiteral = [
        "oneOf": [range(0, 65_535), object([("fraction", range(0, 0.5))], required: ["fraction"])]
    ]
    static let formatSchema: JSONLiteral = ["type": "string", "enum": .array(formats.map { .string($0.rawValue) })]

    /// The formats that can be encoded, and recognised again when they are read.
    static let formats = CodecFormats().encoded

    static func range(_ low: Double, _ high: Double) -> JSONLiteral {
        .object([("type", "number"), ("minimum", .number(low)), ("maximum", .number(high))])
    }

    static func names<Value: RawRepresentable<String> & CaseIterable>(_ type: Value.Type) -> JSONLiteral {
        ["type": "string", "enum": .array(type.allCases.map { .string($0.rawValue) })]
    }

    static func object(_ members: [(String, JSONLiteral)], required: [String] = []) -> JSONLiteral {
        .object(
            [
                ("type", "object"),
                ("properties", .object(members.map { ($0.0, required.contains($0.0) ? $0.1 : $0.1.orNull) })),
            ]
                + (required.isEmpty ? [] : [("required", .array(required.map { .string($0) }))])
                + [("additionalProperties", false)])
    }

    // MARK: Values

    /// Refuses a value that is not an object, and unknown members.
    static func check(_ view: JSONView, _ members: [String]) throws(Mismatch) {
        guard view.isObject else { throw .expected("an object", view) }
        try view.forEachMember { (name, _) throws(Mismatch) in
            let name = String(decoding: name, as: UTF8.self)
            guard members.contains(name) || isIgnored(name) else {
                throw members.isEmpty
                    ? Mismatch(path: name, message: "is not a parameter; there are none")
                    : .unknown(name, among: members, what: "parameter")
            }
        }
    }

    static func required<Value>(_ value: Value?, _ name: String) throws(Mismatch) -> Value {
        guard let value else { throw Mismatch(path: name, message: "is missing") }
        return value
    }

    static func number(_ view: JSONView, _ name: StaticString, in outer: String? = nil) throws(Mismatch) -> Double? {
        guard let value = view.member(name), !value.isNull else { return nil }
        guard let number = value.number else {
            let mismatch = Mismatch.expected("a number", value).within("\(name)")
            throw outer.map { mismatch.within($0) } ?? mismatch
        }
        return number
    }

    static func flag(_ view: JSONView, _ name: StaticString) throws(Mismatch) -> Bool? {
        guard let value = view.member(name), !value.isNull else { return nil }
        do { return try Bool.decode(value) } catch { throw error.within("\(name)") }
    }

    static func name<Value: RawRepresentable<String> & CaseIterable>(
        _ view: JSONView, _ name: StaticString
    ) throws(Mismatch) -> Value? {
        try choice(view, name, among: Array(Value.allCases))
    }

    static func format(_ view: JSONView, _ name: StaticString) throws(Mismatch) -> EncodedFormat? {
        try choice(view, name, among: formats)
    }

    private static func choice<Value: RawRepresentable<String>>(
        _ view: JSONView, _ name: StaticString, among values: [Value]
    ) throws(Mismatch) -> Value? {
        guard let member = view.member(name), !member.isNull else { return nil }
        let text = member.string
        if let value = values.first(where: { $0.rawValue == text }) { return value }
        throw Mismatch.noneOf(values.map(\.rawValue), member).within("\(name)")
    }

    static func color(_ view: JSONView, _ name: StaticString) throws(Mismatch) -> RecipeColor? {
        guard let value = view.member(name), !value.isNull else { return nil }
        guard let color = value.string.flatMap({ RecipeColor($0) }) else {
            throw Mismatch.expected(RecipeColor.expectation, value).within("\(name)")
        }
        return color
    }

    static func size(_ view: JSONView) throws -> PixelSize {
        try PixelSize(
            width: try required(try number(view, "width"), "width"),
            height: try required(try number(view, "height"), "height"))
    }

    /// The members of a point, each `nil` when it is left out; `nil` when there is no point.
    static func point(_ view: JSONView, _ name: StaticString) throws(Mismatch) -> (Double?, Double?)? {
        guard let value = view.member(name), !value.isNull else { return nil }
        do throws(Mismatch) {
            try check(value, ["x", "y"])
            return (try number(value, "x"), try number(value, "y"))
        } catch { throw error.within("\(name)") }
    }

    static func crop(_ view: JSONView) throws -> Crop {
        let width = try required(try number(view, "width"), "width")
        let height = try required(try number(view, "height"), "height")
        let (x, y) = (try number(view, "x"), try number(view, "y"))
        var place = Crop.Place.anchor(x: 0.5, y: 0.5)
        if let anchor = view.member("anchor"), !anchor.isNull {
            guard x == nil, y == nil else {
                throw Mismatch(
                    path: "anchor", message: "says where the part is, and so do x and y: leave out one of them",
                    expected: "an anchor or a corner", received: "both")
            }
            if anchor.kind == .string {
                let interest: Crop.Interest? = try name(view, "anchor")
                if let interest { place = .interest(interest) }
            } else if !anchor.isObject {
                throw Mismatch.expected("\"smart\", \"entropy\" or an object with x and y", anchor).within("anchor")
            } else if let point = try point(view, "anchor") {
                place = .anchor(x: point.0 ?? 0.5, y: point.1 ?? 0.5)
            }
        } else if x != nil || y != nil {
            place = .corner(x: x ?? 0, y: y ?? 0)
        }
        return try Crop(
            width: width, height: height, unit: try name(view, "unit") ?? .pixels, place: place)
    }

    /// The picture of a watermark.
    static func watermark(_ view: JSONView) throws -> Watermark {
        guard let value = view.member("data"), !value.isNull else {
            throw Mismatch(path: "data", message: "is missing")
        }
        let bytes: [UInt8]
        do throws(Mismatch) { bytes = try Base64Bytes.decode(value).bytes } catch { throw error.within("data") }
        // It is not decoded here.
        let header = bytes.withUnsafeBytes { try? ImageHeader($0) }
        return try Watermark(
            data: bytes, format: header?.format.rawValue ?? "other bytes",
            digest: bytes.withUnsafeBytes { Digest(of: $0).hex },
            gravity: try name(view, "gravity") ?? .bottomRight, opacity: try number(view, "opacity") ?? 1,
            margin: try number(view, "margin") ?? 0, scale: try number(view, "scale"))
    }

    static func radius(_ view: JSONView) throws(Mismatch) -> CornerRadius? {
        guard let value = view.member("radius"), !value.isNull else { return nil }
        if let pixels = value.number { return .pixels(pixels) }
        if value.kind == .object, value.count == 1, let fraction = value.member("fraction")?.number {
            return .fraction(fraction)
        }
        throw Mismatch.expected("a number of pixels or {\"fraction\": f}", value).within("radius")
    }

    static func corners(_ view: JSONView) throws(Mismatch) -> Corners? {
        guard let value = view.member("corners"), !value.isNull else { return nil }
        guard value.kind == .array else { throw Mismatch.expected("a list of corners", value).within("corners") }
        var corners: Corners = []
        for index in 0..<value.count {
            guard let element = value.element(index) else { continue }
            guard let corner = Corners.named.first(where: { $0.name == element.string }) else {
                throw Mismatch.noneOf(Corners.named.map(\.name), element).within("\(index)").within("corners")
            }
            corners.insert(corner.corner)
        }
        return corners
    }
}

extension CacheSerializer: WireValue {
    private static let members: [(String, JSONLiteral)] = [
        ("format", ProcessorMember.formatSchema), ("quality", ["type": "integer", "minimum": 1, "maximum": 100]),
        ("lossless", Bool.schema), ("progressive", Bool.schema), ("background", ProcessorMember.colorSchema),
        ("maxBytes", ["type": "integer", "minimum": 1]), ("stripMetadata", Bool.schema),
        ("profile", ProcessorMember.names(Encoding.Profile.self)),
    ]

    static var schema: JSONLiteral { ProcessorMember.object(members) }

    static func decode(_ view: JSONView) throws(Mismatch) -> CacheSerializer {
        try ProcessorMember.check(view, members.map(\.0))
        func integer(_ name: StaticString, to high: Int) throws(Mismatch) -> Int? {
            guard let value = view.member(name), !value.isNull else { return nil }
            do { return try wholeNumber(value, from: 1, to: high) } catch { throw error.within("\(name)") }
        }
        let encoding = Encoding(
            quality: try integer("quality", to: 100), lossless: try ProcessorMember.flag(view, "lossless") ?? false,
            progressive: try ProcessorMember.flag(view, "progressive") ?? false,
            background: try ProcessorMember.color(view, "background"),
            maxBytes: try integer("maxBytes", to: 1 << 40),
            metadata: try ProcessorMember.flag(view, "stripMetadata").map { $0 ? .none : .all } ?? .withoutPosition,
            profile: try ProcessorMember.name(view, "profile") ?? .keep)
        return CacheSerializer(format: try ProcessorMember.format(view, "format"), encoding: encoding)
    }
}
