import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Caches have settings of their own, which can be changed while they run.
@Suite struct CacheSettingsTests {
    private let engine: TestEngine
    private let key = CacheKey("k")
    private var manager: ImageManager { engine.manager }

    init() throws { engine = try TestEngine() }

    private func store(_ bytes: [UInt8] = hollowPNG(width: 7), _ change: (inout ImageOptions) -> Void = { _ in })
        async throws
    {
        _ = try manager.store(bytes, for: key, in: engine.cache, options: ImageOptions(change))
    }

    @Test func settingsReachACacheThatIsOpenAndOneThatIsNot() throws {
        for name in ["default", "later"] {
            let settings = try manager.caches.configure(name) { $0.memory.countLimit = 3 }
            #expect(settings.memory.countLimit == 3)
            #expect(try #require(manager.cache(name)).memory.configuration.countLimit == 3)
            #expect(try #require(manager.cache(name)).configuration == manager.caches.settings(of: name))
        }
        #expect(manager.caches.settings(of: "other").memory.countLimit == 0)
    }

    @Test func aFolderCanBeNamedUntilTheCacheIsOpen() throws {
        let folder = engine.folder.path + "/elsewhere"
        #expect(try manager.caches.configure("a") { $0.disk.folder = folder }.disk.folder == folder)
        #expect(try #require(manager.cache("a")).disk.folder.path == folder)
        #expect(throws: FolderInUse(cache: "a", folder: folder)) {
            try manager.caches.configure("a") {
                $0.disk.folder = "/b"
                $0.disk.bytesLimit = 5
            }
        }
        #expect(manager.caches.settings(of: "a").disk.bytesLimit != 5, "nothing is changed by what is refused")
        let defaultFolder = engine.cache.disk.folder.path
        #expect(throws: FolderInUse(cache: "default", folder: defaultFolder)) {
            try manager.caches.configureAll(
                defaults: ImageCache.Configuration(folder: ""),
                caches: ["default": ImageCache.Configuration(folder: "/b")])
        }
    }

    @Test func settingsOfAllReachOpenCachesAndLeaveTheirFolders() throws {
        var all = ImageCache.Configuration(folder: "")
        all.memory.countLimit = 7
        var own = all
        own.memory.countLimit = 8
        let folder = manager.caches.settings(of: "default").disk.folder
        try manager.caches.configureAll(defaults: all, caches: ["own": own])
        #expect(engine.cache.configuration.memory.countLimit == 7)
        #expect(manager.caches.settings(of: "default").disk.folder == folder)
        #expect(try #require(manager.cache("own")).configuration.memory.countLimit == 8)
    }

    @Test func cachesAreKnownThatAreOpenConfiguredOrFoundInTheRoot() async throws {
        try await store()
        try manager.caches.configure("configured") { $0.memory.countLimit = 1 }
        let restarted = try TestEngine(folder: engine.folder, clock: engine.clock) {
            $0.caches = ["named": ImageCache.Configuration(folder: "/named")]
        }
        _ = restarted.manager.cache("opened")
        try Files.makeFolder(engine.folder.path + "/cache/no-cache")
        #expect(try manager.caches.knownCaches.map(\.name) == ["configured", "default"])
        let known = try restarted.manager.caches.knownCaches
        #expect(known.map(\.name) == ["default", "named", "opened"])
        #expect(known.filter(\.isOpen).map(\.name) == ["default", "opened"])
        #expect(known.first { $0.name == "named" }?.settings.disk.folder == "/named")
    }

    /// What a use does to a life on disk is as the cache is configured, unless the caller says otherwise.
    @Test(arguments: [DiskStorage.ExpireBy.access, .modification], [nil, ExpirationExtension.none, .cacheTime])
    func useProlongsTheLifeOnDiskAsConfigured(expireBy: DiskStorage.ExpireBy, asked: ExpirationExtension?) async throws
    {
        try manager.caches.configure("default") { $0.disk.expireBy = expireBy }
        try await store { $0.storage.diskCacheExpiration = .seconds(100) }
        engine.clock.advance(seconds: 60)
        let hit = try engine.cache.hit(
            for: key, options: ImageOptions { $0.storage.diskCacheAccessExtendingExpiration = asked }.storage)
        #expect(hit != nil)
        engine.cache.disk.flushTouches()
        _ = engine.cache.clearMemory()
        engine.clock.advance(seconds: 60)
        let isProlonged = asked.map { $0 == .cacheTime } ?? (expireBy == .access)
        #expect(try engine.cache.cacheType(for: key, burst: 0, mayWait: true).value == (isProlonged ? .disk : nil))
    }

    @Test func whatUseDoesInMemoryIsAsConfiguredToo() async throws {
        try manager.caches.configure("default") { $0.memory.extending = .none }
        try await store { $0.storage.memoryCacheExpiration = .seconds(100) }
        engine.clock.advance(seconds: 60)
        #expect(
            try engine.cache.hit(for: key, options: StorageOptions())?.cacheType == .memory)
        engine.clock.advance(seconds: 60)
        #expect(try engine.cache.hit(for: key, options: StorageOptions())?.cacheType == .disk)
    }

    @Test func anImageIsKeptOutOfMemoryWhenItsOptionsSaySo() async throws {
        let unwanted = ImageOptions { $0.storage.keepsInMemory = false }
        try await store { $0.storage.keepsInMemory = false }
        #expect(engine.cache.memory.totals.count == 0)
        #expect(try engine.cache.hit(for: key, options: unwanted.storage)?.cacheType == .disk)
        #expect(engine.cache.memory.totals.count == 0)
        _ = try engine.cache.hit(for: key, options: StorageOptions())
        #expect(
            try engine.cache.hit(for: key, options: unwanted.storage)?.cacheType == .memory)
        #expect(engine.cache.memory.totals.count == 1, "what is there is left alone")
        try await store(hollowPNG(width: 8)) { $0.storage.keepsInMemory = false }
        #expect(engine.cache.memory.totals.count == 0, "but the old image does not outlive the new one")
    }
}
