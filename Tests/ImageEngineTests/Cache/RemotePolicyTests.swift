import Testing

@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine

/// Which requests may be answered by other machines, and what these may be given: a table of all that counts.
@Suite struct RemotePolicyTests {
    /// Everything that makes a request or its response one user's own.
    static let reasons: [any WritableKeyPath<RemotePolicy, Bool> & Sendable] = [
        \.hasCredentials, \.hasUser, \.isModified, \.hasOwnFields, \.isUnsharable,
    ]

    @Test func whatIsNobodysOwnIsReadAndWritten() {
        let policy = RemotePolicy()
        #expect(policy.mayRead && policy.mayWrite(isShareable: true) && !policy.isPrivate)
        #expect(!policy.mayWrite(isShareable: false), "its response was noted as one user's")
    }

    @Test func everyCombinationOfReasonsKeepsAnImageOnTheMachineUnlessItIsShared() {
        for bits in 0..<1 << Self.reasons.count {
            for use in RemoteUse.allCases {
                for wantsNew in [false, true] {
                    var policy = RemotePolicy(use: use, wantsNew: wantsNew)
                    for (index, reason) in Self.reasons.enumerated() {
                        policy[keyPath: reason] = bits >> index & 1 == 1
                    }
                    let isPrivate = bits != 0
                    #expect(policy.isPrivate == isPrivate)
                    #expect(policy.mayRead == (!wantsNew && use != .skip && (use == .share || !isPrivate)))
                    #expect(policy.mayWrite(isShareable: true) == (use != .skip && (use == .share || !isPrivate)))
                    #expect(policy.mayWrite(isShareable: false) == (use == .share))
                }
            }
        }
    }

    @Test(arguments: RemoteUse.allCases)
    func whatIsNoPlainGetIsNeitherReadNorWritten(use: RemoteUse) {
        let policy = RemotePolicy(use: use, isPlainGet: false)
        #expect(!policy.mayRead && !policy.mayWrite(isShareable: true))
    }

    @Test(arguments: [
        ("private", true), ("no-store", true), ("public, PRIVATE", true), ("private=\"set-cookie\"", true),
        (" no-store ,max-age=1", true), ("public", false), ("max-age=60", false), ("no-cache", false), ("", false),
        ("x-private, not-private=1", false),
    ])
    func theServersWordsAreReadAsHTTPHasThem(control: String, isForbidden: Bool) {
        #expect(RemotePolicy.forbidsSharing(control) == isForbidden)
    }
}
