internal import Glibc

/// What was found when a remote tier was tried: an object that nobody needs is written, read and removed.
package struct RemoteCheck: Sendable, Equatable {
    /// One thing that was tried.
    package struct Step: Sendable, Equatable {
        package enum Name: String, Sendable, CaseIterable { case read, write, remove, claim, clock }

        package let name: Name
        /// The time that it took, in seconds.
        package var seconds: Double
        /// What is wrong; `nil` when nothing is.
        package var problem: String?
    }

    /// The address without secrets.
    package let url: String
    package let mode: RemoteMode
    package var steps: [Step] = []
    /// The seconds that the engine's clock is ahead of this machine's; `nil` when it has not told the time.
    package var clockAhead: Double?

    /// `true` when all that the mode needs works.
    package var isWell: Bool { steps.allSatisfy { $0.problem == nil } }
}

extension RemoteTier {
    /// The difference of clocks from which on requests are refused by some engines, in seconds: five minutes, as S3 allows
    /// fifteen.
    private static let clockLimit = 300.0

    /// Tries everything that the mode needs, with ten times the patience of requests. What takes longer than a request waits is
    /// a problem. What was written is removed, whatever fails.
    package func check() async -> RemoteCheck {
        var check = RemoteCheck(url: configuration.url?.shown ?? "", mode: configuration.mode)
        var random = SystemRandomNumberGenerator()
        let name = RemoteObject.name(of: ["check", String(random.next() as UInt64)])
        let (reads, writes) = (configuration.mode.reads, configuration.mode.writes)
        let object = RemoteObject(record: [], image: Array("halcyon remote check".utf8)).bytes ?? []
        if reads { await step(.read, isWaitedFor: true, &check) { _ = try await $0.get(name) } }
        if check.isWell, writes {
            await step(.write, &check) { storage in
                try await storage.put(name, object, seconds: 60)
                if reads, try await storage.get(name) != object {
                    throw RemoteError.refused(
                        "what was written is not what is read; look for a proxy that changes or caches it")
                }
            }
            if check.isWell {
                await step(.remove, &check) { storage in
                    try await storage.remove(name)
                    if reads, try await storage.get(name) != nil {
                        throw RemoteError.refused("what was removed is still read; look for a proxy that caches it")
                    }
                }
            } else {
                try? await patiently { try await $0.remove(name) }
            }
        }
        if check.isWell, hasClaims {
            await step(.claim, isWaitedFor: true, &check) { storage in
                guard let token = try await storage.claim(name, seconds: 60) else {
                    throw RemoteError.refused("a name that nobody claims is claimed")
                }
                try await storage.endClaim(name, token: token)
                guard try await storage.get(name) == nil else {
                    throw RemoteError.refused("a claim that was ended is still there")
                }
            }
        }
        if check.isWell {
            let ahead = await step(.clock, &check) { storage in
                try await storage.wallClock().map { Double($0) / 1e9 - Self.wallSeconds() }
            }
            check.clockAhead = ahead ?? nil
            if let ahead = check.clockAhead, abs(ahead) > Self.clockLimit {
                check.steps[check.steps.count - 1].problem =
                    "its clock is \(Int(abs(ahead))) s \(ahead > 0 ? "ahead of" : "behind") this machine's: set the wrong one"
            }
        }
        return check
    }

    @discardableResult
    private func step<Value: Sendable>(
        _ name: RemoteCheck.Step.Name, isWaitedFor: Bool = false, _ check: inout RemoteCheck,
        _ work: @escaping @Sendable (any RemoteStorage) async throws -> Value
    ) async -> Value? {
        let start = now()
        var step = RemoteCheck.Step(name: name, seconds: 0)
        defer {
            step.seconds = Double(now() - start) / 1e9
            if isWaitedFor, step.problem == nil, step.seconds > configuration.timeout {
                step.problem =
                    "it takes longer than the \(configuration.timeout) s that requests wait: raise remoteTimeout"
            }
            check.steps.append(step)
        }
        do { return try await patiently(work) } catch {
            step.problem = "\(error)"
            return nil
        }
    }

    private static func wallSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
