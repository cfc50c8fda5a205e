internal import Platform

extension ImageProbe {
    /// How the primary item is turned and mirrored, and whether another one is its alpha plane (ISO/IEC 23008-12, sections
    /// 6.5.8, 6.5.10 and 6.5.12; ISO/IEC 14496-12, section 8.11.12).
    static func heif(_ bytes: inout some ByteSource, _ format: ImageFormat) -> Traits? {
        guard let meta = try? metaBox(&bytes, format),
            let parts = try? ImageHeader.children(&bytes, of: meta.body + 4, end: meta.end, format),
            let primary = parts.first(where: { $0.type == "pitm" }),
            let properties = parts.first(where: { $0.type == "iprp" }),
            let tables = try? ImageHeader.children(&bytes, of: properties.body, end: properties.end, format),
            let container = tables.first(where: { $0.type == "ipco" }),
            let links = tables.first(where: { $0.type == "ipma" }),
            let list = try? ImageHeader.children(&bytes, of: container.body, end: container.end, format)
        else { return nil }
        func boxes(of item: Int, _ bytes: inout some ByteSource) -> [ImageHeader.Box] {
            ImageHeader.propertyNumbers(&bytes, of: item, in: links).compactMap { number in
                list.indices.contains(number - 1) ? list[number - 1] : nil
            }
        }
        let item = ImageHeader.primaryItem(&bytes, primary)
        var turn = Turn.none
        for box in boxes(of: item, &bytes) {
            switch box.type {
            case "irot": turn = turn.then(.left(times: Int(bytes.byte(at: box.body) & 3)))
            case "imir": turn = turn.then(bytes.byte(at: box.body) & 1 == 0 ? .upsideDown : .leftToRight)
            default: break
            }
        }
        var hasAlpha = false
        if let references = parts.first(where: { $0.type == "iref" }) {
            for other in helpers(&bytes, of: item, in: references, format) {
                for box in boxes(of: other, &bytes) where box.type == "auxC" {
                    hasAlpha =
                        hasAlpha || bytes.matches("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", at: box.body + 4)
                        || bytes.matches("urn:mpeg:hevc:2015:auxid:1", at: box.body + 4)
                }
            }
        }
        return Traits(orientation: turn.orientation, hasAlpha: hasAlpha)
    }

    private static func metaBox(
        _ bytes: inout some ByteSource, _ format: ImageFormat
    ) throws(ImageHeader.Failure) -> ImageHeader.Box? {
        var place = 0
        // What stands before it is never much.
        for _ in 0..<4096 where place < bytes.count {
            let box = try ImageHeader.box(&bytes, at: place, end: bytes.count, format)
            if box.type == "meta" { return box }
            place = box.end
        }
        return nil
    }

    /// The items that are auxiliary to an item.
    private static func helpers(
        _ bytes: inout some ByteSource, of item: Int, in references: ImageHeader.Box, _ format: ImageFormat
    ) -> [Int] {
        let width = bytes.byte(at: references.body) == 0 ? 2 : 4
        func number(_ bytes: inout some ByteSource, _ place: Int) -> Int {
            width == 2 ? bytes.big16(at: place) : bytes.big32(at: place)
        }
        guard let list = try? ImageHeader.children(&bytes, of: references.body + 4, end: references.end, format)
        else { return [] }
        // A picture has one or two; each is looked up.
        return list.filter { $0.type == "auxl" }.prefix(64).compactMap { box in
            let from = number(&bytes, box.body)
            let count = bytes.big16(at: box.body + width)
            for index in 0..<count {
                let place = box.body + width + 2 + index * width
                guard place + width <= box.end else { break }
                if number(&bytes, place) == item { return from }
            }
            return nil
        }
    }

    /// One of the eight ways to lay a rectangle on itself: mirrored left to right or not, then turned right.
    private struct Turn {
        let isMirrored: Bool
        /// By how many right angles.
        let quarters: Int

        static let none = Turn(isMirrored: false, quarters: 0)
        static let leftToRight = Turn(isMirrored: true, quarters: 0)
        static let upsideDown = Turn(isMirrored: true, quarters: 2)
        static func left(times count: Int) -> Turn { Turn(isMirrored: false, quarters: (4 - count) % 4) }

        /// This, and then another: to mirror what was turned right is to turn the mirrored left.
        func then(_ next: Turn) -> Turn {
            let before = next.isMirrored ? 4 - quarters : quarters
            return Turn(isMirrored: isMirrored != next.isMirrored, quarters: (before + next.quarters) % 4)
        }

        /// By the numbers of EXIF (EXIF 2.3, section 4.6.4, tag 0x0112).
        var orientation: Int { isMirrored ? [2, 7, 4, 5][quarters] : [1, 6, 3, 8][quarters] }
    }
}
