/// The most likely intended name for a misspelt one: at most a third of its letters away, ignoring case.
///
/// - Complexity: O(*names* × *letters*²), only for errors.
package func nearestName(to name: String, in names: [String]) -> String? {
    guard name.utf8.count <= 64 else { return nil }
    let wanted = Array(name.lowercased().utf8)
    let limit = max(1, (wanted.count + 1) / 3)
    let scored = names.map { (name: $0, distance: editDistance(wanted, Array($0.lowercased().utf8))) }
    guard let best = scored.min(by: { $0.distance < $1.distance }), best.distance <= limit else { return nil }
    return best.name
}

/// The number of insertions, deletions, replacements and swaps of neighbours between two words (optimal string
/// alignment distance).
private func editDistance(_ one: [UInt8], _ other: [UInt8]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...other.count)
    for (row, letter) in one.enumerated() {
        var current = [row + 1]
        for (column, otherLetter) in other.enumerated() {
            var cost = min(last[column + 1] + 1, current[column] + 1, last[column] + (letter == otherLetter ? 0 : 1))
            if row > 0, column > 0, letter == other[column - 1], one[row - 1] == otherLetter {
                cost = min(cost, beforeLast[column - 1] + 1)
            }
            current.append(cost)
        }
        beforeLast = last
        last = current
    }
    return last[other.count]
}
