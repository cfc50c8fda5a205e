import JSONRPC
import Terminal
import Testing

struct TextTableTests {
    @Test func columnsAreAsWideAsTheirWidestCell() {
        let rows = [["1", "a", "x"], ["200", "bcd", "yy"]]
        #expect(TextTable.columns(rows, [.right, .left, .left]) == "  1  a    x\n200  bcd  yy\n")
        #expect(TextTable.columns([], [.left]).isEmpty)
    }

    @Test func fieldsAreNamedByTheirPathAndBytesHaveLargerUnits() throws {
        let text =
            #"{"disk":{"count":2,"byteCount":1500,"bytes":1500},"clean":true,"etag":null,"seconds":1.5,"name":"a\u001b[m","hosts":["a","b"],"none":[]}"#
        let document = try JSONDocument(parsing: Array(text.utf8))
        #expect(
            TextTable.fields(of: document.root, leavingOut: ["bytes"]) == """
                disk.count      2
                disk.byteCount  1,500 (1.50 kB)
                clean           yes
                etag            -
                seconds         1.5
                name            a?[m
                hosts           a, b
                none            none

                """)
    }
}
