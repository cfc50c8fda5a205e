internal import Glibc

/// Nanoseconds since an arbitrary moment; never goes backwards and does not follow changes of the wall clock.
package func monotonicNanoseconds() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Seconds since 1970 by the wall clock, which may jump.
package func wallSeconds() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return time.tv_sec
}
