import TestSupport
import Testing

@testable import HTTPSemantics
@testable import Platform

/// Freshness by RFC 9111 in tables.
@Suite struct HTTPFreshnessTests {
    private static let now = 1_700_000_000
    /// The same moment as HTTP writes it.
    private static let today = "Tue, 14 Nov 2023 22:13:20 GMT"

    @Test(arguments: [
        ("max-age=60", 60), ("MAX-AGE=60", 60), ("max-age=\"60\"", 60), ("public, max-age=60", 60),
        ("max-age=60, max-age=10", 10), ("max-age = 60", 60), ("max-age=0", 0), ("s-maxage=5", nil),
        ("s-maxage=5, max-age=60", 60), ("private=\"a, max-age=5\", max-age=60", 60), ("", nil), (",,,", nil),
        ("max-age", 0), ("max-age=", 0), ("max-age=abc", 0), ("max-age=-1", 0), ("max-age=1.5", 0),
        ("max-age=100000000000000000000", 1 << 31), ("max-age=9223372036854775807", 1 << 31),
        ("max-age=2147483649", 1 << 31), ("max-age=٣", 0), ("x=\"unclosed, max-age=5", nil),
        ("max-age = 60", 60), ("max-age=6 0", 0), ("max\u{A0}age=60", nil),
    ])
    func maxAgeIsRead(_ text: String, _ seconds: Int?) {
        #expect(CacheControl(text).maxAge == seconds)
    }

    @Test func directivesAreRead() {
        let all = CacheControl(
            "no-store, No-Cache=\"set-cookie, x\", must-revalidate, immutable, stale-while-revalidate=7,stale-if-error=8"
        )
        #expect(all.noStore && all.noCache && all.mustRevalidate && all.immutable)
        #expect(all.staleWhileRevalidate == 7 && all.staleIfError == 8)
        let none = CacheControl("public, private, no-transform, proxy-revalidate, s-maxage=9, no-stores, ext=no-store")
        #expect(none == CacheControl(""))
        #expect(CacheControl("stale-while-revalidate, stale-if-error=x") == CacheControl(""))
        let unclosed = CacheControl("max-age=100, ext=\"abc, no-store")
        #expect(unclosed.noCache && !unclosed.noStore, "what follows may say anything")
    }

    struct Answer: Sendable {
        var control: String?
        var expires: String?
        var lastModified: String?
        var status = 200
        let lifetime: Int
    }

    @Test(arguments: [
        Answer(lifetime: 0),
        Answer(control: "max-age=60", expires: "Tue, 14 Nov 2023 23:13:20 GMT", lifetime: 60),
        Answer(expires: "Tue, 14 Nov 2023 23:13:20 GMT", lifetime: 3600),
        Answer(expires: "Tue, 14 Nov 2023 21:13:20 GMT", lifetime: 0),
        Answer(expires: today, lifetime: 0),
        Answer(expires: "0", lastModified: "Mon, 13 Nov 2023 22:13:20 GMT", lifetime: 0),
        Answer(expires: "yesterday", lifetime: 0),
        Answer(expires: "Fri, 31 Dec 9999 23:59:59 GMT", lifetime: 1 << 31),
        // A tenth of the time since it changed, a day at the most.
        Answer(lastModified: "Tue, 14 Nov 2023 21:13:20 GMT", lifetime: 360),
        Answer(lastModified: "Thu, 01 Jan 1970 00:00:00 GMT", lifetime: 86_400),
        Answer(lastModified: "Tue, 14 Nov 2023 23:13:20 GMT", lifetime: 0),
        Answer(lastModified: "once upon a time", lifetime: 0),
        Answer(lastModified: "Tue, 14 Nov 2023 21:13:20 GMT", status: 404, lifetime: 360),
        Answer(lastModified: "Tue, 14 Nov 2023 21:13:20 GMT", status: 302, lifetime: 0),
        Answer(control: "public", lastModified: "Tue, 14 Nov 2023 21:13:20 GMT", lifetime: 360),
        Answer(control: "max-age=nonsense", lastModified: "Tue, 14 Nov 2023 21:13:20 GMT", lifetime: 0),
    ])
    func lifetimeComesFromTheFirstThatSaysIt(_ answer: Answer) {
        let freshness = HTTPFreshness(
            cacheControl: answer.control, expires: answer.expires, date: Self.now, lastModified: answer.lastModified,
            status: answer.status)
        #expect(freshness.lifetime == answer.lifetime)
    }

    @Test(
        arguments: [
            (nil, nil, 0), ("30", nil, 30), (nil, now - 50, 50), ("30", now - 50, 50), ("70", now - 50, 70),
            ("30, 99", nil, 30), ("-5", nil, 0), ("-5", now - 50, 50), ("x", nil, 0), ("", nil, 0), (nil, now + 50, 0),
            ("99999999999999999999", nil, 1 << 31), (nil, Int.min, 1 << 31), (nil, Int.max, 0),
        ] as [(String?, Int?, Int)])
    func ageIsTheLargerOfWhatIsSaidAndSeen(_ age: String?, _ date: Int?, _ expected: Int) {
        #expect(HTTPFreshness.initialAge(age: age, date: date, at: Self.now) == expected)
    }

    @Test(
        arguments: [
            ("max-age=60", 0, .fresh), ("max-age=60", 59, .fresh), ("max-age=60", 60, .mustRevalidate),
            ("max-age=60, stale-while-revalidate=10", 59, .fresh),
            ("max-age=60, stale-while-revalidate=10", 60, .staleWhileRevalidate),
            ("max-age=60, stale-while-revalidate=10", 69, .staleWhileRevalidate),
            ("max-age=60, stale-while-revalidate=10", 70, .mustRevalidate),
            ("max-age=60, stale-while-revalidate=10, must-revalidate", 65, .mustRevalidate),
            ("max-age=60, must-revalidate", 59, .fresh), ("max-age=60, no-cache", 0, .mustRevalidate),
            ("no-cache, stale-while-revalidate=99", 0, .mustRevalidate), ("no-store, max-age=60", 0, .notStorable),
            ("no-store, no-cache", 0, .notStorable), ("max-age=60, immutable", 60, .mustRevalidate),
            ("max-age=60, stale-if-error=99", 61, .mustRevalidate), ("", 0, .mustRevalidate),
            ("max-age=60", .max, .mustRevalidate), ("max-age=99999999999999999999", (1 << 31) - 1, .fresh),
            ("stale-while-revalidate=99999999999999999999", .max, .mustRevalidate), ("max-age=1", .min, .fresh),
        ] as [(String, Int, HTTPFreshness.Verdict)])
    func verdictFollowsFromAge(_ control: String, _ age: Int, _ verdict: HTTPFreshness.Verdict) {
        let freshness = HTTPFreshness(cacheControl: control, expires: nil, date: Self.now, lastModified: nil)
        #expect(freshness.verdict(age: age) == verdict)
    }

    @Test(arguments: [
        ("max-age=60", 0, true), ("max-age=60", 60, false), ("max-age=60, stale-if-error=10", 69, true),
        ("max-age=60, stale-if-error=10", 70, false), ("max-age=60, stale-if-error=10, must-revalidate", 65, false),
        ("max-age=60, stale-if-error=10, no-cache", 5, false), ("no-store, stale-if-error=10", 0, false),
        ("stale-if-error=99999999999999999999", (1 << 31) - 1, true), ("max-age=60, stale-if-error=10", .max, false),
    ])
    func staleAnswerMayBeUsedAfterAnErrorAsFarAsItsServerSays(_ control: String, _ age: Int, _ isUsable: Bool) {
        let freshness = HTTPFreshness(cacheControl: control, expires: nil, date: Self.now, lastModified: nil)
        #expect(freshness.mayBeUsedAfterError(age: age) == isUsable)
    }

    /// RFC 9111, 4.2.3: what it took counts where the server's clock does not tell.
    @Test func timeOnTheWayIsPartOfTheAge() {
        #expect(HTTPFreshness.initialAge(age: nil, date: nil, at: 1000, delay: 5) == 5)
        #expect(HTTPFreshness.initialAge(age: "3", date: 998, at: 1000, delay: 4) == 7)
        #expect(HTTPFreshness.initialAge(age: "3", date: 990, at: 1000, delay: 4) == 10)
        #expect(HTTPFreshness.initialAge(age: "x", date: 2000, at: 1000, delay: -1) == 0)
        let most = HTTPFreshness.clamped(.max)
        #expect(HTTPFreshness.initialAge(age: "99999999999999999999", date: nil, at: 0, delay: .max) == most)
    }
}
