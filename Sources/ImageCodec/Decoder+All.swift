internal import CVips
internal import ImageRecipes

extension Decoder {
    /// Decodes every frame and page and discards the pixels, so that any damage in the source is reported.
    ///
    /// For an icon, a HEIF file or a sequence that is the only image that is ever displayed: the largest or the primary
    /// one.
    ///
    /// - Throws: A failure of the kind `badData` with the reason, or the limit that would be exceeded.
    /// - Complexity: O(pixels of all frames) in time, O(pixels of one) in memory; O(width) for a JPEG of one scan.
    func decodeAll() throws(RenderFailure) {
        switch format {
        case .jpeg:
            try limits.check(width: coded.width, height: coded.height)
            // libvips tolerates damage within a scan, and so does the decoder for small images.
            guard hv_check_jpeg(bytes.bytes.baseAddress, bytes.count) == 0 else { throw .ofLibrary(.badData) }
            return
        // The stills that are assembled from the frames of an animation get new checksums, so the file's own are
        // checked here.
        case .png: try PNGChecksums.check(bytes)
        case .gif: try GIFBlocks.check(bytes)
        case .bmp: try BMPDecoder.checkLength(bytes)
        default: break
        }
        if frameCount > 1 {
            try limits.check(width: coded.width, height: coded.height, frames: frameCount)
            return try eachFrame { (_, _) in }
        }
        guard pageCount <= limits.maxFrames else {
            throw RenderFailure(
                .limit("maxFrames"),
                "The picture has \(pageCount) pages, more than the \(limits.maxFrames) that maxFrames allows.")
        }
        for page in 0..<pageCount {
            let image = try still(page: page)
            try limits.check(width: image.width, height: image.height)
            _ = try image.inMemory()
        }
    }
}

/// The checksums of the chunks of PNG files (PNG, 5.3).
enum PNGChecksums {
    /// Refuses a file that has a part with a wrong checksum, or that has no end. Parts that do not belong to the image
    /// are ignored, as decoders do.
    ///
    /// - Complexity: O(bytes).
    static func check(_ file: SourceBytes) throws(RenderFailure) {
        typealias Chunk = AnimatedPNG.Chunk
        var place = 8
        while let length = file.big32(place), let kind = file.big32(place + 4) {
            guard length <= file.count - place - 12, let sum = file.big32(place + 8 + length) else {
                throw BMPDecoder.damaged("a part of it ends outside of the file")
            }
            // A capital first letter marks a critical chunk, which every decoder needs (5.4).
            if kind & 0x2000_0000 == 0 || kind == Chunk.fcTL || kind == Chunk.fdAT,
                Chunk.checksum(file.bytes[(place + 4)..<(place + 8 + length)]) != UInt32(sum)
            {
                throw BMPDecoder.damaged("the checksum of a part of it is wrong")
            }
            if kind == Chunk.IEND { return }
            place += 12 + length
        }
        throw BMPDecoder.damaged("its end is missing")
    }
}

/// The blocks of GIF files (GIF89a, 16 and following).
enum GIFBlocks {
    /// Refuses a file that ends before its trailer: decoders would accept the frames before that as the complete file.
    ///
    /// - Complexity: O(blocks).
    static func check(_ file: SourceBytes) throws(RenderFailure) {
        func tableSize(_ flags: Int) -> Int { flags & 0x80 == 0 ? 0 : 3 << (flags & 7 + 1) }
        var place = 13 + tableSize(file.byte(10) ?? 0)
        while let kind = file.byte(place) {
            switch kind {
            case 0x21: place += 2
            case 0x2C: place += 11 + tableSize(file.byte(place + 9) ?? 0)
            case 0x3B: return
            default: throw BMPDecoder.damaged("a block of it is of an unknown kind")
            }
            while let size = file.byte(place), size > 0 { place += 1 + size }
            place += 1
        }
        throw BMPDecoder.damaged("its end is missing")
    }
}
