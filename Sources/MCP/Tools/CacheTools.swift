internal import ImageEngine
internal import JSONRPC
internal import Platform

extension Tool {
    static let listImages = Tool(
        name: "list_images", title: "List cached pictures",
        description: "Lists the pictures in the cache, page by page.",
        parameters: [
            ToolParameter(name: "limit", kind: .integer(1...100), description: "20 by default"),
            ToolParameter(name: "cursor", kind: .text, description: "next_cursor of the page before"),
            ToolParameter(name: "prefix", kind: .text, description: "Only keys that begin with this"),
        ],
        output: [("images", ResultSchema.objects, false), ("next_cursor", ResultSchema.text, true)],
        effects: Effects(isOpen: false)
    ) { arguments, gallery, _ in
        var query = ListQuery(limit: arguments.integer("limit") ?? 20)
        query.prefix = arguments.text("prefix")
        if let text = arguments.text("cursor") {
            guard let cursor = Int64(text), cursor > 0 else {
                throw ToolFailure("\"\(text.excerpt)\" is not the next_cursor of a page.")
            }
            query.cursor = cursor
        }
        let page = try await gallery.list(query)
        let images = page.entries.map { entry -> JSONLiteral in
            var members: [(String, JSONLiteral)] = []
            if let key = entry.key { members.append(("key", .string(key))) }
            if let uri = gallery.uri(of: entry) { members.append(("uri", .string(uri.description))) }
            if !entry.processorIdentifier.isEmpty {
                members.append(("made_by", .string(entry.processorIdentifier.excerpt)))
            }
            members += [
                ("format", .string(entry.header.format.rawValue)), ("width", .integer(entry.header.width)),
                ("height", .integer(entry.header.height)), ("bytes", .integer(entry.byteCount)),
            ]
            return .object(members)
        }
        var members: [(String, JSONLiteral)] = [("images", .array(images))]
        if let next = page.next { members.append(("next_cursor", .string(String(next)))) }
        return .done(ToolOutcome(members))
    }

    static let removeImage = Tool(
        name: "remove_image", title: "Remove a cached picture",
        description: "Removes a picture and everything made from it from the cache; files of the project stay.",
        parameters: [ToolParameter(name: "key", kind: .text, description: "Its key, or its URL", isRequired: true)],
        output: [("removed", ResultSchema.flag, false)],
        effects: Effects(isReadOnly: false, isDestructive: true, isOpen: false)
    ) { arguments, gallery, _ in
        let cache = try gallery.cache()
        let key = CacheKey(cache.key(of: Resource.withoutFragment(arguments.text("key") ?? "")))
        guard try await gallery.isVisible(key.key) else { return .done(ToolOutcome([("removed", false)])) }
        let removed = try await withCheckedThrowingContinuation { continuation in
            gallery.manager.remove(key, from: cache, allVariants: true) { result in
                continuation.resume(with: result.mapError { $0 as any Error })
            }
        }
        let isGone = removed.readOnlyPath == nil && (removed.memory || removed.disk)
        return .done(ToolOutcome([("removed", .boolean(isGone))]))
    }

    static let cacheSize = Tool(
        name: "cache_size", title: "Size of the cache",
        description: "How many pictures the cache holds, and their bytes.",
        parameters: [],
        output: [
            ("images", ResultSchema.count, false), ("bytes", ResultSchema.count, false),
            ("limit", ResultSchema.count, true),
        ],
        effects: Effects(isOpen: false)
    ) { _, gallery, _ in
        let cache = try gallery.cache()
        let sizes = try await gallery.manager.blocking { try cache.sizes() }
        var members: [(String, JSONLiteral)] = [
            ("images", .integer(sizes.disk.count)), ("bytes", .integer(sizes.disk.bytes)),
        ]
        if sizes.disk.limitBytes > 0 { members.append(("limit", .integer(sizes.disk.limitBytes))) }
        return .done(ToolOutcome(members))
    }
}
