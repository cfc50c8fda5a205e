/// The validators of a stored image (RFC 9110, 8.8).
package struct Validators: Hashable, Sendable {
    package let etag: String?
    package let lastModified: String?
    /// The URL that they came from: to any other, to which a redirect may lead today, they say nothing.
    package let url: String
    /// Whether no redirect led there: then they say as much of any URL that the image is asked for by.
    package let isDirect: Bool

    /// The validators of an answer.
    package init(etag: String?, lastModified: String?, url: String, isDirect: Bool) {
        self.etag = etag
        self.lastModified = lastModified
        self.url = url
        self.isDirect = isDirect
    }
}
