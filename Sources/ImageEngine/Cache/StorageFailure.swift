internal import Glibc

/// A system call on the cache folder that failed.
struct StorageFailure: Error, Equatable {
    let code: Int32
    let action: String
    let path: String

    init(_ code: Int32, _ action: String, _ path: String) {
        self.code = code
        self.action = action
        self.path = path
    }

    /// Any failure of the disk tier as an error for users, with a hint.
    static func error(_ error: any Error, folder: String) -> ImageError {
        switch error {
        case let error as ImageError: return error
        case let failure as StorageFailure:
            let reason = "cannot \(failure.action) \(failure.path): \(String(cString: strerror(failure.code)))."
            return .storageFailed(reason: reason, hint: hint(failure.code, folder))
        case let failure as SQLiteDatabase.Failure:
            // Result codes of SQLite: 8 READONLY, 10 IOERR, 13 FULL, 14 CANTOPEN, 5 BUSY, 15 PROTOCOL.
            let code: Int32 =
                switch failure.code & 0xFF {
                case 13: ENOSPC
                case 8: EROFS
                case 14: EACCES
                case 10: EIO
                case 5, 15: failure.lacksLocks ? ENOLCK : EBUSY
                default: 0
                }
            return .storageFailed(reason: "the index says: \(failure.message).", hint: hint(code, folder))
        default: return .storageFailed(reason: "\(error).", hint: hint(0, folder))
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
