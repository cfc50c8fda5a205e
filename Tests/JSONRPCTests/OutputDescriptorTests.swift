import CTestSupport
import Glibc
import Platform
import Synchronization
import TestSupport
import Testing

@testable import JSONRPC

/// What is written never blocks, and what errors of writing mean.
@Suite struct OutputDescriptorTests {
    private func pipe() throws -> (near: Int32, far: Int32) {
        signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [0, 0]
        try #require(hl_pipe(&ends) == 0)
        return (ends[1], ends[0])
    }

    /// Pieces of all sizes, so that a pipe also becomes full in the middle of a page.
    @Test(arguments: [1, 100, 4096, 5000, 1_000_000])
    func fullPipeThatCannotBeOpenedAgainDoesNotBlock(size: Int) throws {
        let (near, far) = try pipe()
        defer { close(near) }
        let output = OutputDescriptor(near, opensAgain: false)
        let piece = [UInt8](repeating: 7, count: size)
        for _ in 0..<3 {
            var written = 0
            loop: while true {
                switch piece.withUnsafeBytes({ output.write($0) }) {
                case .wrote(let count): written += count
                case .wouldBlock: break loop
                case let other:
                    Issue.record("\(other)")
                    return
                }
            }
            #expect(written > 0)
            var got = 0
            var space = [UInt8](repeating: 0, count: 1 << 16)
            while got < written { got += read(far, &space, space.count) }
            #expect(got == written)
        }
        // Who shares the description does not see it changed.
        #expect(fcntl(near, F_GETFL) & O_NONBLOCK == 0)
        close(far)
        #expect(piece.withUnsafeBytes { output.write($0) } == .gone)
    }

    @Test func onlyErrorsOfAnAbsentClientMeanThatItIsGone() {
        for error in [EPIPE, ECONNRESET, ENOTCONN, EBADF, ENXIO] {
            #expect(OutputDescriptor.outcome(of: error) == .gone)
        }
        for error in [ENOMEM, ENOBUFS] { #expect(OutputDescriptor.outcome(of: error) == .isShort) }
        #expect(OutputDescriptor.outcome(of: EAGAIN) == .wouldBlock)
        for error in [ENOSPC, EFBIG, EIO] { #expect(OutputDescriptor.outcome(of: error) == .failed(errno: error)) }
    }

    @Test func answerThatCannotBeReadBackIsSaidBeforeTheEnd() async throws {
        let (near, far) = try pipe()
        defer { close(far) }
        let spool = ByteSpool()
        let part = try spool.keep([UInt8](repeating: 7, count: 1000))
        try #require(ftruncate(part.file.descriptor, 10) == 0)
        let told = Told()
        let writer = MessageWriter(
            descriptor: near, lowWater: 0, onDrain: {}, onFailure: { told.add($0) }, onGone: { told.add("gone") })
        writer.start(watching: [])
        writer.send(CollectionOfOne(.spooled(part)))
        try await eventually("the end of the writer") { told.all.count == 2 }
        #expect(told.all.first?.contains("cannot be read back") == true)
        #expect(told.all.last == "gone")
        writer.finish()
    }

    private final class Told: Sendable {
        private let sentences = Mutex<[String]>([])
        var all: [String] { sentences.withLock { $0 } }
        func add(_ sentence: String) { sentences.withLock { $0.append(sentence) } }
    }
}
