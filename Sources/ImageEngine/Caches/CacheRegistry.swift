internal import Glibc
internal import Platform
internal import Synchronization

/// The caches of an engine, opened on first use, and their settings.
public final class CacheRegistry: Sendable {
    /// The name of the cache that is used when no name is given.
    public static let defaultName = "default"

    /// The open caches, and the settings of the others.
    private struct Table {
        let root: String
        var defaults: ImageCache.Configuration
        var configured: [String: ImageCache.Configuration]
        var opened: [String: ImageCache] = [:]

        /// The settings of a cache, open or not, with its folder.
        func settings(of name: String) -> ImageCache.Configuration {
            if let cache = opened[name] { return cache.configuration }
            var settings = configured[name] ?? defaults
            if configured[name] == nil || settings.disk.folder.isEmpty { settings.disk.folder = root + "/" + name }
            return settings
        }

        /// Throws when an open cache would get another folder.
        func check(_ name: String, folder: String) throws(FolderInUse) {
            guard let open = opened[name]?.configuration.disk.folder, !folder.isEmpty, open != folder else { return }
            throw FolderInUse(cache: name, folder: open)
        }
    }

    private let table: Mutex<Table>
    private let root: String
    private let cleanInterval: Double
    private let isShared: Bool
    private let clock: EngineClock
    private let pool: BlockingPool
    private let failures: FailureMemory
    private let counts: EngineCounts
    private let cleaning = EventHook<CleaningReport>()
    private let hasStartedCleaning = Atomic(false)
    private let isClosing = Atomic(false)
    /// The folder of the default cache, where large bodies are collected.
    let spool: StorageFolder

    init(_ configuration: EngineConfiguration, pool: BlockingPool, failures: FailureMemory, counts: EngineCounts) {
        (root, cleanInterval, clock) = (configuration.cacheRoot, configuration.cleanInterval, configuration.clock)
        (self.pool, self.failures, self.counts) = (pool, failures, counts)
        let table = Table(root: root, defaults: configuration.defaults, configured: configuration.caches)
        let settings = table.settings(of: Self.defaultName)
        self.table = Mutex(table)
        isShared = configuration.sharedFolders
        spool = StorageFolder(path: settings.disk.folder, isShared: isShared)
        updateResumeLimit(table)
    }

    // MARK: Opening and cleaning

    /// The cache with that name, opened if necessary; `nil` when the name is not valid (``isName(_:)``).
    public func cache(_ name: String) -> ImageCache? {
        table.withLock { table in
            if let cache = table.opened[name] { return cache }
            guard Self.isName(name) else { return nil }
            let settings = table.settings(of: name)
            let cache = ImageCache(
                name: name, configuration: settings, clock: clock,
                folder: settings.disk.folder == spool.path
                    ? spool : StorageFolder(path: settings.disk.folder, isShared: isShared),
                queue: WorkQueue { [pool] in pool.submit($0) },
                onClean: { [cleaning] report in cleaning.report(report) },
                onRemove: { [failures] key in failures.forget(key, in: name) })
            table.opened[name] = cache
            startCleaning()
            return cache
        }
    }

    var opened: [ImageCache] { table.withLock { Array($0.opened.values) } }

    /// Sets the receiver of reports about cleaned caches, which is called from any thread; `nil` removes it.
    public func onClean(_ receiver: (@Sendable (CleaningReport) -> Void)?) { cleaning.set(receiver) }

    /// Starts the background task that cleans the open caches as ``CleaningSchedule`` decides.
    private func startCleaning() {
        guard cleanInterval > 0, !hasStartedCleaning.exchange(true, ordering: .relaxed) else { return }
        Task.detached(priority: .background) { [weak self, cleanInterval, clock] in
            var schedule = CleaningSchedule(interval: cleanInterval, now: Double(clock.monotonic()) / 1e9)
            while let work = self?.workCount {
                switch schedule.decide(at: Double(clock.monotonic()) / 1e9, work: work) {
                case .clean:
                    // On a thread of its own, because cleaning waits for the disk. Without one, it waits for its next turn.
                    await withCheckedContinuation { continuation in
                        let hasThread = startOptionalThread { [weak self] in
                            self?.clean()
                            continuation.resume()
                        }
                        if !hasThread { continuation.resume() }
                    }
                    schedule.cleaned(at: Double(clock.monotonic()) / 1e9)
                case .wait(let seconds): try? await Task.sleep(for: .seconds(max(seconds, 0.05)))
                case .sleep: return
                }
            }
        }
    }

    /// A number that grows with every request.
    private var workCount: Int {
        let answers = counts.answers
        return answers.memory + answers.disk + answers.none + pool.submittedCount
    }

    func clean() {
        for cache in opened {
            cache.clean { [weak self] in self?.isClosing.load(ordering: .relaxed) ?? true }
        }
    }

    /// Stops cleaning, before the process ends.
    func stopCleaning() { isClosing.store(true, ordering: .relaxed) }

    /// Writes pending changes to disk. Takes milliseconds.
    func close() {
        for cache in opened { cache.disk.close() }
        spool.close()
    }

    // MARK: Settings

    /// `true` when `name` is valid: 1…64 ASCII letters, digits, `-`, `_` and `.`, not starting with a dot.
    public static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && !name.hasPrefix(".")
            && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
    }

    /// The current settings of a cache, open or not, with its folder.
    public func settings(of name: String) -> ImageCache.Configuration {
        table.withLock { $0.settings(of: name) }
    }

    /// Changes the settings of one cache, open or not.
    ///
    /// - Parameter settings: An empty folder means the one that the cache has or would have.
    /// - Returns: The new settings.
    /// - Throws: ``FolderInUse`` when the cache is open in another folder; nothing is changed then.
    @discardableResult
    public func configure(
        _ name: String, _ settings: ImageCache.Configuration
    ) throws(FolderInUse) -> ImageCache.Configuration {
        try table.withLock { caches throws(FolderInUse) in
            try caches.check(name, folder: settings.disk.folder)
            caches.configured[name] = settings
            // Inside the lock, so that the later of two changes wins.
            caches.opened[name]?.configure(settings)
            updateResumeLimit(caches)
            return caches.settings(of: name)
        }
    }

    /// Sets the limit for the files of interrupted downloads from the limit of the cache that holds them.
    private func updateResumeLimit(_ caches: Table) {
        let limit = caches.settings(of: Self.defaultName).disk.bytesLimit
        spool.resumeLimit.store(ResumeFolder.bytesLimit(beside: limit), ordering: .relaxed)
    }

    /// Changes the settings of all caches: the named ones and the defaults of the others.
    ///
    /// - Throws: ``FolderInUse`` when a cache is open in another folder; nothing is changed then.
    public func configureAll(
        defaults: ImageCache.Configuration, caches named: [String: ImageCache.Configuration]
    ) throws(FolderInUse) {
        try table.withLock { caches throws(FolderInUse) in
            for (name, settings) in named { try caches.check(name, folder: settings.disk.folder) }
            caches.defaults = defaults
            caches.configured = named
            for (name, cache) in caches.opened { cache.configure(named[name] ?? defaults) }
            updateResumeLimit(caches)
        }
    }

    /// The caches that are open, have settings of their own or a folder in the root, by name. Reads one folder.
    ///
    /// - Throws: ``ImageError`` when the root cannot be read.
    public var knownCaches: [KnownCache] {
        get throws {
            let found = try ImageError.reporting(root) { try Self.cacheFolders(in: root) }
            return table.withLock { caches in
                let names = Set(caches.opened.keys).union(caches.configured.keys).union(found)
                return names.sorted().map { name in
                    KnownCache(name: name, isOpen: caches.opened[name] != nil, settings: caches.settings(of: name))
                }
            }
        }
    }

    /// The names of the folders in `root` that look like caches.
    private static func cacheFolders(in root: String) throws -> [String] {
        try Files.names(in: root, followsLinks: true).filter { name in
            isName(name)
                && ["CACHEDIR.TAG", "index.sqlite"].contains { access("\(root)/\(name)/\($0)", F_OK) == 0 }
        }
    }
}

/// The error when a cache cannot move to another folder because it is open.
public struct FolderInUse: Error, Equatable, CustomStringConvertible {
    /// The name of the cache.
    public let cache: String
    /// Its folder.
    public let folder: String

    /// A sentence with the cause and the remedy.
    public var description: String {
        "The cache \"\(cache)\" is open in \(folder): name its folder before the cache is first used."
    }
}

/// A cache that an engine knows.
public struct KnownCache: Sendable, Equatable {
    /// Its name.
    public let name: String
    /// `true` when this process has used the cache.
    public let isOpen: Bool
    /// Its settings, with its folder.
    public let settings: ImageCache.Configuration
}
