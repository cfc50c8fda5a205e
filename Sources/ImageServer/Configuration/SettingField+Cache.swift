internal import ImageEngine
internal import JSONRPC

extension SettingField<ImageCache.Configuration> {
    /// The settings of the memory tier, in the order of the documentation.
    static let memory: [SettingField] = [
        size("totalBytesLimit", "The size limit of memory, in bytes; 0 keeps nothing.", \.memory.costLimit),
        size(
            "preferredBytesAfterPurge",
            "The size that a purge leaves, in bytes; setting only totalBytesLimit makes it three fifths of that.",
            \.memory.preferredCost),
        integer("countLimit", "The largest number of images; 0 for no limit.", \.memory.countLimit),
        sizeOrNull(
            "entryBytesLimit", "The largest image to keep, in bytes; null for a tenth of the limit.",
            \.memory.entryCostLimit),
        value("expiration", "How long an image stays in memory.", \.memory.expiration),
        value(
            "extending", "What a use does to the expiration: cacheTime starts it again, none leaves it.",
            \.memory.extending),
        value(
            "weakRetention", "Whether a purged image is still found while an answer that contains it is being sent.",
            \.memory.isWeaklyRetaining),
    ]

    /// The settings of the disk tier, in the order of the documentation.
    static let disk: [SettingField] = [
        folder,
        size("bytesLimit", "The size limit of the images on disk, in bytes; 0 for no limit.", \.disk.bytesLimit),
        purgeRatio,
        sizeOrNull(
            "freeSpaceFloor",
            "The bytes of the file system to leave free; null for a hundredth of it, between 128 KiB (or an eighth if that is less) and 256 MiB.",
            \.disk.freeSpaceFloor),
        value("expiration", "How long an image stays on disk.", \.disk.expiration),
        value(
            "expireBy", "What the expiration counts from: the last use (access) or the time of storing (modification).",
            \.disk.expireBy),
        value(
            "pathExtension",
            "The extension of files: from the detected format (sniffed), from the key (fromKey), none, or any other text.",
            \.disk.pathExtension),
        value("fileNames", "The digest of the key that names files: sha256 or md5.", \.disk.fileNames),
        value(
            "readOnlyPaths", "Absolute paths of folders that are searched after this one and never written.",
            \.disk.readOnlyFolders),
        value(
            "durability",
            "When a store is complete: once the system has the bytes (process), or once the disk has them (disk).",
            \.durability),
        value(
            "revalidate",
            "When a stored image is revalidated with its server, unless a request says otherwise.", \.revalidate
        ),
        integer(
            "negativeCache",
            "How long permanent failures are remembered, in seconds, unless a request says otherwise; 0 for not at all.",
            to: 31_536_000, \.negativeCache),
        value(
            "verifyDecode",
            "Whether images are answered and kept only after they were decoded completely, unless a request says otherwise.",
            \.verifyDecode),
        value(
            "keyRules",
            "Query parameters to ignore in keys that are URLs of certain hosts. The first rule that matches a host applies.",
            \.shownKeyRules),
    ]

    private static let folder = SettingField(
        name: "folder", summary: "The folder, as an absolute path; it can be set until the cache is first used.",
        schema: AbsolutePath.schema
    ) { (view) throws(Mismatch) in
        let path = try AbsolutePath.decode(view).text
        return { $0.disk.folder = path }
    } value: {
        $0.disk.folder.isEmpty ? .null : .string($0.disk.folder)
    }

    private static let purgeRatio = SettingField(
        name: "purgeRatio", summary: "The size that a purge leaves, as a fraction of the limit.",
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
