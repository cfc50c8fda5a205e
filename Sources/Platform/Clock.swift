internal import Glibc

/// Nanoseconds since an arbitrary moment; never goes backwards and does not follow changes of the wall clock.
package func monotonicNanoseconds() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Nanoseconds since the machine was started, asleep or not; the same for all processes.
package func bootNanoseconds() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// A number that is another one after every start of the machine; 0 where the system does not tell.
package func bootNumber() -> Int {
    let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return 0 }
    defer { close(descriptor) }
    var text = [UInt8](repeating: 0, count: 36)
    let count = read(descriptor, &text, text.count)
    guard count == text.count else { return 0 }
    // 15 hexadecimal digits of a random number.
    return Int(String(decoding: text, as: UTF8.self).filter { $0 != "-" }.prefix(15), radix: 16) ?? 0
}

/// Seconds since 1970 by the wall clock, which may jump.
package func wallSeconds() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return time.tv_sec
}
