internal import Platform

/// The header fields that go with a request whose own options do not name them, as far as an answer may be chosen by them
/// (RFC 9111, 4.1): a plain value.
package struct AddedFields: Sendable, Equatable {
    /// By their names in small letters.
    private var fields: [String: String]

    /// The fields of every request.
    package init(accept: String, userAgent: String) { fields = ["accept": accept, "user-agent": userAgent] }

    /// The fields with others that replace those of the same name.
    package func replacing(with headers: [String: String]) -> AddedFields {
        var added = self
        for (name, value) in headers { added.fields[name.asciiLowercased] = value }
        return added
    }

    /// The value of a field; nil if it is not added.
    package subscript(name: String) -> String? { fields[name] }
}
