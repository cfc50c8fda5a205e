"""The system calls that the confinement of the codec worker names exist on every architecture that it is made for."""

from __future__ import annotations

import re
import unittest
from pathlib import Path
from typing import List, Set

ROOT = Path(__file__).resolve().parents[2]
#: The calls of architectures without a table of their own, such as aarch64, where x86-64 has all of them and more.
GENERIC = Path("/usr/include/asm-generic/unistd.h")


def generic_calls() -> Set[str]:
    """The names of the calls in the generic table."""
    return set(re.findall(r"#define __NR_(\w+)", GENERIC.read_text(encoding="utf-8")))


def missing(source: str, known: Set[str]) -> List[str]:
    """The calls that a source names without asking whether they exist, and that are not known."""
    asked = re.sub(r"#if(?:n?def|.*defined\() ?SYS_\w+.*?#endif", "", source, flags=re.DOTALL)
    return sorted(set(re.findall(r"\bSYS_(\w+)", asked)) - known)


class CallTests(unittest.TestCase):
    def test_every_call_of_the_confinement_exists_without_a_table_of_its_own(self) -> None:
        for name in ("Confine.c", "OpenedFiles.c"):
            with self.subTest(file=name):
                source = (ROOT / "Sources" / "CVips" / name).read_text(encoding="utf-8")
                self.assertEqual(missing(source, generic_calls()), [])

    def test_a_call_of_x86_alone_is_found_where_it_is_not_asked_for(self) -> None:
        known = generic_calls()
        self.assertEqual(missing("f(SYS_openat, SYS_poll);", known), ["poll"])
        self.assertEqual(missing("#ifdef SYS_open\nf(SYS_open, SYS_access);\n#endif\nSYS_fork", known), ["fork"])


if __name__ == "__main__":
    unittest.main()
