@testable import Downloading

/// A queue whose downloads have the numbers that a test gives them.
@dynamicMemberLookup struct NumberedQueue {
    private var queue: DownloadQueue
    private var ids: [UInt64: UInt64] = [:]
    private var numbers: [UInt64: UInt64] = [:]

    init(
        limits: DownloadQueue.Limits = DownloadQueue.Limits(), order: DownloadOrder = .fifo,
        bucket: TokenBucket = TokenBucket(rate: 0, burst: 1, at: 0), hostRate: HostRate = HostRate()
    ) {
        queue = DownloadQueue(limits: limits, order: order, bucket: bucket, hostRate: hostRate)
    }

    subscript<Value>(dynamicMember path: KeyPath<DownloadQueue, Value>) -> Value { queue[keyPath: path] }

    subscript<Value>(dynamicMember path: WritableKeyPath<DownloadQueue, Value>) -> Value {
        get { queue[keyPath: path] }
        set { queue[keyPath: path] = newValue }
    }

    mutating func enqueue(_ number: UInt64, host: String, priority: Double, arrival: Int = 0) {
        let id = queue.enqueue(host: host, priority: priority, arrival: arrival)
        (ids[number], numbers[id]) = (id, number)
    }

    /// The name of a download, which may have left the queue; that of none for a number that was never given.
    private func id(_ number: UInt64) -> UInt64 { ids[number] ?? number }

    mutating func start(at now: Int, isHeldBack: Bool = false) -> DownloadQueue.Start {
        let start = queue.start(at: now, isHeldBack: isHeldBack)
        if case .download(let id) = start { return .download(numbers[id] ?? 0) }
        return start
    }

    mutating func move(_ number: UInt64, to host: String) { queue.move(id(number), to: host) }
    mutating func reorder(_ order: DownloadOrder) { queue.reorder(order) }
    mutating func setPriority(_ number: UInt64, to priority: Double) { queue.setPriority(id(number), to: priority) }
    mutating func setStalled(_ number: UInt64, _ isStalled: Bool) { queue.setStalled(id(number), isStalled) }
    mutating func remove(_ number: UInt64) { queue.remove(id(number)) }
}
