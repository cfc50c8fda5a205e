extension DiskStorage {
    /// The settings of a storage. All but ``folder`` can be changed while it runs.
    public struct Configuration: Sendable, Equatable {
        /// The folder, as an absolute path; made with mode 0700 at the first store.
        public var folder: String
        /// The most bytes of all images; 2 GiB by default, 0 for no limit.
        public var bytesLimit = 2 << 30
        /// The part of the limit that a purge leaves, 0…1; a half by default.
        public var purgeRatio = 0.5
        /// The bytes of the file system that stay free, or nothing more is stored; 0 for no check.
        ///
        /// `nil`, the default: a hundredth of the file system, 128 KiB (at most an eighth of it) to 256 MiB.
        public var freeSpaceFloor: Int?
        /// The life of an entry; 7 days by default.
        public var expiration = StorageExpiration.days(7)
        /// The beginning of the life of an entry; its last access by default.
        public var expireBy = ExpireBy.access
        /// The extension of files; that of the format found in the bytes by default.
        public var pathExtension = PathExtension.sniffed
        /// The names of files; SHA-256 of the key by default.
        public var fileNames = FileNames.sha256
        /// Folders that are searched after this one, in order, and never written.
        ///
        /// Each may have the layout of a Halcyon cache, or all files side by side as the caches of Kingfisher and
        /// SDWebImage.
        public var readOnlyPaths: [String] = []
        /// `true` when a store waits until the bytes have reached the disk and not only the system's memory.
        public var syncsToDisk = false

        /// The default settings for a folder.
        public init(folder: String) { self.folder = folder }
    }

    /// The beginning of the life of an entry.
    public enum ExpireBy: String, Sendable, CaseIterable {
        /// Its last use: used images stay.
        case access
        /// The time of storing, whatever use is made of it.
        case modification
    }

    /// The extension that files get.
    public enum PathExtension: Sendable, Equatable {
        /// That of the format found in the bytes; foretold from the key as long as there are none.
        case sniffed
        /// That of the key, if it has one.
        case fromKey
        /// None.
        case none
        /// Always this one: 1…16 letters and digits.
        case fixed(String)
    }

    /// The names of files.
    public enum FileNames: String, Sendable, CaseIterable {
        /// SHA-256 of the computed key, as Kingfisher does since version 8.
        case sha256
        /// MD5 of the computed key, as Kingfisher did before and SDWebImage does.
        case md5
    }
}
