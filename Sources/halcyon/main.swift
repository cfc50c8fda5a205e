import Glibc

// Without the exit handlers of the libraries: their threads may still be running.
_exit(Launcher.run())
