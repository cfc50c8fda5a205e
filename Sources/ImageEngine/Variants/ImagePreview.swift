public import ImageRecipes
internal import Platform

/// The placeholder of an image, kept among its entry's facts.
extension ImageRecord {
    /// The hashes and the dominant colour, once they have been made.
    public var preview: RenderPlaceholder? { origin.facts.preview.flatMap(ImagePreview.read) }
}

/// The text form of a placeholder: the colour, the ThumbHash in base64, and the BlurHash. Those of older versions have no
/// BlurHash; they are made again.
enum ImagePreview {
    static func text(_ preview: RenderPlaceholder) -> String {
        let bytes = preview.thumbHash
        let text = String(unsafeUninitializedCapacity: Base64.encodedCount(bytes.count)) { buffer in
            bytes.withUnsafeBytes { Base64.encode($0, into: UnsafeMutableRawBufferPointer(buffer)) }
            return Base64.encodedCount(bytes.count)
        }
        return preview.dominantColor.text + " " + text + " " + preview.blurHash
    }

    static func read(_ text: String) -> RenderPlaceholder? {
        let parts = text.split(separator: " ")
        guard parts.count == 3, let color = RecipeColor(String(parts[0])),
            let hash = Array(parts[1].utf8).withUnsafeBytes({ Base64.decode($0) })
        else { return nil }
        return RenderPlaceholder(thumbHash: hash, blurHash: String(parts[2]), dominantColor: color)
    }
}

struct PreviewMaker: Sendable {
    let engine: EngineServices

    /// The result with a placeholder of its image, which is made now if the entry has none, and stored with the entry.
    ///
    /// A placeholder that cannot be made is omitted, because the image matters more.
    func addingPreview(
        to result: ImageResult, in cache: ImageCache, _ options: ImageOptions
    ) async throws -> ImageResult {
        if result.record.preview != nil { return result }
        do {
            let source = try await engine.pool.run { [engine] in
                try Original(result, in: cache, options, mark: "-", spool: engine.spool)
            }
            let header = result.record.header
            try options.processing.limits.check(header, source: result.record.key.key, isShrunk: true)
            let request = RenderRequest(
                source: source.path, format: header.format.rawValue, outputs: [], limits: options.processing.limits,
                wantsPlaceholder: true)
            guard let preview = try await engine.codec.render(request, cost: RenderLimits.cost(of: header)).placeholder
            else {
                return result
            }
            return try await engine.pool.run {
                var (noted, origin) = (result, result.record.origin)
                origin.facts.preview = ImagePreview.text(preview)
                noted.record = try cache.note(origin, of: result.record, options.storage)
                return noted
            }
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            return result
        }
    }
}
