import Foundation
import Glibc
import TestSupport

@testable import RemoteStorage

/// The Python environment with moto and botocore: the one that the variable S3_TEST_VENV names, or that `.ci/setup test` makes.
enum S3Python {
    static let program: String? = {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
        let folder = ProcessInfo.processInfo.environment["S3_TEST_VENV"] ?? root + "/.build/s3-servers"
        let program = folder + "/bin/python"
        return FileManager.default.isExecutableFile(atPath: folder + "/bin/moto_server") ? program : nil
    }()
    static var isInstalled: Bool { program != nil }
    static let missing = "moto and botocore are not installed (.ci/setup test, or S3_TEST_VENV)"

    /// What a program prints that reads a text.
    static func run(_ text: String, input: [UInt8] = []) throws -> [UInt8] {
        let folder = try TemporaryFolder()
        try text.write(toFile: folder.path + "/program.py", atomically: true, encoding: .utf8)
        let ended = try Command.shell("\(program ?? "") \(folder.path)/program.py", input: input)
        guard ended.status == 0 else { throw PatienceExhausted(description: "Python: \(ended.errors)") }
        return ended.output
    }
}

/// A server that speaks the protocol of S3, as a child process, with an empty bucket.
final class MotoServer: Sendable {
    static let bucket = "images"

    let port: UInt16
    private let process: pid_t
    private let folder: TemporaryFolder

    init() async throws {
        folder = try TemporaryFolder()
        let place = folder.path + "/port"
        try """
        import os, threading
        from moto.server import ThreadedMotoServer
        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        server.start()
        host, port = server.get_host_and_port()
        import boto3
        boto3.client("s3", endpoint_url=f"http://127.0.0.1:{port}", region_name="us-east-1", aws_access_key_id="a",
                     aws_secret_access_key="b").create_bucket(Bucket="\(Self.bucket)")
        with open("\(place).new", "w") as file:
            file.write(str(port))
        os.rename("\(place).new", "\(place)")
        threading.Event().wait()
        """.write(toFile: folder.path + "/server.py", atomically: true, encoding: .utf8)
        process = try Spawn.background([S3Python.program ?? "", folder.path + "/server.py"])
        var found: UInt16?
        for _ in 0..<12_000 where found == nil {
            found = (try? String(contentsOfFile: place, encoding: .utf8)).flatMap { UInt16($0) }
            if found == nil { try await Task.sleep(for: .milliseconds(5)) }
        }
        port = found ?? 0
        guard port != 0 else { throw PatienceExhausted(description: "moto did not start") }
    }

    deinit {
        kill(process, SIGKILL)
        _ = Spawn.wait(for: process)
    }

    /// The URL of a bucket and a prefix.
    func url(_ place: String = "images", query: String = "") -> String {
        "s3://key:secret@\(place)?endpoint=http://127.0.0.1:\(port)\(query)"
    }
}
