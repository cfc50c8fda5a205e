internal import ImageEngine
internal import JSONRPC

extension SettingsChange<ImageCache.Configuration> {
    /// Limits the memory tier, and what a purge leaves of it to three fifths.
    mutating func limitMemory(to bytes: Int) {
        set("memory.totalBytesLimit") { $0.memory.costLimit = bytes }
        preferPartOfMemory()
    }

    /// Limits what a purge leaves of the memory tier to three fifths of the limit that is named before.
    fileprivate mutating func preferPartOfMemory() {
        set("memory.preferredBytesAfterPurge") { $0.memory.preferredCost = $0.memory.costLimit / 5 * 3 }
    }

    /// Limits the disk tier; 0 removes the limit.
    mutating func limitDisk(to bytes: Int) {
        set("disk.bytesLimit") { $0.disk.bytesLimit = bytes }
    }

    /// Sets the guarantee of a completed store.
    mutating func setDurability(_ durability: Durability) {
        set("disk.durability") { $0.durability = durability }
    }
}

/// The `memory` part of a change: `true`, `false`, or an object of settings.
struct MemoryChange: WireValue {
    let change: CacheChange

    static var schema: JSONLiteral { ["oneOf": [Bool.schema, reference]] }
    /// The schema of the settings alone.
    static var reference: JSONLiteral { .schema("MemorySettings") { settingsSchema(SettingField.memory) } }

    static func decode(_ view: JSONView) throws(Mismatch) -> MemoryChange {
        var change = CacheChange()
        if let isEnabled = view.boolean {
            change.set("memory") { $0.memory.isEnabled = isEnabled }
            return MemoryChange(change: change)
        }
        guard view.isObject else { throw .expected("a boolean or an object", view) }
        change.set("memory") { $0.memory.isEnabled = true }
        try change.read(view, SettingField.memory, "memory")
        if change.names("memory.totalBytesLimit"), !change.names("memory.preferredBytesAfterPurge") {
            change.preferPartOfMemory()
        }
        return MemoryChange(change: change)
    }
}

/// The `disk` part of a change.
struct DiskChange: WireValue {
    let change: CacheChange

    static var schema: JSONLiteral { .schema("DiskSettings") { settingsSchema(SettingField.disk) } }

    static func decode(_ view: JSONView) throws(Mismatch) -> DiskChange {
        guard view.isObject else { throw .expected("an object", view) }
        var change = CacheChange()
        try change.read(view, SettingField.disk, "disk")
        return DiskChange(change: change)
    }
}
