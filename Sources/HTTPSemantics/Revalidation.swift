/// The rule by which a stored image is revalidated with its server.
public enum Revalidation: String, Sendable, Hashable, CaseIterable {
    /// Never: an image lives as long as the cache's settings say, whatever its server says. The default, as in
    /// Kingfisher.
    case never
    /// When its lifetime in the cache is over. If the server says that it has not changed, its lifetime starts again.
    case ifExpired
    /// At every use, unless the server has declared it immutable.
    case always
    /// When the headers of its server require it (RFC 9111).
    case http
}
