/// The places where two pictures differ: exact rectangles around them, and a map of them that is as small as it is shown.
struct ChangeMap: Sendable {
    /// The side of the squares by which changes that are close to each other become one region, in pixels of what is shown.
    private static let shownCell = 16

    /// The size of the map.
    let shown: (width: Int, height: Int)
    private let width: Int
    private let height: Int
    private let cell: Int
    private let columns: Int
    private let rows: Int
    /// Whether something differs at each place of the map, row by row.
    private var mask: [Bool]
    /// The rectangle around the changes in each square.
    private var boxes: [PixelRegion?]

    /// A map of nothing.
    ///
    /// - Parameters:
    ///   - width: The width of the pictures in pixels.
    ///   - height: Their height.
    ///   - shown: The size of the map, which is not larger.
    init(width: Int, height: Int, shown: (width: Int, height: Int)) {
        (self.width, self.height, self.shown) = (width, height, shown)
        let factor = max((width + shown.width - 1) / shown.width, (height + shown.height - 1) / shown.height)
        cell = Self.shownCell * factor
        (columns, rows) = ((width + cell - 1) / cell, (height + cell - 1) / cell)
        mask = [Bool](repeating: false, count: shown.width * shown.height)
        boxes = [PixelRegion?](repeating: nil, count: columns * rows)
    }

    subscript(place: Int) -> Bool { mask[place] }

    /// Adds a run of pixels of a row.
    mutating func mark(_ run: Range<Int>, y: Int) {
        fill(PixelRegion(x: run.lowerBound, y: y, width: run.count, height: 1))
        let start = y / cell * columns
        for column in run.lowerBound / cell...(run.upperBound - 1) / cell {
            let (left, right) = (max(run.lowerBound, column * cell), min(run.upperBound, (column + 1) * cell))
            boxes[start + column] = PixelRegion(x: left, y: y, width: right - left, height: 1)
                .joined(with: boxes[start + column])
        }
    }

    /// Fills a rectangle of the map, and adds no region.
    mutating func fill(_ region: PixelRegion) {
        for y in region.y * shown.height / height...(region.y + region.height - 1) * shown.height / height {
            for x in region.x * shown.width / width...(region.x + region.width - 1) * shown.width / width {
                mask[y * shown.width + x] = true
            }
        }
    }

    /// The rectangles around the changes in squares that touch each other, also at corners.
    var regions: [PixelRegion] {
        var boxes = boxes
        var found: [PixelRegion] = []
        for start in boxes.indices where boxes[start] != nil {
            var (open, region): ([Int], PixelRegion?) = ([start], nil)
            while let place = open.popLast() {
                guard let box = boxes[place] else { continue }
                boxes[place] = nil
                region = box.joined(with: region)
                let (column, row) = (place % columns, place / columns)
                for y in max(row - 1, 0)...min(row + 1, rows - 1) {
                    for x in max(column - 1, 0)...min(column + 1, columns - 1) { open.append(y * columns + x) }
                }
            }
            if let region { found.append(region) }
        }
        return found
    }
}
