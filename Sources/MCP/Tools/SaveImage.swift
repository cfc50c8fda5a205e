internal import Glibc
internal import ImageEngine
internal import JSONRPC
internal import Platform

extension Tool {
    static let saveImage = Tool(
        name: "save_image", title: "Save a picture as a file",
        description:
            "Saves a picture below an allowed folder, converted or smaller if asked; keeps a file that is there.",
        parameters: [
            .image,
            ToolParameter(
                name: "path", kind: .text, description: "Where; its suffix names the format", isRequired: true),
            ToolParameter(
                name: "max_side", kind: .integer(ToolParameter.sides), description: "Longest side; unchanged by default"
            ),
            .region, .frame,
            ToolParameter(name: "format", kind: .choice(EncodedFormat.allCases.map(\.rawValue)), description: ""),
            ToolParameter(name: "quality", kind: .integer(1...100), description: "On the scale of JPEG"),
            ToolParameter(name: "overwrite", kind: .flag, description: "Replace a file that is there"),
        ],
        output: [
            ("path", ResultSchema.text, false), ("format", ResultSchema.text, false),
            ("width", ResultSchema.count, false), ("height", ResultSchema.count, false),
            ("bytes", ResultSchema.count, false), ("replaced", ResultSchema.flag, false),
            ("note", ResultSchema.text, true),
        ],
        effects: Effects(isReadOnly: false, isDestructive: true)
    ) { arguments, gallery, progress in
        let given = arguments.text("path") ?? ""
        let place = try gallery.roots.target(given)
        let file = SavedFile(folder: place.folder, name: place.name, replaces: arguments.flag("overwrite"))
        let format = try Self.format(of: place.name, arguments.text("format"))
        // Before anything is loaded.
        try await gallery.manager.blocking { try file.check() }
        let resource = try await gallery.resource(arguments.text("image") ?? "")
        // The cache keeps the original, as for a picture that is viewed.
        let provenance = try await gallery.load(resource, progress)
        let found = try await gallery.probe(resource).probe
        let recipe = try Self.recipe(arguments, format, found)
        return .making {
            var options = gallery.options
            options.processing.recipe = recipe
            if !recipe.isEmpty { options.storage.keepNothing() }
            let image = try await gallery.image(resource, options, needs: recipe.isEmpty ? .file : .bytes, progress)
            let isReplaced: Bool
            if recipe.isEmpty, let source = image.record.path {
                isReplaced = try await gallery.manager.blocking { try file.copy(from: source) }
            } else {
                let made = try await gallery.manager.loadingBytes(of: image, in: try gallery.cache(), options: options)
                guard let bytes = made.bytes else {
                    throw ToolFailure("The picture was removed while it was read; try again.")
                }
                isReplaced = try await gallery.manager.blocking { try file.save { try $0.write(bytes) } }
            }
            let header = image.record.header
            let size = recipe.isEmpty ? found.displayedSize : (header.width, header.height)
            var members: [(String, JSONLiteral)] = [
                ("path", .string(file.path)), ("format", .string(header.format.rawValue)), ("width", .integer(size.0)),
                ("height", .integer(size.1)), ("bytes", .integer(image.record.byteCount)),
                ("replaced", .boolean(isReplaced)),
            ]
            let dropped = image.record.framesDropped
            let lost = dropped > 0 ? "Only the first frame or page is saved; \(dropped) more are left out." : nil
            let notes = [lost, provenance.map { "It \($0)." }].compactMap { $0 }
            if !notes.isEmpty { members.append(("note", .string(notes.joined(separator: " ")))) }
            return ToolOutcome(members)
        }
    }

    /// The format that the name of a file says. A file with another content than its name says might be run or read as
    /// something else than a picture.
    private static func format(of name: String, _ asked: String?) throws(ToolFailure) -> ImageFormat {
        let suffix = name.split(separator: ".", omittingEmptySubsequences: false).dropFirst().last.map(String.init)
        guard let format = suffix.flatMap({ ImageFormat(fileExtension: $0) }) else {
            throw ToolFailure("\(name.excerpt) does not end like the name of a picture, such as .png or .jpg.")
        }
        if let asked, asked != format.rawValue {
            throw ToolFailure("\(name.excerpt) is the name of a \(format.rawValue) file, but format is \(asked).")
        }
        return format
    }

    /// What has to be done to the picture; nothing when the file may be a copy of it.
    private static func recipe(
        _ arguments: ToolArguments, _ format: ImageFormat, _ found: ImageProbe
    ) throws -> ImageRecipe {
        var recipe = ImageRecipe()
        if let region = arguments.region("region") {
            recipe.processors.append(.crop(try region.crop(of: found.displayedSize)))
        }
        if let side = arguments.integer("max_side") {
            let isDrawing = found.format == .svg && recipe.processors.isEmpty
            recipe.processors.append(try .fitting(side: side, isDrawing: isDrawing))
        }
        if arguments.integer("frame") != nil { recipe.frames = .number(try found.frame(arguments)) }
        let quality = arguments.integer("quality")
        if recipe.isEmpty, quality == nil, format == found.format { return recipe }
        guard let target = EncodedFormat(rawValue: format.rawValue) else {
            let formats = EncodedFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw ToolFailure("\(format.rawValue) cannot be written; the formats are \(formats).")
        }
        recipe.serializer = CacheSerializer(format: target, encoding: Encoding(quality: quality))
        return recipe
    }
}

/// A file that is saved below a root.
///
/// The folder is opened once, without following a link, and everything is done within it: a link that takes its place
/// meanwhile leads nowhere.
struct SavedFile: Sendable {
    let folder: String
    let name: String
    /// `true` when a file that is there is replaced.
    let replaces: Bool

    var path: String { folder == "/" ? "/\(name)" : "\(folder)/\(name)" }

    /// - Throws: ``ToolFailure`` when something is there that is not replaced.
    func check() throws {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFREG else { throw ToolFailure("\(path) is not a regular file.") }
        if !replaces { throw inTheWay }
    }

    /// Saves a copy of the file at `source`; see ``save(_:)``.
    func copy(from source: String) throws -> Bool {
        try save { target in
            try Descriptor(reading: source).forEachPiece { try target.write($0) }
        }
    }

    /// Writes a temporary file, which then takes the name, so that no reader finds half a picture.
    ///
    /// - Returns: `true` when a file was replaced.
    func save(_ write: (borrowing Descriptor) throws -> Void) throws -> Bool {
        let place = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard place >= 0 else { throw failure }
        defer { close(place) }
        let draft = ".halcyon-\(String(UInt64.random(in: 0...UInt64.max), radix: 36)).part"
        let number = openat(place, draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
        guard number >= 0 else { throw failure }
        defer { unlinkat(place, draft, 0) }
        do {
            try write(Descriptor(adopting: number, name: path))
        } catch let error as SystemError {
            throw ToolFailure("\(path) cannot be written: \(String(cString: strerror(error.code))).")
        }
        try check()
        var status = stat()
        let isThere = fstatat(place, name, &status, AT_SYMLINK_NOFOLLOW) == 0
        if !replaces {
            // Fails where there is a file, also one that has just come.
            if linkat(place, draft, place, name, 0) == 0 { return false }
            if errno == EEXIST || isThere { throw inTheWay }
        }
        guard renameat(place, draft, place, name) == 0 else { throw failure }
        return isThere
    }

    private var inTheWay: ToolFailure { ToolFailure("\(path) already exists; set overwrite to replace it.") }

    private var failure: ToolFailure { ToolFailure("\(path) cannot be written: \(String(cString: strerror(errno))).") }
}
