public import ImageRecipes
internal import Platform

/// The options of one request, in groups: lookup, storage, network, processing and caller (``Fields``).
///
/// A reference with the semantics of a value: requests with equal options share one copy, because every step of a load holds
/// them and copies took most of the memory of a waiting request. Setting one option copies all.
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

    /// Options with the given groups.
    public init(_ fields: Fields) { box = Box(fields) }

    /// One of the groups.
    @inlinable
    public subscript<Value>(dynamicMember path: WritableKeyPath<Fields, Value>) -> Value {
        @inline(__always) get { box.fields[keyPath: path] }
        @inline(__always) set { change { $0[keyPath: path] = newValue } }
    }

    /// Changes several options with one copy.
    @inlinable
    public mutating func change(_ change: (inout Fields) -> Void) {
        var fields = box.fields
        change(&fields)
        box = Box(fields)
    }

    /// `true` when all options are equal.
    public static func == (one: ImageOptions, other: ImageOptions) -> Bool {
        one.box === other.box || one.box.fields == other.box.fields
    }

    /// Hashes all options.
    public func hash(into hasher: inout Hasher) { hasher.combine(box.fields) }

    /// The options that decide which bytes an entry gets. Those that concern one caller alone, and those that decide what is
    /// made of the image, are at their defaults.
    public var decidingTheEntry: ImageOptions {
        if box === Self.standard { return self }
        let defaults = Self.standard.fields
        var deciding = self
        deciding.change { deciding in
            deciding.caller = defaults.caller
            deciding.network.merges = defaults.network.merges
            // A delegate decides for all callers alike, so callers with a delegate and other limits share no transfer.
            if deciding.network.delegates == nil { deciding.network.limits = defaults.network.limits }
            deciding.network.retry = defaults.network.retry
            deciding.network.waitForConnectivity = defaults.network.waitForConnectivity
            deciding.lookup.negativeCache = defaults.lookup.negativeCache
            deciding.lookup.staleIfError = defaults.lookup.staleIfError
            deciding.storage.lease = defaults.storage.lease
            deciding.processing.wantsPreview = defaults.processing.wantsPreview
            deciding.processing.recipe = defaults.processing.recipe
        }
        return deciding
    }

    /// The options that decide how a loaded image is accepted and stored. Those that decide how it is loaded are at their
    /// defaults.
    var keepingOnlyCacheOptions: ImageOptions {
        let defaults = Self.standard.fields
        var kept = box.fields
        (kept.network, kept.caller) = (defaults.network, defaults.caller)
        kept.storage.memoryCacheAccessExtendingExpiration = nil
        kept.storage.diskCacheAccessExtendingExpiration = nil
        kept.lookup.onlyFromCache = defaults.lookup.onlyFromCache
        kept.lookup.offline = defaults.lookup.offline
        kept.lookup.staleIfError = defaults.lookup.staleIfError
        kept.lookup.negativeCache = defaults.lookup.negativeCache
        kept.lookup.originalCache = defaults.lookup.originalCache
        let limits = kept.processing.limits
        kept.processing = defaults.processing
        if kept.lookup.verifyDecode == true { kept.processing.limits = limits }
        // Most waiting requests store alike and share one copy. No text among these differs in its bytes while being equal.
        return Self.lastKept.value(for: kept) { ImageOptions(kept) }
    }

    private static let lastKept = LastValue<Fields, ImageOptions>()

    /// `true` when no option was given. Options that were set to their defaults may count as given.
    var isStandard: Bool { box === Self.standard }
}

extension ImageOptions {
    /// The groups of options. Every default is that of Kingfisher where it has one.
    public struct Fields: Hashable, Sendable {
        /// Whether and when a cached image may answer.
        public var lookup = LookupOptions()
        /// How the two tiers are read and written.
        public var storage = StorageOptions()
        /// How the image is downloaded when no cached image answers.
        public var network = NetworkOptions()
        /// What is made of the image.
        public var processing = ProcessingOptions()
        /// What concerns the caller alone.
        public var caller = CallerOptions()

        /// The defaults.
        public init() {}
    }
}

/// Whether and when a cached image may answer a request.
public struct LookupOptions: Hashable, Sendable {
    /// Ignores cached images; the loaded image is still stored.
    public var forceRefresh = false
    /// Never loads: an image that is not cached is an error.
    public var onlyFromCache = false
    /// Loads nothing from the network, and answers with the stored image even when it is expired.
    public var offline = false
    /// Whether and when a stored image is revalidated with its server. `nil`: the cache's own setting.
    public var revalidate: Revalidation?
    /// The number of seconds past its expiry for which a stored image may answer when its server cannot be asked. `nil`: only
    /// as far as the server has allowed it.
    public var staleIfError: Double?
    /// The number of seconds for which a permanent failure is remembered. `nil`: the cache's own setting.
    public var negativeCache: Double?
    /// Answers and stores the image only after the codec worker has decoded it completely. `nil`: the cache's own setting.
    public var verifyDecode: Bool?
    /// The digests of which the bytes must have one.
    public var integrity: Integrity?
    /// The name of another cache that is searched before anything is loaded; an image found there is stored here too. The
    /// originals of made images are looked up and stored there instead.
    public var originalCache: String?

    /// The defaults.
    public init() {}
}

/// What is made of the image, and within which limits.
public struct ProcessingOptions: Hashable, Sendable {
    /// The processors and the format of the result. Empty: the original itself.
    public var recipe = ImageRecipe()
    /// Stores the original of a made image too, so that more can be made of it.
    public var cacheOriginalImage = true
    /// The factor by which the lengths of processors are multiplied, such as the pixels per point of a screen.
    public var scaleFactor = 1.0
    /// The limits for decoding and processing.
    public var limits = RenderLimits()
    /// Answers with a placeholder of the image too: a ThumbHash and the dominant colour.
    public var wantsPreview = false

    /// The defaults.
    public init() {}
}

/// What concerns one caller alone: its urgency, its patience, its place.
public struct CallerOptions: Hashable, Sendable {
    /// The priority among waiting downloads, 0…1; higher goes first.
    public var downloadPriority = 0.5
    /// What happens to a download when its last caller is cancelled.
    public var onLastCancel = LastCancel.abort
    /// The name of the place that the image is for. A request for another image in the same slot cancels this one.
    public var slot: String?
    /// The number of seconds until the image must be there, including waiting, redirects, retries and other sources. `nil`: no
    /// deadline.
    public var deadline: Double?
    /// Prefetching loads the bytes into memory too.
    public var alsoPrefetchToMemory = false

    /// The defaults.
    public init() {}
}

/// What happens to a download when its last caller is cancelled.
public enum LastCancel: String, Sendable, Hashable, CaseIterable {
    /// It is aborted.
    case abort
    /// It goes on with the lowest priority, and its image is stored.
    case finish
}

extension ImageOptions {
    /// The options for loading `url` instead of `original`; see ``RequestContent/scoped(from:to:)``.
    func scoped(from original: String, to url: String) -> ImageOptions {
        // Most often it is the same URL.
        if ExactText(original) == ExactText(url) { return self }
        var options = self
        options.network.request = self.network.request.scoped(from: original, to: url)
        return options
    }
}
