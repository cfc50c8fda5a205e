internal import ImageRecipes

/// The times at which the frames of an animation are shown.
public struct FrameTiming: Equatable, Sendable {
    /// The time that each frame is shown, in milliseconds: at least 12, because less in a file means 100.
    public private(set) var delays: [Int]
    /// The number of times that the animation is played; 0 for ever.
    public internal(set) var loopCount: Int

    /// The most frames whose delays are kept: an entry remembers them beside its image.
    static let mostFrames = 2_000

    /// The number of times that an animation is played, of the one in its file: no more than the formats that are written hold.
    package static func plays(_ count: Int) -> Int { min(count, 65_535) }

    package init(delays: [Int] = [], loopCount: Int) {
        self.delays = delays
        self.loopCount = loopCount
    }

    /// Notes the delay of the next frame, in milliseconds as the file has it.
    mutating func note(_ delay: Int) {
        // One more than is kept tells that there are too many.
        if delays.count <= Self.mostFrames { delays.append(FrameDelay.shown(delay)) }
    }

    /// This timing if it is that of an animation of so many frames; nil for a still, and for too many.
    func of(_ frames: Int) -> FrameTiming? {
        frames > 1 && frames <= Self.mostFrames && delays.count == frames ? self : nil
    }
}

/// The text form: the loop count, then the delays, equal ones in a row with their number: `0 100x3,40`.
extension FrameTiming {
    /// The text that an entry of a cache keeps.
    package var text: String {
        var runs: [(delay: Int, count: Int)] = []
        for delay in delays {
            if runs.last?.delay == delay { runs[runs.count - 1].count += 1 } else { runs.append((delay, 1)) }
        }
        let texts = runs.map { $0.count == 1 ? "\($0.delay)" : "\($0.delay)x\($0.count)" }
        return "\(loopCount) \(texts.joined(separator: ","))"
    }

    /// Reads the text form; nil if it is none that was ever written.
    package init?(text: Substring) {
        let parts = text.split(separator: " ")
        guard parts.count == 2, let loopCount = Int(parts[0]), loopCount >= 0 else { return nil }
        var delays: [Int] = []
        for run in parts[1].split(separator: ",") {
            let numbers = run.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
            guard (1...2).contains(numbers.count), let delay = numbers[0], delay >= 0,
                let count = numbers.count == 2 ? numbers[1] : 1, (1...Self.mostFrames).contains(count),
                delays.count + count <= Self.mostFrames
            else { return nil }
            delays += Array(repeating: delay, count: count)
        }
        self.init(delays: delays, loopCount: loopCount)
    }
}
