import TestSupport
import Testing

/// The published cases against the real binary.
@Suite(.onThreads)
struct ConformanceTests {
    private static let http = Result { try LocalServer.fixtures() }

    @Test(arguments: ConformanceCase.files)
    func serverDoesWhatTheCasesSay(file: String) async throws {
        let cases = try ConformanceCase.all(in: file)
        #expect(!cases.isEmpty)
        let http = try Self.http.get()
        await withTaskGroup { group in
            for one in cases {
                group.addTask {
                    do {
                        try one.run(http: http)
                    } catch {
                        Issue.record("\(file): \(one.name) (\(one.isFramed ? "content-length" : "lines")): \(error)")
                    }
                }
            }
        }
    }

    @Test func everyFileOfCasesIsFound() { #expect(ConformanceCase.files.count >= 12) }

    @Test func patternsMatchWhatTheySayAndNothingElse() throws {
        func matches(_ pattern: String, _ value: String) throws -> Bool {
            try ConformancePattern(pattern: JSON(pattern)).mismatch(JSON(value)) == nil
        }
        #expect(try matches(#"{"a": 1, "c": {"$absent": true}}"#, #"{"a": 1, "b": 2}"#))
        #expect(try !matches(#"{"a": 1}"#, #"{"a": 2}"#))
        #expect(try !matches(#"{"a": {"$any": true}}"#, #"{"b": 2}"#))
        #expect(try !matches(#"{"a": {"$absent": true}}"#, #"{"a": null}"#))
        #expect(try matches(#"[1, {"$type": "integer"}]"#, "[1, 2]"))
        #expect(try !matches(#"[1]"#, "[1, 2]"))
        #expect(try !matches(#"{"$type": "integer"}"#, "1.5"))
        #expect(try matches(#"{"$type": "number"}"#, "1.5"))
        #expect(try matches(#"{"$regex": "b.d"}"#, #""abcde""#))
        #expect(try !matches(#"{"$regex": "^b"}"#, #""abc""#))
        #expect(try matches(#"{"$length": 2}"#, "[1, 2]"))
        #expect(try !matches(#"{"$length": 2}"#, "[1]"))
        #expect(try !matches("null", #"{"a": 1}"#))
    }
}
