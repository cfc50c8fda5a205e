import Foundation
import ImageEngine
import JSONRPC
import TestSupport
import Testing

@testable import ImageServer

/// Every setting of a cache: what it takes, how it is shown, and how it refuses the rest.
@Suite struct SettingTests {
    /// A value that a setting takes and the form in which it is shown; the same when nil.
    static let good: [(path: String, value: String, shown: String?)] = [
        ("memory.totalBytesLimit", "0", nil), ("memory.totalBytesLimit", "\"1.5 GB\"", "1500000000"),
        ("disk.freeSpaceFloor", "\"64MiB\"", "67108864"), ("memory.totalBytesLimit", "9007199254740991", nil),
        ("memory.preferredBytesAfterPurge", "5", nil), ("memory.countLimit", "7", nil),
        ("memory.entryBytesLimit", "9", nil), ("memory.expiration", "{\"seconds\":1.5}", nil),
        ("memory.expiration", "{\"seconds\":86400}", "{\"days\":1}"), ("memory.expiration", "\"never\"", nil),
        ("memory.expiration", "{\"days\":-1}", "\"never\""), ("memory.extending", "\"none\"", nil),
        ("memory.extending", "{\"seconds\":3}", nil), ("memory.weakRetention", "false", nil),
        ("disk.folder", "\"/a/b\"", nil), ("disk.folder", "\"/a//\"", "\"/a\""), ("disk.folder", "\"/\"", nil),
        ("disk.bytesLimit", "0", nil), ("disk.purgeRatio", "0.25", nil), ("disk.purgeRatio", "1", "1.0"),
        ("disk.freeSpaceFloor", "0", nil), ("disk.expiration", "\"expired\"", nil),
        ("disk.expiration", "{\"date\":\"2026-01-31T00:00:00Z\"}", nil), ("disk.expireBy", "\"modification\"", nil),
        ("disk.pathExtension", "\"fromKey\"", nil), ("disk.pathExtension", "\"none\"", nil),
        ("disk.pathExtension", "\"img\"", nil), ("disk.fileNames", "\"md5\"", nil),
        ("disk.readOnlyPaths", "[\"/a\",\"/b\"]", nil), ("disk.durability", "\"disk\"", nil),
        ("disk.revalidate", "\"http\"", nil), ("disk.negativeCache", "60", nil),
        ("disk.verifyDecode", "true", nil),
        ("disk.keyRules", #"[{"hosts":["*.a.b","::1"],"keepQuery":[],"dropQuery":["x*"]},{"dropQuery":["y"]}]"#, nil),
    ]

    static let bad: [(path: String, value: String, place: String, expected: String)] = [
        ("memory.totalBytesLimit", "-1", "", "an integer from 0"),
        ("memory.totalBytesLimit", "1.5", "", "an integer from 0"),
        ("memory.preferredBytesAfterPurge", "\"1X\"", "", "an integer from 0"),
        ("memory.countLimit", "true", "", "an integer from 0"),
        ("memory.entryBytesLimit", "-1", "", "an integer from 0"), ("memory.expiration", "300", "", "\"never\""),
        ("memory.extending", "\"sliding\"", "", "\"none\""), ("memory.weakRetention", "1", "", "a boolean"),
        ("disk.folder", "\"a\"", "", "an absolute path"), ("disk.folder", "\"\"", "", "an absolute path"),
        ("disk.bytesLimit", "9007199254740992", "", "an integer from 0"),
        ("disk.purgeRatio", "1.01", "", "a number from 0 to 1"), ("disk.purgeRatio", "-0.1", "", "a number from 0"),
        ("disk.freeSpaceFloor", "\"1%\"", "", "an integer from 0"), ("disk.expiration", "{}", "", "\"never\""),
        ("disk.expireBy", "\"accessed\"", "", "one of \"access\""),
        ("disk.pathExtension", "\"a.b\"", "", "\"sniffed\""), ("disk.fileNames", "\"sha1\"", "", "one of \"sha256\""),
        ("disk.readOnlyPaths", "\"/a\"", "", "a list of absolute paths"),
        ("disk.readOnlyPaths", "[\"/a\",\"b\"]", ".1", "an absolute path"),
        ("disk.durability", "true", "", "one of \"process\""),
        ("disk.revalidate", "\"stale\"", "", "one of \"never\""),
        ("disk.negativeCache", "0.5", "", "an integer from 0"), ("disk.keyRules", "{}", "", "a list of rules such as"),
        ("disk.verifyDecode", "1", "", "a boolean"),
        ("disk.keyRules", "[1]", ".0", "an object"), ("disk.keyRules", "[{}]", ".0", "an object with keepQuery or"),
        ("disk.keyRules", #"[{"dropQuery":["a"]},{"dropQuery":"a"}]"#, ".1.dropQuery", "a list of strings"),
        ("disk.keyRules", #"[{"hosts":["http://a"],"dropQuery":["a"]}]"#, ".0.hosts.0", "a host such as"),
    ]

    @Test(arguments: good.indices)
    func aGoodValueIsTakenAndShownAgain(index: Int) throws {
        let (path, value, shown) = Self.good[index]
        var settings = ImageCache.Configuration(folder: "")
        let before = settings
        try change(path, value).apply(to: &settings)
        #expect(settings != before, "the value must differ from the default")
        let reply = try JSON(written(SettingsReply(settings: settings)))
        let (group, name) = try parts(path)
        #expect(try reply[group]?[name] == JSON(shown ?? value), "\(path): \(value)")
    }

    @Test(arguments: bad.indices)
    func aBadValueIsRefusedWithItsPathAndWhatWasExpected(index: Int) throws {
        let (path, value, place, expected) = Self.bad[index]
        let mismatch = try #require(throws: Mismatch.self) { try change(path, value) }
        let (_, name) = try parts(path)
        #expect(mismatch.path == name + place)
        #expect(mismatch.expected?.hasPrefix(expected) == true, "\(mismatch)")
    }

    @Test func everySettingHasAGoodAndABadValueHere() {
        let paths = Set(
            SettingField.memory.map { "memory.\($0.name)" } + SettingField.disk.map { "disk.\($0.name)" })
        #expect(Set(Self.good.map(\.path)) == paths)
        #expect(Set(Self.bad.map(\.path)) == paths)
    }

    @Test func settingsLeftOutOrNullStayAsTheyWere() throws {
        var settings = ImageCache.Configuration(folder: "/a")
        settings.disk.purgeRatio = 0.1
        settings.memory.entryCostLimit = 5
        settings.memory.countLimit = 3
        var changed = settings
        try change("disk.bytesLimit", "7").apply(to: &changed)
        try change("memory.countLimit", "null").apply(to: &changed)
        settings.disk.bytesLimit = 7
        #expect(changed == settings)
        try change("memory.entryBytesLimit", "null").apply(to: &changed)
        #expect(changed.memory.entryCostLimit == nil, "null is a value where it means automatic")
    }

    @Test func theMemoryTierIsSwitchedOffAndOnByABooleanOrSettings() throws {
        var settings = ImageCache.Configuration(folder: "/a")
        try decode(MemoryChange.self, "false").change.apply(to: &settings)
        #expect(!settings.memory.isEnabled)
        #expect(try JSON(written(SettingsReply(settings: settings)))["memory"] == .boolean(false))
        try decode(MemoryChange.self, "{}").change.apply(to: &settings)
        #expect(settings == ImageCache.Configuration(folder: "/a"))
    }

    /// High and low water move together unless both are given.
    @Test func aLimitAloneMovesWhatAPurgeLeaves() throws {
        var settings = ImageCache.Configuration(folder: "/a")
        try change("memory.totalBytesLimit", "1000").apply(to: &settings)
        #expect(settings.memory.preferredCost == 600)
        try decode(MemoryChange.self, #"{"preferredBytesAfterPurge":5,"totalBytesLimit":100}"#).change
            .apply(to: &settings)
        #expect(settings.memory.costLimit == 100 && settings.memory.preferredCost == 5)
    }

    @Test func anUnknownSettingIsRefusedWithTheNearestNameButForPrivateOnes() throws {
        let mismatch = try #require(throws: Mismatch.self) { try change("disk.byteLimit", "1") }
        #expect(mismatch.path == "byteLimit" && mismatch.suggestion == "bytesLimit")
        #expect(try change("disk._mine", "1").isEmpty)
    }

    @Test(arguments: [
        (#"{"disk":{"purgeRatio":2}}"#, "disk.purgeRatio"),
        (#"{"caches":{"a":{"disk":{"purgeRatio":2}}}}"#, "caches.a.disk.purgeRatio"),
        (#"{"caches":{"a":{"disc":{}}}}"#, "caches.a.disc"), (#"{"caches":{".a":{}}}"#, "caches..a"),
        (#"{"caches":[1]}"#, "caches"), (#"{"caches":{"a":1}}"#, "caches.a"), (#"{"memory":1}"#, "memory"),
        (#"{"disk":{"folder":"/a"}}"#, "disk.folder"), (#"{"Memory":{}}"#, "Memory"),
        (#"{"downloader":1}"#, "downloader"), (#"{"downloader":{"downloadOrder":"filo"}}"#, "downloader.downloadOrder"),
        (#"{"downloader":{"maxDownloadsPerHost":0}}"#, "downloader.maxDownloadsPerHost"),
        (#"{"downloader":{"maxConcurrentDownloads":1.5}}"#, "downloader.maxConcurrentDownloads"),
        (#"{"downloader":{"downloadsPerSecond":-1}}"#, "downloader.downloadsPerSecond"),
        (#"{"downloader":{"downloadBurst":0}}"#, "downloader.downloadBurst"),
        (#"{"downloader":{"downloadsPerSecondPerHost":1.5}}"#, "downloader.downloadsPerSecondPerHost"),
        (#"{"downloader":{"timeout":0}}"#, "downloader.timeout"),
        (#"{"downloader":{"retries":0}}"#, "downloader.retries"),
        (#"{"downloader":{"hostRules":{}}}"#, "downloader.hostRules"),
        (#"{"downloader":{"hostRules":[{"headers":{}}]}}"#, "downloader.hostRules.0"),
        (#"{"downloader":{"hostRules":[{"hosts":["a/b"]}]}}"#, "downloader.hostRules.0.hosts.0"),
        (#"{"downloader":{"hostRules":[{"hosts":[]}]}}"#, "downloader.hostRules.0.hosts"),
        (
            #"{"downloader":{"hostRules":[{"hosts":["a"],"headers":{"A B":"c"}}]}}"#,
            "downloader.hostRules.0.headers.A B"
        ),
        (#"{"downloader":{"hostRules":[{"hosts":["a"],"header":{}}]}}"#, "downloader.hostRules.0.header"),
        // What is shown in the place of a secret is none.
        (#"{"downloader":{"hostRules":[{"hosts":["a"],"headers":{"X-Key":"…"}}]}}"#, "downloader.hostRules.0"),
        (
            #"{"downloader":{"hostRules":[{"hosts":["a"],"authorization":{"basic":{"user":"u","password":"…"}}}]}}"#,
            "downloader.hostRules.0"
        ),
        (#"{"downloader":{"hostRules":[{"hosts":["a"],"clientKey":"k"}]}}"#, "downloader.hostRules.0.clientKey"),
        (#"{"downloader":{"urlRewrites":[{"from":"http://a/"}]}}"#, "downloader.urlRewrites.0"),
        // They would not be sent, and would be shown.
        (#"{"downloader":{"urlRewrites":[{"from":"http://a/","to":"http://u:pw@b/"}]}}"#, "downloader.urlRewrites.0"),
        (#"{"downloader":{"urlRewrites":[{"from":"http://u@a/","to":"http://b/"}]}}"#, "downloader.urlRewrites.0"),
        (#"{"downloader":{"urlRewrites":[{"from":"a","to":"b"}]}}"#, "downloader.urlRewrites.0"),
        (#"{"downloader":{"urlRewrites":[{"fro":"http://a/"}]}}"#, "downloader.urlRewrites.0.fro"),
    ])
    func aBadValueInsideALayerIsNamedWithItsWholePath(_ text: String, _ path: String) throws {
        let mismatch = try #require(throws: Mismatch.self) { try decode(InitializationOptions.self, text) }
        #expect(mismatch.path == path)
    }

    @Test func everySettingIsDescribedWithItsDefaultToPeople() throws {
        let path = URL(fileURLWithPath: Fixtures.repository + "/protocol/configuration.md")
        let rows = try String(contentsOf: path, encoding: .utf8).split(separator: "\n").map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let caches = (SettingField.memory + SettingField.disk).filter { $0.name != "folder" }
        let described = caches.map { ($0.name, $0.fallback) } + SettingField.downloader.map { ($0.name, $0.fallback) }
        for (name, fallback) in described {
            let defaults = rows.filter { $0.first == "`\(name)`" && $0.count >= 3 }
                .map { $0[$0.count - 2].trimmingCharacters(in: CharacterSet(charactersIn: "`")) }
            var writer = JSONWriter()
            fallback.write(to: &writer)
            let found = defaults.compactMap { try? JSON($0) }
            #expect(try found.contains(JSON(writer.bytes)), "\(name): \(defaults)")
        }
    }

    private func parts(_ path: String) throws -> (group: String, name: String) {
        let parts = path.split(separator: ".").map(String.init)
        try #require(parts.count == 2)
        return (parts[0], parts[1])
    }

    private func change(_ path: String, _ value: String) throws -> CacheChange {
        let (group, name) = try parts(path)
        let text = "{\"\(name)\":\(value)}"
        return group == "memory"
            ? try decode(MemoryChange.self, text).change : try decode(DiskChange.self, text).change
    }
}

/// Reads a value from JSON text.
func decode<Value: WireValue>(_ type: Value.Type, _ text: String) throws -> Value {
    let document = try JSONDocument(parsing: Array(text.utf8))
    return try Value.decode(document.root)
}

/// The JSON of a result.
func written(_ result: some WireResult) -> [UInt8] {
    var writer = JSONWriter()
    result.write(to: &writer)
    return writer.bytes
}
