internal import Glibc
internal import Platform

/// Which stretches of a JPEG hold nothing that could end a scan, noted by who read them for another reason, so that the
/// search for the end passes them over: a plain value.
///
/// Of bytes that do not begin like a JPEG it says nothing.
package struct ScanMap: Sendable {
    /// Bytes of a stretch.
    static let stretch = 64 << 10

    /// How many bytes it has seen.
    private(set) var count = 0
    /// Of each stretch that was begun, whether a marker begins in it.
    private var hasMarker: [Bool] = []
    private var last: UInt8 = 0
    private var isOther = false

    /// Nothing has been seen yet.
    package init() {}

    /// Notes the next bytes, in pieces of any length.
    ///
    /// - Complexity: O(*n*), some 0.05 ns a byte.
    package mutating func add(_ piece: UnsafeRawBufferPointer) {
        guard !isOther, let base = piece.baseAddress, let end = piece.last else { return }
        let start = count
        count += piece.count
        if start < 2 {
            isOther = start == 0 ? piece.first != 0xFF || piece.count > 1 && piece[1] != 0xD8 : piece.first != 0xD8
            if isOther { return }
        }
        while hasMarker.count * Self.stretch < count { hasMarker.append(false) }
        if start > 0, last == 0xFF, Self.endsScan(piece[0]) { hasMarker[(start - 1) / Self.stretch] = true }
        last = end
        var place = 0
        // The byte behind the last one has not come yet.
        while place < piece.count - 1, let found = memchr(base + place, 0xFF, piece.count - 1 - place) {
            place = UnsafeRawPointer(found) - base
            let index = (start + place) / Self.stretch
            if Self.endsScan(piece[place + 1]) {
                hasMarker[index] = true
                place = (index + 1) * Self.stretch - start
            } else {
                place += 1
            }
        }
    }

    /// The first place at or after `place` that may belong to a marker.
    func nextPlace(from place: Int) -> Int {
        guard !isOther, place >= 0 else { return place }
        var index = place / Self.stretch
        // Whether the last byte of a stretch begins one, the next byte tells.
        while (index + 1) * Self.stretch < count, !hasMarker[index] { index += 1 }
        return max(place, index * Self.stretch)
    }

    /// Whether a byte after 0xFF makes a marker of it that ends a scan: not if it is stuffed, a fill byte or a restart.
    static func endsScan(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x00, 0xD0...0xD7, 0xFF: false
        default: true
        }
    }
}
