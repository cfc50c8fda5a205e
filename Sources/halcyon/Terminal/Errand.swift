internal import Terminal

/// Many requests, a window of them under way at a time, and what comes of each in the order they were asked.
struct Errand {
    /// How many requests are under way: more than the engine loads at once, few enough for its memory.
    static let window = 256

    private let dialogue: Dialogue
    private let requests: [Dialogue.Request]

    init(_ dialogue: Dialogue, _ requests: [Dialogue.Request]) {
        self.dialogue = dialogue
        self.requests = requests
    }

    /// Runs all of it.
    ///
    /// - Parameters:
    ///   - patience: Milliseconds to wait for the next message before `pause` is called; nil for ever.
    ///   - progress: Hears how far a request is, by its place among the requests.
    ///   - done: Hears the answers, in the order of the requests.
    /// - Returns: Whether every request was answered.
    func run(
        patience: () -> Int? = { nil }, pause: () -> Void = {},
        progress: (Int, Dialogue.Progress) -> Void = { _, _ in }, done: (Int, Dialogue.Reply) -> Void
    ) -> Bool {
        var places: [Int: Int] = [:]
        var early: [Int: Dialogue.Reply] = [:]
        var (next, finished) = (0, 0)
        while finished < requests.count {
            while next < requests.count, places.count < Self.window {
                places[dialogue.send(requests[next])] = next
                next += 1
            }
            switch dialogue.next(within: patience()) {
            case .progress(let id, let value): if let place = places[id] { progress(place, value) }
            case .reply(let id, let reply):
                guard let place = places.removeValue(forKey: id) else { continue }
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
