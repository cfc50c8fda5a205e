import CTestSupport
import JSONRPC
import TestSupport
import Testing

/// Nothing of a document stays behind, whether it was accepted or refused.
@Suite struct JSONLeakTests {
    @Test func noBlockOfJanssonOutlivesItsDocument() {
        let live = hl_jansson_live_blocks()
        let taken = hl_jansson_taken_blocks()
        var accepted = 0
        var refused = 0
        for seed in 0..<2000 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var text = Tree.random(depth: 3, using: &random).text(indented: false)
            if seed % 2 == 1 {
                // Broken anywhere: cut off, or with one byte replaced.
                let place = Int.random(in: text.indices, using: &random)
                if seed % 4 == 1 {
                    text.removeSubrange(place...)
                } else {
                    text[place] = .random(in: 0...255, using: &random)
                }
            }
            do {
                let document = try JSONDocument(parsing: text)
                _ = Tree(document.root)
                accepted += 1
            } catch { refused += 1 }
        }
        for text in JSONDocumentTests.refused + JSONDocumentTests.accepted {
            _ = try? JSONDocument(parsing: Array(text.utf8))
        }
        #expect(hl_jansson_live_blocks() == live)
        #expect(hl_jansson_taken_blocks() > taken + 5000)
        #expect(accepted > 1000)
        #expect(refused > 500)
    }

    @Test func theCountSeesADocumentThatIsAlive() throws {
        let live = hl_jansson_live_blocks()
        let document = try JSONDocument(parsing: Array("[1,2,3]".utf8))
        #expect(hl_jansson_live_blocks() > live)
        #expect(document.root.count == 3)
    }
}
