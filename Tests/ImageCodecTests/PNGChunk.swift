/// A chunk of a PNG, with its length and checksum (PNG, 5.3).
struct PNGChunk: Equatable {
    let name: String
    let bytes: [UInt8]

    var content: ArraySlice<UInt8> { bytes[8..<(bytes.count - 4)] }

    /// The chunks of a file, in their order.
    static func all(of png: [UInt8]) -> [PNGChunk] {
        var (chunks, place): ([PNGChunk], Int) = ([], 8)
        while place + 12 <= png.count {
            let end = place + 12 + png[place..<(place + 4)].reduce(0) { $0 << 8 | Int($1) }
            let name = String(decoding: png[(place + 4)..<(place + 8)], as: UTF8.self)
            chunks.append(PNGChunk(name: name, bytes: Array(png[place..<end])))
            place = end
        }
        return chunks
    }
}
