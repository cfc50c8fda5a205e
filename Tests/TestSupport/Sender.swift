import Foundation
import Glibc
import Platform
import Synchronization

/// Work on a thread of its own, for sending more than a pipe takes while nobody reads.
public final class Sender: Sendable {
    private let outcome = Mutex<Result<Void, any Error>?>(nil)

    /// Starts the work.
    public init(_ work: @escaping @Sendable () throws -> Void) {
        startThread { [self] in
            let result = Result { try work() }
            outcome.withLock { $0 = result }
        }
    }

    /// Whether the work has ended, well or not.
    public var isDone: Bool { outcome.withLock { $0 != nil } }

    /// Waits for the work to end.
    ///
    /// - Throws: What the work threw, or ``PatienceExhausted``.
    public func finish() throws {
        try waitUntil("the end of the sending", blocking: { isDone })
        try outcome.withLock { $0 }?.get()
    }
}

extension ServerProcess {
    /// Waits until the server neither reads nor computes any more, or `isDone`.
    public func waitUntilStalled(orDone isDone: () -> Bool) throws {
        var last = (work: -1, unread: Int32(-1))
        var quiet = 0
        try waitUntil("the server coming to rest") {
            var unread: Int32 = 0
            _ = ioctl(inputDescriptor, UInt(FIONREAD), &unread)
            let now = (work: processorTicks, unread: unread)
            quiet = now == last && isAsleep ? quiet + 1 : 0
            last = now
            return isDone() || quiet == 60
        }
    }

    /// `true` when no thread of the process has work: on a busy machine one that has may wait long for its turn.
    private var isAsleep: Bool {
        let folder = "/proc/\(process)/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return threads.allSatisfy { thread in
            let stat = (try? String(contentsOfFile: "\(folder)/\(thread)/stat", encoding: .utf8)) ?? ""
            return stat.isEmpty || stat.split(separator: ")").last?.hasPrefix(" S") == true
        }
    }

    /// Time the process has computed so far, in hundredths of a second.
    private var processorTicks: Int {
        let stat = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
        let fields = stat.split(separator: " ")
        return fields.count > 14 ? (Int(fields[13]) ?? 0) + (Int(fields[14]) ?? 0) : 0
    }
}
