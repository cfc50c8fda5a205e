import Testing

@testable import HTTPSemantics
@testable import ImageEngine
import ImageErrors

/// The decision about a cached entry: every option that matters beside every state of an entry.
@Suite struct CacheDecisionTests {
    typealias Entry = RetrievalPolicy.Entry

    private static let controls: [String?] = [
        nil, "max-age=60", "max-age=60, immutable", "max-age=60, must-revalidate", "no-cache", "no-store",
        "max-age=60, stale-while-revalidate=60",
    ]

    /// Every state of an entry, and none.
    private static var entries: [Entry?] {
        var entries: [Entry?] = [nil]
        for control in controls {
            for age in [0, 90] {
                for expiredFor in [nil, 5] as [Int?] {
                    // Five flags.
                    for flags in 0..<32 {
                        entries.append(
                            Entry(
                                expiredFor: expiredFor,
                                freshness: control.map {
                                    HTTPFreshness(cacheControl: $0, expires: nil, date: 0, lastModified: nil)
                                },
                                age: age, suits: flags & 1 == 0, isForeign: flags & 2 != 0,
                                hasValidators: flags & 4 != 0,
                                isIntegral: flags & 8 == 0, isDamaged: flags & 16 != 0))
                    }
                }
            }
        }
        return entries
    }

    /// Every policy that a request may have.
    private static var policies: [RetrievalPolicy] {
        var policies: [RetrievalPolicy] = []
        for mode in Revalidation.allCases {
            for flags in 0..<8 {
                for staleIfError in [nil, 1e9] as [Double?] {
                    for wanted in [
                        nil, "no-cache", "max-stale", "only-if-cached", "max-age=30", "max-age=9999, max-stale=10",
                    ]
                        as [String?]
                    {
                        policies.append(
                            RetrievalPolicy(
                                mode: mode, isForced: flags & 1 != 0, isOffline: flags & 2 != 0,
                                onlyFromCache: flags & 4 != 0, staleIfError: staleIfError,
                                wanted: wanted.map { CacheControl($0) }))
                    }
                }
            }
        }
        return policies
    }

    private func forEach(_ body: (RetrievalPolicy, Entry, CacheDecision) -> Void) {
        let entries = Self.entries
        for policy in Self.policies {
            for case let entry? in entries { body(policy, entry, policy.decision(for: entry)) }
        }
    }

    @Test func noOptionMakesAnImageAnAnswerThatIsForeignOrHasOtherBytesOrIsDamaged() {
        forEach { policy, entry, decision in
            guard entry.isForeign || !entry.isIntegral || entry.isDamaged else { return }
            if decision.action != .load, decision.action != .fail { Issue.record("\(policy) \(entry) \(decision)") }
            if policy.mayStandIn(entry, after: .connectionFailed(url: "", reason: "")) {
                Issue.record("stands in: \(policy) \(entry)")
            }
        }
    }

    @Test func aRequestThatIgnoresTheCacheGetsAnAnswerFromItOnlyOfflineAndStale() {
        forEach { policy, entry, decision in
            guard policy.isForced else { return }
            let isLoaded = decision.action == .load || decision.action == .fail
            let isRight = policy.isOffline ? isLoaded || decision.action == .answer(isStale: true) : isLoaded
            if !isRight { Issue.record("\(policy) \(entry) \(decision)") }
        }
    }

    @Test func anExpiredImageIsNeverAnsweredAsFresh() {
        forEach { policy, entry, decision in
            if entry.expiredFor != nil, decision.isFreshAnswer { Issue.record("\(policy) \(entry)") }
        }
    }

    @Test func nothingIsAskedOrRefreshedWhenNothingMayBeLoaded() {
        forEach { policy, entry, decision in
            guard policy.onlyFromCache || policy.isOffline else { return }
            if [.revalidate, .answerAndRefresh].contains(decision.action) { Issue.record("\(policy) \(entry)") }
            if policy.onlyFromCache, decision.action == .load { Issue.record("loads: \(policy) \(entry)") }
        }
    }

    @Test func aServerIsAskedOnlyWithValidatorsOfAnAnswerToTheSameRequest() {
        forEach { policy, entry, decision in
            if decision.action == .revalidate, !entry.hasValidators || !entry.suits || policy.mode == .never {
                Issue.record("\(policy) \(entry)")
            }
        }
    }

    @Test func headerFieldsCountInTheHTTPModeAlone() {
        let entries = Self.entries
        for policy in Self.policies where policy.mode != .http && policy.wanted != nil {
            var silent = policy
            silent.wanted = nil
            for entry in entries where policy.decision(for: entry) != silent.decision(for: entry) {
                Issue.record("\(policy) \(String(describing: entry))")
            }
        }
    }

    @Test func aRequestThatSaysHowOldAnImageMayBeGetsNoStaleOne() {
        forEach { policy, entry, decision in
            guard policy.mode == .http, policy.wanted?.maxAge != nil, !policy.staysInCache, !policy.isOffline else {
                return
            }
            let accepted = policy.wanted?.maxStale ?? -1
            let staleness = entry.freshness?.staleness(age: entry.age) ?? 0
            if [.answer(isStale: true), .answerAndRefresh].contains(decision.action), staleness > accepted {
                Issue.record("\(policy) \(entry) \(decision)")
            }
        }
    }

    @Test func withoutRevalidationAnImageIsAnsweredUntilItExpires() {
        for entry in Self.entries.compactMap(\.self) {
            let decision = RetrievalPolicy().decision(for: entry)
            let isUsable = entry.expiredFor == nil && !entry.isForeign && entry.isIntegral && !entry.isDamaged
            #expect(decision.isFreshAnswer == isUsable)
        }
    }

    @Test func nothingStoredIsLoadedOrFails() {
        for policy in Self.policies {
            let decision = policy.decision(for: nil)
            #expect(decision.reason == .nothingStored)
            #expect(decision.action == (policy.staysInCache ? .fail : .load))
        }
    }
}
