import TestSupport
import Testing

@testable import HTTPSemantics
@testable import Platform

/// The three forms of dates in HTTP, and what is none (RFC 9110, 5.6.7).
@Suite struct HTTPDateTests {
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "sun, 6 nov 1994 8:49:37 gmt", "Sun, 06 Nov 1994 08:49:37 UTC", "Mon, 06 Nov 1994 08:49:37",
    ])
    func dateIsRead(_ text: String) {
        #expect(HTTPDate.seconds(text) == 784_111_777)
    }

    /// RFC 9111, 5.3: what is not written so has passed.
    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", true), ("Sunday, 06-Nov-94 08:49:37 GMT", true),
        ("Sun Nov  6 08:49:37 1994", true), ("sun nov 06 08:49:37 1994", true), ("MON, 06 nov 1994 08:49:37 GMT", true),
        ("sun, 06 nov 1994 08:49:37 gmt", true),
        ("Sun, 06 Nov 1994 08:49:37 UTC", false), ("Sun, 06 Nov 94 08:49:37 GMT", false),
        ("Sun 06 Nov 1994 08:49:37 GMT", false), ("Sun, 06  Nov 1994 08:49:37 GMT", false),
        ("Sun, 06-Nov-1994 08:49:37 GMT", false), ("Sun, 06 Nov 1994 8:49:37 GMT", false),
        ("Sun, 6 Nov 1994 08:49:37 GMT", false), ("Sun, 06 Nov 1994 08:49:37", false),
        ("Someday, 06-Nov-94 08:49:37 GMT", false), ("Sunday, 06-Nov-94 08:49:37", false), ("", false),
    ])
    func dateIsReadExactly(_ text: String, _ isExact: Bool) {
        #expect(HTTPDate.exactSeconds(text) == (isExact ? 784_111_777 : nil))
    }

    @Test(arguments: [
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000), ("Friday, 01-Jan-70 00:00:00 GMT", 0),
        ("Tuesday, 01-Jan-69 00:00:00 GMT", 3_124_224_000),
    ])
    func edgesOfTheCalendarAreRead(_ text: String, _ seconds: Int) {
        #expect(HTTPDate.seconds(text) == seconds)
    }

    @Test(arguments: [
        "", "yesterday", "0", "-1", "Sun, 31 Feb 2024 00:00:00 GMT", "Sun, 06 Nov 1994 25:00:00 GMT",
        "Sun, 06 Nov 1994 08:49 +0100", "06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 99999 08:49:37 GMT",
        "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994", "Sun, 1e9 Nov 1994 08:49:37 GMT",
        "Sun, 99999999999999999999 Nov 1994 08:49:37 GMT", "Sun, ½ Nov 1994 08:49:37 GMT",
        "1994-11-06T08:49:37Z", String(repeating: "x", count: 100_000), ", , , ,", "GMT",
    ])
    func anythingElseIsNoDate(_ text: String) {
        #expect(HTTPDate.seconds(text) == nil)
    }
}
