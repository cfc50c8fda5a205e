import ImageEngine
import Synchronization
import Testing

@testable import ImageServer
@testable import JSONRPC

/// Requests that take each other's place.
@Suite struct OpenRequestsTests {
    @Test func thousandsThatTookEachOthersPlaceStopOneAfterTheOtherAndOnce() {
        let requests = OpenRequests()
        let stopped = Mutex<[UInt64]>([])
        let count: UInt64 = 100_000
        var last: Call?
        for serial in 1...count {
            let entry = OpenRequests.Entry(
                cache: "default", urls: ["http://h/\(serial)"], slot: "s", priority: CallPriority(0.5),
                previous: requests.supersede(slot: "s"))
            let call = Call(id: .string("\(serial)"), serial: serial, deliver: { _, _ in }, post: { _ in })
            requests.add(entry, call)
            call.onCancel { stopped.withLock { $0.append(serial) } }
            last = call
        }
        #expect(stopped.withLock { $0.isEmpty }, "the work of the others goes on until that of the last one does")
        last?.end(.requestCancelled)
        #expect(stopped.withLock { $0.sorted() } == Array(1...count))
    }
}
