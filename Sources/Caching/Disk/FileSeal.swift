internal import CLinux
internal import Platform

/// What the file of an image bears itself, in an extended attribute: the checksum of its bytes, and the beginnings of the
/// names that it was stored under. Should the index be lost, a damaged file is told from a whole one, and one that was moved
/// to another's place from one that belongs there.
///
/// 56 bytes at most, which ext4 keeps beside the file's dates; so a file that more than three entries share by hard links
/// bears the names of three. Not every file system keeps it.
struct FileSeal {
    private static let attribute = "user.halcyon"
    private static let checksumSize = 32
    private static let nameSize = 8
    private static let longest = checksumSize + 3 * nameSize

    private let bytes: [UInt8]

    /// The seal of an open file; `nil` for none.
    init?(_ file: borrowing Descriptor) {
        var bytes = [UInt8](repeating: 0, count: Self.longest)
        let count = bytes.withUnsafeMutableBytes { hl_attribute(file.number, Self.attribute, $0.baseAddress, $0.count) }
        guard count >= Self.checksumSize else { return nil }
        self.bytes = Array(bytes.prefix(Int(count)))
    }

    /// The checksum that the bytes should have.
    var checksum: Digest? { Digest(bytes: bytes.prefix(Self.checksumSize)) }

    /// `true` when the file was stored under that name.
    func bears(_ name: Digest) -> Bool {
        stride(from: Self.checksumSize, to: bytes.count, by: Self.nameSize).contains {
            bytes[$0...].prefix(Self.nameSize).elementsEqual(name.bytes.prefix(Self.nameSize))
        }
    }

    /// Notes the checksum in a file, and the name that it is stored under.
    ///
    /// - Parameters:
    ///   - fileName: The later name of the file.
    ///   - isNew: `true` when the file has no seal yet.
    static func add(_ fileName: String, _ checksum: Digest, to file: borrowing Descriptor, isNew: Bool = false) {
        guard let name = Digest(fileName: fileName) else { return }
        let known = isNew ? nil : FileSeal(file).flatMap { $0.checksum == checksum ? $0 : nil }
        if let known, known.bears(name) { return }
        var bytes = known?.bytes ?? checksum.bytes
        if bytes.count + nameSize <= longest { bytes += name.bytes.prefix(nameSize) }
        _ = bytes.withUnsafeBytes { hl_set_attribute(file.number, attribute, $0.baseAddress, $0.count) }
    }
}
