/// The requests to the client that have no answer yet, in the order of arrival, as a plain value.
///
/// Only ``capacity`` of them are with the client at a time; the others wait. Each ends exactly once: by an answer, by
/// its timeout, by a cancellation, or by the end of the connection.
///
/// - Complexity: O(1) for everything but ``end()``.
struct ClientRequestTable<Waiter: Sendable>: Sendable {
    /// The progress of a request at one moment; see ``expire(_:since:)``.
    struct Progress: Equatable, Sendable {
        let isSent: Bool
        /// The number of answers received until then, while the request itself is not sent; 0 once it is.
        let answers: Int
    }

    /// The effect of an expired timer on a request.
    enum Expiry: Sendable {
        /// The request has ended already.
        case ended
        /// The timeout starts again: the request had not been sent, or others were answered before it.
        case restarted
        /// The timeout has expired.
        case expired(Waiter, wasSent: Bool)
    }

    private struct Entry: Sendable {
        let waiter: Waiter
        var isSent = false
    }

    private let capacity: Int
    private var entries: [UInt64: Entry] = [:]
    private var queue: [UInt64] = []
    /// The number of entries at the front of the queue that are processed already.
    private var processed = 0
    private var answers = 0
    /// The number of requests that are with the client.
    private(set) var sentCount = 0
    private(set) var hasEnded = false

    init(capacity: Int) { self.capacity = capacity }

    /// The number of requests that have no answer yet.
    var count: Int { entries.count }

    /// Adds a request; `false` when the connection has ended.
    mutating func ask(_ serial: UInt64, _ waiter: Waiter) -> Bool {
        guard !hasEnded else { return false }
        entries[serial] = Entry(waiter: waiter)
        queue.append(serial)
        return true
    }

    /// The next request to send; `nil` when none waits, or when ``capacity`` requests are with the client.
    mutating func sendNext() -> (serial: UInt64, waiter: Waiter)? {
        guard sentCount < capacity else { return nil }
        while processed < queue.count {
            let serial = queue[processed]
            processed += 1
            if processed > 64, processed * 2 > queue.count {
                queue.removeFirst(processed)
                processed = 0
            }
            guard let entry = entries[serial] else { continue }
            entries[serial]?.isSent = true
            sentCount += 1
            return (serial, entry.waiter)
        }
        return nil
    }

    /// Removes a request that the client has answered; `nil` when no such request was sent.
    mutating func answer(_ serial: UInt64) -> Waiter? {
        guard entries[serial]?.isSent == true else { return nil }
        answers += 1
        return remove(serial)?.waiter
    }

    /// Removes a request whose answer is no longer wanted.
    mutating func abandon(_ serial: UInt64) -> (waiter: Waiter, wasSent: Bool)? { remove(serial) }

    /// The progress of a request; `nil` when it has ended.
    func progress(_ serial: UInt64) -> Progress? {
        entries[serial].map { Progress(isSent: $0.isSent, answers: $0.isSent ? 0 : answers) }
    }

    /// Removes a request whose timeout was measured since `earlier` and has expired.
    ///
    /// The timeout of a request that is not sent yet starts again as long as the client answers other requests.
    mutating func expire(_ serial: UInt64, since earlier: Progress) -> Expiry {
        guard let now = progress(serial) else { return .ended }
        guard now == earlier else { return .restarted }
        guard let (waiter, wasSent) = remove(serial) else { return .ended }
        return .expired(waiter, wasSent: wasSent)
    }

    /// Removes every request and returns the waiters in order; later requests are refused.
    mutating func end() -> [Waiter] {
        hasEnded = true
        let all = entries.sorted { $0.key < $1.key }.map(\.value.waiter)
        entries = [:]
        queue = []
        processed = 0
        sentCount = 0
        return all
    }

    private mutating func remove(_ serial: UInt64) -> (waiter: Waiter, wasSent: Bool)? {
        guard let entry = entries.removeValue(forKey: serial) else { return nil }
        if entry.isSent { sentCount -= 1 }
        return (entry.waiter, entry.isSent)
    }
}
