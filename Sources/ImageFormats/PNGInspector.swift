/// PNG and APNG: IHDR, then chunks up to IEND (ISO/IEC 15948, section 11; APNG 1.0 for acTL and fcTL).
struct PNGInspector<Bytes: ByteSource>: ContainerInspector {
    var bytes: Bytes
    var found: ImageProbe

    mutating func inspect() throws(ImageHeader.Failure) {
        guard bytes.count >= 33 else { throw .cutOff(.png) }
        guard bytes.name(at: 12) == "IHDR", bytes.big32(at: 8) == 13 else { throw .malformed(.png) }
        let (width, height) = (bytes.big32(at: 16), bytes.big32(at: 20))
        guard width < 1 << 31, height < 1 << 31 else { throw .malformed(.png) }
        let colours = bytes.byte(at: 25)
        (found.width, found.height, found.orientation) = (width, height, 1)
        found.hasAlpha = colours == 4 || colours == 6
        var (announced, controls, hasData) = (0, 0, false)
        var timing: FrameTiming?
        var place = 33
        while true {
            let length = bytes.big32(at: place)
            let name = bytes.name(at: place + 4)
            if name == "IDAT" {
                hasData = true
                found.frameCount = found.frameCount ?? 1
            }
            guard place + 12 <= bytes.count, length <= bytes.count - place - 12 else { throw .cutOff(.png) }
            switch name {
            case "IDAT": break
            case "acTL" where !hasData && length == 8:
                announced = bytes.big32(at: place + 8)
                found.frameCount = (1..<1 << 31).contains(announced) ? announced : 1
                timing = FrameTiming(loopCount: FrameTiming.plays(bytes.big32(at: place + 12)))
            case "fcTL" where length == 26:
                controls += 1
                // A fraction of a second, whose denominator of 0 means 100.
                let (numerator, denominator) = (bytes.big16(at: place + 28), bytes.big16(at: place + 30))
                timing?.note(numerator * 1000 / (denominator == 0 ? 100 : denominator))
            case "tRNS" where !hasData: found.hasAlpha = true
            case "eXIf" where !hasData:
                found.orientation = bytes.exifOrientation(at: place + 8, length) ?? found.orientation
            case "IEND":
                guard hasData else { throw .malformed(.png) }
                // Browsers show a still where the number of frames is not that of those that are there.
                let frames = announced == controls ? max(announced, 1) : 1
                (found.frameCount, found.timing) = (frames, timing?.of(frames))
                return
            default: break
            }
            place += 12 + length
        }
    }
}
