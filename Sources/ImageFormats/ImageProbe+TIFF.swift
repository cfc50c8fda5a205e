internal import Platform

extension ImageProbe {
    /// The first directory, if it is there whole (TIFF 6.0, section 8 and "ExtraSamples").
    static func tiff(_ bytes: inout some ByteSource) -> ImageProbe? {
        let isLittle = bytes.byte(at: 0) == 0x49
        func short(_ bytes: inout some ByteSource, _ place: Int) -> Int {
            isLittle ? bytes.little16(at: place) : bytes.big16(at: place)
        }
        func long(_ bytes: inout some ByteSource, _ place: Int) -> Int {
            isLittle ? bytes.little32(at: place) : bytes.big32(at: place)
        }
        var probe = ImageProbe(.tiff, 0, 0)
        let directory = long(&bytes, 4)
        let entries = short(&bytes, directory)
        guard directory >= 8, directory + 2 + 12 * entries + 4 <= bytes.count else { return probe }
        probe.orientation = 1
        var (samples, photometric) = (1, 1)
        for entry in 0..<entries {
            let place = directory + 2 + 12 * entry
            let value = short(&bytes, place + 2) == 3 ? short(&bytes, place + 8) : long(&bytes, place + 8)
            switch short(&bytes, place) {
            case 256: probe.width = value
            case 257: probe.height = value
            case 262: photometric = value
            case 274: probe.orientation = (1...8).contains(value) ? value : 1
            case 277: samples = value
            default: break
            }
        }
        if long(&bytes, directory + 2 + 12 * entries) == 0 { probe.frameCount = 1 }
        // What a pixel has beyond its colours is alpha.
        switch photometric {
        case 0, 1, 3: probe.hasAlpha = samples > 1
        case 2, 6, 8: probe.hasAlpha = samples > 3
        case 5: probe.hasAlpha = samples > 4
        default: break
        }
        return probe
    }
}
