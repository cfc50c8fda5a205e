/// PDF: the first page size that can be read without decoding anything, in points, and the mark at the end (ISO 32000-1, 7.5.5
/// and 7.7.3.3).
///
/// The pages of many files are compressed: then the size is not known, and that of US Letter is told, which readers take for
/// a page without a size.
struct PDFInspector<Bytes: ByteSource>: ContainerInspector {
    var bytes: Bytes
    var found: ImageProbe

    mutating func inspect() throws(ImageHeader.Failure) {
        var place = 5
        while found.width == 0, let slash = bytes.firstPlace(of: 0x2F, from: place) {
            place = slash + 1
            if bytes.matches("MediaBox", at: place), let size = box(at: place + 8) {
                (found.width, found.height) = size
            }
        }
        guard bytes.count == bytes.total else { throw .cutOff(.pdf) }
        if found.width == 0 { (found.width, found.height) = (612, 792) }
        (found.orientation, found.hasAlpha) = (1, false)
        // Readers look for it in the last KiB.
        var end = max(bytes.count - 1024, 0)
        while let mark = bytes.firstPlace(of: 0x25, from: end) {
            if bytes.matches("%%EOF", at: mark) { return }
            end = mark + 1
        }
        throw .cutOff(.pdf)
    }

    /// The width and the height of a rectangle of two corners in brackets, rounded up.
    private mutating func box(at place: Int) -> (Int, Int)? {
        var (text, place): ([UInt8], Int) = ([], place)
        while text.count < 80, bytes.byte(at: place) != 0x5D {
            text.append(bytes.byte(at: place))
            place += 1
        }
        guard bytes.byte(at: place) == 0x5D else { return nil }
        // White space (7.2.3) and the bracket.
        let parts = text.split { [0, 9, 10, 12, 13, 32, 0x5B].contains($0) }.map { String(decoding: $0, as: UTF8.self) }
        let numbers = parts.compactMap { Double($0) }
        guard parts.count == 4, numbers.count == 4 else { return nil }
        let (width, height) = (abs(numbers[2] - numbers[0]), abs(numbers[3] - numbers[1]))
        guard width > 0, height > 0, width < 1e6, height < 1e6 else { return nil }
        return (Int(width.rounded(.up)), Int(height.rounded(.up)))
    }
}
