import TestSupport
import Testing

@testable import Downloading
@testable import HTTPSemantics
@testable import ImageErrors
@testable import Platform

/// Connections take no descriptor that a file needs.
@Suite struct DescriptorBudgetTests {
    @Test(arguments: [24, 40, 64, 128, 1024, 4096, 1 << 20])
    func descriptorsAreLeftForFilesWhereThereAreAny(limit: Int) {
        let budget = DescriptorBudget(limit: limit)
        #expect(budget.downloads >= 1 && (1...64).contains(budget.idleConnections))
        guard limit >= 40 else { return }
        // A connection and a file for each download.
        #expect(2 * budget.downloads + budget.idleConnections <= limit - 32)
    }

    @Test func aUsualLimitHoldsNobodyBack() {
        let budget = DescriptorBudget(limit: 4096)
        #expect(budget.downloads >= 1024 && budget.idleConnections == 64)
        #expect(DescriptorBudget(limit: 1024).downloads >= 256)
    }
}
