internal import Terminal

/// Many requests, of which a limited number is open at a time. Answers are delivered in the order of the requests.
struct RequestBatch {
    /// The largest number of open requests: more than the engine loads at once, few enough for its memory.
    static let window = 256

    private let dialogue: Dialogue
    private let requests: [Dialogue.Request]

    init(_ dialogue: Dialogue, _ requests: [Dialogue.Request]) {
        self.dialogue = dialogue
        self.requests = requests
    }

    /// Sends all requests and waits for all answers.
    ///
    /// - Parameters:
    ///   - patience: The milliseconds to wait for the next message before `pause` is called; `nil` to wait without limit.
    ///   - progress: Called with the progress of a request and its index among the requests.
    ///   - follow: Called with the first answer to each request: returns the request whose answer counts instead.
    ///   - arrived: Called with each answer that counts, as soon as it is there.
    ///   - done: Called with each answer that counts, in the order of the requests.
    ///   - isOver: Asked after each message: `true` when nobody wants the rest.
    /// - Returns: `true` when every request was answered.
    func run(
        patience: () -> Int? = { nil }, pause: () -> Void = {},
        progress: (Int, Dialogue.Progress) -> Void = { _, _ in },
        follow: (Int, Dialogue.Reply) -> Dialogue.Request? = { _, _ in nil },
        arrived: (Int, Dialogue.Reply) -> Void = { _, _ in }, done: (Int, Dialogue.Reply) -> Void,
        isOver: () -> Bool = { false }
    ) -> Bool {
        var places: [Int: Int] = [:]
        var followed: Set<Int> = []
        var early: [Int: Dialogue.Reply] = [:]
        var (next, finished) = (0, 0)
        while finished < requests.count {
            if isOver() { return false }
            while next < requests.count, places.count < Self.window {
                places[dialogue.send(requests[next])] = next
                next += 1
            }
            switch dialogue.next(within: patience()) {
            case .progress(let id, let value): if let place = places[id] { progress(place, value) }
            case .reply(let id, let reply):
                guard let place = places.removeValue(forKey: id) else { continue }
                if followed.insert(place).inserted, let next = follow(place, reply) {
                    places[dialogue.send(next)] = place
                    continue
                }
                arrived(place, reply)
                early[place] = reply
                while let reply = early.removeValue(forKey: finished) {
                    done(finished, reply)
                    finished += 1
                }
            case .silence: pause()
            case .other: continue
            case nil: return false
            }
        }
        return true
    }
}
