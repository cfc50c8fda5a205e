internal import ImageEngine
internal import JSONRPC
internal import Platform

extension StorageExpiration: WireValue {
    static var schema: JSONLiteral { .schema("Expiration") { definition } }

    private static var definition: JSONLiteral {
        [
            "description": "How long an entry is kept; a negative number means for ever.",
            "oneOf": [
                ["type": "string", "enum": ["never", "expired"]],
                alternative("seconds", ["type": "number"]), alternative("days", ["type": "number"]),
                alternative("date", ["type": "string", "format": "date-time"]),
            ],
        ]
    }

    static func decode(_ view: JSONView) throws(Mismatch) -> StorageExpiration {
        switch view.string {
        case "never": return .never
        case "expired": return .expired
        default: break
        }
        if view.kind == .object, view.count == 1 {
            if let seconds = view.member("seconds")?.number { return .seconds(seconds) }
            if let days = view.member("days")?.number { return .days(days) }
            if let date = view.member("date")?.string.flatMap(ISO8601.seconds) { return .date(date) }
        }
        throw .expected(
            "\"never\", \"expired\", {\"seconds\": n}, {\"days\": n} or {\"date\": \"2026-01-31T00:00:00Z\"}", view)
    }
}

extension ExpirationExtension: WireValue {
    static var schema: JSONLiteral {
        ["oneOf": [["type": "string", "enum": ["none", "cacheTime"]], StorageExpiration.schema]]
    }

    static func decode(_ view: JSONView) throws(Mismatch) -> ExpirationExtension {
        switch view.string {
        case "none": return .none
        case "cacheTime": return .cacheTime
        default:
            do { return .expiration(try StorageExpiration.decode(view)) } catch {
                throw .expected("\"none\", \"cacheTime\" or an expiration such as {\"days\": 7}", view)
            }
        }
    }
}

extension Authorization: WireValue {
    static var schema: JSONLiteral {
        [
            "oneOf": [
                alternative(
                    "basic",
                    [
                        "type": "object", "properties": ["user": String.schema, "password": String.schema],
                        "required": ["user", "password"], "additionalProperties": false,
                    ]),
                alternative("bearer", String.schema),
            ]
        ]
    }

    static func decode(_ view: JSONView) throws(Mismatch) -> Authorization {
        if view.count == 1, view.member("bearer") != nil { return .bearer(try secret("bearer", in: view)) }
        guard view.count == 1, let basic = view.member("basic") else {
            throw .kind("{\"basic\": {\"user\": …, \"password\": …}} or {\"bearer\": …}", view)
        }
        do throws(Mismatch) {
            guard basic.kind == .object else { throw .kind("an object with user and password", basic) }
            try refuseMembers(of: basic, besides: ["user", "password"])
            let user = try secret("user", in: basic)
            // The server would take it for the beginning of the password (RFC 7617, 2).
            if user.utf8.contains(UInt8(ascii: ":")) { throw Mismatch(path: "user", message: "cannot have a colon") }
            return .basic(user: user, password: try secret("password", in: basic))
        } catch { throw error.within("basic") }
    }

    /// A text that is sent as a header field, or in one.
    private static func secret(_ name: StaticString, in view: JSONView) throws(Mismatch) -> String {
        guard let member = view.member(name) else { throw Mismatch(path: "\(name)", message: "is missing") }
        do throws(Mismatch) {
            guard let text = member.string else { throw .kind("a string", member) }
            guard isHeaderText(text) else { throw Mismatch(path: "", message: "cannot have a control character") }
            return text
        } catch { throw error.within("\(name)") }
    }
}

extension RetryStrategy: WireValue {
    static var schema: JSONLiteral {
        [
            "type": "object",
            "properties": [
                "maxRetries": (["type": "integer", "minimum": 0, "maximum": 100] as JSONLiteral).orNull,
                "interval":
                    ([
                        "oneOf": [
                            alternative("seconds", ["type": "number", "minimum": 0]),
                            alternative("exponential", ["type": "number", "minimum": 0]),
                        ]
                    ] as JSONLiteral).orNull,
            ], "additionalProperties": false,
        ]
    }

    static func decode(_ view: JSONView) throws(Mismatch) -> RetryStrategy {
        guard view.isObject else { throw .expected("an object with maxRetries", view) }
        try refuseMembers(of: view, besides: ["maxRetries", "interval"])
        var strategy = RetryStrategy(maxRetries: 0, interval: .exponential(1))
        if let count = view.member("maxRetries"), !count.isNull {
            do { strategy.maxRetries = try wholeNumber(count, from: 0, to: 100) } catch {
                throw error.within("maxRetries")
            }
        }
        if let interval = view.member("interval"), !interval.isNull {
            if interval.count == 1, let seconds = interval.member("seconds")?.number, seconds >= 0 {
                strategy.interval = .seconds(seconds)
            } else if interval.count == 1, let seconds = interval.member("exponential")?.number, seconds >= 0 {
                strategy.interval = .exponential(seconds)
            } else {
                throw Mismatch.expected("{\"seconds\": n} or {\"exponential\": n}", interval).within("interval")
            }
        }
        return strategy
    }
}

extension Integrity: WireValue {
    static var schema: JSONLiteral { ["type": "string", "pattern": "sha(256|384|512)-[A-Za-z0-9+/_-]+=*"] }

    static func decode(_ view: JSONView) throws(Mismatch) -> Integrity {
        guard let text = view.string, let integrity = Integrity(text) else {
            throw .text("sha256-, sha384- or sha512- and the digest in base64; several with spaces", view)
        }
        return integrity
    }
}

/// Header fields of a request.
struct HeaderFields: WireValue {
    let fields: [String: String]

    static var schema: JSONLiteral { ["type": "object", "additionalProperties": String.schema] }

    /// The most bytes of names and values: more than any server takes.
    private static let limit = 256 << 10

    /// The fields that say where a request ends, or what follows it (RFC 9112, 6 and RFC 9110, 7.8): a wrong one would make
    /// the next request on the connection, which is another caller's, part of this one.
    private static let framing: Set = [
        "content-length", "transfer-encoding", "trailer", "upgrade", "http2-settings",
    ]

    static func decode(_ view: JSONView) throws(Mismatch) -> HeaderFields {
        guard view.isObject else { throw .kind("an object of strings", view) }
        var fields: [String: String] = [:]
        try view.forEachMember { (name, value) throws(Mismatch) in
            let name = String(decoding: name, as: UTF8.self)
            guard let text = value.string else { throw Mismatch.expected("a string", value).within(name) }
            let separators = Set("()<>@,;:\\\"/[]?={} \t".utf8)
            let isToken = !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !separators.contains($0) }
            guard isToken, isHeaderText(text) else {
                throw Mismatch(
                    path: name, message: "is not a header field: it contains a control character or a separator")
            }
            guard !framing.contains(name.lowercased()) else {
                throw Mismatch(
                    path: name, message: "cannot be given: it says where a request ends, which the server does")
            }
            fields[name] = text
        }
        let size = fields.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard size <= limit else {
            throw Mismatch(path: "", message: "must have at most \(limit) bytes in all, not \(size)")
        }
        return HeaderFields(fields: fields)
    }
}

/// Status codes that are accepted.
struct StatusCodes: WireValue {
    let codes: Set<Int>

    static var schema: JSONLiteral {
        ["type": "array", "items": ["type": "integer", "minimum": 100, "maximum": 599]]
    }

    static func decode(_ view: JSONView) throws(Mismatch) -> StatusCodes {
        guard view.kind == .array else { throw .expected("a list of status codes", view) }
        var codes: Set<Int> = []
        for index in 0..<view.count {
            guard let element = view.element(index) else { continue }
            do { codes.insert(try wholeNumber(element, from: 100, to: 599)) } catch { throw error.within("\(index)") }
        }
        return StatusCodes(codes: codes)
    }
}

/// A list of media types, or of groups of them.
struct MediaTypes: WireValue {
    let types: Set<String>

    static var schema: JSONLiteral {
        ["type": "array", "items": ["type": "string", "pattern": "^[^/;\\s]+/[^/;\\s]+$"]]
    }

    static func decode(_ view: JSONView) throws(Mismatch) -> MediaTypes {
        guard view.kind == .array else { throw .expected("a list of media types", view) }
        var types: Set<String> = []
        for index in 0..<view.count {
            guard let element = view.element(index) else { continue }
            guard let text = element.string, isType(text) else {
                throw Mismatch.text("a media type such as image/png or image/*", element).within("\(index)")
            }
            types.insert(text.lowercased())
        }
        return MediaTypes(types: types)
    }

    private static func isType(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 2
            && parts.allSatisfy { part in
                !part.isEmpty && part.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ";") }
            }
    }
}

/// A list of strings that are not empty.
struct TextList: WireValue {
    let texts: [String]

    static var schema: JSONLiteral { ["type": "array", "items": ["type": "string", "minLength": 1]] }

    static func decode(_ view: JSONView) throws(Mismatch) -> TextList {
        guard view.kind == .array else { throw .expected("a list of strings", view) }
        var texts: [String] = []
        for index in 0..<view.count {
            guard let element = view.element(index) else { continue }
            do { texts.append(try KeyText.decode(element).text) } catch { throw error.within("\(index)") }
        }
        return TextList(texts: texts)
    }
}

/// The extension of a file: letters and digits, at most 16.
struct FileExtension: WireValue {
    let text: String

    static var schema: JSONLiteral { ["type": "string", "pattern": "^[A-Za-z0-9]{1,16}$"] }

    static func decode(_ view: JSONView) throws(Mismatch) -> FileExtension {
        guard let text = view.string, (1...16).contains(text.utf8.count),
            text.utf8.allSatisfy({ ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A) || ($0 >= 0x30 && $0 <= 0x39) })
        else { throw .text("1 to 16 letters and digits", view) }
        return FileExtension(text: text)
    }
}

/// An object with exactly the member `name`.
private func alternative(_ name: String, _ schema: JSONLiteral) -> JSONLiteral {
    [
        "type": "object", "properties": .object([(name, schema)]), "required": [.string(name)],
        "additionalProperties": false,
    ]
}

/// `true` when text can stand in a header: no line ends and no other control characters.
func isHeaderText(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 } }

extension LastCancel: NamedValue {}
extension RequestMethod: NamedValue {}
extension DataModifier: NamedValue {}
extension RedirectMode: NamedValue {}
extension CredentialScope: NamedValue {}
extension RemoteUse: NamedValue {}
