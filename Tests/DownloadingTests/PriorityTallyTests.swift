import TestSupport
import Testing

@testable import Downloading
@testable import HTTPSemantics
@testable import ImageErrors
@testable import Platform

/// The most urgent of those who wait, whoever comes and goes.
@Suite struct PriorityTallyTests {
    @Test(arguments: 1...20)
    func itKnowsTheMostUrgentAsAListOfAllWould(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        var (tally, all) = (PriorityTally(), [Double]())
        for _ in 0..<500 {
            if Bool.random(using: &generator) || all.isEmpty {
                let value = Double(Int.random(in: -1...4, using: &generator)) / 4
                all.append(value)
                tally.add(value)
            } else {
                tally.remove(all.remove(at: Int.random(in: all.indices, using: &generator)))
            }
            // One that was never added is nobody's.
            tally.remove(7)
            #expect(tally.most == all.max())
        }
    }
}
