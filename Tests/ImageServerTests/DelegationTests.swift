import JSONRPC
import TestSupport
import Testing

@testable import ImageEngine
@testable import ImageServer

/// What the client can be asked, how its answers are read, and when it is asked at all.
@Suite struct DelegationTests {
    private let asked = DownloadDraft(url: "https://a.example/x", headers: ["Cookie": "c", "Accept": "1"])

    private func read<Value>(_ text: String, _ body: (JSONView) throws -> Value) throws -> Value {
        let document = try JSONDocument(parsing: Array(text.utf8))
        return try body(document.root)
    }

    static let drafts: [(answer: String, url: String?, headers: [String: String]?)] = [
        ("null", nil, nil), ("{}", "https://a.example/x", ["Cookie": "c", "Accept": "1"]),
        (#"{"url":null,"headers":null}"#, "https://a.example/x", ["Cookie": "c", "Accept": "1"]),
        (#"{"url":"https://a.example/y"}"#, "https://a.example/y", ["Cookie": "c", "Accept": "1"]),
        (#"{"url":"https://b.example/y"}"#, "https://b.example/y", ["Accept": "1"]),
        (#"{"url":""}"#, "", ["Accept": "1"]),
        (#"{"headers":{}}"#, "https://a.example/x", [:]),
        (
            #"{"url":"https://b.example/","headers":{"Cookie":"mine"},"_own":1}"#, "https://b.example/",
            ["Cookie": "mine"]
        ),
    ]

    @Test(arguments: drafts.indices)
    func aRequestIsSentAsTheAnswerSaysAndCredentialsStayWithTheirOrigin(index: Int) throws {
        let (answer, url, headers) = Self.drafts[index]
        let draft = try read(answer) { try DelegateAnswers.draft($0, of: asked) }
        #expect(draft?.url == url && draft?.headers == headers, "\(answer)")
    }

    /// A body goes nowhere that the answer does not name for it.
    @Test func theMethodAndTheBodyAreThoseOfTheAnswer() throws {
        func draft(_ text: String, of asked: DownloadDraft) throws -> DownloadDraft? {
            try read(text) { try DelegateAnswers.draft($0, of: asked) }
        }
        var post = asked
        (post.method, post.body) = (.post, [1])
        let cases: [(String, DownloadDraft, RequestMethod, [UInt8]?)] = [
            ("{}", asked, .get, nil), (#"{"body":"a"}"#, asked, .post, [0x61]),
            (#"{"method":"PUT"}"#, asked, .put, nil),
            (#"{"method":"PUT","body":{"base64":"AA=="}}"#, asked, .put, [0]), ("{}", post, .post, [1]),
            (#"{"method":"GET"}"#, post, .get, nil), (#"{"method":"PUT"}"#, post, .put, [1]),
            (#"{"url":"https://a.example/y"}"#, post, .post, [1]), (#"{"url":"https://b.example/y"}"#, post, .get, nil),
            (#"{"url":"https://b.example/y","body":"a"}"#, post, .post, [0x61]),
        ]
        for (answer, asked, method, body) in cases {
            let draft = try draft(answer, of: asked)
            #expect(draft?.method == method && draft?.body == body, "\(answer)")
        }
        #expect(throws: Mismatch.self) { try draft(#"{"method":"GET","body":"a"}"#, of: asked) }
        #expect(throws: Mismatch.self) { try draft(#"{"method":"HEAD"}"#, of: asked) }
        #expect(throws: Mismatch.self) { try draft(#"{"method":"DELETE"}"#, of: asked) }
    }

    static let acceptances: [(String, Bool?)] = [
        ("null", nil), (#"{"accept":true}"#, true), (#"{"accept":false}"#, false),
    ]

    @Test(arguments: acceptances.indices)
    func aBodyIsWantedOrNot(index: Int) throws {
        #expect(try read(Self.acceptances[index].0) { try DelegateAnswers.acceptance($0) } == Self.acceptances[index].1)
    }

    static let challenges: [(String, ChallengeAnswer)] = [
        ("null", .useDefault), ("\"default\"", .useDefault), ("\"cancel\"", .cancel),
        (#"{"use":{"user":"u","password":""}}"#, .credential(.basic(user: "u", password: ""))),
        (#"{"use":{"bearer":"t"}}"#, .credential(.bearer("t"))),
    ]

    @Test(arguments: challenges.indices)
    func aChallengeIsAnswered(index: Int) throws {
        #expect(try read(Self.challenges[index].0) { try DelegateAnswers.challenge($0) } == Self.challenges[index].1)
    }

    @Test(arguments: [
        "1", "\"\"", "true", "[1]", #"{"url":5}"#, #"{"header":{}}"#, #"{"headers":[1]}"#, #"{"headers":{"A":1}}"#,
        #"{"headers":{"A":"b\r\nC: d"}}"#, #"{"accept":true}"#,
    ])
    func anAnswerThatIsNoRequestIsRefused(answer: String) {
        #expect(throws: Mismatch.self) { try read(answer) { try DelegateAnswers.draft($0, of: asked) } }
    }

    @Test(arguments: ["{}", "true", #"{"accept":1}"#, #"{"accept":true,"url":""}"#, "\"accept\""])
    func anAnswerThatIsNoAcceptanceIsRefused(answer: String) {
        #expect(throws: Mismatch.self) { try read(answer) { try DelegateAnswers.acceptance($0) } }
    }

    @Test(arguments: [
        "{}", "\"use\"", #"{"use":"default"}"#, #"{"use":{"user":"u"}}"#, #"{"use":{"bearer":"a\nb"}}"#,
        #"{"use":{"user":"u","password":"p","bearer":"t"}}"#, #"{"use":{"bearer":"t"},"cancel":true}"#, "false",
    ])
    func anAnswerThatIsNoneToAChallengeIsRefusedAndNotShown(answer: String) {
        do {
            _ = try read(answer) { try DelegateAnswers.challenge($0) }
            Issue.record("\(answer) was taken")
        } catch { #expect((error as? Mismatch)?.received?.contains("t") != true || !answer.contains("bearer")) }
    }

    // MARK: Who is asked what

    static let capabilities: [(text: String, questions: Set<DownloadDelegates.Question>?)] = [
        ("{}", []), (#"{"delegates":null}"#, []), (#"{"delegates":[]}"#, []), ("5", []), ("[]", []),
        (#"{"delegates":["downloader/redirect","downloader/ofTomorrow"],"textDocument":{}}"#, [.redirect]),
        (#"{"delegates":{"downloader/modifyRequest":true,"downloader/challenge":false}}"#, [.modifyRequest]),
        (
            #"{"delegates":{"downloader/challenge":true,"downloader/validateStatus":true}}"#,
            [.challenge, .validateStatus]
        ),
        (#"{"delegates":"downloader/redirect"}"#, nil), (#"{"delegates":[1]}"#, nil), (#"{"delegates":{"a":1}}"#, nil),
    ]

    @Test(arguments: capabilities.indices)
    func initializeTakesAListOrAnObjectAndLetsUnknownNamesPass(index: Int) throws {
        let (text, questions) = Self.capabilities[index]
        let read = try? read(text) { try ClientCapabilities.decode($0).questions }
        #expect(read == questions, "\(text)")
    }

    @Test func theRequestDecidesBeforeInitializeAndOneClientIsAskedForAll() throws {
        let folder = try TemporaryFolder()
        let server = ImageServer(manager: ImageManager(EngineConfiguration(cacheRoot: folder.path)))
        #expect(server.addingClientDelegate(to: nil) == nil)
        #expect(server.addingClientDelegate(to: ImageOptions()) == ImageOptions())
        func asking(_ questions: Set<DownloadDelegates.Question>) -> DownloadDelegates? {
            var options = ImageOptions()
            options.network.delegates = DownloadDelegates(UndecidedDelegate.shared, questions: questions)
            return server.addingClientDelegate(to: options)?.network.delegates
        }
        #expect(asking([]) == nil)
        #expect(asking([.redirect]) == DownloadDelegates(server.clientDelegate, questions: [.redirect]))
        try server.initialize(watching: nil, settings: nil, asking: [.challenge])
        #expect(
            server.addingClientDelegate(to: nil)?.network.delegates
                == DownloadDelegates(server.clientDelegate, questions: [.challenge]))
        #expect(asking([.redirect]) == DownloadDelegates(server.clientDelegate, questions: [.redirect]))
        #expect(asking([]) == nil)
    }

    @Test func everyQuestionIsACapabilityAndInTheDocument() throws {
        #expect(Set(Delegation.all.map(\.question)) == Set(DownloadDelegates.Question.allCases))
        let listed = try JSON(OpenRPCDocument.text)["x-clientMethods"]?.elements
        #expect(listed?.map { $0["name"]?.string } == Delegation.names)
        #expect(listed?.allSatisfy { $0["params"] != nil && $0["result"] != nil } == true)
        for delegation in Delegation.all {
            #expect(delegation.name.description == "downloader/" + delegation.question.rawValue)
            #expect(InitializeReply.capabilities.contains("delegate.downloader." + delegation.question.rawValue))
            #expect(delegation.summary.hasSuffix("."))
        }
    }
}
