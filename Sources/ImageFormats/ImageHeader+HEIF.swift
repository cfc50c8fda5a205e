internal import Platform

extension ImageHeader {
    /// AVIF and HEIC: the spatial extents of the primary item (ISO/IEC 23008-12, section 6.5.3), and for image
    /// sequences the number of samples (ISO/IEC 14496-12, section 8.7.3).
    static func heif(_ bytes: inout some ByteSource, _ format: ImageFormat) throws(Failure) -> ImageHeader {
        var boxes: [Box] = []
        var place = 0
        while place < bytes.count {
            let box = try box(&bytes, at: place, end: bytes.count, format)
            boxes.append(box)
            guard boxes.count < 4096 else { throw .malformed(format) }
            place = box.end
        }
        var frames = 1
        if let samples = try find(&bytes, ["moov", "trak", "mdia", "minf", "stbl", "stsz"], in: boxes, format) {
            frames = max(bytes.big32(at: samples.body + 8), 1)
        }
        guard let meta = boxes.first(where: { $0.type == "meta" }) else { throw .malformed(format) }
        let parts = try children(&bytes, of: meta.body + 4, end: meta.end, format)
        guard boxes.contains(where: { $0.type == "mdat" }) || parts.contains(where: { $0.type == "idat" }) else {
            throw .cutOff(format)
        }
        if let locations = parts.first(where: { $0.type == "iloc" }), !areInside(&bytes, locations) {
            throw .cutOff(format)
        }
        guard let properties = parts.first(where: { $0.type == "iprp" }) else { throw .malformed(format) }
        let tables = try children(&bytes, of: properties.body, end: properties.end, format)
        guard let container = tables.first(where: { $0.type == "ipco" }) else { throw .malformed(format) }
        let list = try children(&bytes, of: container.body, end: container.end, format)
        var wanted: [Int]?
        if let primary = parts.first(where: { $0.type == "pitm" }),
            let links = tables.first(where: { $0.type == "ipma" })
        {
            wanted = propertyNumbers(&bytes, of: primaryItem(&bytes, primary), in: links)
        }
        var best: (width: Int, height: Int)?
        for (index, property) in list.enumerated() where property.type == "ispe" {
            let size = (width: bytes.big32(at: property.body + 4), height: bytes.big32(at: property.body + 8))
            guard size.width < 1 << 31, size.height < 1 << 31 else { throw .malformed(format) }
            if let wanted, wanted.contains(index + 1) {
                best = size
                break
            }
            // Without the table that links properties to items, the largest picture is the best guess.
            if wanted == nil, size.width * size.height > (best.map { $0.width * $0.height } ?? 0) { best = size }
        }
        guard let best else { throw .malformed(format) }
        return try ImageHeader(format, best.width, best.height, frames: frames)
    }

    /// A box: its type, where what it holds begins, and where it ends.
    package struct Box {
        package let type: String
        package let body: Int
        package let end: Int
    }

    static func box(
        _ bytes: inout some ByteSource, at place: Int, end: Int, _ format: ImageFormat
    ) throws(Failure) -> Box {
        guard place + 8 <= end else { throw .cutOff(format) }
        var size = bytes.big32(at: place)
        var header = 8
        if size == 1 {
            guard bytes.big32(at: place + 8) == 0 else { throw .cutOff(format) }
            size = bytes.big32(at: place + 12)
            header = 16
        } else if size == 0 {
            size = end - place
        }
        guard size >= header else { throw .malformed(format) }
        guard size <= end - place else { throw .cutOff(format) }
        let type = (4..<8).map { Character(UnicodeScalar(bytes.byte(at: place + $0))) }
        return Box(type: String(type), body: place + header, end: place + size)
    }

    static func children(
        _ bytes: inout some ByteSource, of start: Int, end: Int, _ format: ImageFormat
    ) throws(Failure) -> [Box] {
        var boxes: [Box] = []
        var place = start
        while place < end, boxes.count < 4096 {
            let box = try box(&bytes, at: place, end: end, format)
            boxes.append(box)
            place = box.end
        }
        return boxes
    }

    private static func find(
        _ bytes: inout some ByteSource, _ path: [String], in boxes: [Box], _ format: ImageFormat
    ) throws(Failure) -> Box? {
        var boxes = boxes
        for (depth, type) in path.enumerated() {
            guard let box = boxes.first(where: { $0.type == type }) else { return nil }
            if depth == path.count - 1 { return box }
            boxes = try children(&bytes, of: box.body, end: box.end, format)
        }
        return nil
    }

    /// Whether the data of all items lies inside the file (ISO/IEC 14496-12, section 8.11.3).
    private static func areInside(_ bytes: inout some ByteSource, _ locations: Box) -> Bool {
        let version = bytes.byte(at: locations.body)
        let sizes = bytes.big16(at: locations.body + 4)
        var place = locations.body + 6
        func number(_ bytes: inout some ByteSource, _ size: Int) -> Int {
            defer { place += size }
            // Eight bytes are read for their lower half; more than that lies beyond every file we take.
            let isHuge = size == 8 && bytes.big32(at: place) != 0
            if isHuge { return 1 << 40 }
            return size == 0 ? 0 : size == 2 ? bytes.big16(at: place) : bytes.big32(at: place + size - 4)
        }
        let (offset, length) = (sizes >> 12, sizes >> 8 & 15)
        let (base, index) = (sizes >> 4 & 15, version == 0 ? 0 : sizes & 15)
        guard [offset, length, base, index].allSatisfy([0, 2, 4, 8].contains) else { return false }
        let items = number(&bytes, version < 2 ? 2 : 4)
        for _ in 0..<items {
            guard place < locations.end else { break }
            place += version < 2 ? 2 : 4
            let method = version == 0 ? 0 : number(&bytes, 2) & 15
            let reference = number(&bytes, 2)
            // Only what is counted from the start of this file can be judged.
            let isHere = method == 0 && reference == 0
            let start = number(&bytes, base)
            for _ in 0..<number(&bytes, 2) {
                guard place < locations.end else { break }
                place += index
                let end = start + number(&bytes, offset) + number(&bytes, length)
                if isHere, end > bytes.count { return false }
            }
        }
        return true
    }

    /// The number of the primary item.
    static func primaryItem(_ bytes: inout some ByteSource, _ primary: Box) -> Int {
        let isLongID = bytes.byte(at: primary.body) > 0
        return isLongID ? bytes.big32(at: primary.body + 4) : bytes.big16(at: primary.body + 4)
    }

    /// The one-based numbers of the properties that belong to an item, in the order in which they apply.
    static func propertyNumbers(_ bytes: inout some ByteSource, of item: Int, in links: Box) -> [Int] {
        let version = bytes.byte(at: links.body)
        let isWide = bytes.byte(at: links.body + 3) & 1 != 0
        var place = links.body + 8
        for _ in 0..<min(bytes.big32(at: links.body + 4), 65536) where place < links.end {
            let id = version < 1 ? bytes.big16(at: place) : bytes.big32(at: place)
            place += version < 1 ? 2 : 4
            let count = Int(bytes.byte(at: place))
            place += 1
            var numbers: [Int] = []
            for _ in 0..<count {
                numbers.append(isWide ? bytes.big16(at: place) & 0x7FFF : Int(bytes.byte(at: place) & 0x7F))
                place += isWide ? 2 : 1
            }
            if id == item { return numbers }
        }
        return []
    }
}
