import Testing

@testable import Platform

/// A container's limits are found whatever the version of its control groups, and at whatever level they are set.
@Suite struct MachineLimitsTests {
    private func limits(_ groups: String, _ files: [String: String]) -> MachineLimits {
        MachineLimits(groups: groups) { files[$0] }
    }

    @Test func limitsOfVersionTwoAreRead() {
        let found = limits("0::/a/b\n", ["/a/b/memory.max": "268435456\n", "/a/b/cpu.max": "150000 100000\n"])
        #expect(found.memory == 268_435_456 && found.processors == 2)
    }

    @Test func theLowestLimitOfAllGroupsAboveCounts() {
        let found = limits(
            "0::/a/b\n",
            [
                "/a/b/memory.max": "max\n", "/a/memory.max": "900\n", "/memory.max": "800\n",
                "/a/cpu.max": "max 100000\n",
            ])
        #expect(found.memory == 800 && found.processors == nil)
    }

    @Test func limitsOfVersionOneAreRead() {
        let groups = "9:name=systemd:/\n4:memory:/box\n2:cpu,cpuacct:/box\n0::/\n"
        let found = limits(
            groups,
            [
                "/memory/box/memory.limit_in_bytes": "1048576\n",
                "/memory/memory.limit_in_bytes": "9223372036854771712\n",
                "/cpu/box/cpu.cfs_quota_us": "50000\n", "/cpu/box/cpu.cfs_period_us": "100000\n",
                "/cpu/cpu.cfs_quota_us": "-1\n", "/cpu/cpu.cfs_period_us": "100000\n",
            ])
        #expect(found.memory == 1_048_576 && found.processors == 1)
    }

    @Test(arguments: ["", "nonsense", "0::", "1:memory", "0::/\n0::/\n"])
    func withoutLimitsThereAreNone(_ groups: String) {
        let found = limits(groups, ["/memory.max": "max", "/cpu.max": "nonsense"])
        #expect(found.memory == nil && found.processors == nil)
    }
}
