internal import Glibc
internal import ImageEngine
internal import JSONRPC
internal import Platform

extension Tool {
    static let contactSheet = Tool(
        name: "contact_sheet", title: "Show many pictures",
        description:
            "Shows up to 64 pictures, or those of a folder, in one grid with numbers; failed ones are crossed out.",
        parameters: [
            ToolParameter(name: "images", kind: .texts(most: 64), description: "URLs, paths or cached keys, in order"),
            ToolParameter(name: "folder", kind: .text, description: "Instead: a folder below an allowed one"),
            ToolParameter(
                name: "max_side", kind: .integer(ToolParameter.sides), description: "Longest side; 1536 by default"),
        ],
        output: [
            ("note", ResultSchema.text, false), ("columns", ResultSchema.count, false),
            ("images", ResultSchema.objects, false),
        ],
        effects: Effects()
    ) { arguments, gallery, progress in
        var names = arguments.texts("images") ?? []
        var left = 0
        if let folder = arguments.text("folder") {
            guard names.isEmpty else { throw ToolFailure("Give images or folder, not both.") }
            (names, left) = try await gallery.pictures(in: folder)
            if names.isEmpty { throw ToolFailure("There is no picture in \(folder.excerpt).") }
        }
        if names.isEmpty { throw ToolFailure("Give images or folder.") }
        let side = arguments.integer("max_side") ?? 1536
        let found = try await PictureSheet(names, gallery, side: side, progress)
        return .making { [left] in
            let sheet = try await found.drawn(gallery)
            let failed = sheet.cells.count { $0.failure != nil }
            var note = "\(sheet.cells.count) pictures in rows of \(sheet.columns), numbered from 1."
            if failed > 0 { note += " \(failed) failed." }
            let cached = sheet.cells.count(where: \.isCached)
            if cached > 0 { note += " \(cached) from the cache: not asked for at the server." }
            if left > 0 { note += " \(left) more in the folder are not shown." }
            let members: [(String, JSONLiteral)] = [
                ("columns", .integer(sheet.columns)),
                ("images", .array(sheet.cells.enumerated().map { $1.literal(number: $0 + 1) })),
            ]
            let shown = try await gallery.fit(sheet.canvas.shown, side: side, beside: members, nil)
            if shown == nil { note += " The sheet cannot be made small enough for a result." }
            return ToolOutcome([("note", .string(note))] + members, picture: shown?.outcome)
        }
    }
}

/// Pictures in a grid.
struct PictureSheet: Sendable {
    /// One picture of the sheet, or why there is none.
    struct Cell: Sendable {
        let name: String
        /// The picture, which is loaded; `nil` when it failed.
        var resource: Resource?
        var picture: PixelImage?
        var size = (width: 0, height: 0)
        var format = ""
        var failure: String?
        /// `true` when it is not what its server has now; see ``Gallery/load(_:_:)``.
        var isCached = false

        func literal(number: Int) -> JSONLiteral {
            // A path is told whole, because its end tells it from the others, and other tools take it.
            let isPath = Gallery.scheme(of: name).isEmpty && name.utf8.count < PATH_MAX
            let name = JSONLiteral.string(isPath ? name : name.excerpt)
            if let failure { return ["number": .integer(number), "image": name, "error": .string(failure)] }
            return [
                "number": .integer(number), "image": name, "width": .integer(size.width),
                "height": .integer(size.height),
                "format": .string(format),
            ]
        }
    }

    /// Pictures that are loaded at the same time.
    private static let concurrency = 8
    private static let gap = 8

    let columns: Int
    private(set) var cells: [Cell]
    private let cellSide: Int

    init(_ names: [String], _ gallery: Gallery, side: Int, _ progress: ToolProgress?) async throws {
        let columns = Int(Double(names.count).squareRoot().rounded(.up))
        let cellSide = max(side / columns - Self.gap, 8)
        (self.columns, self.cellSide) = (columns, cellSide)
        cells = names.map { Cell(name: $0) }
        var done = 0
        try await forEachCell { cell in
            let resource = try await gallery.resource(cell.name)
            cell.isCached = try await gallery.load(resource, nil) != nil
            let found = try await gallery.probe(resource).probe
            (cell.size, cell.format) = (found.displayedSize, found.format.rawValue)
            cell.resource = resource
        } whenDone: {
            done += 1
            progress?.report(done, of: names.count)
        }
    }

    /// The sheet with its pictures, which are decoded.
    func drawn(_ gallery: Gallery) async throws -> PictureSheet {
        var sheet = self
        let step = try ImageProcessor.fitting(side: cellSide, isDrawing: false)
        try await sheet.forEachCell { cell in
            if let resource = cell.resource { cell.picture = try await gallery.pixels(resource, [step]) }
        }
        return sheet
    }

    /// Does something with each cell, with several at the same time. What fails crosses out its cell; only a cancellation
    /// is an error.
    private mutating func forEachCell(
        _ work: @escaping @Sendable (inout Cell) async throws -> Void, whenDone: () -> Void = {}
    ) async throws {
        var rest = cells.indices.makeIterator()
        try await withThrowingTaskGroup(of: (Int, Cell).self) { group in
            func start() {
                guard let number = rest.next() else { return }
                group.addTask { [cell = cells[number]] in
                    var cell = cell
                    do {
                        try await work(&cell)
                    } catch let error as CancellationError {
                        throw error
                    } catch {
                        cell.failure = ToolFailure(error).sentence
                    }
                    return (number, cell)
                }
            }
            for _ in 0..<Self.concurrency { start() }
            while let (number, cell) = try await group.next() {
                cells[number] = cell
                whenDone()
                start()
            }
        }
    }

    /// The sheet: each picture in the middle of its cell, with its number at the top left.
    var canvas: PixelCanvas {
        let (step, gap) = (cellSide + Self.gap, Self.gap)
        let rows = (cells.count + columns - 1) / columns
        let dot = max(cellSide / 90, 1)
        // Rows are as high as the highest picture, and a number.
        let high = max(cells.reduce(0) { max($0, $1.picture?.height ?? 0) }, min(cellSide, 18 * dot))
        var canvas = PixelCanvas(width: columns * step + gap, height: rows * (high + gap) + gap)
        for (number, cell) in cells.enumerated() {
            let (left, top) = (gap + number % columns * step, gap + number / columns * (high + gap))
            if let picture = cell.picture {
                let (x, y) = (left + (cellSide - picture.width) / 2, top + (high - picture.height) / 2)
                canvas.draw(picture, x: x, y: y)
                let frame = PixelRegion(x: x, y: y, width: picture.width, height: picture.height)
                canvas.outline(frame, .gray, thickness: 1)
            } else {
                canvas.fill(PixelRegion(x: left, y: top, width: cellSide, height: high), .gray)
                for place in 0..<cellSide {
                    let y = top + place * (high - 2) / cellSide
                    canvas.fill(PixelRegion(x: left + place, y: y, width: 2, height: 2), .red)
                    canvas.fill(PixelRegion(x: left + cellSide - 2 - place, y: y, width: 2, height: 2), .red)
                }
            }
            canvas.draw(number: number + 1, x: left, y: top, dot: dot)
        }
        return canvas
    }
}

extension Gallery {
    /// The most pictures on a sheet.
    private static let most = 64

    /// The pictures of a folder, by their suffixes and sorted by name, and how many there are beyond those.
    func pictures(in folder: String) async throws -> (paths: [String], left: Int) {
        let real = try roots.folder(folder)
        let names = try await manager.blocking { try Files.names(in: real) }
        let paths = names.filter { !$0.hasPrefix(".") && Self.isPicture($0) }.sorted().map { "\(real)/\($0)" }
        return (Array(paths.prefix(Self.most)), max(paths.count - Self.most, 0))
    }

    private static func isPicture(_ name: String) -> Bool {
        let suffix = name.split(separator: ".").dropFirst().last.map(String.init)
        return suffix.flatMap { ImageFormat(fileExtension: $0) } != nil
    }
}
