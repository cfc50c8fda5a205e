internal import ImageEngine
internal import JSONRPC

/// The settings that one source names: those of all caches, of single caches, of the downloader and of the process.
public struct CacheLayer: Sendable {
    /// The settings of every cache.
    public var general = CacheChange()
    /// The settings of single caches by name. They take precedence over ``general``.
    public var caches: [String: CacheChange] = [:]
    /// The settings of the downloader.
    public var downloader = DownloaderChange()
    /// The options of requests that leave them out.
    var options = DefaultOptions()
    /// The settings of the rest of the process, which no client can change.
    var process = SettingsChange<ServerConfiguration>()

    /// Makes a layer that names nothing.
    public init() {}

    /// The settings that it names for the cache called `name`, or for every cache when `nil`.
    func change(of name: String?) -> CacheChange {
        var change = general
        if let name, let own = caches[name] { change.add(own) }
        return change
    }

    /// Adds the settings of another layer. Those replace the same settings here.
    public mutating func add(_ other: CacheLayer) {
        general.add(other.general)
        downloader.add(other.downloader)
        options.add(other.options)
        process.add(other.process)
        for (name, change) in other.caches { caches[name, default: CacheChange()].add(change) }
    }

    static let names = ["memory", "disk", "caches", "downloader", "options"]

    /// Reads one member of an object of settings.
    ///
    /// - Returns: `false` when the name is not one of ``names``.
    mutating func read(_ name: String, _ value: JSONView) throws(Mismatch) -> Bool {
        guard Self.names.contains(name) else { return false }
        if value.isNull { return true }
        do throws(Mismatch) {
            switch name {
            case "memory": general.add(try MemoryChange.decode(value).change)
            case "disk": general.add(try Self.disk(value))
            case "downloader": downloader.add(try DownloaderSettings.decode(value).change)
            case "options": options.add(try DefaultOptions.decode(value))
            default: try readCaches(value)
            }
        } catch { throw error.within(name) }
        return true
    }

    /// Reads the disk settings of all caches. Caches cannot share a folder, so `folder` is refused.
    private static func disk(_ view: JSONView) throws(Mismatch) -> CacheChange {
        let change = try DiskChange.decode(view).change
        guard !change.names("disk.folder") else {
            throw Mismatch(path: "folder", message: "can only be named for a single cache, within \"caches\"")
        }
        return change
    }

    private mutating func readCaches(_ view: JSONView) throws(Mismatch) {
        guard view.isObject else { throw .expected("an object of settings by the names of caches", view) }
        try view.forEachMember { (name, value) throws(Mismatch) in
            let name = String(decoding: name, as: UTF8.self)
            if value.isNull { return }
            do throws(Mismatch) {
                guard CacheRegistry.isName(name) else { throw CacheName.malformed }
                caches[name] = try Self.settings(value)
            } catch { throw error.within(name) }
        }
    }

    private static func settings(_ view: JSONView) throws(Mismatch) -> CacheChange {
        guard view.isObject else { throw .expected("an object with memory and disk", view) }
        var change = CacheChange()
        try view.forEachMember { (name, value) throws(Mismatch) in
            let name = String(decoding: name, as: UTF8.self)
            if isIgnored(name) || value.isNull { return }
            do throws(Mismatch) {
                switch name {
                case "memory": change.add(try MemoryChange.decode(value).change)
                case "disk": change.add(try DiskChange.decode(value).change)
                default: throw .unknown(name, among: ["memory", "disk"], what: "setting")
                }
            } catch  where ["memory", "disk"].contains(name) { throw error.within(name) }
        }
        return change
    }
}

/// `initializationOptions`: the settings that a client brings.
struct InitializationOptions: WireValue {
    let layer: CacheLayer

    static var schema: JSONLiteral { .schema("Settings") { definition } }

    private static var definition: JSONLiteral {
        let cache: JSONLiteral = [
            "type": "object", "properties": ["memory": MemoryChange.schema.orNull, "disk": DiskChange.schema.orNull],
        ]
        return [
            "type": "object",
            "description":
                "The settings of all caches, of single caches by name, of the downloader, and the options of requests that leave them out.",
            "properties": [
                "memory": MemoryChange.schema.orNull, "disk": DiskChange.schema.orNull,
                "caches": JSONLiteral.object([("type", "object"), ("additionalProperties", cache.orNull)]).orNull,
                "downloader": DownloaderSettings.schema.orNull,
                "options": DefaultOptions.schema.orNull.adding([
                    ("description", "The options of requests that leave them out.")
                ]),
            ],
            "additionalProperties": false, "patternProperties": ["^(_|x-)": true],
        ]
    }

    static func decode(_ view: JSONView) throws(Mismatch) -> InitializationOptions {
        guard view.isObject else { throw .expected("an object", view) }
        var layer = CacheLayer()
        try view.forEachMember { (name, value) throws(Mismatch) in
            let name = String(decoding: name, as: UTF8.self)
            guard try !layer.read(name, value), !isIgnored(name) else { return }
            throw .unknown(name, among: CacheLayer.names, what: "setting")
        }
        return InitializationOptions(layer: layer)
    }
}
