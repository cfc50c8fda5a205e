internal import CLinux

/// A mark on the files of images that were fetched with credentials: should the index be lost, they are not taken for
/// everybody's. Not every file system keeps it.
extension StorageFolder {
    private static let personalMark = "user.halcyon.personal"

    /// Marks a file. Its time of change stays.
    static func markPersonal(_ path: String) { _ = hl_mark(path, personalMark) }

    /// Whether an open file is marked.
    package static func isPersonal(_ descriptor: Int32) -> Bool { hl_is_marked(descriptor, personalMark) == 1 }
}
