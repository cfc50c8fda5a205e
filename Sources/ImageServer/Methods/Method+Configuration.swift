internal import ImageEngine
internal import JSONRPC
internal import Platform
internal import RemoteStorage

private let cacheNameParam = Param<CacheName?>("cache", "The name of the cache.", default: nil, "default")

extension Method {
    /// Methods on the settings of caches.
    static let configuration: [Method] = [
        Method(
            "configure",
            "Changes the settings of a cache, the downloader or the remote tier, or the default options, from now on; settings that are left out keep their values.",
            cacheNameParam,
            Param<MemoryChange?>("memory", "The memory tier: its settings, or whether there is one.", default: nil),
            Param<DiskChange?>("disk", "The settings of the disk tier.", default: nil),
            Param<DownloaderSettings?>("downloader", "The settings of the downloader of all caches.", default: nil),
            Param<RemoteSettings?>("remote", "The settings of the remote tier of all caches.", default: nil),
            Param<DefaultOptions?>("options", "The options of requests that leave them out.", default: nil)
        ) { invocation, cache, memory, disk, downloader, remote, options -> Outcome<ConfigureReply> in
            var change = memory?.change ?? CacheChange()
            if let disk { change.add(disk.change) }
            let server = invocation.server
            // The downloader and the remote tier serve all caches, so their settings change between requests on any.
            let isForAll = downloader != nil || remote != nil
            // At once: the requests behind this one are read before its turn.
            let settle = try options.map { try server.configureOptions($0) }
            return configuring(invocation, cache, isForAll ? .allCaches : .wholeCache, settle: settle) { [change] _ in
                change
            } then: {
                ConfigureReply(
                    cache: $0, downloader: server.configureDownloader(downloader?.change),
                    remote: server.configureRemote(remote?.change), options: server.namedOptions)
            }
        },
        Method(
            "addReadOnlyCachePath", "Adds a folder that is searched after that of a cache, and never written.",
            Param<AbsolutePath>("path", "The absolute path of the folder."), cacheNameParam
        ) { invocation, path, cache -> Outcome<SettingsReply> in
            configuring(invocation, cache, .wholeCache) { settings in
                var paths = settings.disk.readOnlyPaths
                if !paths.contains(path.text) { paths.append(path.text) }
                var change = CacheChange()
                change.set("disk.readOnlyPaths") { [paths] in $0.disk.readOnlyPaths = paths }
                return change
            } then: {
                $0
            }
        },
        Method("caches", "Lists the caches that are open, configured, or found in the cache folder.") {
            invocation -> Outcome<CachesReply> in
            let manager = invocation.server.manager
            return .later { call in
                try await call.waitForRoom()
                return CachesReply(caches: try await manager.blocking { try manager.caches.knownCaches })
            }
        },
    ]

    /// A change of settings, executed in the order of the requests on the cache or on all caches.
    ///
    /// - Parameters:
    ///   - settle: Called once, with `true` when the change failed or was cancelled.
    ///   - finish: Changes what all caches have in common, and makes the result.
    private static func configuring<Reply: WireResult>(
        _ invocation: Invocation, _ cache: CacheName?, _ scope: KeyOrder.Scope,
        settle: (@Sendable (_ takesBack: Bool) -> Void)? = nil,
        _ change: @escaping @Sendable (ImageCache.Configuration) -> CacheChange,
        then finish: @escaping @Sendable (SettingsReply) -> Reply
    ) -> Outcome<Reply> {
        let name = cache?.text ?? CacheRegistry.defaultName
        let server = invocation.server
        let settle = Once(settle ?? { _ in })
        return .inTwoParts(RequestOrder.Access(cache: name, scope: scope, kind: .change)) { call in
            call.onCancel { settle.take()?(true) }
        } _: { _ in
            // A cancellation comes too late from here on.
            let settle = settle.take()
            let reply = try await server.manager.blocking {
                do {
                    let settings = try server.configure(name, change)
                    settle?(false)
                    return finish(SettingsReply(settings: settings))
                } catch {
                    settle?(true)
                    throw error
                }
            }
            return { reply }
        }
    }
}

/// The effective settings of a cache.
struct SettingsReply: WireObject {
    let settings: ImageCache.Configuration

    static let name = "CacheSettings"

    static let fields: [WireField<SettingsReply>] = [
        WireField(
            "memory", "The memory tier; false when it is turned off.",
            ["oneOf": [["const": false], MemoryChange.reference]]
        ) {
            $1.key("memory")
            guard $0.settings.memory.isEnabled else { return $1.write(false) }
            writeSettings(SettingField.memory, of: $0.settings, to: &$1)
        },
        WireField("disk", "The disk tier.", DiskChange.schema) {
            $1.key("disk")
            writeSettings(SettingField.disk, of: $0.settings, to: &$1)
        },
    ]

}

/// The effective settings of a cache, the downloader and the remote tier.
struct ConfigureReply: WireObject {
    let cache: SettingsReply
    let downloader: ImageDownloader.Configuration
    let remote: RemoteTier.Configuration
    let options: JSONLiteral

    static let name = "ConfigureResult"

    static let fields: [WireField<ConfigureReply>] =
        SettingsReply.fields.map { field in field.within { $0.cache } } + [
            WireField("downloader", "The downloader of all caches.", DownloaderSettings.schema) {
                $1.key("downloader")
                writeSettings(SettingField.downloader, of: $0.downloader, to: &$1)
            },
            WireField("remote", "The remote tier of all caches.", RemoteSettings.schema) {
                $1.key("remote")
                writeSettings(SettingField.remote, of: $0.remote, to: &$1)
            },
            WireField(
                "options", "The options of requests that leave them out, where they are not as built in.",
                DefaultOptions.schema
            ) {
                $1.key("options")
                $0.options.write(to: &$1)
            },
        ]
}

private func writeSettings<Settings>(
    _ fields: [SettingField<Settings>], of settings: Settings, to writer: inout JSONWriter
) {
    writer.object { writer in
        for field in fields {
            writer.key(field.name)
            field.value(settings).write(to: &writer)
        }
    }
}

/// The reply with the known caches.
struct CachesReply: WireObject {
    let caches: [KnownCache]

    static let name = "CachesResult"

    private static let item: JSONLiteral = [
        "type": "object",
        "properties": [
            "name": textSchema, "folder": textSchema, "isOpen": flagSchema, "settings": SettingsReply.schema,
        ],
        "required": ["name", "folder", "isOpen", "settings"],
    ]

    static let fields: [WireField<CachesReply>] = [
        WireField(
            "caches", "Name, folder, whether this server has used it, and settings, by name.",
            ["type": "array", "items": item]
        ) {
            let caches = $0.caches
            $1.key("caches")
            $1.array { writer in
                for cache in caches {
                    writer.object { writer in
                        writer.field("name", cache.name)
                        writer.field("folder", cache.settings.disk.folder)
                        writer.field("isOpen", cache.isOpen)
                        writer.key("settings")
                        SettingsReply(settings: cache.settings).write(to: &writer)
                    }
                }
            }
        }
    ]
}
