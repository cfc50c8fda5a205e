import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Bytes that may be held at once.
@Suite struct AllowanceTests {
    @Test func noMoreIsTakenThanThereIsAndWhatIsGivenBackCanBeTakenAgain() {
        let allowance = Allowance(bytes: 100)
        #expect(allowance.take(60))
        #expect(!allowance.take(41), "what is refused is not held")
        #expect(allowance.take(40))
        #expect(!allowance.take(1))
        allowance.giveBack(60)
        #expect(allowance.take(60))
    }
}
