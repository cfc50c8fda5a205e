internal import Glibc
package import Platform

/// A failure of the disk tier that describes itself.
package protocol StorageProblem: Error {
    /// The sentence shown to users.
    var reason: String { get }
    /// The `errno` that selects the hint. 0: none.
    var systemCode: Int32 { get }
}

extension SystemError: StorageProblem {
    package var reason: String { "cannot \(action) \(path): \(String(cString: strerror(code)))." }
    package var systemCode: Int32 { code }
}

extension ImageError {
    /// Turns any failure of the disk tier into an error for users, with a hint.
    package static func storage(_ error: any Error, folder: String) -> ImageError {
        switch error {
        case let error as ImageError: error
        case let problem as any StorageProblem:
            .storageFailed(
                reason: problem.reason, hint: hint(problem.systemCode, folder),
                isFull: [ENOSPC, EDQUOT].contains(problem.systemCode))
        default: .storageFailed(reason: "\(error).", hint: hint(0, folder))
        }
    }

    private static func hint(_ code: Int32, _ folder: String) -> String {
        switch code {
        case ENOSPC, EDQUOT: "Free some space, or choose a folder on another disk with --cache-dir."
        case EROFS: "The file system is read-only: choose a writable folder with --cache-dir."
        case EACCES, EPERM: "Give yourself permission to write \(folder), or choose another folder with --cache-dir."
        case EMFILE, ENFILE: "Too many files are open: raise the limit with ulimit -n, or ask for less at once."
        case EFBIG: "The file is larger than the limit for files: raise it with ulimit -f."
        case ENOTDIR, EEXIST: "Something that is no folder is in the way of \(folder): move it."
        case ENOLCK: "The file system has no locks: choose a folder on another one with --cache-dir."
        case EBUSY: "Another process holds the index: try again."
        default: "Choose another folder with --cache-dir if this goes on."
        }
    }
}
