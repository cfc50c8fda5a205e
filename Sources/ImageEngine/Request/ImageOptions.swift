public import ImageRecipes
internal import Platform
internal import Synchronization

/// The options of one request, in groups: lookup, storage, network, processing and caller (``Fields``).
///
/// A reference with value semantics: requests with equal options share one copy, because every step of a load holds
/// them and copies took most of the memory of a waiting request. Setting one option copies all.
@dynamicMemberLookup
public struct ImageOptions: Hashable, Sendable {
    @usableFromInline
    final class Box: Sendable {
        @usableFromInline let fields: Fields
        /// ``keepingOnlyCacheOptions`` of these.
        let kept = Mutex<ImageOptions?>(nil)

        @usableFromInline
        init(_ fields: Fields) { self.fields = fields }
    }

    @usableFromInline var box: Box

    static let standard = Box(Fields())

    /// The defaults.
    public init() { box = Self.standard }

    /// Options with the given groups.
    public init(_ fields: Fields) { box = Box(fields) }

    /// The groups.
    public var fields: Fields { box.fields }

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

    /// `true` when no option was given. Options that were set to their defaults may count as given.
    var isStandard: Bool { box === Self.standard }
}

extension ImageOptions {
    /// The groups of options. Defaults are those of Kingfisher where it has one.
    public struct Fields: Hashable, Sendable {
        /// The options for answering with a cached image.
        public var lookup = LookupOptions()
        /// The options for reading and writing the two tiers.
        public var storage = StorageOptions()
        /// The options for the download when no cached image answers.
        public var network = NetworkOptions()
        /// The options for processing the image.
        public var processing = ProcessingOptions()
        /// The options of the caller alone.
        public var caller = CallerOptions()

        /// The defaults.
        public init() {}
    }
}

/// The options for answering a request with a cached image.
public struct LookupOptions: Hashable, Sendable {
    /// `true` when cached images are ignored; the loaded image is still stored.
    public var forceRefresh = false
    /// `true` when nothing is loaded: an image that is not cached is an error.
    public var onlyFromCache = false
    /// `true` when nothing is loaded from the network, and the stored image answers even if it is expired.
    public var offline = false
    /// The rule for revalidating a stored image with its server. `nil`: the cache's setting.
    public var revalidate: Revalidation?
    /// `true` when the request follows the rules of HTTP about freshness and storing.
    var followsHTTP: Bool { revalidate == .http }
    /// The number of seconds past its expiry for which a stored image may answer when its server cannot be asked.
    /// `nil`: only as long as the server allows.
    public var staleIfError: Double?
    /// The number of seconds for which a permanent failure is remembered. `nil`: the cache's setting.
    public var negativeCache: Double?
    /// `true` when the image is answered and stored only after complete decoding. `nil`: the cache's setting.
    public var verifyDecode: Bool?
    /// The digests of which the bytes must match one.
    public var integrity: Integrity?
    /// The name of the user whose entry answers and stores. `nil`: the credentials identify the user.
    public var scope: String?
    /// The treatment of what is loaded with credentials.
    public var credentialScope = CredentialScope.separate
    /// The use of the tier that several machines share.
    public var remote = RemoteUse.use
    /// The name of another cache that is searched before loading; an image found there is stored here too. The
    /// originals of made images are looked up and stored there instead.
    public var originalCache: String?

    /// The defaults.
    public init() {}
}

/// The treatment of what is loaded with credentials.
public enum CredentialScope: String, Sendable, Hashable, CaseIterable {
    /// It is kept apart for each user.
    case separate
    /// It is kept for all, as if it had been loaded without.
    case shared
}

extension LookupOptions {
    /// The user whose entry answers and stores.
    var user: RequestUser { credentialScope == .shared ? .anyone : scope.map { .named($0) } ?? .credentials }
}

/// The options for processing the image, with limits.
public struct ProcessingOptions: Hashable, Sendable {
    /// The processors and the format of the result. Empty: the original itself.
    public var recipe = ImageRecipe()
    /// `true` when the original of a made image is stored too, so that further images can be made from it.
    public var cacheOriginalImage = true
    /// The factor for the lengths of processors, such as the pixels per point of a screen.
    public var scaleFactor = 1.0
    /// The limits for decoding and processing.
    public var limits = RenderLimits()
    /// `true` when the answer includes a placeholder of the image: a ThumbHash, a BlurHash and the dominant colour.
    public var wantsPreview = false

    /// The defaults.
    public init() {}
}

/// The options of one caller alone: priority, deadline and slot.
public struct CallerOptions: Hashable, Sendable {
    /// The priority among waiting downloads, 0…1; higher goes first.
    public var downloadPriority = 0.5
    /// The treatment of a download when its last caller is cancelled.
    public var onLastCancel = LastCancel.abort
    /// The name of the slot that shows the image. A request for another image in the same slot cancels this one.
    public var slot: String?
    /// The time limit for the whole request in seconds, with queues, redirects, retries and other sources. `nil`: none.
    public var deadline: Double?
    /// `true` when the answer tells result and timing of the download.
    public var wantsReport = false
    /// `true` when prefetching loads the bytes into memory too.
    public var alsoPrefetchToMemory = false

    /// The defaults.
    public init() {}
}

/// The treatment of a download when its last caller is cancelled.
public enum LastCancel: String, Sendable, Hashable, CaseIterable {
    /// The download is aborted.
    case abort
    /// The download continues with the lowest priority, and its image is stored.
    case finish
}

extension ImageOptions {
    /// `true` when further attempts may follow a failure, or there is a deadline.
    var mayTakeSeveralAttempts: Bool {
        let fields = box.fields
        return fields.network.retry.maxRetries > 0 || fields.network.waitForConnectivity != nil
            || !fields.network.alternativeSources.isEmpty || fields.caller.deadline != nil
    }

    /// The longest wait in seconds for another process that holds the index.
    ///
    /// - Parameter part: The part of the deadline for it.
    func patience(part: Double) -> Double {
        let fields = box.fields
        return min(fields.network.limits.timeoutSeconds, (fields.caller.deadline ?? .infinity) * part)
    }

    /// The longest wait for the index, in seconds, for an image that has to be loaded: most of the deadline is for that.
    var patience: Double { patience(part: 0.25) }

    /// The options for loading `url` instead of `original`; see ``RequestContent/scoped(from:to:)``.
    func scoped(from original: String, to url: String) -> ImageOptions {
        // Fast path: the URL is usually the same.
        if ExactText(original) == ExactText(url) { return self }
        var options = self
        options.network.request = self.network.request.scoped(from: original, to: url)
        return options
    }
}
