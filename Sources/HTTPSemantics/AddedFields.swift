internal import Platform

/// The header fields that the engine adds to a request whose options do not name them. Only those by which a server may
/// select an answer (RFC 9111, 4.1).
package struct AddedFields: Sendable, Equatable {
    /// Values by lower-case names.
    private var fields: [String: String]

    /// Creates the fields that every request carries.
    package init(accept: String, userAgent: String) { fields = ["accept": accept, "user-agent": userAgent] }

    /// Returns the fields with others that replace those of the same name.
    package func replacing(with headers: [String: String]) -> AddedFields {
        var added = self
        for (name, value) in headers { added.fields[name.asciiLowercased] = value }
        return added
    }

    /// The value of a field. `nil`: it is not added.
    package subscript(name: String) -> String? { fields[name] }
}
