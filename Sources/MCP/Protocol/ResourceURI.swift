internal import ImageEngine
internal import JSONRPC
internal import Platform

/// The URI of a cached picture as a resource: `halcyon://<cache>/<hash>`.
struct ResourceURI: Equatable, Sendable, CustomStringConvertible {
    static let scheme = "halcyon://"

    let cache: String
    /// The hash that names the file.
    let hash: String

    init(cache: String, hash: String) { (self.cache, self.hash) = (cache, hash) }

    /// Reads a URI; `nil` unless it has the form.
    init?(_ text: String) {
        guard text.hasPrefix(Self.scheme) else { return nil }
        let parts = text.dropFirst(Self.scheme.count).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, Digest(hex: parts[1]) != nil else { return nil }
        self.init(cache: String(parts[0]), hash: String(parts[1]).lowercased())
    }

    var description: String { "\(Self.scheme)\(cache)/\(hash)" }

    /// Writes the members of the only template.
    static func writeTemplate(to template: inout JSONWriter) {
        template.field("uriTemplate", "\(scheme){cache}/{hash}")
        template.field("name", "cached picture")
        template.field("description", "The file of a picture in the cache, by the hash that list_images gives.")
    }

    /// Writes the entry as a resource of the list.
    func writeResource(_ entry: EntryDetails, to list: inout JSONWriter) {
        list.object { resource in
            resource.field("uri", description)
            resource.field("name", (entry.key ?? hash).excerpt)
            resource.field("mimeType", entry.header.format.mimeType)
            resource.field("size", entry.byteCount)
        }
    }
}
