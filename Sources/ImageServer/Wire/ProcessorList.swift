internal import ImageEngine
internal import ImageRecipes
internal import JSONRPC

/// The processors to apply, from left to right, without those that change nothing.
struct ProcessorList: WireValue {
    let processors: [ImageProcessor]

    /// The largest number of processors in a list.
    static let limit = 64

    static var schema: JSONLiteral {
        [
            "oneOf": [
                ["type": "array", "items": ImageProcessor.schema, "maxItems": .integer(limit)],
                [
                    "type": "string",
                    "description": .string("The same as a compact text, such as \"\(ProcessorText.example)\"."),
                ],
            ]
        ]
    }

    /// The most bytes that the pictures of watermarks in one list have together: they are sent to a worker in one message.
    static let mostBytes = 1 << 20

    private static func checked(_ processors: [ImageProcessor]) throws(Mismatch) -> [ImageProcessor] {
        let count = processors.reduce(0) { sum, one in
            if case .watermark(let watermark) = one { sum + watermark.data.count } else { sum }
        }
        guard count <= mostBytes else {
            throw Mismatch(
                path: "", message: "has watermarks of \(count) bytes together, over \(mostBytes)",
                expected: "at most \(mostBytes) bytes of watermarks", received: "\(count) bytes")
        }
        return processors
    }

    static func tooMany(_ count: Int) -> Mismatch {
        Mismatch(
            path: "", message: "has \(count) processors, over \(limit)", expected: "at most \(limit) processors",
            received: "\(count) processors")
    }

    static func decode(_ view: JSONView) throws(Mismatch) -> ProcessorList {
        if let text = view.string {
            return ProcessorList(processors: try checked(ProcessorText.steps(text)).canonical)
        }
        guard view.kind == .array else {
            throw .expected(
                "a list of processors such as [{\"blur\": {\"radius\": 3}}], or a text such as \"\(ProcessorText.example)\"",
                view)
        }
        guard view.count <= limit else { throw tooMany(view.count) }
        var processors: [ImageProcessor] = []
        for index in 0..<view.count {
            guard let element = view.element(index) else { continue }
            do { processors.append(try ImageProcessor.decode(element)) } catch { throw error.within("\(index)") }
        }
        return ProcessorList(processors: try checked(processors).canonical)
    }
}

extension ImageProcessor: WireValue {
    static var schema: JSONLiteral { .schema("Processor") { definition } }

    /// The schema that ``schema`` refers to, generated from the table.
    private static var definition: JSONLiteral {
        [
            "description": "One processing step: an object with one member, the name of the processor.",
            "oneOf": .array(
                ProcessorField.all.map { field in
                    [
                        "type": "object", "description": .string(field.summary),
                        "properties": .object([(field.name, field.schema)]), "required": [.string(field.name)],
                        "additionalProperties": false, "x-examples": .array(field.examples.map { .string($0) }),
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
