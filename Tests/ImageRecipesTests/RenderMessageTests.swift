import ImageRecipes
import Testing

/// The frames between server and worker: both sides distrust what they read.
@Suite struct RenderMessageTests {
    @Test func everyMessageIsReadAsItWasWritten() throws {
        for message in try RecipeValues.messages() { #expect(try RenderMessage(frame: message.frame) == message) }
    }

    @Test func messagesArePutTogetherFromAnyPieces() throws {
        let messages = try RecipeValues.messages()
        let bytes = messages.flatMap(\.frame)
        for size in [1, 2, 3, 5, 64, bytes.count] {
            var (reader, found) = (RenderMessageReader(), [RenderMessage]())
            for start in stride(from: 0, to: bytes.count, by: size) {
                reader.append(bytes[start..<min(start + size, bytes.count)])
                while let message = try reader.next() { found.append(message) }
            }
            #expect(found == messages)
        }
    }

    @Test func aMessageThatIsCutAnywhereIsNone() throws {
        for message in try RecipeValues.messages() {
            let body = Array(message.frame.dropFirst(4))
            for count in 0..<body.count {
                let cut = Array(body.prefix(count))
                let length = withUnsafeBytes(of: UInt32(cut.count).littleEndian) { Array($0) }
                #expect(throws: FrameError.self, "\(count)") { try RenderMessage(frame: length + cut) }
                #expect(throws: FrameError.self, "\(count)") {
                    try RenderMessage(frame: Array(message.frame.prefix(4 + count)))
                }
                var reader = RenderMessageReader()
                reader.append(message.frame.prefix(4 + count))
                #expect(try reader.next() == nil)
            }
            let longer = withUnsafeBytes(of: UInt32(body.count + 1).littleEndian) { Array($0) } + body + [0]
            #expect(throws: FrameError.self) { try RenderMessage(frame: longer) }
        }
    }

    @Test func aByteThatIsAnotherMakesAValidMessageOrNone() throws {
        for message in try RecipeValues.messages() {
            let frame = message.frame
            for place in frame.indices {
                for change in [UInt8(1), 0x80, 0xFF] {
                    var damaged = frame
                    damaged[place] ^= change
                    guard let read = try? RenderMessage(frame: damaged) else { continue }
                    #expect(try RenderMessage(frame: read.frame) == read)
                }
            }
        }
    }

    @Test func aLengthThatLiesIsRefusedBeforeItIsWaitedFor() {
        for bytes: [UInt8] in [[0, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF], [1, 0, 0, 1]] {
            #expect(throws: FrameError.self) { try RenderMessage.frameLength(bytes) }
        }
    }

    @Test func aWorkerThatSendsValuesOutOfRangeIsNotBelieved() throws {
        // A blur of radius 2.5, sent as NaN.
        let request = RenderRequest(
            source: "", format: "", outputs: [RenderOutput(steps: [.blur(try Blur(radius: 2.5))], path: "")])
        var frame = RenderMessage.request(request).frame
        let number = withUnsafeBytes(of: (2.5).bitPattern.littleEndian) { Array($0) }
        let place = try #require(frame.indices.first { frame[$0...].starts(with: number) })
        let nan = withUnsafeBytes(of: Double.nan.bitPattern.littleEndian) { Array($0) }
        frame.replaceSubrange(place..<place + 8, with: nan)
        #expect(throws: FrameError.self) { try RenderMessage(frame: frame) }
    }
}
