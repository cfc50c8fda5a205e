import TestSupport
import Testing

@testable import JSONRPC

/// The bookkeeping of requests to the client, against a model that keeps everything in lists.
@Suite struct ClientRequestTableTests {
    private struct Model {
        let capacity: Int
        var waiting: [UInt64] = []
        var sent: [UInt64] = []
        var ended: [UInt64] = []
        var answers = 0
    }

    @Test(arguments: 0..<300)
    func everyRequestComesToOneEndAndNoMoreAreSentThanMayBe(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let capacity = Int.random(in: 1...4, using: &random)
        var table = ClientRequestTable<UInt64>(capacity: capacity)
        var model = Model(capacity: capacity)
        var standings: [UInt64: (standing: ClientRequestTable<UInt64>.Progress, answers: Int)] = [:]
        var last: UInt64 = 0
        for _ in 0..<400 {
            let any = UInt64.random(in: 0...last + 1, using: &random)
            switch Int.random(in: 0..<7, using: &random) {
            case 0, 1:
                last += 1
                let isTaken = table.ask(last, last)
                #expect(isTaken)
                model.waiting.append(last)
            case 2:
                let next = table.sendNext()
                let expected = model.sent.count < capacity ? model.waiting.first : nil
                #expect(next?.serial == expected && next?.waiter == expected)
                if let expected {
                    model.waiting.removeFirst()
                    model.sent.append(expected)
                }
            case 3:
                let isSent = model.sent.contains(any)
                let waiter = table.answer(any)
                #expect(waiter == (isSent ? any : nil))
                if isSent {
                    model.sent.removeAll { $0 == any }
                    model.answers += 1
                }
            case 4:
                let abandoned = table.abandon(any)
                #expect(abandoned?.waiter == (model.waiting + model.sent).first { $0 == any })
                if let abandoned { #expect(abandoned.wasSent == model.sent.contains(any)) }
                model.waiting.removeAll { $0 == any }
                model.sent.removeAll { $0 == any }
            case 5:
                let standing = table.progress(any)
                #expect(
                    standing?.isSent == (model.sent.contains(any) ? true : model.waiting.contains(any) ? false : nil))
                if let standing { standings[any] = (standing, model.answers) }
            default:
                guard let (standing, answers) = standings[any] else { continue }
                switch table.expire(any, since: standing) {
                case .ended: #expect(!model.waiting.contains(any) && !model.sent.contains(any))
                case .restarted:
                    #expect(
                        model.sent.contains(any) && !standing.isSent
                            || model.waiting.contains(any) && model.answers > answers)
                case .expired(let waiter, let wasSent):
                    #expect(waiter == any && wasSent == model.sent.contains(any) && wasSent == standing.isSent)
                    #expect(wasSent || model.answers == answers)
                    model.waiting.removeAll { $0 == any }
                    model.sent.removeAll { $0 == any }
                }
            }
            #expect(table.sentCount == model.sent.count && table.sentCount <= capacity)
            #expect(table.count == model.waiting.count + model.sent.count)
        }
        let all = table.end()
        #expect(all == (model.waiting + model.sent).sorted())
        let isTaken = table.ask(last + 1, 0)
        #expect(!isTaken && table.count == 0)
        let next = table.sendNext()
        #expect(next == nil)
        let rest = table.end()
        #expect(rest.isEmpty)
    }

    @Test func theQueueForgetsWhatIsDoneWith() {
        var table = ClientRequestTable<UInt64>(capacity: 1)
        var order: [UInt64] = []
        for serial in UInt64(1)...100_000 { _ = table.ask(serial, serial) }
        for serial in UInt64(1)...100_000 where serial % 3 == 0 { _ = table.abandon(serial) }
        while let next = table.sendNext() {
            order.append(next.serial)
            _ = table.answer(next.serial)
        }
        #expect(order == (1...100_000).filter { $0 % 3 != 0 })
        #expect(table.count == 0)
    }
}
