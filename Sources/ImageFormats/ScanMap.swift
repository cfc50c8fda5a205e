internal import Glibc

/// The stretches of a JPEG without anything that could end a scan, noted while its bytes pass for another reason, so that the
/// search for the end skips them. Nothing is skipped of bytes that do not begin like a JPEG.
package struct ScanMap: Sendable {
    /// The size of a stretch, in bytes.
    static let stretch = 64 << 10

    private(set) var count = 0
    /// `true` for each stretch begun in which a marker begins.
    private var hasMarker: [Bool] = []
    private var last: UInt8 = 0
    private var isOther = false

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
        // The last byte of a stretch may begin one, which the next byte tells.
        while (index + 1) * Self.stretch < count, !hasMarker[index] { index += 1 }
        return max(place, index * Self.stretch)
    }

    /// `true` when a byte after 0xFF makes a marker of it that ends a scan: not if it is stuffed, a fill byte or a restart.
    static func endsScan(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x00, 0xD0...0xD7, 0xFF: false
        default: true
        }
    }
}
