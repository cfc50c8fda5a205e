internal import ImageEngine
internal import JSONRPC

extension SettingField<ImageCache.Configuration> {
    /// The settings of the memory tier, in the order of the documentation.
    static let memory: [SettingField] = [
        integer("totalBytesLimit", "The most memory holds, in bytes; 0 holds nothing.", \.memory.costLimit),
        integer(
            "preferredBytesAfterPurge",
            "What a purge leaves, in bytes; setting totalBytesLimit alone makes it three fifths of that.",
            \.memory.preferredCost),
        integer("countLimit", "The most images; 0 for no limit.", \.memory.countLimit),
        integerOrNull(
            "entryBytesLimit", "The most one image may take, in bytes; null for a tenth of the limit.",
            \.memory.entryCostLimit),
        value("expiration", "How long an image stays in memory.", \.memory.expiration),
        value(
            "extending", "What a use does to that: cacheTime begins it anew, none leaves it.", \.memory.extending),
        value(
            "weakRetention", "Whether an image that was purged is found as long as an answer with it is under way.",
            \.memory.isWeaklyRetaining),
    ]

    /// The settings of the disk tier, in the order of the documentation.
    static let disk: [SettingField] = [
        folder,
        integer("bytesLimit", "The most the images take on disk, in bytes; 0 for no limit.", \.disk.bytesLimit),
        purgeRatio,
        integerOrNull(
            "freeSpaceFloor",
            "Bytes of the file system that stay free; null for a hundredth of it, 128 KiB (at most an eighth) to 256 MiB.",
            \.disk.freeSpaceFloor),
        value("expiration", "How long an image stays on disk.", \.disk.expiration),
        value(
            "expireBy", "What that counts from: the last use (access) or the storing (modification).", \.disk.expireBy),
        value(
            "pathExtension",
            "The extension of files: of the format found (sniffed), of the key (fromKey), none, or any other text.",
            \.disk.pathExtension),
        value("fileNames", "How files are named: by sha256 or md5 of the key.", \.disk.fileNames),
        value(
            "readOnlyPaths", "Absolute paths of folders that are searched after this one and never written.",
            \.disk.readOnlyFolders),
        value(
            "durability", "When a store is done: the system has the bytes (process), or the disk (disk).",
            \.durability),
        value(
            "revalidate",
            "Whether and when a stored image is checked with its server, unless a request says otherwise.", \.revalidate
        ),
        integer(
            "negativeCache",
            "Seconds for which failures that would come again are remembered, unless a request says otherwise; 0 for not at all.",
            to: 31_536_000, \.negativeCache),
        value(
            "verifyDecode",
            "Whether images are only answered and kept once all of them has been decoded, unless a request says otherwise.",
            \.verifyDecode),
        value(
            "keyRules",
            "Query parameters that make no other image: keys that are URLs of the hosts are kept without them. The first rule for a host counts.",
            \.shownKeyRules),
    ]

    private static let folder = SettingField(
        name: "folder", summary: "The folder, an absolute path; it can be named until the cache is first used.",
        schema: AbsolutePath.schema
    ) { (view) throws(Mismatch) in
        let path = try AbsolutePath.decode(view).text
        return { $0.disk.folder = path }
    } value: {
        $0.disk.folder.isEmpty ? .null : .string($0.disk.folder)
    }

    private static let purgeRatio = SettingField(
        name: "purgeRatio", summary: "What a purge leaves, as a part of the limit.",
        schema: ["type": "number", "minimum": 0, "maximum": 1]
    ) { (view) throws(Mismatch) in
        guard let ratio = view.number, (0...1).contains(ratio) else { throw .expected("a number from 0 to 1", view) }
        return { $0.disk.purgeRatio = ratio }
    } value: {
        .number($0.disk.purgeRatio)
    }

}

extension ImageCache.Configuration {
    /// The guarantee of a completed store, by its name.
    var durability: Durability {
        get { disk.syncsToDisk ? .disk : .process }
        set { disk.syncsToDisk = newValue == .disk }
    }

    /// The key rules in the type that JSON is read into.
    fileprivate var shownKeyRules: KeyRules {
        get { KeyRules(rules: keyRules) }
        set { keyRules = newValue.rules }
    }
}

extension DiskStorage.Configuration {
    /// The read-only folders in the type that JSON is read into.
    fileprivate var readOnlyFolders: [AbsolutePath] {
        get { readOnlyPaths.map(AbsolutePath.init(text:)) }
        set { readOnlyPaths = newValue.map(\.text) }
    }
}
