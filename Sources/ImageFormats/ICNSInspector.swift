/// ICNS: the largest icon that is a PNG or a JPEG 2000; of a file with older icons alone, the largest of these.
struct ICNSInspector<Bytes: ByteSource>: ContainerInspector {
    var bytes: Bytes
    var found: ImageProbe

    /// The most icons that are looked at; a file has some ten of them.
    private static var mostIcons: Int { 1024 }

    mutating func inspect() throws(ImageHeader.Failure) {
        let total = bytes.big32(at: 4)
        guard total <= bytes.total else { throw .cutOff(.icns) }
        (found.frameCount, found.orientation, found.hasAlpha) = (1, 1, true)
        var (place, icons, largest) = (8, 0, 0)
        while place < total {
            guard place + 8 <= bytes.count else { throw .cutOff(.icns) }
            let length = bytes.big32(at: place + 4)
            icons += 1
            guard length >= 8, length <= total - place, icons <= Self.mostIcons else { throw .malformed(.icns) }
            try note(place, place + length, &largest)
            place += length
        }
    }

    /// Notes an icon that is larger than those before; one that can be decoded counts more than one that cannot.
    private mutating func note(_ place: Int, _ end: Int, _ largest: inout Int) throws(ImageHeader.Failure) {
        let body = place + 8
        let isPNG = bytes.big32(at: body) == 0x8950_4E47 && end - body >= 24
        var side = Self.side(of: bytes.name(at: place))
        var (width, height) = (side, side)
        if isPNG {
            guard bytes.isHere(upTo: body + 24) else { throw .cutOff(.icns) }
            (width, height) = (bytes.big32(at: body + 16), bytes.big32(at: body + 20))
            guard width < 1 << 24, height < 1 << 24 else { throw .malformed(.icns) }
            side = max(width, height)
        }
        let isDecodable = isPNG || bytes.big32(at: body) == 12 && bytes.name(at: body + 4) == "jP  "
        let rank = side + (isDecodable ? 1 << 32 : 0)
        guard side > 0, rank > largest else { return }
        (largest, found.width, found.height) = (rank, width, height)
        found.part = isDecodable ? body..<end : nil
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
