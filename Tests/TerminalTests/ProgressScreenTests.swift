import Terminal
import Testing

struct ProgressScreenTests {
    private func progress(_ done: Int, of total: Int?) -> Dialogue.Progress { .init(done: done, total: total) }

    @Test func aBarShowsNameShareAndSize() {
        var screen = ProgressScreen(count: 1)
        screen.note(0, name: "cat.jpg", progress(500_000, of: 2_000_000))
        let lines = screen.lines(width: 60)
        #expect(lines == ["cat.jpg  [=======>                       ]    25% of 2.00 MB"])
    }

    @Test func aFullBarHasNoArrowAndAnUnknownSizeNoBar() {
        var screen = ProgressScreen(count: 1)
        screen.note(0, name: "a", progress(10, of: 10))
        #expect(screen.lines(width: 50)[0].contains("=]") && !screen.lines(width: 50)[0].contains(">"))
        screen.note(0, name: "a", progress(1500, of: nil))
        #expect(screen.lines(width: 50)[0].contains("[---") && screen.lines(width: 50)[0].hasSuffix("1.50 kB"))
    }

    @Test func onlyTheFirstFewHaveBarsAndTheRestIsCounted() {
        var screen = ProgressScreen(count: 20)
        for number in 0..<12 { screen.note(number, name: "image \(number)", progress(0, of: 10)) }
        screen.finish(0, name: "image 0")
        let lines = screen.lines(width: 80)
        #expect(lines.count == ProgressScreen.limit + 1)
        #expect(lines[0].hasPrefix("image 1 ") && lines.last == "1 of 20 done")
    }

    /// A server names its files: an escape sequence in a name must not reach the terminal.
    @Test func noControlCharacterReachesTheTerminal() {
        var screen = ProgressScreen(count: 1)
        screen.note(0, name: "a\u{1B}[2J\u{7}\u{202E}b", progress(0, of: 10))
        #expect(screen.lines(width: 80)[0].hasPrefix("a?[2J??b"))
        #expect("x\r\ny\u{9B}".forTerminal == "x?y?")
    }

    @Test(arguments: [0, 1, 19, 20, 30, 37, 38, 45, 80, 300])
    func noLineIsWiderThanTheTerminal(width: Int) {
        var screen = ProgressScreen(count: 3)
        screen.note(0, name: String(repeating: "long", count: 50), progress(999_999_999, of: 1_000_000_000))
        screen.note(1, name: "", progress(.max, of: .max))
        screen.note(2, name: "x", progress(5, of: 0))
        #expect(screen.lines(width: width).allSatisfy { $0.count <= max(width, 20) })
    }

    @Test func thingsAreCountedAsSuch() {
        var screen = ProgressScreen(count: 1)
        screen.note(0, name: "images", progress(1, of: 2000), unit: .things)
        #expect(screen.lines(width: 80)[0].hasSuffix("0% of 2,000"))
    }

    @Test func imagesThatFailedWithinATaskAreNamedBesideItsBar() {
        var screen = ProgressScreen(count: 1)
        let progress = Dialogue.Progress(done: 7, total: 7, failed: 3)
        screen.note(0, name: "7 images", progress, unit: .things)
        let line = screen.lines(width: 80)[0]
        #expect(line.hasPrefix("7 images, 3 failed [") && line.hasSuffix("100% of 7"))
    }

    @Test func whatHasFailedIsNotCountedAsDone() {
        var screen = ProgressScreen(count: 4)
        screen.note(0, name: "a", progress(5, of: 10))
        screen.finish(0, name: "a", hasFailed: true)
        screen.finish(1, name: "b", hasFailed: true)
        screen.finish(2, name: "c")
        #expect(screen.lines(width: 80) == ["a failed", "b failed", "1 of 4 done, 2 failed"])
        // Its error has been shown.
        screen.dismiss(0)
        #expect(screen.lines(width: 80) == ["b failed", "1 of 4 done, 2 failed"])
        // The image was loaded, and its copy cannot be written.
        screen.revoke()
        #expect(screen.lines(width: 80) == ["b failed", "0 of 4 done, 3 failed"])
    }

    @Test func speedAndTheTimeLeftAreShownAsSoonAsTheyAreKnown() {
        var screen = ProgressScreen(count: 1)
        screen.note(0, name: "a", progress(0, of: 10_000_000), at: 0)
        #expect(!screen.lines(width: 80)[0].contains("/s"))
        for tenth in 1...20 {
            screen.note(0, name: "a", progress(tenth * 100_000, of: 10_000_000), at: tenth * 100_000_000)
        }
        #expect(screen.lines(width: 80)[0].hasSuffix("20% of 10.0 MB  1.00 MB/s       8 s left"))
        #expect(!screen.lines(width: 60)[0].contains("/s"), "the bar goes first")
        // Only the last seconds count.
        for tenth in 21...100 {
            screen.note(0, name: "a", progress(2_000_000, of: 10_000_000), at: tenth * 100_000_000)
        }
        #expect(screen.lines(width: 80)[0].contains("  0 B/s"))
    }

    @Test func theTimeLeftOfManyIsThatOfTheirNumber() {
        var screen = ProgressScreen(count: 10)
        screen.note(0, name: "a", progress(0, of: nil), at: 0)
        screen.note(0, name: "a", progress(1_000_000, of: nil), at: 2_000_000_000)
        screen.finish(0, name: "a", at: 2_000_000_000)
        #expect(screen.lines(width: 80) == ["1 of 10 done, 500 kB/s, 18 s left"])
        screen.finish(1, name: "b", hasFailed: true, at: 100_000_000_000)
        #expect(screen.lines(width: 80).last?.hasSuffix("6:40 min left") == true)
    }
}
