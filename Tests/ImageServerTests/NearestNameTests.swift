import JSONRPC
import Testing

@testable import ImageServer

/// A misspelt name is answered with the one it most likely meant.
@Suite struct NearestNameTests {
    static let methods: [(typed: String, meant: String?)] = [
        ("retreive", "retrieve"), ("Retrieve", "retrieve"), ("retrive", "retrieve"), ("isCahced", "isCached"),
        ("iscached", "isCached"),
        ("calculatesize", "calculateSize"), ("claer", "clear"), ("stroe", "store"), ("pong", "ping"),
        ("clearDisc", "clearDisk"),
        ("cachePaht", "cachePath"), ("rpc.discovery", "rpc.discover"), ("", nil), ("x", nil), ("fetch", nil),
        ("punk", nil),
        ("textDocument/hover", nil),
        ("é", nil), (String(repeating: "retrieve", count: 9), nil),
    ]

    @Test(arguments: methods.indices)
    func aMethodIsSuggestedWhenItIsNear(index: Int) {
        let (typed, meant) = Self.methods[index]
        #expect(nearestName(to: typed, in: Method.requestNames) == meant, "\(typed)")
    }

    @Test func ofEquallyNearNamesTheFirstIsSuggestedAndOfNoneNone() {
        #expect(nearestName(to: "cab", in: ["cat", "car"]) == "cat")
        #expect(nearestName(to: "cat", in: []) == nil)
        #expect(nearestName(to: "car", in: ["cat", "car"]) == "car")
    }
}
