import Testing

@testable import RemoteStorage

@Suite("The address of a remote tier")
struct RemoteURLTests {
    @Test(arguments: [
        ("https://cache.example/images/", "https://cache.example/images", nil, nil),
        ("HTTP://cache.example:8080", "http://cache.example:8080", nil, nil),
        ("https://carol:pa%2Fss%40@cache.example/a", "https://cache.example/a", "carol", "pa/ss@"),
        ("https://t0ken@cache.example/a", "https://cache.example/a", "t0ken", nil),
        ("https://[::1]:8443/a", "https://[::1]:8443/a", nil, nil),
    ])
    func anHTTPURLHasItsCredentialsApart(text: String, shown: String, user: String?, password: String?) throws {
        let url = try RemoteURL(text)
        #expect(url.place == .http(shown) && url.shown == shown)
        #expect(url.user == user && url.password == password)
    }

    @Test(arguments: [
        ("s3://bucket", "bucket", "", "s3://bucket"),
        ("s3://my.bucket-1/a/b%20c/", "my.bucket-1", "a/b c", "s3://my.bucket-1/a/b%20c"),
        ("s3://AKIA:se%2Fcret@bucket/p?region=eu-west-1", "bucket", "p", "s3://bucket/p?region=eu-west-1"),
        (
            "s3://bucket?endpoint=HTTP://MinIO.example:9000/&style=path", "bucket", "",
            "s3://bucket?endpoint=http://minio.example:9000&style=path"
        ),
        ("s3://bucket?endpoint=https%3A%2F%2Fr2.example:443", "bucket", "", "s3://bucket?endpoint=https://r2.example"),
        ("s3://bucket?endpoint=[::1]:9000", "bucket", "", "s3://bucket?endpoint=https://[::1]:9000"),
    ])
    func anS3URLNamesBucketPrefixAndQuery(text: String, bucket: String, prefix: String, shown: String) throws {
        let url = try RemoteURL(text)
        guard case .s3(let place) = url.place else { return #expect(Bool(false)) }
        #expect(place.bucket == bucket && place.prefix == prefix && url.shown == shown)
        #expect(try RemoteURL(shown).shown == shown)
    }

    @Test(arguments: [
        ("s3://", "bucket"), ("s3://b", "bucket"), ("s3://bu_cket!", "bucket"), ("s3://-bucket", "bucket"),
        ("s3://bucket/a//b", "path"), ("s3://bucket/../b", "path"), ("s3://bucket/%2E", "path"),
        ("s3://bucket/%", "path"),
        ("s3://bucket?region=", "region"), ("s3://bucket?region=eu west", "URL"),
        ("s3://bucket?region=a%2Fb", "region"),
        ("s3://bucket?endpoint=ftp://x", "endpoint"), ("s3://bucket?endpoint=https://x/path", "endpoint"),
        ("s3://bucket?endpoint=https://x:0", "endpoint"), ("s3://bucket?endpoint=https://x:y", "endpoint"),
        ("s3://bucket?endpoint=", "endpoint"), ("s3://bucket?endpoint=x%3Ay%40z", "endpoint"),
        ("s3://bucket?style=other", "style"), ("s3://bucket?colour=red", "each once"),
        ("s3://bucket?region", "each once"),
        ("s3://bucket?region=a&region=b", "each once"), ("s3://bucket?region=a&", "each once"),
        ("s3://My.Bucket?style=virtual", "style=path"), ("s3://bucket#part", "fragment"),
        ("s3://onlyid@bucket", "colon between"), ("s3://:secret@bucket", "colon between"),
        ("https://cache.example/?a=b", "query"), ("https://cache.example:99999/", "port"), ("https://", "URL"),
        ("https://a%0Db:c@cache.example/", "percent-encoded"), ("https://a%+1b@cache.example/", "percent-encoded"),
        ("cache.example/images", "URL"), ("ftp://cache.example", "URL"), ("", "URL"),
    ])
    func aWrongURLSaysWhatItMustBe(text: String, word: String) {
        let problem = self.problem(of: text)
        #expect(
            problem?.predicate.hasPrefix("must ") == true && problem?.predicate.contains(word) == true,
            "\(problem as Any)")
    }

    @Test(arguments: [
        "AKIASECRET:k3y/s3cret@bucket", "carol:s3cret@cache.example", "s3cret", "https://carol:s3/cret@cache.example",
        "https://s3/cret@cache.example/a", "https://carol:s3?cret@cache.example/", "s3://AKIA:k3/y@bucket",
        "s3://AKIA:s3?cret@bucket", "s3://AKIA:s3#cret@bucket", "https://carol:s3cret@:80", "s3://s3cret@bucket",
        "redis://:s3/cret@host", "rediss://:s3cret@", "https:carol:s3cret@cache.example", "s3:AKIA:s3cret@bucket",
        "s3://bucket?secret=s3cret", "s3://bucket?endpoint=https://carol:s3cret@x", "s3://AKIA:s3%ZZcret@bucket",
    ])
    func noProblemRepeatsASecret(text: String) throws {
        let problem = try #require(self.problem(of: text))
        for part in ["s3cret", "s3/", "AKIA", "carol", "k3", "/cret", "ZZ"] {
            #expect(!problem.predicate.contains(part))
        }
    }

    @Test func theShownAddressHasNoSecret() throws {
        for text in [
            "https://carol:s3cret@cache.example/a", "https://s3cret@cache.example",
            "s3://carol:s3cret@bucket/a?region=x",
            "redis://carol:s3cret@cache.example:1/2",
        ] {
            let shown = try RemoteURL(text).shown
            #expect(!shown.contains("s3cret") && !shown.contains("carol"))
        }
    }

    private func problem(of text: String) -> RemoteURL.Problem? {
        do throws(RemoteURL.Problem) {
            _ = try RemoteURL(text)
            return nil
        } catch { return error }
    }
}
