internal import Platform

/// The number by which the lease table knows a file: that of its image, moved on by the number that stands before the file's
/// extension when it came while an earlier file of its image was lent. So each file has a lease of its own.
struct LeaseNumber: Equatable, Sendable {
    let value: Int64

    /// - Parameters:
    ///   - image: The number of the image's row in the index.
    ///   - fileNumber: See ``fileNumber(in:)``.
    init(_ image: Int64, fileNumber: UInt32) {
        // Files of one image are to have places far apart, as those of different images have.
        value = image &+ Int64(fileNumber) &* 0x1E37_79B9_7F4A_7C15
    }

    /// - Parameter name: That of a file of ``StorageFolder/lentPath(_:until:)``.
    init(beside name: String) { value = Digest(of: name).rowNumber }

    /// The number of the file called `fileName`; `nil` if it cannot be that of an image.
    init?(fileName: String) {
        guard let image = Digest(fileName: fileName)?.rowNumber else { return nil }
        let fileExtension = fileName.drop { $0 != "." }.dropFirst()
        self.init(image, fileNumber: Self.fileNumber(in: fileExtension))
    }

    /// The number that an extension begins with, as in "2.png"; 0 for none.
    static func fileNumber(in fileExtension: some StringProtocol) -> UInt32 {
        var number: UInt32 = 0
        for byte in fileExtension.utf8 {
            if byte == UInt8(ascii: ".") { return number }
            guard case let digit = byte &- UInt8(ascii: "0"), digit < 10 else { return 0 }
            number = number &* 10 &+ UInt32(digit)
        }
        return number
    }
}
