/// ICNS: the largest icon that is a PNG or a JPEG 2000; of a file with older icons alone, the largest of these.
struct ICNSInspector<Bytes: ByteSource>: ContainerInspector {
    var bytes: Bytes
    var found: ImageProbe

    private struct Icon {
        /// The place among the icons: one that can be decoded comes before one that cannot, then the larger one.
        var rank = 0
        var (width, height) = (0, 0)
        /// The bytes of one that can be decoded.
        var part: Range<Int>?
    }

    /// The most icons that are looked at; a file has some ten of them.
    private static var mostIcons: Int { 1024 }

    mutating func inspect() throws(ImageHeader.Failure) {
        let total = bytes.big32(at: 4)
        guard total <= bytes.total else { throw .cutOff(.icns) }
        (found.frameCount, found.orientation, found.hasAlpha) = (1, 1, true)
        var (place, icons, largest) = (8, 0, Icon())
        while place < total {
            guard place + 8 <= bytes.count else { throw .cutOff(.icns) }
            let length = bytes.big32(at: place + 4)
            icons += 1
            guard length >= 8, length <= total - place, icons <= Self.mostIcons else { throw .malformed(.icns) }
            let icon = try icon(place, place + length)
            if icon.rank > largest.rank { largest = icon }
            place += length
        }
        // Not before: the next one may be larger.
        (found.width, found.height, found.part) = (largest.width, largest.height, largest.part)
    }

    private mutating func icon(_ place: Int, _ end: Int) throws(ImageHeader.Failure) -> Icon {
        let body = place + 8
        guard bytes.isHere(upTo: min(body + 24, end)) else { throw .cutOff(.icns) }
        let isPNG = bytes.big32(at: body) == 0x8950_4E47 && end - body >= 24
        var side = Self.side(of: bytes.name(at: place))
        var (width, height) = (side, side)
        if isPNG {
            (width, height) = (bytes.big32(at: body + 16), bytes.big32(at: body + 20))
            guard width < 1 << 24, height < 1 << 24 else { throw .malformed(.icns) }
            side = max(width, height)
        }
        let isDecodable = isPNG || bytes.big32(at: body) == 12 && bytes.name(at: body + 4) == "jP  "
        guard side > 0 else { return Icon() }
        let part = isDecodable ? body..<end : nil
        return Icon(rank: side + (isDecodable ? 1 << 32 : 0), width: width, height: height, part: part)
    }

    /// The pixels of a side of an icon of that type; 0 for what is none.
    private static func side(of type: FourCC) -> Int {
        switch type {
        case "is32", "icp4", "ic04": 16
        case "il32", "icp5", "ic05", "ic11": 32
        case "ih32": 48
        case "icp6", "ic12": 64
        case "it32", "ic07": 128
        case "ic08", "ic13": 256
        case "ic09", "ic14": 512
        case "ic10": 1024
        default: 0
        }
    }
}
