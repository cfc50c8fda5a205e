import Foundation

/// A key with a certificate that it signed itself, made by the `openssl` tool.
public struct TestCertificate: Sendable {
    /// The certificate, in PEM.
    public let certificate: String
    /// Its key, in PEM.
    public let key: String

    /// Makes a key and a certificate for `names`, such as `DNS:localhost`.
    public init(_ names: String, in folder: TemporaryFolder, called name: String) throws {
        self.init(in: folder, called: name)
        try Self.run(
            """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=\(name) \
            -addext subjectAltName=\(names) -keyout \(key) -out \(certificate)
            """)
    }

    /// Makes a certificate that is good from one time to another, such as `20200101000000Z`.
    public init(
        _ names: String, from start: String, to end: String, in folder: TemporaryFolder, called name: String
    ) throws {
        self.init(in: folder, called: name)
        let place = folder.path + "/" + name
        let configuration = """
            [ca]
            default_ca = own
            [own]
            database = \(place).db
            new_certs_dir = \(folder.path)
            serial = \(place).serial
            default_md = sha256
            policy = any
            x509_extensions = names
            [any]
            commonName = supplied
            [names]
            subjectAltName = \(names)
            """
        try configuration.write(toFile: place + ".cnf", atomically: true, encoding: .utf8)
        try Self.run(
            """
            : > \(place).db && echo 01 > \(place).serial &&
            openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=\(name) \
            -keyout \(key) -out \(place).csr &&
            openssl ca -batch -notext -selfsign -config \(place).cnf -keyfile \(key) -in \(place).csr \
            -startdate \(start) -enddate \(end) -out \(certificate)
            """)
    }

    /// The same certificate followed by so many copies of itself.
    public func padded(copies: Int, in folder: TemporaryFolder) throws -> TestCertificate {
        let text = try String(contentsOfFile: certificate, encoding: .utf8)
        let padded = TestCertificate(certificate: folder.path + "/padded.crt", key: key)
        try String(repeating: text, count: copies + 1).write(
            toFile: padded.certificate, atomically: true, encoding: .utf8)
        return padded
    }

    private init(in folder: TemporaryFolder, called name: String) {
        self.init(certificate: folder.path + "/\(name).crt", key: folder.path + "/\(name).key")
    }

    private init(certificate: String, key: String) {
        (self.certificate, self.key) = (certificate, key)
    }

    private static func run(_ line: String) throws {
        let made = try Command.shell(line)
        guard made.status == 0 else { throw PatienceExhausted(description: "openssl: \(made.errors)") }
    }
}
