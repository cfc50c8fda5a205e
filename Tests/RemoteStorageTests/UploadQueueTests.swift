import TestSupport
import Testing

@testable import RemoteStorage

/// The bounds of what waits for its upload.
@Suite struct UploadQueueTests {
    private let names = Counter()

    /// An upload with a name of its own, unless one is given.
    private func upload(_ count: Int, named name: String? = nil) -> RemoteUpload {
        RemoteUpload(name ?? "\(names.add())", byteCount: count, seconds: nil, claim: nil) { nil }
    }

    private func append(_ count: Int, _ queue: inout UploadQueue) -> Bool { queue.append(upload(count)).isQueued }

    @Test func neitherTheNumberNorTheBytesOfWhatWaitsAndRunsGoesOverItsBound() {
        var queue = UploadQueue()
        let taken = (0...UploadQueue.mostUploads).map { _ in append(1, &queue) }
        #expect(taken.count(where: { $0 }) == UploadQueue.mostUploads && taken.last == false)
        var large = UploadQueue()
        #expect(append(UploadQueue.mostBytes, &large) && !append(1, &large))
        let running = large.next()
        #expect(!append(1, &large), "what runs counts too")
        if let running { large.end(running) }
        #expect(large.bytes == 0 && append(UploadQueue.mostBytes + 1, &large), "one that is larger goes alone")
    }

    @Test func aFewRunAtATimeInOrder() {
        var queue = UploadQueue()
        for count in 1...10 { _ = queue.append(upload(count)) }
        var running: [RemoteUpload] = []
        while let next = queue.next() { running.append(next) }
        #expect(running.map(\.byteCount) == Array(1...UploadQueue.width))
        queue.end(running[0])
        #expect(queue.next()?.byteCount == UploadQueue.width + 1)
    }

    @Test func whatHasNotBegunCanBeDropped() {
        var queue = UploadQueue()
        for _ in 0..<10 { _ = queue.append(upload(5)) }
        let running = queue.next()
        let dropped = queue.drop { _ in true }
        #expect(dropped.count == 9 && queue.count == 1 && queue.bytes == 5)
        if let running { queue.end(running) }
        #expect(queue.count == 0 && queue.bytes == 0)
    }

    @Test func theLastObjectOfANameIsTheOneThatStays() {
        var queue = UploadQueue()
        for count in [1, 2, 3] {
            #expect(queue.append(upload(count, named: "same")).replaced.map(\.byteCount) == (count == 3 ? [2] : []))
            if count == 1 { #expect(begin(&queue)?.byteCount == 1) }
        }
        _ = queue.append(upload(9, named: "other"))
        #expect(queue.count == 3 && queue.bytes == 1 + 3 + 9, "the second was replaced")
        #expect(begin(&queue)?.name == "other" && begin(&queue)?.name == nil, "one of a name at a time")
        queue.end(upload(1, named: "same"))
        #expect(begin(&queue)?.byteCount == 3)
    }

    @Test func noUploadOfANameBeginsWhileItsObjectIsRemoved() {
        var queue = UploadQueue()
        _ = queue.append(upload(1, named: "same"))
        #expect(queue.beginRemoval("same").count == 1 && queue.beginRemoval("same").isEmpty && queue.count == 0)
        _ = queue.append(upload(2, named: "same"))
        _ = queue.append(upload(3, named: "other"))
        #expect(begin(&queue)?.name == "other" && begin(&queue) == nil && queue.isRemoving("same"))
        queue.endRemoval("same")
        #expect(begin(&queue) == nil, "the other removal goes on")
        queue.endRemoval("same")
        queue.endRemoval("same")
        #expect(!queue.isRemoving("same") && begin(&queue)?.byteCount == 2)
    }

    private func begin(_ queue: inout UploadQueue) -> RemoteUpload? { queue.next() }
}
