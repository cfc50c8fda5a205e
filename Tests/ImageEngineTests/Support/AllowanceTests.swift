import Testing

@testable import ImageEngine

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
