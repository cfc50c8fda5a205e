internal import JSONRPC

/// A member of replies, events, questions and errors that once had another name. It is sent under both, so that programs
/// that read the former one go on working.
package struct RenamedMember: Sendable {
    let name: StaticString
    let former: StaticString
    /// The schema of the value under the former name; `nil` for the same value.
    private var formerSchema: JSONLiteral?
    /// The difference of that value, at the end of a sentence.
    private var difference = ""

    static let byteCount = RenamedMember(name: "byteCount", former: "bytes")
    static let bytesLimit = RenamedMember(name: "bytesLimit", former: "limitBytes")
    static let finalUrl = RenamedMember(name: "finalUrl", former: "finalURL")
    static let statusCode = RenamedMember(name: "statusCode", former: "status")
    static let seconds = RenamedMember(name: "seconds", former: "milliseconds")
    static let frameSeconds = RenamedMember(
        name: "frameSeconds", former: "delays", formerSchema: ["type": "array", "items": countSchema],
        difference: ", in milliseconds")

    static let all = [byteCount, bytesLimit, finalUrl, statusCode, seconds, frameSeconds]
    /// The former names. No member has one of them as its name.
    package static let formerNames = Set(all.map(\.former.description))

    /// Both members with their schemas. That of the former one refers to the other as `x-formerNameOf`.
    func properties(_ schema: JSONLiteral) -> [(String, JSONLiteral)] {
        let words = JSONLiteral.string("Former name of \(name)\(difference).")
        let former = (formerSchema ?? schema).adding([
            ("description", words), ("deprecated", true), ("x-formerNameOf", .string(name.description)),
        ])
        return [(name.description, schema), (self.former.description, former)]
    }

    /// Both members of an error.
    ///
    /// - Parameter old: The value under the former name; `nil` for the same one.
    func members(_ value: RPCError.Detail, former old: RPCError.Detail? = nil) -> [RPCError.Member] {
        [RPCError.Member(name.description, value), RPCError.Member(former.description, old ?? value)]
    }
}

extension JSONLiteral {
    /// `true` for the schema of a member under its former name.
    var isFormerMember: Bool {
        guard case .object(let members) = self else { return false }
        return members.contains { $0.0 == "x-formerNameOf" }
    }
}

extension JSONWriter {
    /// Writes a member with an integer, or with `null`, under both names.
    mutating func field(_ member: RenamedMember, _ value: Int?) {
        field(member.name, value)
        field(member.former, value)
    }

    /// Writes a member with a string, or with `null`, under both names.
    mutating func field(_ member: RenamedMember, _ value: String?) {
        field(member.name, value)
        field(member.former, value)
    }

    /// Writes the display times of frames, given in milliseconds.
    mutating func field(frameSeconds delays: [Int]) {
        key(RenamedMember.frameSeconds.name)
        array { writer in
            for delay in delays { writer.write(Double(delay) / 1000) }
        }
        key(RenamedMember.frameSeconds.former)
        array { writer in
            for delay in delays { writer.write(delay) }
        }
    }
}
