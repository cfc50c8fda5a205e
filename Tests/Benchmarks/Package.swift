// swift-tools-version: 6.1
import PackageDescription

// The C side of the benchmarks: the load driver and the yardsticks. `run.py` builds the same sources with the C compiler
// when it needs them, so this package is a second door, not a step: `swift build -c release --package-path Tests/Benchmarks`.
let jansson = LinkerSetting.linkedLibrary("jansson")
let sqlite = LinkerSetting.linkedLibrary("sqlite3")
let curl = LinkerSetting.linkedLibrary("curl")
let crypto = LinkerSetting.linkedLibrary("crypto")

let package = Package(
    name: "Benchmarks",
    products: [
        .executable(name: "bench-driver", targets: ["bench-driver"]),
        .executable(name: "bench-echo", targets: ["bench-echo"]),
        .executable(name: "bench-fetch", targets: ["bench-fetch"]),
        .executable(name: "bench-store", targets: ["bench-store"]),
    ],
    targets: [
        .target(name: "BenchSupport"),
        .executableTarget(name: "bench-driver", dependencies: ["BenchSupport"], linkerSettings: [jansson]),
        .executableTarget(name: "bench-echo", dependencies: ["BenchSupport"], linkerSettings: [jansson, sqlite]),
        .executableTarget(
            name: "bench-fetch", dependencies: ["BenchSupport"], linkerSettings: [curl, crypto, sqlite]),
        .executableTarget(name: "bench-store", dependencies: ["BenchSupport"], linkerSettings: [sqlite]),
    ],
    cLanguageStandard: .gnu11
)
