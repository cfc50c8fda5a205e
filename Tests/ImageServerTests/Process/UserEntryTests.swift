import Foundation
import TestSupport
import Testing

/// The entries that one key has for several users, over the wire, in one process and in two on one folder.
@Suite(.onThreads)
struct UserEntryTests {
    private let cache: TemporaryFolder
    private let nobodys, anns, bobs: [UInt8]

    init() throws {
        cache = try TemporaryFolder()
        (nobodys, anns) = (try Fixtures.bytes("png-gray.png"), try Fixtures.bytes("png-rgb.png"))
        bobs = try Fixtures.bytes("png-rgba.png")
    }

    private func server(_ arguments: [String] = []) throws -> ServerProcess {
        try ServerProcess(cache: cache.path, arguments)
    }

    /// A server with a picture for ann's tokens (`ann`, `ann2`, …), one for other tokens, and one for nobody; each has a tag.
    /// It answers 401 to `stranger`.
    private func web(_ fields: [String: String] = [:]) throws -> LocalServer {
        let (nobodys, anns, bobs) = (nobodys, anns, bobs)
        return try LocalServer { request in
            let user = request.headers["authorization"]?.dropFirst("Bearer ".count)
            if user == "stranger" { return .reply(401, [:], []) }
            let (tag, bytes) =
                user == nil ? ("\"0\"", nobodys) : user?.hasPrefix("ann") == true ? ("\"a\"", anns) : ("\"b\"", bobs)
            var fields = fields
            fields["ETag"] = tag
            return request.headers["if-none-match"] == tag ? .reply(304, fields, []) : .reply(200, fields, bytes)
        }
    }

    private func options(_ user: String?, _ more: String = "") -> String {
        let members = [user.map { #""authorization":{"bearer":"\#($0)"}"# }, more.isEmpty ? nil : more].compactMap {
            $0
        }
        return "{\(members.joined(separator: ","))}"
    }

    private func retrieve(
        _ server: ServerProcess, _ web: LocalServer, _ user: String?, _ more: String = "", as form: String = "path",
        id: Int = 1, processors: String = "[]"
    ) throws -> JSON {
        let rest = #""as":"\#(form)","processors":\#(processors),"options":\#(options(user, more))"#
        return try server.call(id, "retrieve", #"{"url":\#(quoted(web.url("/a.png"))),\#(rest)}"#)
    }

    private func result(_ reply: JSON) throws -> JSON { try #require(reply["result"], "\(reply.text)") }

    private func bytes(_ reply: JSON) throws -> [UInt8] {
        let result = try result(reply)
        if let data = result["data"]?.string { return [UInt8](Data(base64Encoded: data) ?? Data()) }
        return try read(result["path"]?.string ?? "")
    }

    private func read(_ path: String) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
    }

    private func asked(_ web: LocalServer) -> [String?] { web.requests.map { $0.headers["if-none-match"] } }

    // MARK: Apart

    @Test func eachUserKeepsAnEntryAndItsPathInEveryProcess() throws {
        let web = try web()
        defer { web.stop() }
        let (one, other) = (try server(), try server())
        let lent = try result(retrieve(one, web, "ann"))["path"]?.string ?? ""
        #expect(try bytes(retrieve(other, web, "bob")) == bobs)
        #expect(try bytes(retrieve(other, web, nil)) == nobodys)
        #expect(try read(lent) == anns, "the path of one user does not get another's bytes")
        for server in [one, other] {
            for (user, picture) in [("ann", anns), ("bob", bobs), (nil, nobodys)] as [(String?, [UInt8])] {
                for form in ["path", "data"] {
                    let reply = try retrieve(server, web, user, as: form)
                    #expect(try bytes(reply) == picture)
                    #expect(try result(reply)["cacheType"]?.string != "none")
                }
            }
        }
        #expect(web.requests.count == 3)
        for server in [one, other] { #expect(server.finish() == 0) }
        let later = try server()
        #expect(try bytes(retrieve(later, web, "ann", #""onlyFromCache":true"#)) == anns)
        #expect(try bytes(retrieve(later, web, "bob", #""offline":true"#)) == bobs)
        let stranger = try retrieve(later, web, "stranger", #""onlyFromCache":true"#)
        #expect(stranger["error"]?["data"]?["name"]?.string == "notCached")
        #expect(web.requests.count == 3 && later.finish() == 0)
    }

    @Test func processedImagesOfUsersAreKeptApart() throws {
        let web = try web()
        defer { web.stop() }
        let (one, other) = (try server(), try server())
        let gray = #"[{"blackWhite":{}}]"#
        func made(_ server: ServerProcess, _ user: String?) throws -> [UInt8] {
            try bytes(retrieve(server, web, user, processors: gray))
        }
        let (ann, bob) = (try made(one, "ann"), try made(other, "bob"))
        #expect(ann != bob)
        for server in [one, other] {
            #expect(try made(server, "ann") == ann)
            #expect(try made(server, "bob") == bob)
        }
        #expect(try made(one, nil) != ann)
        #expect(try made(one, "ann") == ann)
        #expect(web.requests.count == 3)
        for server in [one, other] { #expect(server.finish() == 0) }
    }

    /// Neither process waits for the download of the other, which is another user's.
    @Test func downloadsOfTwoUsersInTwoProcessesRunBesideEachOther() async throws {
        let (gate, anns, bobs) = (Gate(), anns, bobs)
        let web = try LocalServer { request in
            request.headers["authorization"] == "Bearer ann"
                ? Script.empty.waiting(for: gate).followed(by: .reply(200, [:], anns)) : .reply(200, [:], bobs)
        }
        defer { web.stop() }
        let (one, other) = (try server(), try server())
        // The server is silent until the gate opens.
        let patient = options("ann", #""timeout":600"#)
        try one.request(1, "retrieve", #"{"url":\#(quoted(web.url("/a.png"))),"options":\#(patient)}"#)
        try await eventually { web.requests.count == 1 }
        #expect(try bytes(retrieve(other, web, "bob", #""timeout":600"#, id: 2)) == bobs)
        gate.open()
        #expect(try one.next().map(bytes) == anns)
        #expect(try bytes(retrieve(other, web, "ann", id: 3)) == anns)
        #expect(web.requests.count == 2)
        for server in [one, other] { #expect(server.finish() == 0) }
    }

    // MARK: Refreshed tokens

    @Test(arguments: ["", #""revalidate":"always""#, #""revalidate":"http""#, #""revalidate":"ifExpired""#])
    func aRefreshedTokenIsAskedAboutConditionally(_ mode: String) throws {
        let web = try web()
        defer { web.stop() }
        let (one, other) = (try server(), try server())
        #expect(try bytes(retrieve(one, web, "ann", mode)) == anns)
        for (server, user) in [(one, "ann2"), (other, "ann3")] {
            let question = #"{"url":\#(quoted(web.url("/a.png"))),"options":\#(options(user, mode))}"#
            let told = try server.call(9, "explain", question)
            #expect(try result(told)["verdict"]?.string == "revalidate")
            let reply = try retrieve(server, web, user, mode)
            #expect(try bytes(reply) == anns)
            #expect(try result(reply)["revalidated"]?.boolean == true)
        }
        #expect(asked(web) == [nil, "\"a\"", "\"a\""])
        #expect(try bytes(retrieve(one, web, "bob", mode)) == bobs)
        #expect(asked(web).last == "\"a\"")
        let refused = try retrieve(one, web, "stranger", mode)
        #expect(refused["error"]?["data"]?["name"]?.string == "invalidStatusCode", "\(refused.text)")
        #expect(asked(web).last != .some(nil), "it was asked conditionally")
        for (user, picture) in [("ann", anns), ("ann2", anns), ("bob", bobs)] {
            #expect(try bytes(retrieve(other, web, user, #""onlyFromCache":true"#)) == picture)
        }
        for server in [one, other] { #expect(server.finish() == 0) }
    }

    /// Two pictures may have one date, and a request of nobody has no user whom a server may permit anything.
    @Test func nothingButATagIsAskedByAboutAnothersImage() throws {
        let (anns, bobs) = (anns, bobs)
        let web = try LocalServer { request in
            let fields = ["Last-Modified": "Wed, 01 Jan 2020 00:00:00 GMT"]
            if request.headers["if-modified-since"] != nil { return .reply(304, fields, []) }
            return .reply(200, fields, request.headers["authorization"] == "Bearer ann" ? anns : bobs)
        }
        defer { web.stop() }
        let server = try server()
        #expect(try bytes(retrieve(server, web, "ann")) == anns)
        #expect(try bytes(retrieve(server, web, "bob")) == bobs)
        let tagged = try self.web()
        defer { tagged.stop() }
        #expect(try bytes(retrieve(server, tagged, "ann")) == anns)
        #expect(try bytes(retrieve(server, tagged, nil, #""revalidate":"always""#)) == nobodys)
        #expect(asked(tagged) == [nil, nil] && server.finish() == 0)
    }

    @Test func aScopeOutlastsAChangeOfToken() throws {
        let web = try web()
        defer { web.stop() }
        let (one, other) = (try server(), try server())
        let (ann, bob) = (#""scope":"ann@example.com""#, #""scope":"bob""#)
        #expect(try bytes(retrieve(one, web, "ann", ann)) == anns)
        for server in [one, other] { #expect(try bytes(retrieve(server, web, "ann2", ann)) == anns) }
        #expect(web.requests.count == 1)
        let checked = try retrieve(other, web, "ann3", #"\#(ann),"revalidate":"always""#)
        #expect(try result(checked)["revalidated"]?.boolean == true)
        #expect(asked(web) == [nil, "\"a\""])
        // The same token with another name is another user.
        let nothing = try retrieve(one, web, "ann2", #"\#(bob),"onlyFromCache":true"#)
        #expect(nothing["error"]?["data"]?["name"]?.string == "notCached")
        #expect(try bytes(retrieve(one, web, "x", bob)) == bobs)
        #expect(try bytes(retrieve(other, web, "ann9", ann)) == anns)
        #expect(web.requests.count == 3)
        for server in [one, other] { #expect(server.finish() == 0) }
    }

    /// `Vary` may name the field that has the token; the name of the user stands for it.
    @Test func aScopeOutlastsAChangeOfTokenWhereAnswersVaryByIt() throws {
        let web = try web(["Vary": "Authorization", "Cache-Control": "max-age=1000"])
        defer { web.stop() }
        let server = try server()
        let options = #""scope":"ann","revalidate":"http""#
        for user in ["ann", "ann2", "ann3"] { #expect(try bytes(retrieve(server, web, user, options)) == anns) }
        #expect(web.requests.count == 1 && server.finish() == 0)
    }

    // MARK: What was loaded without credentials

    @Test(arguments: ["", #""revalidate":"http""#])
    func aPlaceholderOfNobodyDoesNotStick(_ mode: String) throws {
        let web = try web(["Cache-Control": "max-age=1000"])
        defer { web.stop() }
        let (one, other) = (try server(), try server())
        #expect(try bytes(retrieve(one, web, nil, mode)) == nobodys)
        for (server, user, picture) in [(one, "ann", anns), (other, "bob", bobs)] {
            let question = #"{"url":\#(quoted(web.url("/a.png"))),"options":\#(options(user, mode))}"#
            let told = try server.call(9, "explain", question)
            #expect(try result(told)["verdict"]?.string == "revalidate")
            #expect(try bytes(retrieve(server, web, user, mode)) == picture)
            #expect(try bytes(retrieve(server, web, nil, mode)) == nobodys, "and what was there stays")
        }
        #expect(web.requests.count == 3)
        let offline = try retrieve(one, web, "stranger", #""offline":true"#)
        #expect(offline["error"]?["data"]?["name"]?.string == "notCached", "\(offline.text)")
        for server in [one, other] { #expect(server.finish() == 0) }
    }

    /// An image whose time is over, as it is explained: asked about, and answered from an entry of the user's own.
    @Test func anExpiredImageOfOthersIsAskedAboutAsExplained() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        _ = try result(retrieve(server, web, "ann", #""diskCacheExpiration":"expired","memory":false"#))
        let question = #"{"url":\#(quoted(web.url("/a.png"))),"options":\#(options("ann2"))}"#
        let told = try result(server.call(9, "explain", question))
        let answer = try result(retrieve(server, web, "ann2"))
        #expect(told["verdict"]?.string == "revalidate" && answer["revalidated"]?.boolean == true)
        let path = try #require(told["path"]?.string)
        #expect(answer["path"]?.string?.hasPrefix(path) == true, "\(told.text) \(answer.text)")
        #expect(asked(web) == [nil, "\"a\""] && server.finish() == 0)
    }

    @Test func whatTheServerCallsPublicOrTheCallerWantsIsAnsweredToUsersToo() throws {
        let rows: [(fields: [String: String], more: String, isShared: Bool)] = [
            (["Cache-Control": "public, max-age=1000"], "", true),
            (["Cache-Control": "public"], #""revalidate":"never""#, true),
            (["Cache-Control": "public, max-age=1000"], #""revalidate":"http""#, true),
            (["Cache-Control": "public, private"], "", false),
            (["Cache-Control": "public", "Vary": "Authorization"], "", false),
            (["Cache-Control": "public", "Vary": "Accept"], "", false),
            (["Cache-Control": "max-age=1000"], #""credentialScope":"shared""#, true),
            (["Cache-Control": "max-age=1000"], #""credentialScope":"shared","revalidate":"http""#, true),
            (["Cache-Control": "max-age=1000"], #""credentialScope":"separate""#, false),
        ]
        let server = try server()
        for row in rows {
            let web = try web(row.fields)
            defer { web.stop() }
            _ = try result(retrieve(server, web, nil))
            let picture = try bytes(retrieve(server, web, "ann", row.more))
            #expect(picture == (row.isShared ? nobodys : anns), "\(row)")
            #expect(web.requests.count == (row.isShared ? 1 : 2), "\(row)")
        }
        #expect(server.finish() == 0)
    }

    /// Whoever is redirected to a public picture to log in must not be left with it.
    @Test func aRedirectToAPublicImageIsNotForEverybody() throws {
        let (nobodys, anns) = (nobodys, anns)
        let web = try LocalServer { request in
            if request.path == "/login.png" { return .reply(200, ["Cache-Control": "public, max-age=1000"], nobodys) }
            return request.headers["authorization"] == nil ? .redirect(to: "/login.png") : .reply(200, [:], anns)
        }
        defer { web.stop() }
        let server = try server()
        #expect(try bytes(retrieve(server, web, nil)) == nobodys)
        #expect(try bytes(retrieve(server, web, "ann")) == anns)
        #expect(server.finish() == 0)
    }

    @Test func whatIsStoredIsAnsweredToEverybodyAndWhatIsSharedIsOneEntry() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        let url = quoted(web.url("/a.png"))
        let data = Data(anns).base64EncodedString()
        _ = try result(server.call(1, "store", #"{"key":\#(url),"data":"\#(data)"}"#))
        for user in ["ann", "bob", nil] { #expect(try bytes(retrieve(server, web, user)) == anns) }
        #expect(web.requests.isEmpty)
        _ = try result(server.call(2, "remove", #"{"key":\#(url)}"#))
        let shared = #""credentialScope":"shared""#
        #expect(try bytes(retrieve(server, web, "bob", shared)) == bobs)
        for user in ["ann", nil] { #expect(try bytes(retrieve(server, web, user, shared)) == bobs) }
        #expect(web.requests.count == 1 && server.finish() == 0)
    }

    @Test func aScopeAndAllUsersAtOnceIsRefused() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        let both = try retrieve(server, web, nil, #""scope":"a","credentialScope":"shared""#)
        #expect(both["error"]?["code"]?.integer == -32602)
        #expect(both["error"]?["message"]?.string?.contains("give one of them") == true, "\(both.text)")
        for bad in [#""scope":"""#, #""scope":5"#, #""credentialScope":"all""#] {
            #expect(try retrieve(server, web, nil, bad)["error"]?["code"]?.integer == -32602)
        }
        #expect(web.requests.isEmpty && server.finish() == 0)
    }

    // MARK: Methods by key

    @Test func methodsByKeyMeanTheUserWhomTheirOptionsName() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        let url = quoted(web.url("/a.png"))
        func ask(_ method: String, _ options: String) throws -> JSON {
            try server.call(5, method, #"{"key":\#(url),"options":\#(options)}"#)
        }
        func isCached(_ options: String) throws -> Bool? { try ask("isCached", options)["result"]?["cached"]?.boolean }
        let paths = try ["ann", "bob"].map { user in
            try result(retrieve(server, web, user))["path"]?.string ?? ""
        }
        let named = try result(retrieve(server, web, "ann2", #""scope":"ann""#))["path"]?.string ?? ""
        for (user, path) in zip(["ann", "bob"], paths) {
            #expect(try isCached(options(user)) == true)
            #expect(try ask("cachePath", options(user))["result"]?["path"]?.string == path)
            #expect(try ask("inspect", options(user))["result"]?["path"]?.string == path)
        }
        #expect(try ask("cachePath", #"{"scope":"ann"}"#)["result"]?["path"]?.string == named)
        #expect(try isCached(options("eve")) == false && isCached(#"{"scope":"eve"}"#) == false)
        #expect(try isCached(#"{"credentialScope":"shared"}"#) == false)
        // Without a user: the latest, and the one that users share as soon as there is one.
        #expect(try isCached("{}") == true)
        #expect(try ask("cachePath", "{}")["result"]?["exists"]?.boolean == true)
        let list = try result(server.call(6, "list"))["entries"]?.elements ?? []
        #expect(list.count == 3 && Set(list.compactMap { $0["user"]?.string }).count == 3)
        #expect(list.allSatisfy { $0["key"]?.string == web.url("/a.png") && $0["processorIdentifier"]?.string == "" })
        #expect(try result(server.call(7, "calculateSize"))["disk"]?["count"]?.integer == 3)
        let shared = try result(retrieve(server, web, nil))["path"]?.string
        #expect(try ask("cachePath", "{}")["result"]?["path"]?.string == shared)
        #expect(try ask("inspect", "{}")["result"]?["user"] == .null)
        #expect(try ask("remove", options("bob"))["result"]?["removed"]?.boolean == true)
        #expect(try isCached(options("bob")) == false && isCached(options("ann")) == true)
        #expect(try ask("remove", #"{"credentialScope":"shared"}"#)["result"]?["removed"]?.boolean == true)
        #expect(try isCached(options("ann")) == true)
        #expect(try ask("remove", "{}")["result"]?["removed"]?.boolean == true)
        #expect(
            try isCached(options("ann")) == false && isCached(#"{"scope":"ann"}"#) == false && isCached("{}") == false)
        #expect(try result(server.call(8, "calculateSize"))["disk"]?["count"]?.integer == 0)
        #expect(server.finish() == 0)
    }

    @Test(arguments: ["thumb", "data:,", "file:///nowhere.png", "a@b"])
    func aUserHasAnEntryUnderEveryKey(_ key: String) throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        let key = #""key":\#(quoted(key))"#
        func ask(_ method: String, _ user: String?, _ more: String = "", _ option: String = "") throws -> JSON {
            try server.call(5, method, #"{\#(key),"options":\#(options(user, option))\#(more)}"#)
        }
        func cached(_ user: String?) throws -> [UInt8] {
            try bytes(ask("retrieve", user, "", #""onlyFromCache":true"#))
        }
        _ = try result(ask("retrieve", "bob", #","url":\#(quoted(web.url("/a.png")))"#))
        for (user, picture) in [("ann", anns), (nil, nobodys)] as [(String?, [UInt8])] {
            _ = try result(ask("store", user, #","data":"\#(Data(picture).base64EncodedString())""#))
        }
        for (user, picture) in [("ann", anns), ("bob", bobs), (nil, nobodys)] as [(String?, [UInt8])] {
            #expect(try cached(user) == picture)
            #expect(try read(ask("inspect", user)["result"]?["path"]?.string ?? "") == picture)
            #expect(try ask("isCached", user)["result"]?["cached"]?.boolean == true)
        }
        #expect(try cached("eve") == nobodys, "what was put in for all is answered to users")
        #expect(try ask("isCached", "eve")["result"]?["cached"]?.boolean == false)
        #expect(try ask("remove", nil, "", #""credentialScope":"shared""#)["result"]?["removed"]?.boolean == true)
        let other = try ask("retrieve", "eve", "", #""onlyFromCache":true"#)
        #expect(other["error"]?["data"]?["name"]?.string == "notCached")
        #expect(try ask("remove", "ann")["result"]?["removed"]?.boolean == true)
        #expect(try cached("bob") == bobs)
        #expect(try ask("isCached", "ann")["result"]?["cached"]?.boolean == false)
        #expect(server.finish() == 0)
    }

    @Test func whatIsMadeForAUserIsMadeOfTheUsersOwnOriginal() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        let gray = #"[{"blackWhite":{}}]"#
        let shared = try bytes(retrieve(server, web, nil, processors: gray))
        let url = quoted(web.url("/a.png"))
        let data = Data(anns).base64EncodedString()
        _ = try result(server.call(2, "store", #"{"key":\#(url),"data":"\#(data)","options":{"scope":"ann"}}"#))
        let own = try bytes(retrieve(server, web, nil, #""scope":"ann""#, processors: gray))
        #expect(own != shared)
        #expect(try bytes(retrieve(server, web, nil, #""scope":"ann""#, processors: gray)) == own)
        #expect(try bytes(retrieve(server, web, nil, processors: gray)) == shared)
        #expect(web.requests.count == 1 && server.finish() == 0)
    }

    @Test func anImageThatIsOnlyInMemoryIsOneUsersToo() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        let (url, memory) = (quoted(web.url("/a.png")), #""cacheMemoryOnly":true"#)
        for _ in 0..<2 {
            #expect(try bytes(retrieve(server, web, "ann", memory, as: "data")) == anns)
            #expect(try bytes(retrieve(server, web, "bob", memory, as: "data")) == bobs)
        }
        #expect(web.requests.count == 2)
        #expect(try server.call(2, "remove", #"{"key":\#(url)}"#)["result"]?["removed"]?.boolean == true)
        #expect(try bytes(retrieve(server, web, "ann", memory, as: "data")) == anns)
        #expect(web.requests.count == 3 && server.finish() == 0)
    }

    @Test func anImageIsStoredForAUserByName() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        let url = quoted(web.url("/a.png"))
        let data = Data(bobs).base64EncodedString()
        _ = try result(server.call(1, "store", #"{"key":\#(url),"data":"\#(data)","options":{"scope":"bob"}}"#))
        #expect(try bytes(retrieve(server, web, "x", #""scope":"bob""#)) == bobs)
        #expect(web.requests.isEmpty)
        #expect(try bytes(retrieve(server, web, nil)) == nobodys)
        let byKey = #"{"url":"data:,","key":\#(url),"as":"data","options":{"onlyFromCache":true,"scope":"bob"}}"#
        #expect(try bytes(server.call(3, "retrieve", byKey)) == bobs)
        #expect(server.finish() == 0)
    }
}
