internal import Platform
internal import Synchronization

/// Remembers images that the index did not have when it was last asked.
///
/// A download looks into the cache once more before it begins, for another process may have brought the image since. Where
/// nobody has brought anything, it need not.
///
/// - Complexity: O(1), with room for the last few thousand misses; a forgotten one costs a look.
final class KnownMisses: Sendable {
    private struct Miss {
        let number: Int64
        let mark: StoreMark
    }

    private static let places = 4096
    /// Empty until the first miss: a process that only answers needs none of it.
    private let misses = Mutex<[Miss?]>([])

    private static func place(_ number: Int64) -> Int { Int(UInt64(bitPattern: number) % UInt64(places)) }

    /// Records that the index does not have the image `number`.
    ///
    /// - Parameter mark: From before it was asked.
    func note(_ number: Int64, _ mark: StoreMark) {
        misses.withLock { misses in
            if misses.isEmpty { misses = Array(repeating: nil, count: Self.places) }
            misses[Self.place(number)] = Miss(number: number, mark: mark)
        }
    }

    /// `true` when the image is known to be missing still.
    ///
    /// - Parameter mark: From now.
    func isKnown(_ number: Int64, _ mark: StoreMark) -> Bool {
        misses.withLock { misses in
            guard !misses.isEmpty, let miss = misses[Self.place(number)] else { return false }
            return miss.number == number && miss.mark == mark
        }
    }
}
