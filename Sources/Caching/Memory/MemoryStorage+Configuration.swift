extension MemoryStorage {
    /// The settings of a storage. All of them can be changed while it runs.
    public struct Configuration: Sendable, Equatable {
        /// `true` when anything is held at all; the default.
        public var isEnabled = true
        /// The most bytes that the storage may hold; 100 MiB by default, 0 for nothing.
        public var costLimit = 100 << 20
        /// The bytes that a purge leaves; 60 MiB by default. When it is above ``costLimit``, that counts.
        public var preferredCost = 60 << 20
        /// The most values; 0 (the default) for no limit.
        public var countLimit = 0
        /// The most bytes that one value may cost; `nil`, the default, for a tenth of ``costLimit``.
        public var entryCostLimit: Int?
        /// The most bytes of light values together; 3 MiB by default.
        public var lightLimit = 3 << 20
        /// The life of a value; 300 s by default.
        public var expiration = StorageExpiration.seconds(300)
        /// The effect of an access on that: begins it anew by default (sliding); `none` is absolute.
        public var extending = ExpirationExtension.cacheTime
        /// `true` when a purged value is found again as long as somebody in the process still holds it; the default.
        public var isWeaklyRetaining = true

        /// The default limits.
        public init() {}

        var holdsAnything: Bool { isEnabled && costLimit > 0 }

        /// The admission of a value of that cost. Asked before a store it saves work: the store asks again, and that is final.
        ///
        /// - Parameter isLight: `true` when only the limit of the whole storage counts.
        package func admission(cost: Int, isLight: Bool) -> MemoryAdmission {
            guard holdsAnything else { return .disabled }
            guard cost <= costLimit else { return .tooLarge(.total(costLimit), cost: cost) }
            let limit = entryCostLimit ?? costLimit / 10
            return isLight || cost <= limit ? .kept : .tooLarge(.entry(limit), cost: cost)
        }
    }
}

/// The answer to a value that was offered to memory.
public enum MemoryAdmission: Sendable, Equatable {
    /// It is held.
    case kept
    /// It costs more than one value may.
    case tooLarge(Limit, cost: Int)
    /// Nothing is held at all.
    case disabled
    /// It was to live no time at all.
    case expired
    /// Its caller did not want it held.
    case unwanted
    /// There is one already, which was not to be replaced.
    case occupied

    /// The limit that a value passed, with its size in bytes.
    public enum Limit: Sendable, Equatable {
        /// That of a single value.
        case entry(Int)
        /// That of all values together.
        case total(Int)
    }

    /// The setting that kept a value out; `nil` when it is held.
    package var setting: String? {
        switch self {
        case .kept: nil
        case .tooLarge(.entry, _): "entryBytesLimit"
        case .tooLarge(.total, _), .disabled: "totalBytesLimit"
        case .expired: "memoryCacheExpiration"
        case .unwanted: "memory"
        case .occupied: "overwrite"
        }
    }

    /// The reason why a value is not held, as a sentence that names the setting; `nil` when it is held.
    public var reason: String? {
        switch self {
        case .kept: nil
        case .tooLarge(.entry(let limit), let cost):
            "Its \(cost) bytes are more than entryBytesLimit allows for one image in memory, \(limit)."
        case .tooLarge(.total(let limit), let cost):
            "Its \(cost) bytes are more than totalBytesLimit allows for all of memory, \(limit)."
        case .disabled: "Memory holds nothing: it is turned off, or its totalBytesLimit is 0."
        case .occupied: "An image is there already, and overwrite is false."
        case .expired: "Its memoryCacheExpiration lets it live no time in memory."
        case .unwanted: "The option memory is false."
        }
    }
}
