internal import Synchronization

/// Collects the responses of one batch, in request order, and sends them as one array when the last one arrives.
final class Batch: Sendable {
    private struct State {
        var slots: [[UInt8]?]
        var missing: Int
    }

    private let state: Mutex<State>
    private let send: @Sendable ([UInt8]) -> Void

    /// A batch of `count` members, each of which must be delivered exactly once.
    init(count: Int, send: @escaping @Sendable ([UInt8]) -> Void) {
        state = Mutex(State(slots: Array(repeating: nil, count: count), missing: count))
        self.send = send
    }

    /// Stores the response of the member at `index`: `nil` for a notification, which has no response.
    func deliver(_ response: [UInt8]?, at index: Int) {
        let finished: [[UInt8]?]? = state.withLock { state in
            state.slots[index] = response
            state.missing -= 1
            return state.missing == 0 ? state.slots : nil
        }
        guard let responses = finished?.compactMap(\.self), !responses.isEmpty else { return }
        var writer = JSONWriter()
        writer.array { array in
            for response in responses { array.writeRaw(response) }
        }
        send(writer.bytes)
    }
}
