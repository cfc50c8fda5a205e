"""Servers of another user than root, whose files have modes that count."""

from __future__ import annotations

import contextlib
import os
import shutil
from typing import Iterator

from .server import binary

NOBODY = 65534


class Skipped(Exception):
    """The machine does not allow this stage."""


@contextlib.contextmanager
def nobody(home: str, user: int = NOBODY) -> Iterator[tuple[str, ...]]:
    """The words that start a server as another user; while it lasts, the binary is a copy within its reach."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        raise Skipped("this takes root and setpriv")
    # The build folder may be out of another user's reach.
    copy = os.path.join(home, "halcyon")
    shutil.copy2(binary(), copy)
    os.chmod(os.path.dirname(home), 0o755)
    os.chmod(home, 0o755)
    before = os.environ.get("HALCYON_BIN")
    os.environ["HALCYON_BIN"] = copy
    try:
        # Not the home of root, whose files another user may not even look for.
        yield (
            "env", f"HOME={home}", "XDG_CONFIG_HOME=",
            "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups",
        )
    finally:
        if before is None:
            del os.environ["HALCYON_BIN"]
        else:
            os.environ["HALCYON_BIN"] = before
