import Testing

@testable import RemoteStorage

@Suite struct RemoteURLRedisTests {
    @Test(
        arguments: [
            ("redis://cache", .redis(host: "cache", port: 6379, isSecure: false), nil, nil, 0, "redis://cache:6379/0"),
            (
                "REDIS://cache:7000/", .redis(host: "cache", port: 7000, isSecure: false), nil, nil, 0,
                "redis://cache:7000/0"
            ),
            (
                "rediss://u:p@cache:1/15", .redis(host: "cache", port: 1, isSecure: true), "u", "p", 15,
                "rediss://cache:1/15"
            ),
            (
                "redis://:p%40%2F%3a@[::1]:2/3", .redis(host: "::1", port: 2, isSecure: false), nil, "p@/:", 3,
                "redis://[::1]:2/3"
            ),
            ("redis://u:p@x@y", .redis(host: "y", port: 6379, isSecure: false), "u", "p@x", 0, "redis://y:6379/0"),
            (
                "redis://u:@[fe80::1]", .redis(host: "fe80::1", port: 6379, isSecure: false), "u", "", 0,
                "redis://[fe80::1]:6379/0"
            ),
            (
                "redis+unix:///run/redis.sock", .redisSocket("/run/redis.sock"), nil, nil, 0,
                "redis+unix:///run/redis.sock"
            ),
            ("unix://u:p@/run/a%20b?db=4", .redisSocket("/run/a b"), "u", "p", 4, "redis+unix:///run/a b?db=4"),
        ] as [(String, RemoteURL.Place, String?, String?, Int, String)])
    func anAddressOfRedisIsReadInItsParts(
        _ text: String, place: RemoteURL.Place, user: String?, password: String?, database: Int, shown: String
    ) throws {
        let url = try RemoteURL(text)
        #expect(url.place == place)
        #expect(url.user == user && url.password == password && url.database == database)
        #expect(url.shown == shown)
    }

    @Test(arguments: [
        "redis://", "redis:///0", "redis://:6379", "redis://h:0", "redis://h:65536", "redis://h:x", "redis://::1",
        "redis://h/a",
        "redis://h/-1", "redis://h/+1", "redis://h/65536", "redis://h/0/1", "redis://h?db=1", "redis://h/0#x",
        "redis://user@h",
        "redis+unix://", "redis+unix:///", "redis+unix://host/run/x", "redis+unix:///a?db=x", "redis+unix:///a?x=1",
        "redis+unix:///a%00b", "unix:///" + String(repeating: "a", count: 104), "redis://%zz:p@h", "redis://h\u{e9}",
        "redis://h h",
    ]) func aWrongAddressOfRedisIsRefused(_ text: String) {
        #expect(throws: RemoteURL.Problem.self) { try RemoteURL(text) }
    }

    @Test(arguments: [
        "SECRET", ":SECRET", "user:SECRET@host", "redis:user:SECRET@host", "redis:/user:SECRET@host",
        "//user:SECRET@host",
        "redis://user:SECRET@host:x", "redis://user:SECRET@", "redis://user:SECRET@host/x",
        "redis://user:SECRET@host/0?a",
        "redis://user:SECRET/x@host", "redis://user:SECRET?x@host", "redis://user:SECRET#x@host", "redis://SECRET@host",
        "redis://user:SECRET%zz@host", "redis://user:SECRET@host:99999", "redis+unix://user:SECRET@host/run",
        "user:SECRET",
        "redis+unix://user:SECRET@/run?db=x", "rediss//user:SECRET@host", "redis://user:SECRET \u{7}@host",
        "ftp://u:SECRET@host",
        "redis://user:SECRET@host:6379/0", "rediss://:SECRET@host", "unix://:SECRET@/run/x?db=2",
    ]) func neitherWhatIsShownNorAProblemRepeatsAPassword(_ text: String) {
        do throws(RemoteURL.Problem) {
            #expect(!(try RemoteURL(text)).shown.contains("SECRET"))
        } catch {
            #expect(!error.predicate.contains("SECRET") && error.predicate.hasPrefix("must "))
        }
    }
}
