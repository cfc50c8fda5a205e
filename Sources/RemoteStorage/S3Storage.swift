internal import HTTPSemantics
internal import Platform

/// Where the objects are, and with whose keys they are read and written: what a URL leaves open is from the usual places.
struct S3Target: Sendable {
    /// The URL that all requests begin with.
    let base: String
    /// What it says of host and path.
    let (host, path): (String, String)
    let region: String
    /// `nil` for requests without a signature.
    let credentials: AWSCredentials?
    /// The reason why nothing can be asked.
    private(set) var problem: String?

    init(_ place: S3Location, _ url: RemoteURL, _ environment: AWSEnvironment) {
        let profile = AWSProfile(environment)
        var region = place.region ?? profile.region ?? "us-east-1"
        if !S3Location.isRegion(region) {
            (problem, region) = ("the region of the environment or the file of AWS is none", "us-east-1")
        }
        let given = place.endpoint ?? profile.endpoint.flatMap { S3Endpoint($0) }
        if given == nil, profile.endpoint != nil {
            problem = "the endpoint of the environment or the file of AWS is no URL of a host and a port alone"
        }
        let endpoint = given ?? S3Endpoint(region: region)
        let isVirtual = place.style.map { $0 == .virtual } ?? (given == nil && S3Location.isHostLabel(place.bucket))
        if isVirtual, endpoint.isAddress { problem = "no bucket can stand before an address (style=path)" }
        host = (isVirtual ? place.bucket + "." : "") + endpoint.authority
        let parts = (isVirtual ? [] : [place.bucket]) + (place.prefix.isEmpty ? [] : [place.prefix])
        path = parts.map { "/" + S3Location.encoded($0) }.joined()
        base = (endpoint.isSecure ? "https://" : "http://") + host + path
        self.region = region
        // A signature for another region would be refused, and nobody told why.
        if place.region == nil { problem = problem ?? profile.unreadable }
        if let user = url.user, let password = url.password {
            credentials = AWSCredentials(keyID: user, secret: password)
        } else {
            credentials = profile.credentials
            problem = problem ?? profile.problem
        }
    }
}

/// Objects in a bucket of S3, or of a server that speaks its protocol.
struct S3Storage: RemoteStorage {
    private let target: S3Target
    private let client: HTTPClient
    private let now: @Sendable () -> Int

    let hasClaims = false

    /// - Parameters:
    ///   - now: The time in seconds since 1970.
    ///   - client: Makes the client for a URL.
    init(_ target: S3Target, now: @escaping @Sendable () -> Int = { wallSeconds() }, client: (String) -> HTTPClient) {
        (self.target, self.now, self.client) = (target, now, client(target.base))
    }

    func get(_ name: String) async throws -> [UInt8]? {
        let answer = try await ask(.get, name)
        if answer.status == 200 { return answer.body }
        let failure = S3Failure(answer)
        if answer.status == 404, failure.code != "NoSuchBucket" { return nil }
        throw failure.error(to: .get, target, now: now())
    }

    func put(_ name: String, _ object: [UInt8], seconds: Int?) async throws {
        let answer = try await ask(.put, name, object)
        if answer.status == 200 { return }
        throw S3Failure(answer).error(to: .put, target, now: now())
    }

    func remove(_ name: String) async throws {
        let answer = try await ask(.delete, name)
        if [200, 204].contains(answer.status) { return }
        let failure = S3Failure(answer)
        if answer.status == 404, failure.code != "NoSuchBucket" { return }
        throw failure.error(to: .delete, target, now: now())
    }

    /// Of any answer: one that refuses because the clocks differ tells the time as well.
    func wallClock() async throws -> Int? {
        try await ask(.get, RemoteObject.name(of: ["probe"])).clock.map { $0 * 1_000_000_000 }
    }

    private func ask(_ method: RequestMethod, _ name: String, _ object: [UInt8]? = nil) async throws
        -> HTTPClient.Answer
    {
        if let problem = target.problem { throw RemoteError.refused(problem) }
        let path = RemoteObject.path(of: name)
        var headers = method == .put ? ["Content-Type": "application/octet-stream"] : [:]
        if let credentials = target.credentials {
            headers =
                AWSSignature(
                    method: method.rawValue, host: target.host, path: "\(target.path)/\(path)", headers: headers,
                    body: object ?? [], time: now(), region: target.region, credentials: credentials
                ).fields
        }
        return try await client.answer(to: method, "\(target.base)/\(path)", headers: headers, body: object)
    }
}
