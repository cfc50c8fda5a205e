import Foundation
import TestSupport

/// A client that does everything at random, and remembers what it may expect.
struct ExchangeModel {
    /// What is known of one id.
    struct Request {
        /// How many requests were sent under the id.
        var sent = 1
        /// Whether it was cancelled in the dialect that gets no answer.
        var mayBeSilent = false
    }

    var random: SeededGenerator
    /// Two hosts, whose limits count for each.
    let webs: [LocalServer]
    let gates: [Gate]
    private(set) var requests: [Int: Request] = [:]
    private var lastID = 0
    private var lastMark = 0
    private let picture: String
    private let never = Gate()

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        let gates = (0..<3).map { _ in Gate() }
        let never = never
        let bytes = try Fixtures.bytes("png-rgb.png")
        let broken = try Fixtures.bytes("broken/truncated.jpg")
        self.gates = gates
        picture = quoted(Fixtures.folder + "/png-rgb.png")
        let answer: @Sendable (LocalServer.Request) -> Script = { request in
            // "/held/1/…" waits for gate 1; what comes then is in the last part.
            let parts = request.path.split(separator: "/")
            var script = Script.empty
            if parts.first == "never" { script = script.waiting(for: never) }
            if parts.first == "held", parts.count > 1, let gate = Int(parts[1]) {
                script = script.waiting(for: gates[gate])
            }
            switch parts.last.map({ $0.prefix { $0.isLetter } }) {
            case "missing": return script.followed(by: .reply(404, [:], []))
            case "moved": return script.followed(by: .redirect(to: "/open/fine0"))
            case "circle": return script.followed(by: .redirect(to: request.path))
            case "tagged":
                let etag = ["ETag": "\"1\"", "Cache-Control": "no-cache"]
                if request.headers["if-none-match"] != nil { return script.followed(by: .reply(304, etag, [])) }
                return script.followed(by: .reply(200, etag, bytes))
            case "broken": return script.followed(by: .reply(200, [:], broken))
            case "reset": return script.resetting()
            case "cut": return script.followed(by: .head(200, length: bytes.count)).raw(Array(bytes[..<50])).closing()
            default: return script.followed(by: .reply(200, [:], bytes))
            }
        }
        webs = try (1...2).map { try LocalServer(host: $0, answer) }
    }

    /// Ends the servers that are asked.
    func stop() { webs.forEach { $0.stop() } }

    // MARK: Marks

    /// A request whose answer tells how far the server has read; its id is no integer.
    mutating func mark(_ method: String = "ping") -> String {
        lastMark += 1
        return #"{"jsonrpc":"2.0","id":"mark \#(lastMark)","method":"\#(method)"}"#
    }

    func isMark(_ message: JSON) -> Bool { message["id"]?.string?.hasPrefix("mark ") == true }

    // MARK: Messages

    /// The next thing the client says: one or a few messages.
    mutating func messages() -> [String] {
        switch Int.random(in: 0..<32, using: &random) {
        case 20: return [request("download", download())]
        case 21, 22: return [request("prefetch", prefetch())]
        case 23: return [request("stopPrefetch", #"{"id":\#(anyID())}"#)]
        case 24, 25:
            let priority = Int.random(in: 0...1, using: &random)
            return [request("setPriority", #"{"id":\#(anyID()),"priority":\#(priority)}"#)]
        case 26: return [request("cancelAll", cancelAll())]
        case 27: return [request("configure", configuration())]
        case 28: return [request("pause", #"{"what":"\#(Bool.random(using: &random) ? "all" : "prefetch")"}"#)]
        // Mostly it goes on soon.
        case 29, 30: return [request("resume", "{}")]
        case 0..<9: return [request("retrieve", retrieval())]
        case 9, 10: return [request("store", #"{"key":"\#(key())","path":\#(picture)}"#)]
        case 11: return [request("remove", #"{"key":"\#(key())"}"#)]
        case 12: return [request("isCached", #"{"key":"\#(key())"}"#)]
        case 13: return [request("store", #"{"key":"\#(key())","nonsense":1}"#)]
        case 14: return [notification()]
        case 15, 16: return [cancellation(isSilent: false)]
        case 17: return [cancellation(isSilent: true)]
        case 18: return repeated()
        default:
            return [
                request(["clear", "clearMemory", "calculateSize", "stats"].randomElement(using: &random) ?? "", "{}")
            ]
        }
    }

    /// A request that only an end of the server can answer.
    mutating func endlessRequest() -> String { request("retrieve", #"{"url":\#(quoted(webs[0].url("/never")))}"#) }

    private mutating func request(_ method: String, _ params: String) -> String {
        lastID += 1
        requests[lastID] = Request()
        return #"{"jsonrpc":"2.0","id":\#(lastID),"method":"\#(method)","params":\#(params)}"#
    }

    /// Few keys and paths, so that requests meet and merge.
    private mutating func key() -> String { "key \(Int.random(in: 0..<3, using: &random))" }

    /// Few of them, so that they are met again.
    private mutating func url() -> String {
        let kinds = [
            "fine", "fine", "fine", "missing", "broken", "reset", "cut", "moved", "circle", "tagged", "tagged",
        ]
        let kind = kinds.randomElement(using: &random) ?? ""
        let web = webs[Int.random(in: 0..<8, using: &random) == 0 ? 1 : 0]
        let place = Bool.random(using: &random) ? "/held/\(Int.random(in: 0..<gates.count, using: &random))" : "/open"
        return quoted(web.url("\(place)/\(kind)\(Int.random(in: 0..<2, using: &random))"))
    }

    /// Of a request that is likely to be in flight.
    private mutating func anyID() -> Int { max(lastID + 1 - Int.random(in: 0..<12, using: &random), 0) }

    private mutating func retrieval() -> String {
        let form = ["path", "data", "none"].randomElement(using: &random) ?? ""
        let options = [
            "", #","options":{"forceRefresh":true}"#, #","options":{"onlyFromCache":true}"#,
            #","options":{"cacheMemoryOnly":true}"#, #","options":{"slot":"a"}"#,
            #","options":{"slot":"b","forceRefresh":true}"#, #","options":{"onLastCancel":"finish"}"#,
            #","options":{"merge":false,"downloadPriority":1}"#, #","options":{"deadline":0.001}"#,
            #","options":{"retry":{"maxRetries":2,"interval":{"seconds":0}}}"#,
            #","options":{"alternativeSources":[\#(url())],"hedgeAfter":0.001}"#,
            #","options":{"alternativeSources":[\#(url()),\#(url())]}"#,
            // Bounds that share a transfer with others, and wishes that take turns.
            #","options":{"timeout":0.05}"#, #","options":{"timeout":600,"maxBytes":100}"#,
            #","options":{"maxRedirects":0}"#, #","options":{"validStatusCodes":[200,404]}"#,
            #","options":{"acceptContentTypes":["image/webp"],"lease":0}"#, #","options":{"minBytesPerSecond":0}"#,
            #","options":{"revalidate":"http"}"#, #","options":{"headers":{"Authorization":"a"}}"#,
            #","options":{"waitForCache":false}"#, #","options":{"offline":true}"#,
            #","processors":[{"name":"resize","width":3,"height":3}]"#,
        ]
        let url = url()
        return #"{"url":\#(url),"as":"\#(form)"\#(options.randomElement(using: &random) ?? "")}"#
    }

    private mutating func download() -> String {
        let form = Bool.random(using: &random) ? "data" : "none"
        return #"{"url":\#(url()),"as":"\#(form)","options":{"slot":"a"}}"#
    }

    private mutating func prefetch() -> String {
        let urls = (0..<Int.random(in: 0...4, using: &random)).map { _ in url() }.joined(separator: ",")
        return #"{"urls":[\#(urls)],"maxConcurrent":\#(Int.random(in: 1...3, using: &random))}"#
    }

    private mutating func cancelAll() -> String {
        [#"{"url":\#(url())}"#, #"{"slot":"a"}"#, #"{"slot":"b"}"#, #"{"cache":"default"}"#, "{}"]
            .randomElement(using: &random) ?? ""
    }

    /// Never more than ``mostPerHost`` and ``mostInAll``.
    private mutating func configuration() -> String {
        let order = Bool.random(using: &random) ? "fifo" : "lifo"
        let count = Int.random(in: 1...Self.mostPerHost, using: &random)
        let most = Int.random(in: 2...Self.mostInAll, using: &random)
        return
            #"{"downloader":{"maxDownloadsPerHost":\#(count),"maxConcurrentDownloads":\#(most),"downloadOrder":"\#(order)"}}"#
    }

    /// The most downloads at once from the server, whatever is configured.
    static let mostPerHost = 4
    /// The most downloads at once in all.
    static let mostInAll = 6

    private mutating func notification() -> String {
        let params = retrieval()
        return
            #"{"jsonrpc":"2.0","method":"\#(["retrieve", "ping", "$/unknown", "nonsense"].randomElement(using: &random) ?? "")","params":\#(params)}"#
    }

    private mutating func cancellation(isSilent: Bool) -> String {
        // Recent ones are more likely to be in flight; the one after the last is unknown.
        let id = anyID()
        if isSilent {
            requests[id]?.mayBeSilent = true
            return #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":\#(id)}}"#
        }
        return #"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":\#(id)}}"#
    }

    /// A request, and at once another with the same id.
    private mutating func repeated() -> [String] {
        let first = request("retrieve", retrieval())
        requests[lastID]?.sent = 2
        return [first, #"{"jsonrpc":"2.0","id":\#(lastID),"method":"isCached","params":{"key":"k"}}"#]
    }
}
