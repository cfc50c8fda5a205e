/// Whether and when a stored image is checked with the server that it came from.
public enum Revalidation: String, Sendable, Hashable, CaseIterable {
    /// Never: an image lives as long as the cache's settings say, whatever its server says. The default, as in Kingfisher.
    case never
    /// When its time in the cache is over: if the server says that it has not changed, it lives again.
    case ifExpired
    /// At every use, unless the server has said that it does not change.
    case always
    /// When its server's headers say so (RFC 9111).
    case http
}
