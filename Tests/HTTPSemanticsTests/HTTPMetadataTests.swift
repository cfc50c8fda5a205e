import TestSupport
import Testing

@testable import HTTPSemantics
@testable import Platform

/// What is kept of an answer: its age, whom it suits, and what a 304 changes.
@Suite struct HTTPMetadataTests {
    private static let now = 1_700_000_000
    private static let today = "Tue, 14 Nov 2023 22:13:20 GMT"

    private func scope(_ headers: [String: String] = [:], _ authorization: Authorization? = nil) -> HTTPScope {
        var request = RequestContent()
        (request.headers, request.authorization) = (headers, authorization)
        return HTTPScope(request)
    }

    private func metadata(_ fields: [String: String], _ scope: HTTPScope? = nil) -> HTTPMetadata {
        HTTPMetadata(fields, to: scope ?? self.scope(), at: Self.now, wall: Self.now)
    }

    static let answers: [[String: String]] = [
        [:], ["cache-control": "max-age=60, immutable"], ["expires": "0", "date": today, "age": "5"],
        ["vary": "Accept, ACCEPT-language", "cache-control": "no-store"], ["vary": "*"],
    ]

    @Test(arguments: answers.indices)
    func textFormHoldsEverything(_ index: Int) {
        for scope in [scope(), scope(["Accept": "a"], .bearer("t"))] {
            let metadata = metadata(Self.answers[index], scope)
            #expect(HTTPMetadata(metadata.text) == metadata)
            #expect(metadata.suits(scope) == !Self.answers[index].values.contains("*"))
        }
    }

    @Test(arguments: [
        "", "r5", "a1\nd1", "rx\na1\nd1", "r-5\na1\nd1", "r999999999999999\na1\nd1", "\n\n\n", "r5\na\nd1",
    ])
    func textOfAnotherKindIsNone(_ text: String) {
        #expect(HTTPMetadata(text) == nil)
    }

    @Test func plantedNumbersDoNotOverflow() throws {
        let text = "r0\na\(Int.max)\nd\(Int.min)\ns\(Int.max)\neTue, 14 Nov 2023 22:13:20 GMT\ncmax-age=\(Int.max)"
        let metadata = try #require(HTTPMetadata(text))
        #expect(metadata.age(at: .max) == HTTPFreshness.longest)
        #expect(metadata.age(at: .min) == HTTPFreshness.longest)
        #expect(metadata.freshness(lastModified: Self.today).lifetime == HTTPFreshness.longest)
        let other = try #require(HTTPMetadata("r0\na\(Int.min)\nd\(Int.max)\neTue, 14 Nov 2023 22:13:20 GMT"))
        #expect(other.age(at: 0) == 0)
        #expect(other.freshness(lastModified: Self.today).lifetime == 0)
    }

    @Test func fieldsThatNoHonestServerSendsCountAsTheStrictestOfTheirKind() {
        let long = metadata([
            "cache-control": "max-age=60, " + String(repeating: "x", count: 9999), "expires": "é", "vary": "a\u{1}b",
        ])
        #expect(long.freshness(lastModified: nil).control.noCache)
        #expect(long.expires == "0")
        #expect(!long.suits(scope()))
    }

    @Test func ageGrowsWithTheCachesTimeOnly() {
        let metadata = metadata(["age": "5", "date": "Tue, 14 Nov 2023 22:13:10 GMT"])
        #expect(metadata.age(at: Self.now) == 10)
        #expect(metadata.age(at: Self.now + 7) == 17)
        #expect(metadata.age(at: Self.now - 100) == 10)
    }

    /// RFC 9111, 4.1.
    @Test func emptyFieldIsNotTheSameAsNone() {
        let (none, empty) = (scope(), scope(["Foo": ""]))
        for sent in [none, empty] {
            let metadata = metadata(["vary": "foo"], sent)
            #expect(metadata.suits(none) == (sent == none) && metadata.suits(empty) == (sent == empty))
        }
    }

    @Test func timeOnTheWayIsPartOfTheAgeAlsoAfterConfirmation() {
        let slow = HTTPMetadata([:], to: scope(), at: Self.now, wall: Self.now, delay: 5)
        #expect(slow.age(at: Self.now + 1) == 6)
        let confirmed = slow.merging(["age": "1"], to: scope(), at: Self.now + 9, wall: Self.now + 9, delay: 2)
        #expect(confirmed.age(at: Self.now + 9) == 3)
    }

    @Test func credentialsDecideWhomAnAnswerBelongsTo() {
        let users = [
            scope(), scope([:], .bearer("a")), scope([:], .bearer("b")), scope([:], .basic(user: "a", password: "b")),
            scope([:], .basic(user: "a b", password: "")), scope(["Authorization": "Bearer a"]), scope(["cookie": "a"]),
            scope(["Cookie": "a"], .bearer("a")),
        ]
        for (one, owner) in users.enumerated() {
            let metadata = metadata([:], owner)
            for (other, user) in users.enumerated() {
                #expect(metadata.belongs(to: user) == (one == other), "\(one) \(other)")
            }
            if one > 0 { #expect(metadata.text != self.metadata([:], owner).text, "equal credentials look alike") }
        }
        #expect(metadata([:], scope(["COOKIE": "a"])).belongs(to: scope(["cookie": "a"])))
    }

    @Test func varyNamesWhatMustBeAlike() {
        let french = scope(["Accept-Language": "fr", "X-Other": "1"])
        let varying = metadata(["vary": "accept-LANGUAGE , Accept"], french)
        #expect(varying.suits(french))
        #expect(varying.suits(scope(["ACCEPT-language": "fr", "x-other": "2"])))
        for other in [scope(), scope(["Accept-Language": "en"]), scope(["Accept-Language": "fr", "Accept": "a"])] {
            #expect(!varying.suits(other))
        }
        // Values cannot be shifted from one field to the next.
        let two = metadata(["vary": "a, b"], scope(["a": "1", "b": "23"]))
        #expect(!two.suits(scope(["a": "12", "b": "3"])))
        #expect(!metadata(["vary": "a, *"]).suits(scope()))
    }

    @Test func confirmationRenewsWhatItSaysAndKeepsTheRest() {
        let old = metadata(["cache-control": "max-age=60", "vary": "a", "age": "50"], scope(["a": "1"]))
        let later = Self.now + 1000
        let same = old.merging([:], to: scope(["a": "1"]), at: later, wall: later)
        #expect(same.age(at: later) == 0)
        #expect(same.freshness(lastModified: nil).lifetime == 60)
        #expect(same.suits(scope(["a": "1"])) && !same.suits(scope(["a": "2"])))
        let new = old.merging(
            ["cache-control": "max-age=5", "vary": "b", "age": "2"], to: scope(["a": "1", "b": "3"]), at: later,
            wall: later)
        #expect(new.age(at: later) == 2)
        #expect(new.freshness(lastModified: nil).lifetime == 5)
        #expect(new.suits(scope(["a": "9", "b": "3"])) && !new.suits(scope(["a": "1"])))
        // A date of expiry that is not renewed passes.
        let dated = metadata(["expires": "Tue, 14 Nov 2023 23:13:20 GMT"])
        let renewed = dated.merging([:], to: scope(), at: later, wall: later)
        #expect(renewed.freshness(lastModified: nil).lifetime == 2600)
    }
}
