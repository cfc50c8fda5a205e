/// The validators of a stored image (RFC 9110, 8.8).
package struct Validators: Hashable, Sendable {
    package let etag: String?
    package let lastModified: String?
    /// The URL that sent them. They mean nothing to any other URL, such as another target of a redirect.
    package let url: String
    /// `true` when no redirect led to that URL. The validators are then valid for every URL that names the image.
    package let isDirect: Bool

    /// Creates the validators of a response.
    package init(etag: String?, lastModified: String?, url: String, isDirect: Bool) {
        self.etag = etag
        self.lastModified = lastModified
        self.url = url
        self.isDirect = isDirect
    }
}
