/// The life that an entry of either tier was given when it was stored or confirmed: a plain value. The disk tier counts
/// seconds, the memory tier nanoseconds.
package enum EntryLife: Hashable, Sendable {
    case forever
    /// So long from then, and again from each use that extends it.
    case span(Int)
    /// Until a moment, which no use moves.
    case until(Int)

    /// The life that begins at a moment.
    ///
    /// - Parameters:
    ///   - now: The tier's time.
    ///   - wall: The same in seconds since 1970, as dates are.
    ///   - second: What the tier counts for a second.
    init(_ expiration: StorageExpiration, now: Int, wall: Int, second: Int = 1) {
        switch (expiration, expiration.lifetime(at: wall)) {
        case (_, nil): self = .forever
        case (.date, let span?): self = .until(now + span * second)
        case (_, let span?): self = .span(span * second)
        }
    }

    /// The end of the life that begins, or begins anew, at a moment; `nil` for never.
    func end(from now: Int) -> Int? {
        switch self {
        case .forever: nil
        case .span(let seconds): now + seconds
        case .until(let moment): moment
        }
    }

    /// The length of a span; `nil` for another life.
    var span: Int? { if case .span(let seconds) = self { seconds } else { nil } }

    /// The moment that no use moves; `nil` for another life.
    var limit: Int? { if case .until(let moment) = self { moment } else { nil } }

    // MARK: As the index and the log of entries keep it

    /// One number: the seconds of a span, a fixed moment below zero; `nil` for ever.
    var number: Int? {
        switch self {
        case .forever: nil
        case .span(let seconds): seconds
        // −1 is a life without end in the log.
        case .until(let moment): -max(moment, 2)
        }
    }

    init(number: Int?) {
        switch number {
        case nil: self = .forever
        case let number? where number < 0: self = .until(0 &- number)
        case let number?: self = .span(number)
        }
    }

    /// `true` when a version of ours could have written it.
    var isPlausible: Bool {
        switch self {
        case .forever: true
        case .span(let value), .until(let value): CacheClock.times.contains(value)
        }
    }
}
