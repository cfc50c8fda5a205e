"""The codec worker, spoken to as the server does, for benchmarks and campaigns. Python 3.9, nothing to install."""
