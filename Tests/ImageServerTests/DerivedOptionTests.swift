import JSONRPC
import Testing

@testable import ImageEngine
@testable import ImageServer

/// Each step of a request leaves out the options that do not concern it. Whoever adds an option decides about each of
/// these, and notes it here.
@Suite struct DerivedOptionTests {
    private static let derived: [(name: String, options: @Sendable (ImageOptions) -> ImageOptions)] = [
        ("entry", { $0.decidingTheEntry }), ("cache", { $0.keepingOnlyCacheOptions }),
        ("made", { $0.keepingForVariants }),
        ("original", { $0.loadingOriginal(of: Resource(url: "https://a/b.png")) }),
        ("own", { $0.keepingNoOriginal }), ("new", { $0.refreshing }), ("unchecked", { $0.unchecked }),
        ("anySize", { $0.ofAnySize }),
    ]

    /// The names of all options, by the names of those that leave them out.
    private static let options = [
        "cache made":
            "alternativeSources authorization body credentialScope dataModifier delegates "
            + "diskCacheAccessExtendingExpiration headers hedgeAfter memoryCacheAccessExtendingExpiration "
            + "method offline onlyFromCache redirect scaleFactor scope",
        "entry cache made":
            "acceptContentTypes alsoPrefetchToMemory deadline downloadPriority downloadReport maxRedirects merge "
            + "minBytesPerSecond negativeCache onLastCancel retry slot staleIfError thumbHash timeout "
            + "validStatusCodes waitForConnectivity",
        "":
            "cacheMemoryOnly diskCacheExpiration fromMemoryCacheOrRefresh memory memoryCacheExpiration "
            + "remote revalidate waitForCache",
        "cache": "decodeSeconds maxAnimationPixels maxEntityBytes maxFrames maxPixels",
        "entry cache original": "cacheSerializer frame onlyLoadFirstFrame scaleDownLargeImages",
        "cache made original": "onFailureImage originalCache",
        "made unchecked": "integrity verifyDecode",
        "original": "forcedCacheFileExtension queryDataWhenInMemory",
        "cache made own": "cacheOriginalImage",
        "entry": "lease",
        "entry cache made anySize": "maxBytes",
        "own new": "forceRefresh",
    ]

    @Test func eachLeavesOutTheOptionsThatAreListed() throws {
        var found: [String: Set<String>] = [:]
        for (option, value, _) in OptionTests.good {
            let document = try JSONDocument(parsing: Array("{\"\(option)\":\(value)}".utf8))
            let options = try ImageOptions.decode(document.root)
            let without = Self.derived.filter { $0.options(options) == $0.options(ImageOptions()) }.map(\.name)
            found[without.joined(separator: " "), default: []].insert(option)
        }
        let listed = Self.options.mapValues { Set($0.split(separator: " ").map(String.init)) }
        #expect(found == listed)
    }
}
