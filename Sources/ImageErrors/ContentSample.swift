/// How bytes begin that were no usable image, so that whoever gets the error sees what came instead (A-034, D-25).
public struct ContentSample: Sendable, Equatable {
    /// The media type by signature; nil when there are no bytes.
    public let type: String?
    /// The first bytes, at most 32.
    public let firstBytes: [UInt8]
    /// What the server called them.
    public let contentType: String?

    /// A sample with the given parts.
    package init(type: String? = nil, firstBytes: [UInt8] = [], contentType: String?) {
        self.type = type
        self.firstBytes = firstBytes
        self.contentType = contentType
    }
}
