internal import ImageEngine
internal import JSONRPC

/// The hosts that a rule applies to.
struct HostPatterns: WireValue {
    let hosts: [String]

    static var schema: JSONLiteral { ["type": "array", "items": ["type": "string", "minLength": 1], "minItems": 1] }

    static func decode(_ view: JSONView) throws(Mismatch) -> HostPatterns {
        let hosts = try TextList.decode(view).texts
        guard !hosts.isEmpty else { throw .expected("a list of hosts", view) }
        for (index, host) in hosts.enumerated() where !HostPattern.isValid(host) {
            throw Mismatch(
                path: "\(index)", message: "must be a host such as example.com or *.example.com, not a URL",
                expected: "a host such as example.com or *.example.com", received: "other text")
        }
        return HostPatterns(hosts: hosts)
    }
}

/// Reads a list of objects, each with `read`.
func readObjects<Value>(
    _ view: JSONView, _ expected: String, _ read: (JSONView) throws(Mismatch) -> Value
) throws(Mismatch) -> [Value] {
    guard view.kind == .array else { throw .expected(expected, view) }
    var values: [Value] = []
    for index in 0..<view.count {
        guard let element = view.element(index) else { continue }
        do throws(Mismatch) {
            guard element.kind == .object else { throw .expected("an object", element) }
            values.append(try read(element))
        } catch { throw error.within("\(index)") }
    }
    return values
}

/// Calls `read` for each member of an object that is not null.
func readMembers(
    of view: JSONView, _ read: (String, JSONView) throws(Mismatch) -> Void
) throws(Mismatch) {
    try view.forEachMember { (name, value) throws(Mismatch) in
        let name = String(decoding: name, as: UTF8.self)
        if isIgnored(name) || value.isNull { return }
        do throws(Mismatch) { try read(name, value) } catch  where error.path == name && error.expected == nil {
            // The error for an unknown member already names it.
            throw error
        } catch { throw error.within(name) }
    }
}
