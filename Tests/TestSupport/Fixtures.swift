import Foundation

/// The pictures under `Tests/Fixtures` and what their manifest says of them.
public enum Fixtures {
    /// One file of the corpus.
    public struct Picture: Sendable, CustomStringConvertible {
        /// The name, relative to the folder.
        public let file: String
        /// The format; nil for files that are no usable picture, and so for what follows.
        public let format: String?
        /// The media type.
        public let mimeType: String?
        /// Pixels across, as coded.
        public let width: Int?
        /// Pixels down, as coded.
        public let height: Int?
        /// Pictures of an animation, or pages.
        public let frameCount: Int?
        /// The size of the file, in bytes.
        public let byteCount: Int
        /// Whether it is a whole picture.
        public let isValid: Bool

        /// The bytes.
        public var bytes: [UInt8] { get throws { try Fixtures.bytes(file) } }
        /// The name.
        public var description: String { file }
    }

    /// The root of the repository.
    public static let repository: String = {
        let file = URL(fileURLWithPath: #filePath)
        return file.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
    }()

    /// The folder of the corpus.
    public static let folder = repository + "/Tests/Fixtures"

    /// The bytes of a file of the corpus.
    public static func bytes(_ file: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder + "/" + file)))
    }

    /// Every file in the manifest.
    public static let all: [Picture] = {
        guard let text = try? bytes("manifest.json"), let entries = try? JSON(text).elements else { return [] }
        return entries.compactMap { entry in
            guard let file = entry["file"]?.string, let valid = entry["valid"]?.boolean else { return nil }
            return Picture(
                file: file, format: entry["format"]?.string, mimeType: entry["mimeType"]?.string,
                width: entry["width"]?.integer, height: entry["height"]?.integer,
                frameCount: entry["frameCount"]?.integer, byteCount: entry["byteCount"]?.integer ?? 0, isValid: valid)
        }
    }()

    /// The files that are whole pictures.
    public static let valid = all.filter(\.isValid)
    /// The files that are not.
    public static let broken = all.filter { !$0.isValid }
}

/// A folder of a test's own, removed at the end.
public final class TemporaryFolder: Sendable {
    /// The absolute path.
    public let path: String

    /// Makes the folder.
    public init() throws {
        path = FileManager.default.temporaryDirectory.path + "/halcyon-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Every regular file below, relative to the folder, sorted.
    public var files: [String] {
        var files: [String] = []
        for case let name as String in FileManager.default.enumerator(atPath: path) ?? .init() {
            var isFolder: ObjCBool = false
            if FileManager.default.fileExists(atPath: path + "/" + name, isDirectory: &isFolder), !isFolder.boolValue {
                files.append(name)
            }
        }
        return files.sorted()
    }
}
