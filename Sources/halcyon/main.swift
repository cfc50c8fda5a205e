import Glibc

// `_exit` skips the exit handlers of libraries, whose threads may still be running.
_exit(Launcher.run())
