import ImageEngine
import Platform
import TestSupport
import Testing

@testable import ImageServer

/// Which source of a setting wins.
@Suite struct SettingSourcesTests {
    private func layer(_ ratio: Double, of cache: String? = nil) -> CacheLayer {
        var layer = CacheLayer()
        var change = CacheChange()
        change.set("disk.purgeRatio") { $0.disk.purgeRatio = ratio }
        if let cache { layer.caches[cache] = change } else { layer.general = change }
        return layer
    }

    @Test func theStrongerSourceWinsWhateverCameLaterAndIsNamed() {
        let order: [SettingSource] = [.default, .file, .initialize, .environment, .flag, .configure]
        #expect(SettingSource.allCases == order)
        for (weak, strong) in zip(order.dropFirst(), order.dropFirst(2)) {
            for caches in [(nil, nil), ("a", nil), (nil, "a"), ("a", "a")] as [(String?, String?)] {
                var sources = SettingSources()
                sources[strong] = layer(0.2, of: caches.1)
                sources[weak] = layer(0.1, of: caches.0)
                #expect(sources.settings(of: "a").disk.purgeRatio == 0.2)
                #expect(sources.source(of: "disk.purgeRatio", in: "a") == strong)
            }
        }
        #expect(SettingSources().settings(of: "a") == ImageCache.Configuration(folder: ""))
        #expect(SettingSources().source(of: "disk.purgeRatio", in: "a") == .default)
    }

    @Test func aCacheOfItsOwnComesBeforeAllWithinOneSource() {
        var sources = SettingSources()
        var both = layer(0.1)
        both.add(layer(0.3, of: "a"))
        sources[.file] = both
        #expect(sources.settings(of: "a").disk.purgeRatio == 0.3)
        #expect(sources.settings(of: "b").disk.purgeRatio == 0.1)
        #expect(sources.settings(of: nil).disk.purgeRatio == 0.1)
        #expect(sources.names == ["a"] && sources.named.keys.elementsEqual(["a"]))
    }

    @Test(arguments: [true, false])
    func theMemoryOfAContainerBoundsEachCacheUntilASourceNamesTheSetting(
        isVersion2: Bool
    ) {
        let (groups, file) =
            isVersion2 ? ("0::/a", "/a/memory.max") : ("4:memory:/a", "/memory/a/memory.limit_in_bytes")
        var configuration = ServerConfiguration()
        configuration.engine.fit(MachineLimits(groups: groups) { $0 == file ? "167772160\n" : nil })
        var sources = SettingSources()
        sources.base = configuration.engine.defaults
        sources[.file] = layer(0.3, of: "a")
        for memory in [sources.configuration(configuration).engine.defaults, sources.settings(of: "a")].map(\.memory) {
            #expect(memory.costLimit == 20_971_520 && memory.preferredCost <= memory.costLimit)
        }
        #expect(sources.settings(of: "a").disk.purgeRatio == 0.3)
        var change = CacheChange()
        change.set("memory.totalBytesLimit") { $0.memory.costLimit = 50_000_000 }
        sources[.configure].general = change
        #expect(sources.settings(of: "a").memory.costLimit == 50_000_000)
    }

    @Test func repeatedChangesOfOneSettingTakeTheSpaceOfOne() {
        var change = CacheChange()
        for ratio in 0..<100 { change.set("disk.purgeRatio") { $0.disk.purgeRatio = Double(ratio) } }
        #expect(Mirror(reflecting: change).children.first.map { Mirror(reflecting: $0.value).children.count } == 1)
        var settings = ImageCache.Configuration(folder: "")
        change.apply(to: &settings)
        #expect(settings.disk.purgeRatio == 99)
    }

    @Test(arguments: [
        ("{\"a\":\n 1 x}", "line 2, column"), ("", "it is empty"), ("[]", "must be an object"),
        ("{\"disc\":{}}", "did you mean \"disk\"?"), ("{\"logFile\":5}", "\"logFile\" must be a string"),
        ("{\"downloadBurst\":\"5\"}", "\"downloadBurst\" must be an integer"),
        ("{\"offline\":\"true\"}", "\"offline\" must be a boolean"),
        ("{\"diskLimits\":5}", "did you mean \"diskLimit\"?"),
        ("{\"disk\":{\"purgeRatio\":2}}", "\"disk.purgeRatio\" must be a number from 0 to 1"),
    ])
    func aMalformedFileIsRefusedWithThePlace(_ text: String, _ words: String) throws {
        let failure = try #require(throws: ConfigurationFileFailure.self) {
            try ConfigurationFile(parsing: Array(text.utf8))
        }
        #expect(failure.description.contains(words), "\(failure)")
    }

    @Test func aFileHoldsSettingsOfTheProcessAndOfCaches() throws {
        let text = #"{"logFile":"/l","diskLimit":5,"_note":[],"logLevel":null,"caches":{"a":{"memory":false}}}"#
        let file = try ConfigurationFile(parsing: Array(text.utf8))
        #expect(file.values == ["logFile": "/l", "diskLimit": "5"])
        #expect(file.layer.general.isEmpty && Array(file.layer.caches.keys) == ["a"])
    }
}
