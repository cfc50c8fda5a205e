// swift-tools-version: 6.1
import PackageDescription

/// `Lifetimes` lets a view of a JSON document be bound to the document by the compiler instead of by convention.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableExperimentalFeature("Lifetimes"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

/// Tests import what they test whole.
let testSettings = settings.dropLast().map(\.self)

/// For what goes through bytes, samples and messages one by one, which takes up to 20 times as long without optimization: a sixth
/// of the time of the tests.
let optimized: [SwiftSetting] = [.unsafeFlags(["-O"], .when(configuration: .debug))]

let package = Package(
    name: "halcyon",
    products: [
        .executable(name: "halcyon", targets: ["halcyon"]),
        .executable(name: "halcyon-codec", targets: ["halcyon-codec"]),
        .library(name: "ImageEngine", targets: ["ImageEngine"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
    ],
    targets: [
        .systemLibrary(name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
        .systemLibrary(name: "CCrypto", providers: [.apt(["libssl-dev"])]),
        // The headers of libvips need GLib's; naming its package instead of vips' own leaves out flags that SwiftPM refuses.
        .systemLibrary(name: "CVipsLibrary", pkgConfig: "gobject-2.0", providers: [.apt(["libvips-dev"])]),
        .target(
            name: "CVips", dependencies: ["CVipsLibrary"],
            linkerSettings: [
                .linkedLibrary("vips"), .linkedLibrary("jpeg"), .linkedLibrary("png16"), .linkedLibrary("lcms2"),
            ]),
        .target(name: "CCurl"),
        .target(name: "CCodings"),
        .target(name: "CLinux"),
        .target(name: "CSQLite", dependencies: ["CLinux"], linkerSettings: [.linkedLibrary("sqlite3")]),
        .target(name: "Platform", dependencies: ["CCrypto", "CLinux"], swiftSettings: settings + optimized),
        .target(name: "ImageRecipes", swiftSettings: settings),
        .target(name: "JSONRPC", dependencies: ["CJansson", "Platform"], swiftSettings: settings + optimized),
        .target(name: "HTTPSemantics", dependencies: ["Platform"], swiftSettings: settings + optimized),
        .target(name: "ImageErrors", dependencies: ["Platform"], swiftSettings: settings),
        .target(name: "ImageFormats", dependencies: ["ImageRecipes"], swiftSettings: settings + optimized),
        .target(
            name: "Downloading",
            dependencies: ["CCodings", "CCurl", "HTTPSemantics", "ImageErrors", "Platform"], swiftSettings: settings),
        .target(
            name: "DownloadRecording",
            dependencies: [
                "Downloading", "HTTPSemantics", "ImageErrors", "Platform",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .target(
            name: "Caching",
            dependencies: [
                "CLinux", "CSQLite", "HTTPSemantics", "ImageErrors", "ImageFormats", "Platform",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .target(
            name: "RemoteStorage",
            dependencies: ["CCurl", "Downloading", "HTTPSemantics", "ImageErrors", "Platform"], swiftSettings: settings),
        .target(
            name: "ImageEngine",
            dependencies: [
                "Caching", "CLinux", "Downloading", "HTTPSemantics", "ImageErrors", "ImageFormats", "ImageRecipes",
                "Platform", "RemoteStorage",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .target(
            name: "ImageServer",
            dependencies: [
                "JSONRPC", "ImageEngine", "ImageRecipes", "Platform", "RemoteStorage",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .target(
            name: "MCP", dependencies: ["JSONRPC", "ImageEngine", "Platform"], swiftSettings: settings + optimized),
        .target(name: "Terminal", dependencies: ["JSONRPC", "Platform"], swiftSettings: settings),
        .executableTarget(
            name: "halcyon",
            dependencies: [
                "CCodings", "CCurl", "CLinux", "DownloadRecording", "HTTPSemantics", "ImageServer", "JSONRPC",
                "ImageEngine", "MCP", "Platform", "RemoteStorage", "Terminal",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["Link"], swiftSettings: settings,
            // What each start pays for. A linker script has `--static-swift-stdlib` take the C++ runtime from its archive too: as a
            // library of its own it costs 4,000 look-ups of symbols and a megabyte. The toolchain's own linker packs the 55,000
            // relative relocations (glibc 2.36 or later reads them); nothing looks the program's own symbols up.
            linkerSettings: [
                .unsafeFlags(["-L\(Context.packageDirectory)/Sources/halcyon/Link"]),
                .unsafeFlags(
                    ["-use-ld=lld"]
                        + ["-z", "pack-relative-relocs", "--no-export-dynamic"].flatMap { ["-Xlinker", $0] },
                    .when(configuration: .release)),
            ],
            plugins: ["CommitPlugin"]),
        .plugin(name: "CommitPlugin", capability: .buildTool(), path: "Sources/CommitPlugin"),
        .target(
            name: "ImageCodec", dependencies: ["CVips", "ImageFormats", "ImageRecipes"],
            swiftSettings: settings + optimized),
        .executableTarget(
            name: "halcyon-codec", dependencies: ["ImageCodec", "ImageRecipes"], swiftSettings: settings),
        .target(name: "CTestSupport", dependencies: ["CJansson"], path: "Tests/CTestSupport"),
        .target(
            name: "TestSupport",
            dependencies: [
                "CLinux", "CTestSupport", "Downloading", "HTTPSemantics", "ImageRecipes", "JSONRPC", "Platform",
            ],
            path: "Tests/TestSupport",
            swiftSettings: testSettings + optimized),
        .testTarget(
            name: "ImageFormatsTests", dependencies: ["ImageFormats", "Platform", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(name: "ImageRecipesTests", dependencies: ["ImageRecipes"], swiftSettings: testSettings),
        .testTarget(
            name: "JSONRPCTests", dependencies: ["JSONRPC", "Platform", "TestSupport", "CTestSupport"],
            swiftSettings: testSettings),
        .testTarget(name: "TerminalTests", dependencies: ["Terminal", "JSONRPC"], swiftSettings: testSettings),
        .testTarget(
            name: "ImageCodecTests",
            dependencies: [
                "CCrypto", "CTestSupport", "ImageCodec", "ImageFormats", "ImageRecipes", "TestSupport", "halcyon-codec",
            ],
            swiftSettings: testSettings),
        .testTarget(name: "PlatformTests", dependencies: ["Platform", "TestSupport"], swiftSettings: testSettings),
        .testTarget(
            name: "CachingTests",
            dependencies: [
                "Caching", "CSQLite", "HTTPSemantics", "ImageErrors", "ImageFormats", "Platform", "TestSupport",
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "HTTPSemanticsTests", dependencies: ["HTTPSemantics", "Platform", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "DownloadingTests",
            dependencies: [
                "Downloading", "DownloadRecording", "HTTPSemantics", "ImageErrors", "Platform", "TestSupport",
                "CTestSupport",
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "RemoteStorageTests",
            dependencies: [
                "CTestSupport", "Downloading", "HTTPSemantics", "Platform", "RemoteStorage", "TestSupport",
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "ImageEngineTests",
            dependencies: [
                "ImageEngine", "Caching", "Downloading", "DownloadRecording", "HTTPSemantics", "ImageErrors",
                "ImageFormats", "ImageRecipes",
                "Platform", "TestSupport", "CTestSupport", "halcyon-codec",
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "ImageServerTests",
            dependencies: [
                "ImageServer", "ImageEngine", "ImageRecipes", "JSONRPC", "Platform", "TestSupport", "halcyon",
                "halcyon-codec",
            ],
            swiftSettings: testSettings),
    ]
)
