import Glibc

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// What reading a header came to.
typealias HeaderOutcome = Result<ImageHeader, ImageHeader.Failure>

/// The header of bytes in memory.
func headerInMemory(_ bytes: [UInt8]) -> HeaderOutcome {
    bytes.withUnsafeBytes { buffer in
        do throws(ImageHeader.Failure) {
            return .success(try ImageHeader(buffer))
        } catch {
            return .failure(error)
        }
    }
}

/// One nameless file whose content a test changes again and again.
final class ScratchFile {
    private let descriptor: Int32

    init() throws {
        var path = Array("/tmp/halcyon-test-XXXXXX".utf8CString)
        descriptor = mkstemp(&path)
        guard descriptor >= 0 else { throw SystemError(errno, "make", "a scratch file") }
        unlink(path)
    }

    deinit { close(descriptor) }

    /// The header of a file with this content.
    ///
    /// - Parameters:
    ///   - announced: The size that the reader is told; the true one when nil.
    ///   - map: What it is told of the file besides.
    func header(_ bytes: [UInt8], announced: Int? = nil, map: ScanMap? = nil) -> HeaderOutcome {
        ftruncate(descriptor, 0)
        _ = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        do throws(ImageHeader.Failure) {
            return .success(try ImageHeader(descriptor: descriptor, count: announced ?? bytes.count, map: map))
        } catch {
            return .failure(error)
        }
    }
}

/// Numbers as bytes, for hand-made files.
func big32(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
func big16(_ value: UInt16) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
func little32(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }
func little16(_ value: UInt16) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }
func ascii(_ text: String) -> [UInt8] { Array(text.utf8) }
func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
