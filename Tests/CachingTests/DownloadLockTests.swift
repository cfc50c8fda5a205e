import Glibc
import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// The bytes of the file of flights.
@Suite struct DownloadLockTests {
    private let scratch: TemporaryFolder
    private var folder: String { scratch.path + "/cache" }
    private let one = Digest(of: "one")

    init() throws { scratch = try TemporaryFolder() }

    /// As another process has them: with a file opened for itself.
    private func flights() -> DownloadLock { DownloadLock(folder: StorageFolder(path: folder)) }

    private func taken(_ attempt: DownloadLock.Attempt) -> DownloadLockHold? {
        if case .taken(let flight) = attempt { flight } else { nil }
    }

    private func isBusy(_ attempt: DownloadLock.Attempt) -> Bool {
        if case .busy = attempt { true } else { false }
    }

    private func isImpossible(_ attempt: DownloadLock.Attempt) -> Bool {
        if case .impossible = attempt { true } else { false }
    }

    @Test func onlyOneOpeningHasAFlightAtATime() throws {
        let (here, there) = (flights(), flights())
        var flight = taken(here.take(one))
        #expect(flight != nil)
        #expect(isBusy(there.take(one)))
        #expect(taken(there.take(Digest(of: "two"))) != nil)
        flight = nil
        #expect(taken(there.take(one)) != nil)
        #expect(taken(here.take(one)) != nil, "given back at once when nobody holds it")
    }

    @Test func flightsOfOneProcessShareTheirByteUntilTheLastIsOver() throws {
        let (here, there) = (flights(), flights())
        var pair = [taken(here.take(one)), taken(here.take(one))]
        #expect(pair.allSatisfy { $0 != nil })
        pair.removeLast()
        #expect(isBusy(there.take(one)))
        pair.removeLast()
        #expect(taken(there.take(one)) != nil)
    }

    @Test func replacedFolderHasFlightsOfItsOwn() throws {
        let (here, there) = (flights(), flights())
        let old = taken(here.take(one))
        #expect(old != nil)
        #expect(rename(folder, folder + ".old") == 0)
        var new = taken(there.take(one))
        #expect(new != nil)
        #expect(isBusy(here.take(one)), "the file that is there now counts")
        new = nil
        #expect(taken(here.take(one)) != nil)
        withExtendedLifetime(old) {}
    }

    @Test func fileIsSecretAndHoldsNothingOfTheRequest() throws {
        var flight = taken(flights().take(one))
        var status = stat()
        #expect(lstat(folder + "/flights", &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(status.st_size == 16)
        #expect(try Files.read(folder + "/flights", followsLinks: false) != zeros(16))
        #expect(scratch.files.allSatisfy { !$0.contains("partial/") })
        flight = nil
        #expect(flight == nil)
    }

    @Test(arguments: ["link", "folder", "pipe", "no folder"])
    func whatIsNoFileOfOursMakesNobodyWait(_ kind: String) throws {
        if kind == "no folder" {
            overwrite(folder, [])
        } else {
            try #require(mkdir(folder, 0o700) == 0)
            let path = folder + "/flights"
            let made =
                switch kind {
                case "link": symlink(scratch.path + "/elsewhere", path)
                case "folder": mkdir(path, 0o700)
                default: mkfifo(path, 0o600)
                }
            try #require(made == 0)
        }
        #expect(isImpossible(flights().take(one)))
        #expect(access(scratch.path + "/elsewhere", F_OK) != 0)
    }

    @Test func patienceGrowsAndEnds() {
        var patience = LockPatience(from: 0, span: 1_000_000_000)
        let pauses = (0..<6).compactMap { _ in patience.next(at: 0, progress: 0) }
        #expect(pauses == [5, 10, 20, 40, 50, 50].map { .milliseconds($0) })
        #expect(patience.next(at: 999_999_990, progress: 0) == .nanoseconds(10))
        #expect(patience.next(at: 1_000_000_000, progress: 0) == nil)
    }

    @Test func patienceLastsAsLongAsTheFlightGetsOn() {
        var patience = LockPatience(from: 0, span: 1_000_000_000)
        // What was noted before is no progress.
        #expect(patience.next(at: 500_000_000, progress: 7) != nil)
        #expect(patience.next(at: 999_000_000, progress: 8) != nil)
        #expect(patience.next(at: 1_998_000_000, progress: 8) != nil)
        #expect(patience.next(at: 1_999_000_000, progress: 8) == nil)
    }

    @Test func theMoreWaitTheLessOftenEachLooks() {
        for (waiters, milliseconds) in [(1, 5), (100, 200), (1000, 1000), (1_000_000, 1000)] {
            var patience = LockPatience(from: 0, span: 10_000_000_000)
            #expect(patience.next(at: 0, progress: 0, waiters: waiters) == .milliseconds(milliseconds))
        }
    }

    @Test func progressIsSeenByOtherProcesses() throws {
        let (here, there) = (flights(), flights())
        let flight = try #require(taken(here.take(one)))
        #expect(isBusy(there.take(one)))
        let before = there.progress(of: one)
        flight.noteProgress(at: 1_000_000_004, since: 5)
        #expect(there.progress(of: one) == before, "most are over by then")
        flight.noteProgress(at: 1_000_000_005, since: 5)
        let noted = there.progress(of: one)
        #expect(noted != before)
        flight.noteProgress(at: 2_000_000_004, since: 5)
        #expect(there.progress(of: one) == noted, "not at every byte")
        flight.noteProgress(at: 2_000_000_005, since: 5)
        #expect(there.progress(of: one) != noted)
        #expect(there.progress(of: Digest(of: "two")) == 0)
    }
}
