"""The methods of results that are files."""

from __future__ import annotations

import base64
import html
import os
from typing import Any, Optional
from urllib.parse import unquote_to_bytes, urlsplit


def _local_path(path: Optional[str], uri: Optional[str]) -> str:
    if path is not None:
        return path
    if uri is not None and uri.startswith("file:"):
        # A path that is not valid UTF-8 comes as a URI only.
        return os.fsdecode(unquote_to_bytes(urlsplit(uri).path))
    raise ValueError("This image has no file: ask for it with as_=\"data\" instead.")


class LocalFile:
    """Can be given to `open()` and anything else that takes a path."""

    def __fspath__(self) -> str:
        return _local_path(getattr(self, "path", None), getattr(self, "uri", None))


_SHOWN_FORMATS = ("jpeg", "gif", "webp", "avif", "svg", "bmp", "ico")
"""The formats besides PNG that browsers show."""
_SHOWN_BYTES = 10_000_000
"""The largest image that becomes part of a notebook."""


class ImageFile(LocalFile):
    """The file is complete and never changes in place. Notebooks show the image."""

    path: Optional[str]
    data: Optional[bytes]
    byte_count: int
    format: Optional[Any]
    mime_type: str
    width: int
    display_width: Optional[int]

    def read(self) -> bytes:
        """The bytes of the image: those that came with the answer, else those of its file.

        Raises ValueError when the answer has neither (`as_="none"`, or `cacheMemoryOnly` without
        data), and OSError when the file was removed meanwhile.
        """
        if self.data is not None:
            return self.data
        descriptor = os.open(self.path or self.__fspath__(), os.O_RDONLY)
        try:
            # One byte more than expected: a short answer then shows that this was all.
            wanted = (self.byte_count or 65_536) + 1
            first = os.read(descriptor, wanted)
            if 0 < len(first) < wanted and len(first) == self.byte_count:
                return first
            parts = [first]
            while parts[-1]:
                parts.append(os.read(descriptor, 1 << 20))
            return b"".join(parts)
        finally:
            os.close(descriptor)

    def _repr_png_(self) -> Optional[bytes]:
        """The image for a notebook, when it is a PNG."""
        return self._shown() if self.format == "png" else None

    def _repr_html_(self) -> Optional[str]:
        """The image for a notebook, when it has another format that browsers show."""
        data = self._shown() if self.format in _SHOWN_FORMATS else None
        if data is None:
            return None
        return '<img src="data:%s;base64,%s" width="%d" style="max-width: 100%%">' % (
            html.escape(self.mime_type),
            base64.b64encode(data).decode("ascii"),
            self.display_width or self.width,
        )

    def _shown(self) -> Optional[bytes]:
        """The bytes, or None for those that are not there any more, and for more than a notebook should hold."""
        if self.byte_count > _SHOWN_BYTES:
            return None
        try:
            return self.read()
        except (OSError, ValueError):
            return None
