internal import ImageEngine
internal import JSONRPC
internal import Platform

/// The pictures that tools can reach: of the web, of the workspace and of one cache.
struct Gallery: Sendable {
    let manager: ImageManager
    let cacheName: String
    let roots: WorkspaceRoots
    let maxResultBytes: Int
    /// The tools that make something at the same time: each holds decoded pictures.
    let making = WorkLimit(2)

    /// The seconds that a tool may wait for one picture.
    private static let deadline = 60.0

    /// The options of every request.
    var options: ImageOptions {
        var options = ImageOptions()
        options.caller.deadline = Self.deadline
        return options
    }

    /// The cache of the tools.
    func cache() throws(ToolFailure) -> ImageCache {
        guard let cache = manager.cache(cacheName) else {
            throw ToolFailure("\"\(cacheName.excerpt)\" is not the name of a cache.")
        }
        return cache
    }

    // MARK: Finding pictures

    /// The picture that a text names: an http, https or data URL, a `file:` URL or a path below the roots, a resource of the
    /// cache, or the key of a cached picture.
    func resource(_ text: String) async throws -> Resource {
        let cache = try cache()
        if text.isEmpty { throw ToolFailure("The picture has no name: give a URL, a path or a cached key.") }
        if let uri = ResourceURI(text) {
            guard let path = try await entry(uri)?.path else {
                throw ToolFailure("There is no cached picture \(text.excerpt); list_images names those there are.")
            }
            return Resource(url: FileURL.text(path), cacheKey: text)
        }
        switch Self.scheme(of: text) {
        case "http", "https", "data": return cache.resource(text)
        case "file": return try local(try Self.path(ofFileURL: text))
        default: break
        }
        do {
            return try local(text)
        } catch {
            // It may be the key of a picture, which is any text.
            let key = cache.key(of: text)
            guard try await entry(key) != nil else { throw error }
            return Resource(url: "", cacheKey: key)
        }
    }

    /// The original that the cache has for a key, if an agent may see it.
    func entry(_ key: String) async throws -> EntryDetails? {
        let cache = try cache()
        let entry = try await manager.blocking { try cache.inspect(CacheKey(key)) }
        return entry.flatMap { isVisible($0) ? $0 : nil }
    }

    /// `true` when the cache has a picture of the web.
    func has(_ resource: Resource) async throws -> Bool {
        guard resource.isOnNetwork else { return false }
        return try await entry(resource.cacheKey) != nil
    }

    private func local(_ path: String) throws(ToolFailure) -> Resource {
        Resource(url: FileURL.text(try roots.file(path)))
    }

    /// The scheme of a URL in lower case; empty for a path or a key.
    static func scheme(of text: String) -> String {
        guard let colon = text.firstIndex(of: ":") else { return "" }
        let scheme = text[..<colon]
        return scheme.utf8.allSatisfy { ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A } ? scheme.lowercased() : ""
    }

    /// The path of a `file:` URL of this machine (RFC 8089).
    private static func path(ofFileURL url: String) throws(ToolFailure) -> String {
        var rest = url.dropFirst(5)
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            let host = rest.prefix { $0 != "/" }
            guard host.isEmpty || host.lowercased() == "localhost" else {
                throw ToolFailure("\(url.excerpt) names a file of another machine.")
            }
            rest = rest.dropFirst(host.count)
        }
        if let end = rest.firstIndex(where: { $0 == "?" || $0 == "#" }) { rest = rest[..<end] }
        return String(decoding: percentDecoded(rest), as: UTF8.self)
    }

    // MARK: The cache

    /// A page of the entries that an agent may see, on a thread that may wait for long.
    func list(_ query: ListQuery) async throws -> (entries: [EntryDetails], next: Int64?) {
        let cache = try cache()
        let page = try await manager.surveying { try cache.list(query) }
        return (page.entries.filter(isVisible), page.next)
    }

    /// `false` for what belongs to one user of a site, comes from a file outside of the roots, or has no known key.
    private func isVisible(_ entry: EntryDetails) -> Bool {
        guard entry.partition.isEmpty, let key = entry.key else { return false }
        return [key, entry.origin.url].allSatisfy(isInside)
    }

    /// `false` for the URL of a file outside of the roots.
    private func isInside(_ url: String?) -> Bool {
        guard let url, Self.scheme(of: url) == "file" else { return true }
        return (try? roots.file(try Self.path(ofFileURL: url))) != nil
    }

    /// `true` when an agent may see everything that the cache has for a key.
    func isVisible(_ key: String) async throws -> Bool {
        let cache = try cache()
        guard isInside(key) else { return false }
        if let original = try await manager.blocking({ try cache.inspect(CacheKey(key)) }), !isVisible(original) {
            return false
        }
        var query = ListQuery()
        query.prefix = key
        while true {
            let page = try await manager.surveying { [query] in try cache.list(query) }
            guard page.entries.allSatisfy({ $0.key != key || isVisible($0) }) else { return false }
            guard let next = page.next else { return true }
            query.cursor = next
        }
    }

    /// The resource that an entry is; `nil` for one without a file of its own.
    func uri(of entry: EntryDetails) -> ResourceURI? { entry.hash.map { ResourceURI(cache: cacheName, hash: $0) } }

    /// The entry that a URI names; `nil` when there is none.
    func entry(_ uri: ResourceURI) async throws -> EntryDetails? {
        guard uri.cache == cacheName, let digest = Digest(hex: uri.hash[...]) else { return nil }
        // Entries are listed by the number that their hash begins with.
        let page = try await list(ListQuery(limit: 1, cursor: digest.rowNumber - 1))
        return page.entries.first { $0.hash == uri.hash }
    }

    /// Answers with the file of a resource.
    func read(_ text: String, for call: Call, _ reply: MCPReply) async throws {
        guard let uri = ResourceURI(text), let entry = try await entry(uri), let path = entry.path else {
            throw RPCError.noSuchResource(text, reply.version)
        }
        guard Base64.encodedCount(entry.byteCount) + 1024 <= maxResultBytes else {
            throw RPCError.invalidParams(
                "\(text) has \(entry.byteCount) bytes, too many for a result of \(maxResultBytes): use view_image.",
                param: "uri")
        }
        try await call.waitForRoom(for: Base64.encodedCount(entry.byteCount) + ToolOutcome.overhead)
        let bytes: [UInt8]
        do { bytes = try await manager.blocking { try Files.read(path, followsLinks: false) } } catch let error
            as SystemError where error.isMissing
        {
            throw RPCError.noSuchResource(text, reply.version)
        } catch {
            throw ImageError.storage(error, folder: "the cache folder")
        }
        call.respond { writer in
            reply.write(to: &writer, keptFor: 0) { result in
                result.key("contents")
                result.array { list in
                    list.object { content in
                        content.field("uri", text)
                        content.field("mimeType", entry.header.format.mimeType)
                        content.key("blob")
                        content.write(base64: bytes)
                    }
                }
            }
        }
    }
}

extension JSONWriter {
    /// Writes bytes as a string of Base64.
    mutating func write(base64 bytes: [UInt8]) {
        writeUnescaped(count: Base64.encodedCount(bytes.count)) { text in
            bytes.withUnsafeBytes { Base64.encode($0, into: text) }
        }
    }
}
