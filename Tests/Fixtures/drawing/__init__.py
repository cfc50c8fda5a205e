"""The parts of make_fixtures.py: pictures, encoders, broken files and measurements."""
