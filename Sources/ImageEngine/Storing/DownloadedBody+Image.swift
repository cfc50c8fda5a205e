internal import Platform

extension ScanMap: ByteObserver {}
extension DownloadedBody: StorableBody {}

extension StorableBody {
    /// The header of the image in the body.
    ///
    /// - Throws: ``ImageHeader/Failure``, or ``SystemError`` when the file cannot be read.
    func header() throws -> ImageHeader {
        let path: String
        switch place {
        case .memory(let bytes):
            return try bytes.withUnsafeBytes { bytes throws(ImageHeader.Failure) in try ImageHeader(bytes) }
        case .file(let file), .unnamed(let file): path = file
        }
        // Only the path of a file without a name is a link, of the system's.
        let isUnnamed = if case .unnamed = place { true } else { false }
        let file = try Descriptor(reading: path, followsLinks: isUnnamed)
        return try ImageHeader(
            descriptor: file.number, count: count, map: (self as? DownloadedBody)?.observer as? ScanMap)
    }
}
