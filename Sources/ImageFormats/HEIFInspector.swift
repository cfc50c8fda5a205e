/// AVIF and HEIC: the spatial extents of the primary item (ISO/IEC 23008-12, section 6.5.3), and for image sequences the
/// number of samples (ISO/IEC 14496-12, section 8.7.3).
struct HEIFInspector<Bytes: ByteSource>: ContainerInspector {
    var bytes: Bytes
    var found: ImageProbe

    mutating func inspect() throws(ImageHeader.Failure) {
        let format = found.format
        let boxes = try boxes(from: 0, to: bytes.total)
        guard boxes.count < mostBoxes else { throw .malformed(format) }
        let frames = try sampleCount(in: boxes) ?? 1
        guard let meta = boxes.first("meta") else { throw .malformed(format) }
        let parts = try self.boxes(from: meta.body + 4, to: meta.end)
        guard parts.allSatisfy({ $0.name == "idat" || bytes.isHere(upTo: $0.end) }),
            boxes.first("mdat") != nil || parts.first("idat") != nil
        else { throw .cutOff(format) }
        if let locations = parts.first("iloc"), !areInside(locations) { throw .cutOff(format) }
        guard let properties = parts.first("iprp") else { throw .malformed(format) }
        let tables = try self.boxes(from: properties.body, to: properties.end)
        guard let container = tables.first("ipco") else { throw .malformed(format) }
        let list = try self.boxes(from: container.body, to: container.end)
        let links = tables.first("ipma")
        let item = parts.first("pitm").map { number(at: $0.body + 4, isLong: bytes.byte(at: $0.body) > 0) }
        let wanted = links.flatMap { links in item.map { propertyNumbers(of: $0, in: links) } }
        let size = try size(list, wanted)
        (found.width, found.height, found.frameCount) = (size.width, size.height, frames)
        guard let item, let links, let wanted else { return }
        transform(by: wanted.compactMap { list.property($0) })
        let tiles = references("dimg", in: parts.first("iref")).first { $0.from == item }?.to ?? []
        let own = [item] + tiles.prefix(1)
        found.isLimitedGray = isLimitedGray(
            own.map { propertyNumbers(of: $0, in: links).compactMap { list.property($0) } },
            data: parts.first("iloc").flatMap { place(of: own[own.count - 1], in: $0) })
        // Some dozens at most.
        let auxiliaries = references("auxl", in: parts.first("iref")).prefix(64).filter { $0.to.contains(item) }
        found.hasAlpha = auxiliaries.contains { other in
            propertyNumbers(of: other.from, in: links).contains { list.property($0).map { isAlpha($0) } ?? false }
        }
    }

    // MARK: - Boxes

    /// The boxes that follow each other, some thousands at most.
    private mutating func boxes(from start: Int, to end: Int) throws(ImageHeader.Failure) -> [Box] {
        var boxes: [Box] = []
        var place = start
        while place < end, boxes.count < mostBoxes {
            let box = try Box(&bytes, at: place, end: end, found.format)
            boxes.append(box)
            place = box.end
        }
        return boxes
    }

    private mutating func number(at place: Int, isLong: Bool) -> Int {
        isLong ? bytes.big32(at: place) : bytes.big16(at: place)
    }

    /// The number of samples of a sequence; nil if there is none.
    private mutating func sampleCount(in boxes: [Box]) throws(ImageHeader.Failure) -> Int? {
        guard var box = boxes.first("moov") else { return nil }
        for name in ["trak", "mdia", "minf", "stbl", "stsz"] as [FourCC] {
            guard let next = try self.boxes(from: box.body, to: box.end).first(name) else { return nil }
            box = next
        }
        guard bytes.isHere(upTo: box.body + 12) else { throw .cutOff(found.format) }
        return max(bytes.big32(at: box.body + 8), 1)
    }

    /// `true` when the data of all items lies inside the file.
    private mutating func areInside(_ locations: Box) -> Bool {
        var isInside = true
        let total = bytes.total
        let isWhole = eachExtent(in: locations) { if $0.end > total { isInside = false } }
        return isWhole && isInside
    }

    /// The place where the data of an item begins, if that is counted from the start of the file; nil otherwise.
    private mutating func place(of item: Int, in locations: Box) -> Int? {
        var found: Int?
        _ = eachExtent(in: locations) { if $0.item == item, found == nil { found = $0.start } }
        return found
    }

    /// Calls `body` with the extents that are counted from the start of this file: only these can be judged (ISO/IEC
    /// 14496-12, section 8.11.3).
    ///
    /// - Returns: `false` for numbers of impossible sizes.
    private mutating func eachExtent(in locations: Box, _ body: ((item: Int, start: Int, end: Int)) -> Void) -> Bool {
        let version = bytes.byte(at: locations.body)
        let sizes = bytes.big16(at: locations.body + 4)
        var place = locations.body + 6
        func number(_ size: Int) -> Int {
            defer { place += size }
            // A TiB lies beyond every file that is taken.
            return (place..<place + size).reduce(0) { min($0 << 8 | Int(bytes.byte(at: $1)), 1 << 40) }
        }
        let (offset, length) = (sizes >> 12, sizes >> 8 & 15)
        let (base, index) = (sizes >> 4 & 15, version == 0 ? 0 : sizes & 15)
        guard [offset, length, base, index].allSatisfy([0, 2, 4, 8].contains) else { return false }
        for _ in 0..<number(version < 2 ? 2 : 4) {
            guard place < locations.end else { break }
            let item = number(version < 2 ? 2 : 4)
            let method = version == 0 ? 0 : number(2) & 15
            let reference = number(2)
            let isHere = method == 0 && reference == 0
            let first = number(base)
            for _ in 0..<number(2) {
                guard place < locations.end else { break }
                place += index
                let start = first + number(offset)
                let end = start + number(length)
                if isHere { body((item, start, end)) }
                // Extents without a number are all the same.
                if index + offset + length == 0 { break }
            }
        }
        return true
    }

    // MARK: - Items

    /// The one-based numbers of the properties that belong to an item, in the order in which they apply.
    private mutating func propertyNumbers(of item: Int, in links: Box) -> [Int] {
        let hasLongIDs = bytes.byte(at: links.body) > 0
        let isWide = bytes.byte(at: links.body + 3) & 1 != 0
        var place = links.body + 8
        for _ in 0..<min(bytes.big32(at: links.body + 4), 65536) where place < links.end {
            let id = number(at: place, isLong: hasLongIDs)
            place += hasLongIDs ? 5 : 3
            let count = Int(bytes.byte(at: place - 1))
            if id == item {
                return (0..<count).map {
                    isWide ? bytes.big16(at: place + 2 * $0) & 0x7FFF : Int(bytes.byte(at: place + $0) & 0x7F)
                }
            }
            place += isWide ? 2 * count : count
        }
        return []
    }

    /// The extents among the wanted properties; without the table that links them to items, the largest picture is the best
    /// guess.
    private mutating func size(
        _ list: [Box], _ wanted: [Int]?
    ) throws(ImageHeader.Failure) -> (width: Int, height: Int) {
        var best = (width: 0, height: 0)
        for (index, property) in list.enumerated() where property.name == "ispe" {
            let size = (width: bytes.big32(at: property.body + 4), height: bytes.big32(at: property.body + 8))
            guard size.width < 1 << 31, size.height < 1 << 31 else { throw .malformed(found.format) }
            if let wanted, wanted.contains(index + 1) { return size }
            if wanted == nil, size.width * size.height > best.width * best.height { best = size }
        }
        return best
    }

    /// Notes the turns and mirrors of an item, by the numbers of EXIF, and the size of the part that is shown, which is what
    /// decoders give (ISO/IEC 23008-12, sections 6.5.10, 6.5.12 and 6.5.8).
    private mutating func transform(by properties: [Box]) {
        var orientation = 1
        for box in properties {
            let way = Int(bytes.byte(at: box.body))
            switch box.name {
            case "irot": for _ in 0..<way & 3 { orientation = turnedLeft[orientation - 1] }
            case "imir": orientation = (way & 1 == 0 ? upsideDown : leftToRight)[orientation - 1]
            case "clap":
                // The part is one of the picture as it was turned so far.
                let isTurned = orientation >= 5
                let (across, down) = (aperture(at: box.body), aperture(at: box.body + 8))
                guard let width = isTurned ? down : across, let height = isTurned ? across : down,
                    width <= found.width, height <= found.height
                else { continue }
                (found.width, found.height) = (width, height)
            default: break
            }
        }
        found.orientation = orientation
    }

    /// A side of a clean aperture, a fraction, in whole pixels; nil for none at all.
    private mutating func aperture(at place: Int) -> Int? {
        let (pixels, parts) = (bytes.big32(at: place), bytes.big32(at: place + 4))
        guard parts > 0, pixels < 1 << 31 else { return nil }
        let side = (pixels + parts / 2) / parts
        return side > 0 ? side : nil
    }

    /// The references of a type, each of one item to others, some dozens at most (ISO/IEC 14496-12, section 8.11.12).
    private mutating func references(_ type: FourCC, in references: Box?) -> [(from: Int, to: [Int])] {
        guard let references, let list = try? boxes(from: references.body + 4, to: references.end) else { return [] }
        let isLong = bytes.byte(at: references.body) != 0
        let width = isLong ? 4 : 2
        return list.filter { $0.name == type }.map { box in
            let start = box.body + width + 2
            let count = max(min(bytes.big16(at: box.body + width), (box.end - start) / width, 64), 0)
            let others = (0..<count).map { number(at: start + $0 * width, isLong: isLong) }
            return (number(at: box.body, isLong: isLong), others)
        }
    }

    /// `true` for the property of an item that is an alpha plane (ISO/IEC 23008-12, section 6.5.8).
    private mutating func isAlpha(_ box: Box) -> Bool {
        box.name == "auxC"
            && (bytes.matches("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", at: box.body + 4)
                || bytes.matches("urn:mpeg:hevc:2015:auxid:1", at: box.body + 4))
    }
}

/// The most boxes that are looked at side by side.
private let mostBoxes = 4096

/// The orientation that each of EXIF's eight becomes by a right angle to the left, and by each mirror.
private let turnedLeft = [8, 5, 6, 7, 4, 1, 2, 3]
private let upsideDown = [4, 3, 2, 1, 8, 7, 6, 5]
private let leftToRight = [2, 1, 4, 3, 6, 5, 8, 7]

/// A box: its name, and the places where its content begins and ends (ISO/IEC 14496-12, section 4.2).
struct Box {
    let name: FourCC
    let body: Int
    let end: Int

    init(
        _ bytes: inout some ByteSource, at place: Int, end: Int, _ format: ImageFormat
    ) throws(ImageHeader.Failure) {
        guard place <= min(end, bytes.count) - 8 else { throw .cutOff(format) }
        var (size, head) = (bytes.big32(at: place), 8)
        if size == 1 {
            // More than four GiB lie beyond every file that is taken.
            guard bytes.big32(at: place + 8) == 0 else { throw .cutOff(format) }
            (size, head) = (bytes.big32(at: place + 12), 16)
        } else if size == 0 {
            size = end - place
        }
        guard size >= head else { throw .malformed(format) }
        guard size <= end - place else { throw .cutOff(format) }
        (name, body, self.end) = (bytes.name(at: place + 4), place + head, place + size)
    }
}

extension [Box] {
    fileprivate func first(_ name: FourCC) -> Box? { first { $0.name == name } }

    fileprivate func property(_ number: Int) -> Box? { indices.contains(number - 1) ? self[number - 1] : nil }
}
