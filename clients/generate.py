#!/usr/bin/env python3
"""Writes the types and tables of the clients from protocol/openrpc.json.

Usage: generate.py [--check] [neovim|vscode|python|node]…

Without names all are written. With --check nothing is written, and the exit code is 1 when a file is not what would be.
"""

import json
import sys
from pathlib import Path
from typing import Callable, Dict, List

from generators import lua, node, python, vscode
from generators.protocol import Protocol

CLIENTS = Path(__file__).resolve().parent

FILES: Dict[str, Callable[[Protocol], Dict[str, str]]] = {
    "neovim": lua.files,
    "vscode": vscode.files,
    "python": python.files,
    "node": node.files,
}


def main(arguments: List[str]) -> int:
    check = "--check" in arguments
    names = [name for name in arguments if name != "--check"] or list(FILES)
    protocol = Protocol(json.loads((CLIENTS.parent / "protocol" / "openrpc.json").read_text("utf-8")))
    stale = []
    for client in names:
        for file, text in FILES[client](protocol).items():
            path = CLIENTS / client / file
            if check:
                if not path.exists() or path.read_text("utf-8") != text:
                    stale.append(str(path.relative_to(CLIENTS.parent)))
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, "utf-8")
    for stale_path in stale:
        print("%s is not what protocol/openrpc.json says: run clients/generate.py." % stale_path, file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
