"""The Python side of the benchmarks: what is run, against what, and the table that comes out of it."""
