import JSONRPC
import TestSupport
import Testing

@testable import ImageServer

/// The house rules of the tables that dispatch, validation and the documentation read.
@Suite struct MethodTableTests {
    @Test func everyMethodHasANameOfItsOwn() {
        #expect(Set(Method.all.map(\.name)).count == Method.all.count)
        #expect(Method.requestNames.count == Set(Method.requestNames).count)
    }

    @Test(arguments: Method.all.map(\.name))
    func theWordsOfAMethodAreSentencesAndItsParametersWellFormed(name: String) throws {
        let method = try #require(Method.all.first { $0.name == name })
        let summaries = [method.summary] + method.params.map(\.summary)
        for summary in summaries {
            #expect(
                summary.hasSuffix(".") && !summary.hasSuffix("..") && summary.first?.isUppercase == true, "\(summary)")
        }
        let names = method.params.map(\.name.description)
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { !$0.hasPrefix("_") && !$0.hasPrefix("x-") && $0 != "workDoneToken" })
        // Positional parameters can only be left out at the end.
        let required = method.params.map(\.isRequired)
        #expect(required == required.sorted { $0 && !$1 })
    }

    @Test func everyOptionHasANameOfItsOwnAndASentence() {
        #expect(Set(OptionField.all.map(\.name)).count == OptionField.all.count)
        for field in OptionField.all {
            #expect(field.summary.hasSuffix(".") && field.summary.first?.isUppercase == true, "\(field.summary)")
            #expect(!field.name.hasPrefix("_") && !field.name.hasPrefix("x-"))
        }
    }
}
