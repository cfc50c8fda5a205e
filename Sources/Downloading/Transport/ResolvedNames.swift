internal import Platform
internal import Synchronization

/// Keeps the lines of a list that all processes on one folder share, also after their end.
package protocol LineStore: Sendable {
    /// The lines that were added, by any process, since the last call. Must not wait long.
    func news() -> [String]
    /// Adds a line. A failure is not reported. Must not wait long.
    func add(_ line: String)
}

/// The most public address class of each host name, so that a name that later resolves to a more private address is
/// rejected, in this process and in the next. Bounded: the oldest names are dropped.
final class ResolvedNames: Sendable {
    static let limit = 4096

    private struct Known {
        var classes: [String: AddressClass] = [:]
        var order: [String] = []

        /// Returns `true` when the name is new or the class more public than the one known.
        mutating func note(_ mark: String, _ type: AddressClass) -> Bool {
            if let known = classes[mark] {
                if type < known { classes[mark] = type }
                return type < known
            }
            if order.count >= ResolvedNames.limit {
                for mark in order.prefix(ResolvedNames.limit / 2) { classes[mark] = nil }
                order.removeFirst(ResolvedNames.limit / 2)
            }
            classes[mark] = type
            order.append(mark)
            return true
        }
    }

    private let known = Mutex(Known())
    /// The classes that the processes on one folder know. `nil`: they are not kept.
    private let store: (any LineStore)?

    init(_ store: (any LineStore)? = nil) { self.store = store }

    /// The most public class of the addresses of `name`.
    subscript(name: String) -> AddressClass? {
        known.withLock { known in
            for line in store?.news() ?? [] {
                let words = line.split(separator: " ")
                guard words.count == 2, let number = Int(words[1]), AddressClass.allCases.indices.contains(number)
                else { continue }
                _ = known.note(String(words[0]), AddressClass.allCases[number])
            }
            return known.classes[Self.mark(name)]
        }
    }

    func add(_ name: String, _ type: AddressClass) {
        let mark = Self.mark(name)
        let isNews = known.withLock { $0.note(mark, type) }
        guard isNews, let store, let number = AddressClass.allCases.firstIndex(of: type) else { return }
        store.add("\(mark) \(number)")
    }

    /// The name in the list, which tells nobody the hosts that were used.
    private static func mark(_ name: String) -> String { String(Digest(of: name).hex.prefix(16)) }
}
