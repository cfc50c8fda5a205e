internal import Platform
internal import Synchronization

/// Collects the responses of one batch, in request order, and sends them as one array when the last one arrives.
///
/// Until then nothing of the array is written: a member may wait for a download or for an answer of the client, and no
/// other message could be sent in the middle of an array. What ``OutputBudget`` has no room for waits in a
/// ``ByteSpool``, and is copied from there to the client piece by piece.
final class Batch: Sendable {
    private struct State: Sendable {
        var slots: [OutputPiece?]
        var missing: Int
        /// The bytes of all responses.
        var count = 0
        /// Those that are in memory.
        var kept = 0
    }

    private let state: Mutex<State>
    private let limit: Int
    private let budget: OutputBudget
    private let writer: MessageWriter

    /// A batch of `count` members, each of which must be delivered exactly once.
    ///
    /// - Parameter limit: The most bytes of all responses; a response beyond it becomes an error.
    init(count: Int, limit: Int, budget: OutputBudget, writer: MessageWriter) {
        state = Mutex(State(slots: Array(repeating: nil, count: count), missing: count))
        (self.limit, self.budget, self.writer) = (limit, budget, writer)
    }

    /// Stores the response to `id`, the member at `index`: `nil` when it has none, as a notification.
    func deliver(_ response: [UInt8]?, to id: RequestID?, at index: Int) {
        let finished: (pieces: [OutputPiece], kept: Int)? = state.withLock { state in
            if let response { state.slots[index] = place(response, to: id, &state) }
            state.missing -= 1
            guard state.missing == 0 else { return nil }
            return (state.slots.compactMap(\.self), state.kept)
        }
        guard let finished, !finished.pieces.isEmpty else { return }
        var pieces: [OutputPiece] = []
        for piece in finished.pieces { pieces += [.bytes([UInt8(ascii: pieces.isEmpty ? "[" : ",")]), piece] }
        writer.send(pieces + [.bytes([UInt8(ascii: "]")])])
        budget.leaveBatch(finished.kept)
    }

    /// Counts a response and finds its place, in memory or in the file.
    private func place(_ response: [UInt8], to id: RequestID?, _ state: inout State) -> OutputPiece {
        var response = response
        if state.count + response.count > limit {
            response = Response.error(
                id: id ?? .null,
                .invalidRequest(
                    "The answers to this batch are longer than \(limit) bytes; send its requests singly.",
                    limit: "batchBytes"))
        }
        state.count += response.count
        if budget.keepInBatch(response.count) {
            state.kept += response.count
            return .bytes(response)
        }
        do { return .spooled(try budget.spool.keep(response)) } catch {
            return .bytes(
                Response.error(
                    id: id ?? .null,
                    .internalError(
                        "Answers to a batch wait in a temporary file, which failed: \(error). Send its requests singly."
                    )))
        }
    }
}

/// A part of what is written to the client.
enum OutputPiece: Sendable {
    case bytes([UInt8])
    case spooled(ByteSpool.Part)

    var count: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        case .spooled(let part): part.range.count
        }
    }
}
