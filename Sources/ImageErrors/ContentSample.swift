/// The beginning of bytes that are not a usable image. It shows whoever receives the error what was delivered instead.
public struct ContentSample: Sendable, Equatable {
    /// The media type by signature; nil when there are no bytes.
    public let type: String?
    /// The first bytes, at most 32.
    public let firstBytes: [UInt8]
    /// The media type that the server declared.
    public let contentType: String?

    /// A sample with the given parts.
    package init(type: String? = nil, firstBytes: [UInt8] = [], contentType: String?) {
        self.type = type
        self.firstBytes = firstBytes
        self.contentType = contentType
    }
}
