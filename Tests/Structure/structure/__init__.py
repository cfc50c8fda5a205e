"""What the tests of the structure read: the sources, the package and the maps."""
