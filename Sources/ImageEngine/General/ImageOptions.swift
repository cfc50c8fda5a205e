public import ImageRecipes

/// How one image is looked up, loaded and kept: ``Fields``, and all who have the same ones share them.
///
/// They are many, and each step of a load has them at hand: copies took most of the memory of a request that waits.
/// Setting one copies all.
@dynamicMemberLookup
public struct ImageOptions: Hashable, Sendable {
    @usableFromInline
    final class Box: Sendable {
        @usableFromInline let fields: Fields

        @usableFromInline
        init(_ fields: Fields) { self.fields = fields }
    }

    @usableFromInline var box: Box

    private static let standard = Box(Fields())

    /// The defaults.
    public init() { box = Self.standard }

    /// Options with those fields.
    public init(_ fields: Fields) { box = Box(fields) }

    /// One of the fields.
    @inlinable
    public subscript<Value>(dynamicMember path: WritableKeyPath<Fields, Value>) -> Value {
        @inline(__always) get { box.fields[keyPath: path] }
        @inline(__always) set { change { $0[keyPath: path] = newValue } }
    }

    /// Changes several fields, and copies them but once.
    @inlinable
    public mutating func change(_ change: (inout Fields) -> Void) {
        var fields = box.fields
        change(&fields)
        box = Box(fields)
    }

    /// Whether all fields are the same.
    public static func == (one: ImageOptions, other: ImageOptions) -> Bool {
        one.box === other.box || one.box.fields == other.box.fields
    }

    /// Hashes all fields.
    public func hash(into hasher: inout Hasher) { hasher.combine(box.fields) }

    /// The options that decide what is put into the cache, and where it comes from. What concerns one caller alone is at its
    /// default, and so is what is made of the image: how urgent it is, its patience, its bounds, its retries, its lease.
    public var decidingTheEntry: ImageOptions {
        if box === Self.standard { return self }
        let defaults = Self.standard.fields
        var deciding = self
        deciding.change { deciding in
            deciding.slot = defaults.slot
            deciding.downloadPriority = defaults.downloadPriority
            deciding.onLastCancel = defaults.onLastCancel
            deciding.merges = defaults.merges
            deciding.deadline = defaults.deadline
            // With a delegate, which decides for all alike, they share no transfer.
            if deciding.delegates == nil { DownloadLimits.reset(&deciding, to: defaults) }
            deciding.retry = defaults.retry
            deciding.waitForConnectivity = defaults.waitForConnectivity
            deciding.negativeCache = defaults.negativeCache
            deciding.staleIfError = defaults.staleIfError
            deciding.lease = defaults.lease
            deciding.preloadAllAnimationData = defaults.preloadAllAnimationData
            deciding.backgroundDecode = defaults.backgroundDecode
            deciding.wantsPreview = defaults.wantsPreview
            deciding.recipe = defaults.recipe
        }
        return deciding
    }

    /// The options that decide how an image is kept; those that decide how it is loaded are at their defaults.
    var keepingOnlyCacheOptions: ImageOptions {
        let fields = box.fields
        var kept = Fields()
        kept.forceRefresh = fields.forceRefresh
        kept.fromMemoryCacheOrRefresh = fields.fromMemoryCacheOrRefresh
        kept.cacheMemoryOnly = fields.cacheMemoryOnly
        kept.waitForCache = fields.waitForCache
        kept.memoryCacheExpiration = fields.memoryCacheExpiration
        kept.diskCacheExpiration = fields.diskCacheExpiration
        kept.forcedCacheFileExtension = fields.forcedCacheFileExtension
        kept.queryDataWhenInMemory = fields.queryDataWhenInMemory
        kept.keepsInMemory = fields.keepsInMemory
        kept.lease = fields.lease
        kept.integrity = fields.integrity
        kept.revalidate = fields.revalidate
        kept.verifyDecode = fields.verifyDecode
        if fields.verifyDecode == true { kept.limits = fields.limits }
        // Most who wait keep alike. There is no text among these that may be another one and yet equal.
        return Self.lastKept.value(for: kept) { ImageOptions(kept) }
    }

    private static let lastKept = LastValue<Fields, ImageOptions>()

    /// Whether nothing was said; options that say the defaults may count as said.
    var isStandard: Bool { box === Self.standard }
}

extension ImageOptions {
    /// The options. Every default is that of Kingfisher where it has one.
    public struct Fields: Hashable, Sendable {
        /// Ignore the caches for reading; still write them.
        public var forceRefresh = false
        /// Look in memory only, then load; the disk tier is not read.
        public var fromMemoryCacheOrRefresh = false
        /// Never load: what is not cached is an error.
        public var onlyFromCache = false
        /// Keep the image in memory only; its result has no path.
        public var cacheMemoryOnly = false
        /// Answer only when the image is in the cache. A result that has a path always waits.
        public var waitForCache = true
        /// How long memory keeps the image; the cache's own setting when nil.
        public var memoryCacheExpiration: StorageExpiration?
        /// How long the disk keeps the image; the cache's own setting when nil.
        public var diskCacheExpiration: StorageExpiration?
        /// What an access does to the life in memory; the cache's own setting when nil.
        public var memoryCacheAccessExtendingExpiration: ExpirationExtension?
        /// What an access does to the life on disk; when nil, what the cache's
        /// ``DiskStorage/Configuration/expireBy`` says: by access as long again, by modification nothing.
        public var diskCacheAccessExtendingExpiration: ExpirationExtension?
        /// Whether memory keeps the image. Otherwise it is only answered, and memory stays as it is.
        public var keepsInMemory = true
        /// What is made of the image; the original itself when it is empty.
        public var recipe = ImageRecipe()
        /// Whether the original of what is made is kept too, so that more can be made of it.
        public var cacheOriginalImage = true
        /// What the lengths of processors are multiplied by.
        public var scaleFactor = 1.0
        /// Accepted, and without effect here: all frames are always kept.
        public var preloadAllAnimationData = false
        /// Accepted, and without effect here: pictures are never decoded where anybody waits.
        public var backgroundDecode = false
        /// Whether the image is only answered and kept once the codec worker has decoded all of it; the cache's
        /// own setting when nil.
        public var verifyDecode: Bool?
        /// Whether the answer is to hold a placeholder of the image: a ThumbHash and its dominant colour.
        public var wantsPreview = false
        /// What the making of it may cost.
        public var limits = RenderLimits()
        /// The name of another cache that is looked into before anything is loaded; what it has is stored here too. The
        /// originals of what is made are looked for and kept there instead.
        public var originalCache: String?
        /// For how many seconds the path that is handed out stays valid, whatever is evicted or expires; 60 when nil.
        public var lease: Double?
        /// The extension of the cached file; that of the sniffed format when nil.
        public var forcedCacheFileExtension: String?
        /// Read the bytes even when only the path was asked for, so that the next reader finds them in memory.
        public var queryDataWhenInMemory = false
        /// Whether and when a stored image is checked with its server; the cache's own setting when nil.
        public var revalidate: Revalidation?
        /// For how many seconds past its time a stored image may stand in when its server cannot be asked; when nil, only
        /// as far as the server has allowed it.
        public var staleIfError: Double?
        /// For how many seconds a failure that would come again is remembered; the cache's own setting when nil.
        public var negativeCache: Double?
        /// Load nothing from the network, and answer whatever is stored, also when its time is over.
        public var offline = false
        /// Seconds to wait for the next bytes; as the downloader is configured when nil.
        public var timeout: Double?
        /// Seconds until the image must be there, with waiting, redirects, retries and other sources; without end when nil.
        public var deadline: Double?
        /// The slowest that a download may be, in bytes a second over two timeouts; 0 for no such limit.
        public var minBytesPerSecond = 100.0
        /// 0…1; among downloads that wait, the higher goes first.
        public var downloadPriority = 0.5
        /// Whether prefetching brings the bytes into memory too.
        public var alsoPrefetchToMemory = false
        /// What becomes of a download when the last who waits for it is cancelled.
        public var onLastCancel = LastCancel.abort
        /// A name for the place that the image is for: who asks for another image for it wants this one no more.
        public var slot: String?
        /// Whether the download may be shared with others who want the same.
        public var merges = true
        /// Request headers.
        public var headers: [String: String] = [:]
        /// What the server is asked to do.
        public var method = RequestMethod.get
        /// What the request brings along, unless ``method`` is GET; at most ``bodyLimit`` bytes.
        public var body: [UInt8]?
        /// What is done to what was downloaded before anything looks at it.
        public var dataModifier: DataModifier?
        /// Credentials, sent to the host of the URL only.
        public var authorization: Authorization?
        /// Who is asked about the download while it runs.
        public var delegates: DownloadDelegates?
        /// Which redirects are followed.
        public var redirect = RedirectMode.follow
        /// How many redirects are followed.
        public var maxRedirects = 10
        /// The largest body accepted, in bytes.
        public var maxBytes = 128 << 20
        /// The status codes accepted; 200…399 when nil.
        public var validStatusCodes: Set<Int>?
        /// The media types accepted, in small letters, such as `image/png` or `image/*`; whatever a server calls its images
        /// when nil, for their bytes decide.
        public var acceptContentTypes: Set<String>?
        /// Whether and when a failed download is tried again.
        public var retry = RetryStrategy.never
        /// For how many seconds a download that failed waits for a network, when this machine has none; not at all when nil.
        public var waitForConnectivity: Double?
        /// URLs tried in order when the first fails.
        public var alternativeSources: [String] = []
        /// Seconds after which the next source is begun beside one that has not answered; only after a failure when nil.
        public var hedgeAfter: Double?
        /// Digests of which the bytes must have one.
        public var integrity: Integrity?
        /// A path or URL that stands in when everything failed.
        public var onFailureImage: String?

        /// The defaults.
        public init() {}
    }
}

/// What becomes of a download that nobody waits for any more.
public enum LastCancel: String, Sendable, Hashable, CaseIterable {
    /// It is broken off.
    case abort
    /// It goes on behind everything else, and is cached.
    case finish
}

/// Credentials for one request.
public enum Authorization: Hashable, Sendable {
    /// User name and password (RFC 7617).
    case basic(user: String, password: String)
    /// A token (RFC 6750).
    case bearer(String)
}
