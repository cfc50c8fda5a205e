/// How long an entry lives.
public enum StorageExpiration: Hashable, Sendable {
    /// It does not expire.
    case never
    /// It is expired already.
    case expired
    /// It lives for so many seconds; a negative number means for ever.
    case seconds(Double)
    /// It lives until a moment, in seconds since 1970.
    case date(Int)

    /// It lives for so many days; a negative number means for ever.
    public static func days(_ days: Double) -> StorageExpiration { .seconds(days * 86_400) }

    /// How many seconds an entry stored at `now` (seconds since 1970) lives; nil when for ever. Clamped to a century.
    public func lifetime(at now: Int) -> Int? {
        let century = 3_155_760_000
        switch self {
        case .never: return nil
        case .expired: return 0
        case .seconds(let seconds):
            return seconds < 0 || seconds.isNaN ? nil : Int(min(seconds, Double(century)).rounded(.up))
        case .date(let date):
            let (rest, overflow) = date.subtractingReportingOverflow(now)
            return overflow ? (date < now ? 0 : century) : min(max(rest, 0), century)
        }
    }
}

/// What an access does to the life of an entry.
public enum ExpirationExtension: Hashable, Sendable {
    /// Nothing.
    case none
    /// The entry lives as long again as when it was stored.
    case cacheTime
    /// The entry lives this long from now.
    case expiration(StorageExpiration)
}
