internal import Glibc
internal import ImageFormats
internal import Platform

/// Folders that are searched after our own, and never written.
extension DiskStorage {
    /// The image for a key in the folders besides our own: the first that has one.
    ///
    /// A folder may hold its files side by side, as those of Kingfisher and SDWebImage do, or be the folder of a
    /// Halcyon cache. Files are looked for with the extensions that the key suggests, and without.
    func readOnlyRecord(for key: CacheKey) -> ImageRecord? {
        let configuration = configuration
        guard !configuration.readOnlyPaths.isEmpty else { return nil }
        let hex = name(of: key).hex
        var extensions: [String] = []
        for text in [fileExtension(for: key, nil), key.ownExtension, key.foretoldExtension, ""]
        where !extensions.contains(text) {
            extensions.append(text)
        }
        let formats = ImageFormat.allCases.map(\.fileExtension).filter { !extensions.contains($0) }
        for root in configuration.readOnlyPaths {
            let other = StorageFolder(path: root)
            let candidates =
                extensions.map { "\(root)/\(StorageFolder.fileName(hex, $0))" }
                + (other.hasBlobs ? (extensions + formats).map { other.blob(hex, $0) } : [])
            for path in candidates {
                if let record = readOnlyRecord(key, path) { return record }
            }
        }
        return nil
    }

    private func readOnlyRecord(_ key: CacheKey, _ path: String) -> ImageRecord? {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { Glibc.close(descriptor) }
        guard let stamp = FileStamp(descriptor: descriptor),
            let header = try? ImageHeader(descriptor: descriptor, count: stamp.size)
        else { return nil }
        return ImageRecord(
            key: key, header: header, byteCount: stamp.size, path: path, origin: ImageOrigin(),
            storedAt: clock.now, lifetime: nil, expiresAt: nil, stamp: stamp, checksum: nil)
    }
}
