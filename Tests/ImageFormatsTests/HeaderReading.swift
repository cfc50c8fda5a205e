import Glibc
import Platform
import TestSupport

@testable import ImageFormats

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

    /// The number of reads that an icon with this content takes, and the failure.
    func readsOfIcon(_ bytes: [UInt8]) -> (reads: Int, failure: ImageHeader.Failure?) {
        ftruncate(descriptor, 0)
        _ = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        var inspector = ICOInspector(
            bytes: FileBytes(descriptor: descriptor, count: bytes.count), found: ImageProbe(.ico))
        do throws(ImageHeader.Failure) { try inspector.inspect() } catch { return (inspector.bytes.reads, error) }
        return (inspector.bytes.reads, nil)
    }

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

/// All that bytes in memory tell.
func wholeProbe(_ bytes: [UInt8]) throws -> ImageProbe { try bytes.withUnsafeBytes { try ImageProbe(whole: $0) } }

/// The facts told by the first bytes of a picture of so many.
func startProbe(_ bytes: some Collection<UInt8>, of total: Int) -> ImageProbe? {
    Array(bytes).withUnsafeBytes { try? ImageProbe(start: $0, of: total) }
}
