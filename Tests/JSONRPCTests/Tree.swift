import JSONRPC

/// A JSON value that is equal to another only when every byte and every bit is.
indirect enum Tree: Equatable {
    struct Member: Equatable {
        let name: [UInt8]
        let value: Tree
    }

    case object([Member])
    case array([Tree])
    case string([UInt8])
    case integer(Int)
    case real(bits: UInt64)
    case boolean(Bool)
    case null

    /// Copies what a view shows.
    init(_ view: JSONView) {
        switch view.kind {
        case .object:
            var members: [Member] = []
            view.forEachMember { name, value in members.append(Member(name: Array(name), value: Tree(value))) }
            self = .object(members)
        case .array:
            var elements: [Tree] = []
            for index in 0..<view.count {
                if let element = view.element(index) { elements.append(Tree(element)) }
            }
            self = .array(elements)
        case .string: self = .string(view.withUTF8 { Array($0) } ?? [])
        case .integer: self = .integer(view.integer ?? 0)
        case .real: self = .real(bits: view.number?.bitPattern ?? 0)
        case .boolean: self = .boolean(view.boolean ?? false)
        case .null: self = .null
        }
    }

    func write(to writer: inout JSONWriter) {
        switch self {
        case .object(let members):
            writer.object { writer in
                for member in members {
                    writer.key(String(decoding: member.name, as: UTF8.self))
                    member.value.write(to: &writer)
                }
            }
        case .array(let elements): writer.array { writer in elements.forEach { $0.write(to: &writer) } }
        case .string(let text): writer.write(String(decoding: text, as: UTF8.self))
        case .integer(let number): writer.write(number)
        case .real(let bits): writer.write(Double(bitPattern: bits))
        case .boolean(let flag): writer.write(flag)
        case .null: writer.writeNull()
        }
    }

    func text(indented: Bool) -> [UInt8] {
        var writer = JSONWriter(indented: indented)
        write(to: &writer)
        return writer.bytes
    }

    // MARK: Random trees

    /// Any tree: all kinds, all scalars of Unicode, all finite doubles.
    static func random(depth: Int, using random: inout some RandomNumberGenerator) -> Tree {
        switch Int.random(in: 0..<(depth > 0 ? 14 : 6), using: &random) {
        case 0: return .null
        case 1: return .boolean(Bool.random(using: &random))
        case 2: return .integer(integer(using: &random))
        case 3: return .real(bits: real(using: &random))
        case 4, 5: return .string(text(using: &random, from: 0))
        case 6, 7, 8, 9:
            var names: Set<[UInt8]> = []
            let count = Int.random(in: 0...4, using: &random)
            // NUL may stand in values only.
            let drawn = (0..<count).map { _ in text(using: &random, from: 1) }
            var members: [Member] = []
            for name in drawn where names.insert(name).inserted {
                members.append(Member(name: name, value: Tree.random(depth: depth - 1, using: &random)))
            }
            return .object(members)
        default:
            var elements: [Tree] = []
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                elements.append(Tree.random(depth: depth - 1, using: &random))
            }
            return .array(elements)
        }
    }

    private static func integer(using random: inout some RandomNumberGenerator) -> Int {
        let any = Int.random(in: .min ... .max, using: &random)
        return [0, -1, .max, .min, any, any >> Int.random(in: 0..<64, using: &random)].randomElement(using: &random)
            ?? any
    }

    private static func real(using random: inout some RandomNumberGenerator) -> UInt64 {
        if Int.random(in: 0..<8, using: &random) == 0 {
            let edges: [Double] = [
                0, -0.0, .leastNonzeroMagnitude, -.leastNormalMagnitude, .greatestFiniteMagnitude, 0.1, 1e16,
            ]
            return (edges.randomElement(using: &random) ?? 0).bitPattern
        }
        while true {
            let bits = UInt64.random(in: .min ... .max, using: &random)
            if Double(bitPattern: bits).isFinite { return bits }
        }
    }

    private static func text(using random: inout some RandomNumberGenerator, from lowest: UInt32) -> [UInt8] {
        var text = ""
        for _ in 0..<Int.random(in: 0...10, using: &random) {
            let value: UInt32 =
                switch Int.random(in: 0..<6, using: &random) {
                case 0: .random(in: lowest..<0x20, using: &random)
                case 1: [0x22, 0x5C, 0x2F, 0x7F, 0x2028, 0x2029, 0xFEFF, 0xFFFF].randomElement(using: &random) ?? 0x22
                case 2: .random(in: 0x20..<0x7F, using: &random)
                case 3: .random(in: 0x80..<0x800, using: &random)
                case 4: .random(in: 0x800...0xFFFF, using: &random)
                default: .random(in: 0x10000...0x10FFFF, using: &random)
                }
            if let scalar = Unicode.Scalar(value) { text.unicodeScalars.append(scalar) }
        }
        return Array(text.utf8)
    }
}
