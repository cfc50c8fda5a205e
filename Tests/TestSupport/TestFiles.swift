import CLinux
import Glibc
import Platform

/// A PNG of `width` × 1 that is `count` bytes long and told apart by its width: structure only, no pixels.
package func hollowPNG(width: Int, count: Int = 100) -> [UInt8] {
    let start: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    let head = big32(13) + ascii("IHDR") + big32(UInt32(width)) + big32(1) + [8, 0, 0, 0, 0] + zeros(4)
    let filling = max(count - 8 - 25 - 12 - 12, 1)
    var generator = SeededGenerator(seed: UInt64(width))
    // Eight bytes at a time: a debug build takes long for each step.
    var body = [UInt8](repeating: 0, count: (filling + 7) / 8 * 8)
    body.withUnsafeMutableBytes { bytes in
        for place in stride(from: 0, to: bytes.count, by: 8) {
            bytes.storeBytes(of: generator.next(), toByteOffset: place, as: UInt64.self)
        }
    }
    body.removeLast(body.count - filling)
    return start + head + big32(UInt32(filling)) + ascii("IDAT") + body + zeros(4) + zeros(4) + ascii("IEND") + zeros(4)
}

/// The content of a file; nil if there is none.
package func content(_ path: String) -> [UInt8]? { try? Files.read(path, followsLinks: true) }

/// Writes a whole file over what is there, in place.
package func overwrite(_ path: String, _ bytes: [UInt8], at offset: Int = 0, truncates: Bool = true) {
    let descriptor = open(path, O_WRONLY | O_CREAT | (truncates ? O_TRUNC : 0), 0o644)
    _ = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
    close(descriptor)
}

/// The capacity of a pipe, in bytes; nil for anything else.
package func pipeCapacity(of descriptor: Int32) -> Int? {
    let bytes = hl_pipe_capacity(descriptor)
    return bytes < 0 ? nil : Int(bytes)
}

/// Sets the time of a file's last change, in seconds since 1970.
package func setModified(_ path: String, _ seconds: Int) {
    let time = timespec(tv_sec: seconds, tv_nsec: 0)
    _ = [time, time].withUnsafeBufferPointer { utimensat(AT_FDCWD, path, $0.baseAddress, 0) }
}

/// The permission bits of a file or folder.
package func mode(_ path: String) -> mode_t {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
}
