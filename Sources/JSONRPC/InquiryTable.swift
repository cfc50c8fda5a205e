/// The requests to the client that have no answer yet, in the order they were asked: a plain value.
///
/// Only ``capacity`` of them are with the client at a time; the others wait for their turn. Each comes to exactly one
/// end: an answer, its time, somebody who no longer wants it, or the end of the connection.
///
/// - Complexity: O(1) for everything but ``end()``.
struct InquiryTable<Waiter: Sendable>: Sendable {
    /// Where a request stood when somebody looked; see ``expire(_:since:)``.
    struct Standing: Equatable, Sendable {
        let isSent: Bool
        /// How many answers had come by then.
        let answers: Int
    }

    /// What the end of a wait means for a request.
    enum Expiry: Sendable {
        /// It has ended already.
        case over
        /// Its time begins anew: it had not been sent, or others were answered before it.
        case again
        /// Its time is over.
        case expired(Waiter, wasSent: Bool)
    }

    private struct Entry: Sendable {
        let waiter: Waiter
        var isSent = false
    }

    private let capacity: Int
    private var entries: [UInt64: Entry] = [:]
    private var queue: [UInt64] = []
    /// Places at the front of the queue that are done with.
    private var done = 0
    private var answers = 0
    /// How many are with the client.
    private(set) var sentCount = 0
    private(set) var hasEnded = false

    init(capacity: Int) { self.capacity = capacity }

    /// How many have no answer yet.
    var count: Int { entries.count }

    /// Takes a request in; false when the connection has ended.
    mutating func ask(_ serial: UInt64, _ waiter: Waiter) -> Bool {
        guard !hasEnded else { return false }
        entries[serial] = Entry(waiter: waiter)
        queue.append(serial)
        return true
    }

    /// The next request to be sent now; nil when none waits, or enough are with the client.
    mutating func sendNext() -> (serial: UInt64, waiter: Waiter)? {
        guard sentCount < capacity else { return nil }
        while done < queue.count {
            let serial = queue[done]
            done += 1
            if done > 64, done * 2 > queue.count {
                queue.removeFirst(done)
                done = 0
            }
            guard let entry = entries[serial] else { continue }
            entries[serial]?.isSent = true
            sentCount += 1
            return (serial, entry.waiter)
        }
        return nil
    }

    /// Takes out a request that the client has answered; nil when there is none that it was asked.
    mutating func answer(_ serial: UInt64) -> Waiter? {
        guard entries[serial]?.isSent == true else { return nil }
        answers += 1
        return remove(serial)?.waiter
    }

    /// Takes out a request that nobody waits for any more.
    mutating func abandon(_ serial: UInt64) -> (waiter: Waiter, wasSent: Bool)? { remove(serial) }

    /// Where a request stands; nil when it has ended.
    func standing(_ serial: UInt64) -> Standing? {
        entries[serial].map { Standing(isSent: $0.isSent, answers: $0.isSent ? 0 : answers) }
    }

    /// Takes out a request whose time was measured since `earlier` and is over.
    ///
    /// The time of one that waits for its turn begins anew as long as the client answers the others.
    mutating func expire(_ serial: UInt64, since earlier: Standing) -> Expiry {
        guard let now = standing(serial) else { return .over }
        guard now == earlier else { return .again }
        guard let (waiter, wasSent) = remove(serial) else { return .over }
        return .expired(waiter, wasSent: wasSent)
    }

    /// Takes everything out, in the order it was asked; nothing is taken in any more.
    mutating func end() -> [Waiter] {
        hasEnded = true
        let all = entries.sorted { $0.key < $1.key }.map(\.value.waiter)
        entries = [:]
        queue = []
        done = 0
        sentCount = 0
        return all
    }

    private mutating func remove(_ serial: UInt64) -> (waiter: Waiter, wasSent: Bool)? {
        guard let entry = entries.removeValue(forKey: serial) else { return nil }
        if entry.isSent { sentCount -= 1 }
        return (entry.waiter, entry.isSent)
    }
}
