package import ImageFormats

/// An image that is to be stored, beside its bytes.
package struct StoreRequest: Sendable {
    package let key: CacheKey
    package let header: ImageHeader
    package var origin = ImageOrigin()
    /// The life of the entry; `nil` for the storage's own setting.
    package var expiration: StorageExpiration?
    /// The extension of the file; `nil` for the storage's own setting.
    package var fileExtension: String?
    /// `true` when an image that is there is replaced.
    package var overwrites = true
    /// The entry that the image takes the place of: if that is not there any more as it was, nothing is stored, and the error is
    /// ``ImageError/notCached(key:url:)``. `nil` for any, or none.
    package var successorOf: ImageRecord?
    /// Metadata of the caller's that is kept with the image: a JSON object.
    package var metadata: String?
    /// The time in seconds for which its path is lent.
    package var lease = 0.0
    /// The longest wait in seconds for another process that holds the index.
    package var patience = CacheIndex.patience
    /// `true` when an image whose entry cannot be written, for another process holds the index, is placed for the time of its
    /// lease, and is no entry.
    package var isLentWhenHeld = false
    /// `true` when an image larger than the limit is placed for the time of its lease, and is no entry.
    package var allowsOversize = false

    package init(key: CacheKey, header: ImageHeader) { (self.key, self.header) = (key, header) }
}
