import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// What a request does with what is stored, for every mode and state.
@Suite struct RetrievalVerdictTests {
    typealias Entry = RetrievalPolicy.Entry
    typealias Verdict = CacheDecision.Action

    private func freshness(_ control: String) -> HTTPFreshness {
        HTTPFreshness(cacheControl: control, expires: nil, date: 0, lastModified: nil)
    }

    private func entry(_ control: String?, age: Int = 0, _ change: (inout Entry) -> Void = { _ in }) -> Entry {
        var entry = Entry(freshness: control.map(freshness), age: age, hasValidators: true)
        change(&entry)
        return entry
    }

    @Test func nothingStoredIsLoadedInEveryMode() {
        for mode in Revalidation.allCases {
            for isOffline in [false, true] {
                #expect(RetrievalPolicy(mode: mode, isOffline: isOffline).decision(for: nil).action == .load)
            }
        }
    }

    /// In the order never, ifExpired, always, http.
    @Test func verdictOfEveryMode() {
        let rows: [(entry: Entry, verdicts: [Verdict], line: Int)] = [
            (
                entry("max-age=60"),
                [.answer(isStale: false), .answer(isStale: false), .revalidate, .answer(isStale: false)], #line
            ),
            (
                entry("max-age=60", age: 60),
                [.answer(isStale: false), .answer(isStale: false), .revalidate, .revalidate], #line
            ),
            (
                entry("max-age=60", age: 60) { $0.hasValidators = false },
                [.answer(isStale: false), .answer(isStale: false), .load, .load], #line
            ),
            (
                entry("max-age=60, immutable"),
                [.answer(isStale: false), .answer(isStale: false), .answer(isStale: false), .answer(isStale: false)],
                #line
            ),
            (
                entry("max-age=60, immutable", age: 60),
                [.answer(isStale: false), .answer(isStale: false), .revalidate, .revalidate], #line
            ),
            (
                entry("max-age=60, stale-while-revalidate=60", age: 60),
                [.answer(isStale: false), .answer(isStale: false), .revalidate, .answerAndRefresh], #line
            ),
            (
                entry("no-store"),
                [.answer(isStale: false), .answer(isStale: false), .revalidate, .load], #line
            ),
            (
                entry("no-cache, max-age=60"),
                [.answer(isStale: false), .answer(isStale: false), .revalidate, .revalidate], #line
            ),
            // What is known of nothing is asked for.
            (
                entry(nil) { $0.hasValidators = false },
                [.answer(isStale: false), .answer(isStale: false), .load, .load], #line
            ),
            // Of others' credentials, or another variant.
            (
                entry("max-age=60, immutable") { $0.suits = false },
                [.answer(isStale: false), .answer(isStale: false), .load, .load], #line
            ),
            // Its time in the cache is over.
            (entry("max-age=60") { $0.expiredFor = 5 }, [.load, .revalidate, .revalidate, .revalidate], #line),
            (
                entry("max-age=60, stale-while-revalidate=60", age: 60) { $0.expiredFor = 0 },
                [.load, .revalidate, .revalidate, .revalidate], #line
            ),
            (
                entry("max-age=60, immutable") {
                    $0.expiredFor = 5
                    $0.hasValidators = false
                }, [.load, .load, .load, .load], #line
            ),
            (
                entry("max-age=60") {
                    $0.expiredFor = 5
                    $0.suits = false
                }, [.load, .load, .load, .load], #line
            ),
        ]
        for row in rows {
            for (mode, verdict) in zip(Revalidation.allCases, row.verdicts) {
                #expect(
                    RetrievalPolicy(mode: mode).decision(for: row.entry).action == verdict, "\(mode), line \(row.line)")
            }
        }
    }

    /// RFC 9111, 5.2.1: what a request's own field asks for.
    @Test(
        arguments: [
            ("no-cache", .revalidate), ("max-age=0", .revalidate), ("max-age=29", .revalidate),
            ("max-age=30", .answer(isStale: false)), ("min-fresh=30", .answer(isStale: false)),
            ("min-fresh=31", .revalidate), ("min-fresh=x", .revalidate), ("no-transform", .answer(isStale: false)),
        ] as [(String, Verdict)])
    func requestsMayAskForAFresherAnswer(_ wanted: String, _ verdict: Verdict) {
        let policy = RetrievalPolicy(mode: .http, wanted: CacheControl(of: ["CACHE-control": wanted]))
        #expect(policy.decision(for: entry("max-age=60", age: 30)).action == verdict)
        #expect(policy.decision(for: entry("no-store")).action == .load, "whatever is wanted")
        let stale = entry("max-age=60, stale-while-revalidate=60", age: 60)
        let refreshes = wanted == "no-transform"
        #expect(policy.decision(for: stale).action == (refreshes ? .answerAndRefresh : .revalidate))
        for mode in [Revalidation.never, .ifExpired] {
            let policy = RetrievalPolicy(mode: mode, wanted: CacheControl(wanted))
            #expect(
                policy.decision(for: entry("max-age=60", age: 30)).action == .answer(isStale: false),
                "headers do not count")
        }
    }

    /// RFC 9111, 5.2.1.2 and 4.2.4: a request may take what is stale, unless the server forbids that.
    @Test(
        arguments: [
            ("max-stale", "max-age=60", .answer(isStale: true)), ("max-stale=30", "max-age=60", .answer(isStale: true)),
            ("max-stale=29", "max-age=60", .revalidate), ("max-stale=x", "max-age=60", .revalidate),
            ("max-stale, max-stale=29", "max-age=60", .revalidate),
            ("max-stale", "max-age=60, must-revalidate", .revalidate), ("max-stale", "no-cache", .revalidate),
            ("max-stale", "no-store", .load), ("max-stale, no-cache", "max-age=60", .revalidate),
            ("max-stale, max-age=89", "max-age=60", .revalidate),
            ("max-stale, max-age=90", "max-age=60", .answer(isStale: true)),
            ("max-stale, min-fresh=1", "max-age=60", .revalidate), ("max-stale", "max-age=91", .answer(isStale: false)),
            ("max-stale", "max-age=60, stale-while-revalidate=60", .answerAndRefresh),
            ("only-if-cached", "max-age=60, stale-while-revalidate=60", .answer(isStale: true)),
        ] as [(String, String, Verdict)])
    func requestsMayTakeAStaleAnswer(_ wanted: String, _ said: String, _ verdict: Verdict) {
        let policy = RetrievalPolicy(mode: .http, wanted: CacheControl(of: ["Cache-Control": wanted]))
        #expect(policy.decision(for: entry(said, age: 90)).action == verdict)
        let staysHere = wanted == "only-if-cached"
        #expect(
            policy.decision(for: entry(said, age: 90) { $0.suits = false }).action == (staysHere ? .fail : .load),
            "another variant")
        let over = entry("max-age=60", age: 90) { $0.expiredFor = 5 }
        #expect(policy.decision(for: over).action == (staysHere ? .fail : .revalidate), "its time here is over")
        let other = RetrievalPolicy(mode: .always, wanted: CacheControl(wanted))
        #expect(other.decision(for: entry(said, age: 90)).action == .revalidate, "headers do not count")
    }

    /// RFC 5861, 4: a request, too, may say for how long an image may stand in.
    @Test(arguments: [("stale-if-error=31", true), ("stale-if-error=30", false), ("stale-if-error", false)])
    func requestsMaySayHowOldAStandInMayBe(_ wanted: String, _ mayStandIn: Bool) {
        let failure = ImageError.invalidStatusCode(503, url: "http://a/", retryAfter: nil)
        let policy = RetrievalPolicy(mode: .http, wanted: CacheControl(wanted))
        #expect(policy.mayStandIn(entry("max-age=60", age: 90), after: failure) == mayStandIn)
        let other = RetrievalPolicy(mode: .always, wanted: CacheControl(wanted))
        #expect(!other.mayStandIn(entry("max-age=60", age: 90), after: failure), "headers do not count")
        for forbidden in ["max-age=60, must-revalidate", "max-age=60, no-cache", "max-age=60, no-store"] {
            #expect(!policy.mayStandIn(entry(forbidden, age: 90), after: failure), "RFC 9111, 4.2.4: \(forbidden)")
        }
        #expect(!policy.mayStandIn(entry("max-age=60", age: 90) { $0.expiredFor = 1 }, after: failure), "over, here")
        let unknown = entry("", age: 30) { $0.freshness = nil }
        #expect(policy.mayStandIn(unknown, after: failure) == mayStandIn, "nobody forbids it")
    }

    @Test func pragmaCountsWhereThereIsNoOtherWord() {
        #expect(CacheControl(of: ["Pragma": "no-cache"])?.noCache == true)
        #expect(CacheControl(of: ["Pragma": "no-cache", "Cache-Control": "max-age=9"])?.noCache == false)
        #expect(CacheControl(of: ["Accept": "no-cache"]) == nil)
    }

    /// Offline whatever is stored is answered, and says when it is old.
    @Test func offlineEverythingStoredIsAnswered() {
        for mode in Revalidation.allCases {
            let policy = RetrievalPolicy(mode: mode, isOffline: true)
            #expect(
                policy.decision(for: entry("no-store") { $0.expiredFor = 1 << 40 }).action == .answer(isStale: true))
            #expect(policy.decision(for: entry("max-age=60, immutable")).action == .answer(isStale: false))
            let isOld = mode == .http || mode == .always
            #expect(policy.decision(for: entry("max-age=60", age: 60)).action == .answer(isStale: isOld))
            let others = policy.decision(for: entry("max-age=60, immutable") { $0.suits = false }).action
            #expect(others == (mode == .http ? .load : .answer(isStale: mode == .always)), "\(mode)")
        }
    }

    @Test func onlyTheCacheIsAskedForWhatIsNotExpired() {
        for mode in Revalidation.allCases {
            let policy = RetrievalPolicy(mode: mode, onlyFromCache: true)
            #expect(policy.decision(for: entry("max-age=60") { $0.expiredFor = 0 }).action == .fail)
            let isOld = mode == .http || mode == .always
            #expect(policy.decision(for: entry("max-age=60", age: 99)).action == .answer(isStale: isOld))
        }
    }

    private static let trouble: [ImageError] = [
        .connectionFailed(url: "", reason: ""), .timedOut(url: "", option: "timeout", seconds: 1),
        .invalidStatusCode(500, url: ""), .invalidStatusCode(502, url: ""), .invalidStatusCode(503, url: ""),
        .invalidStatusCode(504, url: ""), .remembered(.invalidStatusCode(503, url: "")),
    ]
    private static let others: [ImageError] = [
        .invalidStatusCode(404, url: ""), .invalidStatusCode(501, url: ""), .badData(reason: "", source: ""),
        .tlsFailed(url: "", reason: ""), .forbiddenAddress(url: "", reason: ""), .offline(key: "", url: ""),
        .remembered(.invalidStatusCode(404, url: "")), .notModified(url: ""),
    ]

    /// RFC 5861, 4.
    @Test func oldImageStandsInForAServersTroubleOnly() {
        let policy = RetrievalPolicy(mode: .http)
        let old = entry("max-age=60, stale-if-error=60", age: 100)
        for error in Self.trouble { #expect(policy.mayStandIn(old, after: error), "\(error)") }
        for error in Self.others { #expect(!policy.mayStandIn(old, after: error), "\(error)") }
    }

    @Test func whoeverAllowsAnOlderImageGetsOne() throws {
        let error = Self.trouble[0]
        var policy = RetrievalPolicy(mode: .http)
        let old = entry("max-age=60, must-revalidate", age: 100)
        #expect(!policy.mayStandIn(old, after: error))
        policy.staleIfError = 40
        #expect(!policy.mayStandIn(old, after: error))
        policy.staleIfError = 41
        #expect(policy.mayStandIn(old, after: error))
        #expect(!policy.mayStandIn(entry("max-age=60", age: 100) { $0.suits = false }, after: error))
        #expect(!policy.mayStandIn(entry("max-age=60", age: 70) { $0.expiredFor = 41 }, after: error))
        #expect(policy.mayStandIn(entry(nil, age: 40), after: error))
        #expect(!policy.mayStandIn(entry(nil, age: 41), after: error))
        policy.mode = .ifExpired
        #expect(policy.mayStandIn(entry(nil, age: 999) { $0.expiredFor = 40 }, after: error))
        #expect(!policy.mayStandIn(entry(nil, age: 999) { $0.expiredFor = 41 }, after: error))
        policy.mode = .never
        #expect(policy.mayStandIn(entry("max-age=60", age: 999) { $0.expiredFor = 40 }, after: error))
        #expect(!policy.mayStandIn(entry("max-age=60", age: 999) { $0.expiredFor = 41 }, after: error))
        policy.staleIfError = nil
        #expect(!policy.mayStandIn(entry("max-age=60, stale-if-error=99"), after: error), "the server has no say")
    }

    @Test func optionCountsInPlaceOfWhatTheHeadersAllow() {
        var policy = RetrievalPolicy(mode: .http, wanted: CacheControl("stale-if-error=60"))
        let old = entry("max-age=60, stale-if-error=60", age: 100)
        for (seconds, mayStandIn) in [(nil, true), (0, false), (40, false), (41, true)] as [(Double?, Bool)] {
            policy.staleIfError = seconds
            #expect(policy.mayStandIn(old, after: Self.trouble[0]) == mayStandIn, "\(String(describing: seconds))")
        }
    }

    @Test(arguments: Revalidation.allCases)
    func imageOfOthersIsNeverAnswered(_ mode: Revalidation) {
        let foreign = entry("max-age=60, immutable") { $0.isForeign = true }
        for (isOffline, onlyFromCache) in [(false, false), (true, false), (false, true)] {
            let policy = RetrievalPolicy(
                mode: mode, isOffline: isOffline, onlyFromCache: onlyFromCache, staleIfError: 1e9)
            #expect(policy.decision(for: foreign).action == (onlyFromCache ? .fail : .load))
            #expect(!policy.mayStandIn(foreign, after: Self.trouble[0]))
        }
    }
}
