import TestSupport
import Testing

@testable import RemoteStorage

/// The form of an object, and its name.
@Suite struct RemoteObjectTests {
    @Test(arguments: [0, 1, 100_000])
    func anObjectIsReadAsItWasWritten(count: Int) {
        let object = RemoteObject(record: Array("record".utf8), image: [UInt8](repeating: 7, count: count))
        #expect(object.bytes.flatMap(RemoteObject.init) == object)
    }

    @Test func everyChangeOfOneByteAndEveryCutIsFound() throws {
        let whole = try #require(RemoteObject(record: [1, 2, 3], image: [4, 5, 6, 7]).bytes)
        for place in whole.indices {
            for change: UInt8 in [1, 0x80, 0xFF] {
                var bytes = whole
                bytes[place] ^= change
                #expect(RemoteObject(bytes) == nil, "\(place)")
            }
            #expect(RemoteObject(Array(whole[..<place])) == nil)
        }
        #expect(RemoteObject(whole + [0]) == nil)
    }

    @Test func aRecordThatIsTooLargeMakesNoObject() {
        #expect(RemoteObject(record: [UInt8](repeating: 0, count: RemoteObject.recordLimit), image: []).bytes != nil)
        #expect(
            RemoteObject(record: [UInt8](repeating: 0, count: RemoteObject.recordLimit + 1), image: []).bytes == nil)
    }

    @Test func namesTellEntriesApartAndNothingOfThem() {
        let parts = [["a", "b"], ["ab", ""], ["", "ab"], ["a", "b", ""], ["a"], ["b", "a"]]
        let names = parts.map { RemoteObject.name(of: $0) }
        #expect(Set(names).count == parts.count)
        #expect(names.allSatisfy { $0.count == 64 && $0.allSatisfy(\.isHexDigit) })
    }
}
