internal import Glibc
package import Platform

/// The kind of reason why the cache folder cannot be used.
public enum StorageCause: Sendable {
    /// It stays as it is until somebody changes it.
    case lasting
    /// The disk has no room.
    case full
    /// Another process holds what is needed.
    case busy
    /// Something that the system has too little of now.
    case passing
    /// The file that is to be stored is being written.
    case changing

    /// The cause of a failure with an `errno`.
    init(_ code: Int32) {
        self =
            switch code {
            case ENOSPC, EDQUOT: .full
            case EBUSY: .busy
            case ETXTBSY: .changing
            case EMFILE, ENFILE, ENOMEM, EAGAIN, ENOLCK, EINTR, EDEADLK: .passing
            default: .lasting
            }
    }
}

/// A failure of the disk tier that describes itself.
package protocol StorageProblem: Error {
    /// The sentence shown to users.
    var reason: String { get }
    /// The `errno` that selects the hint. 0: none.
    var systemCode: Int32 { get }
    /// The hint, where the `errno` does not tell.
    var hint: String? { get }
}

extension StorageProblem {
    package var hint: String? { nil }
}

extension SystemError: StorageProblem {
    package var reason: String { "cannot \(action) \(path.excerpt): \(String(cString: strerror(code)))." }
    package var systemCode: Int32 { code }
}

extension ImageError {
    /// Turns any failure of the disk tier into an error for users, with a hint.
    package static func storage(_ error: any Error, folder: String) -> ImageError {
        switch error {
        case let error as ImageError: error
        case let problem as any StorageProblem:
            .storageFailed(
                reason: problem.reason, hint: problem.hint ?? hint(problem.systemCode, folder),
                cause: StorageCause(problem.systemCode))
        default: .storageFailed(reason: "\(error).", hint: hint(0, folder))
        }
    }

    /// Runs `body` and turns its failure into an error for users.
    package static func reporting<Value>(
        _ folder: String = "the cache folder", _ body: () throws -> Value
    ) throws(ImageError) -> Value {
        do { return try body() } catch { throw storage(error, folder: folder) }
    }

    /// `true` when the cache folder cannot be used until somebody changes that, or gives it back: what is loaded can be answered
    /// all the same, though it is not stored.
    package var leavesStorageUnused: Bool {
        switch self {
        case .storageFailed(_, _, .lasting), .storageFailed(_, _, .busy): true
        default: false
        }
    }

    private static func hint(_ code: Int32, _ folder: String) -> String {
        switch code {
        case ENOSPC, EDQUOT: "Free some space, or choose a folder on another disk with --cache-dir."
        case EROFS: "The file system is read-only: choose a writable folder with --cache-dir."
        case EACCES, EPERM:
            "Give yourself permission to read and write all of \(folder), or choose another folder with --cache-dir."
        case EMFILE, ENFILE: "Too many files are open: raise the limit with ulimit -n, or send fewer requests at once."
        case EFBIG: "The file is larger than the limit for files: raise it with ulimit -f."
        case ENOTDIR, EEXIST:
            "Something that is not a folder is in the way of \(folder), or in the place of a folder in it: move it."
        case ENOLCK: "The file system has no locks: choose a folder on another one with --cache-dir."
        case EBUSY: "Another process holds the index, perhaps one that was stopped: try again, or end it."
        case ETXTBSY: "Try again when the other program is done with it, or have it write another file and rename that."
        case ENOMEM: "Memory has run out: raise the limit with ulimit -v, or send fewer requests at once."
        case ELOOP: "A link leads in a circle, or is where none may be: remove it."
        default: "Choose another folder with --cache-dir if this goes on."
        }
    }
}
