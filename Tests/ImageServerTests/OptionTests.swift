import ImageEngine
import ImageRecipes
import JSONRPC
import TestSupport
import Testing

@testable import ImageServer

/// Every option: what it takes and how it refuses the rest.
@Suite struct OptionTests {
    /// A value that an option takes, and whether the options then hold it.
    static let good: [(name: String, value: String, holds: @Sendable (ImageOptions) -> Bool)] = [
        ("forceRefresh", "true", { $0.lookup.forceRefresh }),
        ("fromMemoryCacheOrRefresh", "true", { $0.storage.fromMemoryCacheOrRefresh }),
        ("onlyFromCache", "true", { $0.lookup.onlyFromCache }),
        ("cacheMemoryOnly", "true", { $0.storage.cacheMemoryOnly }),
        ("waitForCache", "false", { !$0.storage.waitForCache }),
        ("queryDataWhenInMemory", "true", { $0.storage.queryDataWhenInMemory }),
        ("memoryCacheExpiration", "\"never\"", { $0.storage.memoryCacheExpiration == .never }),
        ("memoryCacheExpiration", "{\"seconds\":1.5}", { $0.storage.memoryCacheExpiration == .seconds(1.5) }),
        ("diskCacheExpiration", "\"expired\"", { $0.storage.diskCacheExpiration == .expired }),
        ("diskCacheExpiration", "{\"days\":2}", { $0.storage.diskCacheExpiration == .seconds(172_800) }),
        (
            "diskCacheExpiration", "{\"date\":\"1970-01-02T00:00:00Z\"}",
            { $0.storage.diskCacheExpiration == .date(86_400) }
        ),
        (
            "memoryCacheAccessExtendingExpiration", "\"none\"",
            { $0.storage.memoryCacheAccessExtendingExpiration == ExpirationExtension.none }
        ),
        (
            "diskCacheAccessExtendingExpiration", "{\"seconds\":5}",
            { $0.storage.diskCacheAccessExtendingExpiration == .expiration(.seconds(5)) }
        ),
        ("memory", "false", { !$0.storage.keepsInMemory }),
        ("originalCache", "\"a.b\"", { $0.lookup.originalCache == "a.b" }),
        ("cacheOriginalImage", "false", { !$0.processing.cacheOriginalImage }),
        (
            "cacheSerializer", "{\"format\":\"webp\"}",
            { $0.processing.recipe.serializer == CacheSerializer(format: .webp) }
        ),
        (
            "cacheSerializer",
            "{\"quality\":80,\"lossless\":true,\"progressive\":true,\"background\":\"#fff\",\"maxBytes\":9,\"stripMetadata\":true,\"profile\":\"sRGB\"}",
            {
                $0.processing.recipe.serializer?.encoding
                    == Encoding(
                        quality: 80, lossless: true, progressive: true, background: RecipeColor("white"), maxBytes: 9,
                        metadata: .none, profile: .sRGB)
            }
        ),
        ("onlyLoadFirstFrame", "true", { $0.processing.recipe.frames == .first }),
        ("frame", "0", { $0.processing.recipe.frames == .first }),
        ("frame", "7", { $0.processing.recipe.frames == .number(7) }),
        ("scaleDownLargeImages", "true", { $0.processing.recipe.scalesDown }),
        ("scaleFactor", "2.5", { $0.processing.scaleFactor == 2.5 }),
        ("verifyDecode", "true", { $0.lookup.verifyDecode == true }),
        ("verifyDecode", "false", { $0.lookup.verifyDecode == false }),
        ("thumbHash", "true", { $0.processing.wantsPreview }),
        ("maxPixels", "1", { $0.processing.limits.maxPixels == 1 }),
        ("maxFrames", "1", { $0.processing.limits.maxFrames == 1 }),
        ("maxAnimationPixels", "1", { $0.processing.limits.maxAnimationPixels == 1 }),
        ("decodeSeconds", "0.5", { $0.processing.limits.decodeSeconds == 0.5 }),
        ("maxEntityBytes", "0", { $0.processing.limits.maxEntityBytes == 0 }),
        ("lease", "0", { $0.storage.lease == 0 }), ("lease", "31536000", { $0.storage.lease == 31_536_000 }),
        ("forcedCacheFileExtension", "\"Jpg2\"", { $0.storage.forcedCacheFileExtension == "Jpg2" }),
        ("revalidate", "\"http\"", { $0.lookup.revalidate == .http }),
        ("revalidate", "\"ifExpired\"", { $0.lookup.revalidate == .ifExpired }),
        ("revalidate", "\"always\"", { $0.lookup.revalidate == .always }),
        ("revalidate", "\"never\"", { $0.lookup.revalidate == .never }),
        ("staleIfError", "0", { $0.lookup.staleIfError == 0 }),
        ("staleIfError", "86400.5", { $0.lookup.staleIfError == 86_400.5 }), ("offline", "true", { $0.lookup.offline }),
        ("negativeCache", "0", { $0.lookup.negativeCache == 0 }),
        ("negativeCache", "60", { $0.lookup.negativeCache == 60 }),
        ("timeout", "0.5", { $0.network.limits.timeout == 0.5 }),
        ("timeout", "86400", { $0.network.limits.timeout == 86_400 }),
        ("minBytesPerSecond", "0", { $0.network.limits.minBytesPerSecond == 0 }),
        ("minBytesPerSecond", "0.5", { $0.network.limits.minBytesPerSecond == 0.5 }),
        ("deadline", "3", { $0.caller.deadline == 3 }), ("downloadPriority", "0", { $0.caller.downloadPriority == 0 }),
        ("downloadPriority", "1", { $0.caller.downloadPriority == 1 }),
        ("headers", "{\"X-A\":\"b c\"}", { $0.network.request.headers == ["X-A": "b c"] }),
        ("authorization", "{\"bearer\":\"t\"}", { $0.network.request.authorization == .bearer("t") }),
        (
            "authorization", "{\"basic\":{\"user\":\"u\",\"password\":\"\"}}",
            { $0.network.request.authorization == .basic(user: "u", password: "") }
        ),
        ("method", "\"POST\"", { $0.network.request.method == .post }),
        ("method", "\"PUT\"", { $0.network.request.method == .put }),
        ("body", "\"é\"", { $0.network.request.body == [0xC3, 0xA9] && $0.network.request.method == .post }),
        (
            "body", "{\"base64\":\"AP8=\"}",
            { $0.network.request.body == [0, 0xFF] && $0.network.request.method == .post }
        ),
        ("dataModifier", "\"base64\"", { $0.network.dataModifier == .base64 }),
        ("delegates", "[]", { $0.network.delegates?.questions == [] }),
        (
            "delegates", "[\"downloader/redirect\",\"downloader/challenge\"]",
            { $0.network.delegates?.questions == [.redirect, .challenge] }
        ),
        ("maxRedirects", "0", { $0.network.limits.maxRedirects == 0 }),
        ("maxBytes", "1", { $0.network.limits.maxBytes == 1 }),
        ("validStatusCodes", "[200,404]", { $0.network.limits.validStatusCodes == [200, 404] }),
        ("validStatusCodes", "[]", { $0.network.limits.validStatusCodes == [] }),
        (
            "acceptContentTypes", "[\"Image/PNG\",\"image/*\"]",
            { $0.network.limits.acceptContentTypes == ["image/png", "image/*"] }
        ),
        (
            "retry", "{\"maxRetries\":3}",
            { $0.network.retry == RetryStrategy(maxRetries: 3, interval: .exponential(1)) }
        ),
        (
            "retry", "{\"maxRetries\":1,\"interval\":{\"seconds\":2}}",
            { $0.network.retry == RetryStrategy(maxRetries: 1, interval: .seconds(2)) }
        ),
        ("alternativeSources", "[\"http://a/\",\"b\"]", { $0.network.alternativeSources == ["http://a/", "b"] }),
        ("onLastCancel", "\"finish\"", { $0.caller.onLastCancel == .finish }),
        ("downloadReport", "true", { $0.caller.wantsReport }),
        ("slot", "\"a\"", { $0.caller.slot == "a" }),
        ("merge", "false", { !$0.network.merges }),
        ("alsoPrefetchToMemory", "true", { $0.caller.alsoPrefetchToMemory }),
        ("hedgeAfter", "0.5", { $0.network.hedgeAfter == 0.5 }),
        ("scope", "\"ann@example.com\"", { $0.lookup.scope == "ann@example.com" }),
        ("credentialScope", "\"shared\"", { $0.lookup.credentialScope == .shared }),
        ("remote", "\"share\"", { $0.lookup.remote == .share }),
        ("redirect", "\"none\"", { $0.network.transfer.redirect == .none }),
        ("downloadPriority", "\"veryHigh\"", { $0.caller.downloadPriority == 1 }),
        ("downloadPriority", "\"low\"", { $0.caller.downloadPriority == 0.25 }),
        ("waitForConnectivity", "60", { $0.network.waitForConnectivity == 60 }),
        ("redirect", "\"same-origin\"", { $0.network.transfer.redirect == .sameOrigin }),
        (
            "integrity", "\"sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\"",
            { $0.lookup.integrity == Integrity("sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=") }
        ),
        ("onFailureImage", "\"/a.png\"", { $0.network.onFailureImage == "/a.png" }),
    ]

    @Test(arguments: good.indices)
    func aGoodValueIsTaken(index: Int) throws {
        let (name, value, holds) = Self.good[index]
        let options = try decode("{\"\(name)\":\(value)}")
        #expect(holds(options), "\(name): \(value)")
        #expect(!holds(ImageOptions()), "the value must differ from the default")
        #expect(try decode("{\"\(name)\":null}") == ImageOptions())
    }

    static let bad: [(name: String, value: String, path: String, expected: String?)] = [
        ("forceRefresh", "1", "", "a boolean"), ("fromMemoryCacheOrRefresh", "\"true\"", "", "a boolean"),
        ("onlyFromCache", "[]", "", "a boolean"), ("cacheMemoryOnly", "{}", "", "a boolean"),
        ("waitForCache", "0", "", "a boolean"),
        ("queryDataWhenInMemory", "\"\"", "", "a boolean"), ("memoryCacheExpiration", "5", "", "\"never\""),
        ("diskCacheExpiration", "{\"days\":1,\"seconds\":1}", "", "\"never\""),
        ("diskCacheExpiration", "{\"date\":\"tomorrow\"}", "", "\"never\""),
        ("diskCacheExpiration", "{\"hours\":1}", "", "\"never\""),
        ("memoryCacheAccessExtendingExpiration", "\"always\"", "", "\"none\""),
        ("diskCacheAccessExtendingExpiration", "7", "", "\"none\""),
        ("memory", "1", "", "a boolean"), ("originalCache", "\".a\"", "", "the name of a cache"),
        ("originalCache", "\"\"", "", "the name of a cache"), ("originalCache", "1", "", "a string"),
        ("cacheOriginalImage", "0", "", "a boolean"), ("cacheSerializer", "\"png\"", "", "an object"),
        ("cacheSerializer", "{\"format\":\"wepb\"}", ".format", "one of \"png\""),
        ("cacheSerializer", "{\"format\":\"jxr\"}", ".format", "one of \"png\""),
        ("cacheSerializer", "{\"quality\":0}", ".quality", "an integer from 1 to 100"),
        ("cacheSerializer", "{\"background\":\"red\"}", ".background", "a colour"),
        ("cacheSerializer", "{\"qualty\":5}", ".qualty", nil), ("onlyLoadFirstFrame", "1", "", "a boolean"),
        ("frame", "-1", "", "an integer from 0"), ("frame", "1.5", "", "an integer from 0"),
        ("scaleDownLargeImages", "60", "", "a boolean"), ("scaleFactor", "0", "", "a number above 0 up to 100"),
        ("preloadAllAnimationData", "\"yes\"", "", "a boolean"), ("backgroundDecode", "1", "", "a boolean"),
        ("thumbHash", "1", "", "a boolean"), ("maxPixels", "0", "", "an integer from 1"),
        ("maxFrames", "0", "", "an integer from 1"), ("maxAnimationPixels", "1.5", "", "an integer from 1"),
        ("decodeSeconds", "0", "", "a number above 0 up to 3600"),
        ("maxEntityBytes", "268435457", "", "an integer from 0 to 268435456"),
        ("lease", "-1", "", "a number from 0 to 31536000"), ("lease", "31536001", "", "a number from 0"),
        ("forcedCacheFileExtension", "\"../x\"", "", "1 to 16 letters"),
        ("forcedCacheFileExtension", "\"\"", "", "1 to 16 letters"),
        ("revalidate", "true", "", "one of \"never\""), ("revalidate", "\"ifStale\"", "", "one of \"never\""),
        ("staleIfError", "-1", "", "a number from 0 to 31536000"), ("offline", "\"on\"", "", "a boolean"),
        ("verifyDecode", "1", "", "a boolean"), ("method", "\"get\"", "", "one of \"GET\""),
        ("method", "\"HEAD\"", "", "one of \"GET\""), ("method", "\"DELETE\"", "", "one of \"GET\", \"POST\", \"PUT\""),
        ("dataModifier", "\"Base64\"", "", "\"base64\""),
        ("body", "7", "", "text or {\"base64\""), ("body", "{\"base64\":\"\",\"x\":1}", "", "text or {\"base64\""),
        ("body", "{\"base64\":\"!\"}", ".base64", "a string of base64"),
        ("negativeCache", "31536001", "", "a number from 0"), ("negativeCache", "true", "", "a number from 0"),
        ("timeout", "0", "", "a number above 0 up to 86400"),
        ("timeout", "\"5\"", "", "a number above 0"), ("deadline", "86401", "", "a number above 0"),
        ("minBytesPerSecond", "-1", "", "a number from 0"), ("minBytesPerSecond", "true", "", "a number from 0"),
        ("downloadPriority", "1.01", "", "a number from 0 to 1"),
        ("downloadPriority", "-0.1", "", "a number from 0 to 1"),
        ("downloadPriority", "\"highest\"", "", "a number from 0 to 1, or veryLow"),
        ("waitForConnectivity", "-1", "", "a number from 0"), ("waitForConnectivity", "true", "", "a number from 0"),
        ("headers", "[1]", "", "an object of strings"), ("headers", "{\"A\":1}", ".A", "a string"),
        ("headers", "{\"A\":\"\(String(repeating: "b", count: 1 << 18))\"}", "", nil),
        ("headers", "{\"A\":\"b\\r\\nC: d\"}", ".A", nil), ("headers", "{\"A B\":\"c\"}", ".A B", nil),
        ("headers", "{\"content-Length\":\"3\"}", ".content-Length", nil),
        ("headers", "{\"Transfer-Encoding\":\"chunked\"}", ".Transfer-Encoding", nil),
        ("headers", "{\"Upgrade\":\"h2c\"}", ".Upgrade", nil),
        ("authorization", "{\"basic\":{\"user\":\"a:b\",\"password\":\"c\"}}", ".basic.user", nil),
        ("authorization", "\"t\"", "", "{\"basic\""), ("authorization", "{\"bearer\":\"a\\nb\"}", ".bearer", nil),
        ("authorization", "{\"basic\":{\"user\":\"u\"}}", ".basic.password", nil),
        ("authorization", "{\"basic\":{\"usr\":\"u\",\"password\":\"p\"}}", ".basic.usr", nil),
        ("authorization", "{\"basic\":{\"user\":1,\"password\":\"p\"}}", ".basic.user", "a string"),
        ("authorization", "{\"basic\":\"u:p\"}", ".basic", "an object with user"),
        ("authorization", "{\"basic\":{},\"bearer\":\"a\"}", "", "{\"basic\""),
        ("delegates", "{}", "", "a list of delegates"),
        ("delegates", "[1]", ".0", "one of \"downloader/modifyRequest\""),
        ("delegates", "[\"downloader/redirects\"]", ".0", nil),
        ("scope", "\"\"", "", "a string that is not empty"), ("scope", "1", "", "a string"),
        ("credentialScope", "\"all\"", "", "one of \"separate\""),
        ("remote", "\"local\"", "", "one of \"use\""),
        ("redirect", "\"sameOrigin\"", "", "one of \"follow\""), ("redirect", "0", "", "one of \"follow\""),
        ("maxRedirects", "51", "", "an integer from 0 to 50"),
        ("maxRedirects", "1.5", "", "an integer from 0 to 50"), ("maxBytes", "0", "", "an integer from 1"),
        ("validStatusCodes", "200", "", "a list of status codes"),
        ("validStatusCodes", "[200,99]", ".1", "an integer from 100 to 599"),
        ("acceptContentTypes", "\"image/*\"", "", "a list of media types"),
        ("acceptContentTypes", "[\"image/*\",\"png\"]", ".1", "a media type such as"),
        ("acceptContentTypes", "[\"image/png; q=1\"]", ".0", "a media type such as"),
        ("retry", "3", "", "an object with maxRetries"), ("retry", "[1]", "", "an object with maxRetries"),
        ("retry", "{\"maxRetries\":101}", ".maxRetries", "an integer from 0 to 100"),
        ("retry", "{\"maxRetries\":1,\"interval\":5}", ".interval", "{\"seconds\": n}"),
        ("retry", "{\"maxRetries\":1,\"interval\":{\"seconds\":-1}}", ".interval", "{\"seconds\": n}"),
        ("retry", "{\"maxRetries\":1,\"intervall\":{}}", ".intervall", nil),
        ("alternativeSources", "\"a\"", "", "a list of strings"),
        ("alternativeSources", "[\"a\",\"\"]", ".1", "a string that is not empty"),
        ("onLastCancel", "\"never\"", "", "one of \"abort\", \"finish\""),
        ("onLastCancel", "1", "", "one of \"abort\""),
        ("downloadReport", "1", "", "a boolean"),
        ("slot", "\"\"", "", "a string that is not empty"), ("merge", "1", "", "a boolean"),
        ("alsoPrefetchToMemory", "0", "", "a boolean"),
        ("hedgeAfter", "-1", "", "a number from 0 to 86400"), ("integrity", "\"sha1-AAAA\"", "", "sha256-"),
        ("integrity", "\"\"", "", "sha256-"), ("integrity", "5", "", "sha256-"),
        ("onFailureImage", "\"\"", "", "a string that is not empty"),
        ("onFailureImage", "5", "", "a string"),
    ]

    static let withoutEffect = ["preloadAllAnimationData", "backgroundDecode"]

    @Test(arguments: withoutEffect)
    func anOptionWithoutEffectIsAcceptedAndChangesNothing(_ name: String) throws {
        #expect(try decode("{\"\(name)\":true}") == ImageOptions())
    }

    @Test(arguments: bad.indices)
    func aBadValueIsRefusedWithItsPathAndWhatWasExpected(index: Int) throws {
        let (name, value, path, expected) = Self.bad[index]
        do {
            _ = try decode("{\"\(name)\":\(value)}")
            Issue.record("\(name) took \(value)")
        } catch let mismatch as Mismatch {
            #expect(mismatch.path == name + path)
            if let expected { #expect(mismatch.expected?.hasPrefix(expected) == true, "\(mismatch)") }
            #expect(mismatch.error.code == -32602)
            #expect(mismatch.error.message.hasPrefix("\"\(mismatch.path)\" "))
            #expect(mismatch.error.message.hasSuffix(".") || mismatch.error.message.hasSuffix("?"))
        }
    }

    /// What was sent instead, for a user who reads it, and to whom "not a string" says nothing of a string.
    @Test(arguments: [
        (#"{"integrity":"md5-x"}"#, "several with spaces, not \"md5-x\"."),
        (#"{"forcedCacheFileExtension":"-----------------------------------------"}"#, "not a string of 41 bytes."),
        (#"{"retry":{"maxCount":3}}"#, "retry.maxCount\" is not a known member; the members are maxRetries, interval."),
        (#"{"retry":true}"#, "an object with maxRetries, not a boolean."),
        (#"{"retry":{"maxRetries":1,"interval":0.5}}"#, "{\"exponential\": n}, not 0.5."),
        (#"{"retry":{"maxRetries":1,"interval":{"secs":1,"max":2}}}"#, "not an object with \"secs\" and \"max\"."),
        (
            #"{"authorization":{"basic":{"user":"u"}}}"#,
            "\"options.authorization.basic.password\" is missing."
        ),
        (#"{"authorization":"Basic czpz"}"#, "{\"bearer\": …}, not a string."),
        (#"{"authorization":{"bearer":98765}}"#, "authorization.bearer\" must be a string, not an integer."),
        (#"{"authorization":{"s3cret":1}}"#, "{\"bearer\": …}, not an object."),
        (#"{"timeout":1e300}"#, "up to 86400, not 1e+300."),
        (#"{"timeout":-0.5}"#, "up to 86400, not -0.5."),
    ])
    func aRefusalSaysWhatWasSentInstead(options: String, says: String) throws {
        let error = #expect(throws: Mismatch.self) { try decode(options) }
        let message = try #require(error?.within("options").error.message)
        #expect(message.hasSuffix(says), "\(message)")
    }

    @Test func aBodyIsPostedUnlessTheMethodIsAnotherThatSendsOne() throws {
        #expect(try decode(#"{"body":"a","method":"PUT"}"#).network.request.method == .put)
        #expect(try decode(#"{"method":null,"body":"a"}"#).network.request.method == .post)
        let error = #expect(throws: Mismatch.self) { try decode(#"{"method":"GET","body":"a"}"#) }
        #expect(error?.path == "method" && error?.expected == "\"POST\" or \"PUT\"")
        let long = String(repeating: "a", count: RequestContent.bodyLimit)
        #expect(try decode(#"{"body":"\#(long)"}"#).network.request.body?.count == RequestContent.bodyLimit)
        #expect(throws: Mismatch.self) { try decode(#"{"body":"\#(long)b"}"#) }
    }

    @Test func everyOptionHasAGoodAndABadValueHere() {
        let names = Set(OptionField.all.map(\.name))
        #expect(Set(Self.good.map(\.name) + Self.withoutEffect) == names)
        #expect(Set(Self.bad.map(\.name)) == names)
    }

    @Test func anUnknownOptionIsRefusedWithTheNearestNameButForPrivateOnes() throws {
        do {
            _ = try decode("{\"forcerefresh\":true}")
            Issue.record("it was taken")
        } catch let mismatch as Mismatch {
            #expect(mismatch.path == "forcerefresh")
            #expect(mismatch.suggestion == "forceRefresh")
        }
        #expect(try decode("{\"_mine\":5,\"x-mine\":[]}") == ImageOptions())
        #expect(try decode("[]") == ImageOptions())
        #expect(try decode("{\"retry\":[],\"headers\":[],\"maxRedirects\":5.0}").network.limits.maxRedirects == 5)
        #expect(throws: Mismatch.self) { try decode("[1]") }
    }

    private func decode(_ text: String) throws -> ImageOptions {
        let document = try JSONDocument(parsing: Array(text.utf8))
        return try ImageOptions.decode(document.root)
    }
}
