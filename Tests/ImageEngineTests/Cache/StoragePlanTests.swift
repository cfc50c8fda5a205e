import TestSupport
import Testing

@testable import Caching
@testable import ImageEngine
@testable import ImageErrors

/// The decision about storing an image: every option that matters beside every state of an image and of its cache.
@Suite struct StoragePlanTests {
    @Test func everyReasonNotToStoreHasARowInTheProtocol() throws {
        let page = String(decoding: try Fixtures.bytes("../../protocol/caching.md"), as: UTF8.self)
        for reason in NotStoredReason.allCases {
            #expect(page.contains("\n| `\"\(reason.rawValue)\"` | "), "\(reason.rawValue) has no row")
        }
    }

    typealias Image = StoragePolicy.Image

    private static let refusals: [MemoryAdmission] = [
        .kept, .tooLarge(.entry(10), cost: 20), .tooLarge(.total(10), cost: 20), .disabled, .expired,
    ]

    /// Every state of an image and of its cache.
    private static var images: [Image] {
        [true, false].flatMap { isNoStore in
            [(10, 0), (10, 10), (11, 10)].flatMap { byteCount, limit in
                refusals.map {
                    Image(byteCount: byteCount, isNoStore: isNoStore, diskLimit: limit, memory: $0)
                }
            }
        }
    }

    /// Every policy that a request may have.
    private static var policies: [StoragePolicy] {
        (0..<512).flatMap { flags in
            [[], .file, .bytes, [.file, .bytes]].map { (needs: ImageNeeds) in
                var storage = StorageOptions()
                storage.cacheMemoryOnly = flags & 1 != 0
                storage.keepsInMemory = flags & 2 == 0
                storage.waitForCache = flags & 4 == 0
                storage.queryDataWhenInMemory = flags & 8 != 0
                storage.lease = flags & 16 != 0 ? 0 : nil
                return StoragePolicy(
                    storage: storage, needs: needs, obeysNoStore: flags & 32 != 0, isGiven: flags & 64 != 0,
                    overwrites: flags & 128 == 0, isOfExpired: flags & 256 != 0)
            }
        }
    }

    /// Records an issue for each policy and image of which a rule does not hold.
    private func always(_ rule: (StoragePolicy, Image, StoragePlan) -> Bool) {
        let images = Self.images
        for policy in Self.policies {
            for image in images {
                let plan = policy.plan(for: image)
                if !rule(policy, image, plan) { Issue.record("\(policy) \(image) \(plan)") }
            }
        }
    }

    @Test func thereIsAReasonExactlyWhenNoTierKeepsTheImage() {
        always { policy, _, plan in
            let isOver = policy.isOfExpired && plan.place == .disk
            return (plan.reason != nil) == (plan.place == .nowhere || plan.place == .lease || isOver)
        }
    }

    @Test func anImageThatMustNotBeStoredIsKeptNowhereAndForgottenByRequestsThatGoByHTTPAlone() {
        always { policy, image, plan in
            guard policy.obeysNoStore, image.isNoStore else { return plan.reason != .noStore }
            return plan.place == .nowhere && plan.reason == .noStore && plan.removal == .fromBothTiers
        }
    }

    @Test func theDiskIsLeftAloneWhenMemoryAloneIsToKeepTheImage() {
        always { policy, _, plan in
            if plan.reason == .noStore { return true }
            if policy.storage.cacheMemoryOnly { return plan.place == .memory || plan.place == .nowhere }
            return plan.place != .memory
        }
    }

    @Test func memoryHoldsTheBytesBesideTheFileWhenSomebodyWantsThemAndNothingForbidsIt() {
        always { policy, _, plan in
            guard plan.place == .disk || plan.place == .memory else { return plan.place == .lease || !plan.keepsBytes }
            let storage = policy.storage
            return plan.keepsBytes
                == (storage.keepsInMemory && (policy.needs.contains(.bytes) || storage.queryDataWhenInMemory))
        }
    }

    @Test func anImageLargerThanTheDiskTierIsNoEntryUnlessAnotherOneMayBeThere() {
        always { policy, image, plan in
            let isOversize = image.diskLimit > 0 && image.byteCount > image.diskLimit
            guard plan.reason != .noStore, !policy.storage.cacheMemoryOnly else { return plan.place != .lease }
            guard isOversize, policy.overwrites else { return plan.place == .disk }
            let isLent = policy.needs.contains(.file) && policy.storage.lease == nil && !policy.isGiven
            return plan.place == (isLent ? .lease : .nowhere) && plan.reason == .tooLarge
        }
    }

    @Test func optionsThatNameNoTierAreTheReasonBeforeWhatMemorySays() {
        always { policy, _, plan in
            guard plan.reason != .noStore, policy.overwrites else { return plan.reason != .notAsked }
            return (plan.reason == .notAsked) == policy.storage.keepsNothing
        }
    }

    @Test func memoryOnlyImagesAreRefusedAsMemorySays() {
        let told: [NotStoredReason?] = [nil, .tooLarge, .tooLarge, .memoryOff, .expired]
        for (refusal, reason) in zip(Self.refusals, told) {
            var policy = StoragePolicy(needs: .bytes)
            policy.storage.cacheMemoryOnly = true
            let plan = policy.plan(for: Image(memory: refusal))
            #expect(plan.reason == reason && plan.admission == (reason == nil ? nil : refusal))
            #expect(plan.removal == (reason == nil ? .none : .fromMemory))
        }
    }

    @Test func aGivenImageIsStoredOrAnError() {
        always { policy, _, plan in
            guard policy.isGiven, !policy.isOfExpired else { return true }
            return plan.fails == (plan.reason != nil) && !plan.answersFirst && plan.place != .lease
        }
    }

    @Test func aLoadedImageIsAnErrorOnlyForACallerThatNeedsAFileOrWaitsForMemory() {
        always { policy, _, plan in
            guard !policy.isGiven, plan.fails else { return true }
            return plan.place == .nowhere && !policy.needs.contains(.bytes)
                && (policy.needs.contains(.file) || policy.storage.cacheMemoryOnly && policy.storage.waitForCache)
        }
    }

    @Test func theAnswerGoesFirstOnlyWhenAStoreFollowsAndNoFileIsNeeded() {
        always { policy, _, plan in
            let follows = plan.place == .disk || plan.place == .memory
            return plan.answersFirst
                == (follows && !policy.storage.waitForCache && !policy.needs.contains(.file) && !policy.isGiven)
        }
    }

    @Test func aStoreThatIsWaitedForAndNeedNotObeyTheOriginNeitherAnswersFirstNorForgets() {
        always { policy, _, plan in
            policy.answersFirst || policy.obeysNoStore || !plan.answersFirst && plan.reason != .noStore
        }
    }

    @Test func theImageOfBeforeStaysUnlessANewerOneIsAnsweredOrForbidden() {
        always { policy, _, plan in
            if plan.reason == .noStore { return true }
            switch plan.removal {
            case .none: return plan.place != .nowhere || plan.fails
            case .fromMemory: return policy.storage.cacheMemoryOnly && policy.overwrites
            case .fromBothTiers: return plan.reason == .tooLarge && !plan.fails && policy.overwrites
            }
        }
    }

    // MARK: What the attempt shows

    private static let failures: [(ImageError, NotStoredReason?)] = [
        (.storageFailed(reason: "", hint: ""), .diskFailed),
        (.storageFailed(reason: "", hint: "", cause: .full), .noRoom),
        (.storageFailed(reason: "", hint: "", cause: .busy), .busy),
        (.storageFailed(reason: "", hint: "", cause: .passing), .diskFailed),
        (.storageFailed(reason: "", hint: "", cause: .changing), nil),
        (.limitExceeded(limit: "bytesLimit", reason: "", source: ""), .noRoom),
        (.limitExceeded(limit: "maxBytes", reason: "", source: ""), nil),
        (.badData(reason: "", source: ""), nil), (.processingFailed(reason: ""), nil),
    ]

    @Test func anErrorOfTheDiskIsAReason() {
        for (error, reason) in Self.failures { #expect(NotStoredReason(error) == reason) }
    }

    @Test func anErrorOfTheDiskIsNoReasonToWithholdWhatTheCallerNeedsNoFileFor() {
        for policy in Self.policies {
            for (error, reason) in Self.failures {
                let isRoom = if case .limitExceeded = error { true } else { reason == .busy }
                let isAnswered =
                    !policy.isGiven && (policy.needs.contains(.bytes) || isRoom && !policy.needs.contains(.file))
                if policy.reason(after: error) != (isAnswered ? reason : nil) { Issue.record("\(policy) \(error)") }
            }
        }
    }

    @Test func everyRefusalOfMemoryIsAReason() {
        let admissions = Self.refusals + [.unwanted, .occupied]
        let reasons: [NotStoredReason?] = [nil, .tooLarge, .tooLarge, .memoryOff, .expired, .notAsked, .occupied]
        #expect(admissions.map { NotStoredReason($0) } == reasons)
    }

    @Test func anImageThatIsThereAndStaysIsNoError() {
        for policy in Self.policies where policy.fails(for: .occupied) { Issue.record("\(policy)") }
    }

    // MARK: Other images

    @Test func whatIsMadeOfAnExpiredOriginalExpiresAtOnceUnlessMemoryIsItsOnlyPlace() {
        for isInMemoryOnly in [true, false] {
            for needs in [.file, .bytes, []] as [ImageNeeds] {
                var storage = StorageOptions()
                storage.cacheMemoryOnly = isInMemoryOnly
                let made = storage.ofExpiredOriginal(needs)
                #expect(made.diskCacheExpiration == .expired)
                let stays = isInMemoryOnly && !needs.contains(.bytes)
                #expect(made.memoryCacheExpiration == (stays ? nil : .expired))
            }
        }
    }
}
