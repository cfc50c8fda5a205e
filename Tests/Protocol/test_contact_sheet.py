"""The picture of what every processor makes."""

import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[1] / "Support" / "contact_sheet.py"


class ContactSheetTests(unittest.TestCase):
    def drawn(self, *names: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([sys.executable, str(SCRIPT), self.sheet, *names], capture_output=True, text=True)

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.sheet = folder.name + "/sheet.png"

    def test_every_example_of_every_processor_makes_a_picture(self) -> None:
        done = self.drawn()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        head = Path(self.sheet).read_bytes()[:24]
        width, height = struct.unpack(">II", head[16:])
        self.assertEqual(head[:8], b"\x89PNG\r\n\x1a\n")
        self.assertTrue(width > 1000 and height > 1000, (width, height))

    def test_what_is_no_processor_is_said(self) -> None:
        done = self.drawn("crop", "kaleidoscope")
        self.assertEqual(done.returncode, 1)
        self.assertIn("kaleidoscope", done.stderr)
        self.assertFalse(Path(self.sheet).exists())


if __name__ == "__main__":
    unittest.main()
