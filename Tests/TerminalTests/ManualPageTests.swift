import Terminal
import Testing

struct ManualPageTests {
    private let dump = #"""
        {"command":{"commandName":"tool","abstract":"Does things.","discussion":"More.","subcommands":[
        {"commandName":"get","abstract":"Gets.","discussion":".dot \\ first","arguments":[
        {"kind":"positional","valueName":"urls","isRepeating":true,"isOptional":false,"shouldDisplay":true,"abstract":"URLs."},
        {"kind":"option","valueName":"out","names":[{"kind":"short","name":"o"},{"kind":"long","name":"out-put"}],
        "shouldDisplay":true,"abstract":"Where."},
        {"kind":"flag","names":[{"kind":"long","name":"all"}],"valueName":"all","shouldDisplay":true,"abstract":"All."},
        {"kind":"flag","names":[{"kind":"long","name":"secret"}],"shouldDisplay":false,"abstract":"Hidden."}]},
        {"commandName":"help","abstract":"Helps."}]}}
        """#

    @Test func commandsAndTheirArgumentsStandInThePage() throws {
        let page = try #require(ManualPage(dump: Array(dump.utf8))).text
        #expect(page.contains(".TH \"TOOL\" 1"))
        #expect(page.contains(".SS \"tool get urls...\"\nGets."))
        #expect(page.contains(".TP\n\\fB\\-o\\fR, \\fB\\-\\-out\\-put\\fR \\fIout\\fR\nWhere."))
        #expect(page.contains(".TP\n\\fB\\-\\-all\\fR\nAll."))
        #expect(!page.contains("secret") && !page.contains("Helps."))
    }

    @Test func textCannotBeTakenForCommandsOfTheFormatter() throws {
        let page = try #require(ManualPage(dump: Array(dump.utf8))).text
        #expect(page.contains("\\&.dot \\e first"))
    }

    @Test func whatIsNoDescriptionOfACommandMakesNoPage() {
        #expect(ManualPage(dump: Array("{}".utf8)) == nil && ManualPage(dump: Array("nonsense".utf8)) == nil)
    }
}
