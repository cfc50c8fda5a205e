import Terminal
import Testing

struct ByteTextTests {
    @Test(arguments: [
        (0, "0 B"), (1, "1 B"), (999, "999 B"), (1000, "1.00 kB"), (1005, "1.00 kB"), (1015, "1.01 kB"),
        (9994, "9.99 kB"),
        (9995, "10.0 kB"), (19097, "19.1 kB"), (99949, "99.9 kB"), (99950, "100 kB"), (999_499, "999 kB"),
        (999_500, "1.00 MB"), (2_147_483_648, "2.15 GB"), (Int.max, "9223 PB"), (-1500, "-1.50 kB"),
    ])
    func bytesHaveThreeFiguresAtMost(count: Int, text: String) {
        #expect(ByteText.text(count) == text)
    }

    @Test(arguments: [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567"), (-1234, "-1,234")])
    func integersAreGroupedByThousands(number: Int, text: String) {
        #expect(ByteText.grouped(number) == text)
    }

    @Test func theLargestAndSmallestIntegersAreWritten() {
        #expect(ByteText.grouped(.max) == "9,223,372,036,854,775,807")
        #expect(ByteText.grouped(.min) == "-9,223,372,036,854,775,808")
    }
}
