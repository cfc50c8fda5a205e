"""What the server asks about downloads, and what it may be answered.

Made by clients/generate.py from protocol/openrpc.json.
"""

from __future__ import annotations

from typing import Dict, Literal, Optional, TypedDict, Union

from .options import BasicCredentials, BearerAuthorization, ImageOptionsBodyBase64

__all__ = [
    "Acceptance",
    "AnswerHead",
    "Challenge",
    "ChallengeAnswer",
    "ChallengeCredentials",
    "DownloadAnswer",
    "DownloadChange",
    "DownloadDraft",
    "Redirect",
    "StatusAnswer",
]


class DownloadDraft(TypedDict):
    """A request as it is to be sent: what `downloader/modifyRequest` asks about."""

    url: str
    """The URL."""
    method: Literal["GET", "POST", "PUT"]
    """The HTTP method."""
    headers: Dict[str, str]
    """Header fields by name."""


class DownloadChange(TypedDict, total=False):
    """What is to be otherwise about a request; what is left out stays."""

    url: str
    """The URL."""
    headers: Dict[str, str]
    """Header fields by name."""
    method: Literal["GET", "POST", "PUT"]
    """The HTTP method."""
    body: Union[str, ImageOptionsBodyBase64]
    """The body to send."""


DownloadAnswer = Optional[DownloadChange]
"""A request as it is to be sent now; None sends none, or does not follow a redirect."""


Redirect = TypedDict(
    "Redirect",
    {
        "from": str,
        "statusCode": int,
        "status": int,
        "url": str,
        "method": Literal["GET", "POST", "PUT"],
        "headers": Dict[str, str],
    },
)
"""A redirect that is about to be followed; `url` and `headers` are those of the next request."""


class AnswerHead(TypedDict):
    """An answer, before its body is read."""

    url: str
    """The URL."""
    statusCode: int
    """The status code of the response."""
    status: int
    """Former name of statusCode."""
    contentType: Optional[str]
    """The declared media type."""


class Acceptance(TypedDict):
    """Whether the body of an answer is wanted."""

    accept: bool
    """Whether to accept the response."""


StatusAnswer = Optional[Acceptance]
"""Whether the body is wanted; None leaves that to `validStatusCodes`."""


class Challenge(TypedDict):
    """A server or proxy that wants credentials."""

    url: str
    """The URL."""
    host: str
    """The host of that URL, or of the proxy."""
    realm: Optional[str]
    """The realm of the challenge."""
    scheme: str
    """In small letters: basic, digest, bearer and others."""
    isProxy: bool
    """Whether a proxy asks for credentials."""
    failures: int
    """How many answers it has turned down already."""


class ChallengeCredentials(TypedDict):
    """The credentials that a server gets."""

    use: Union[BasicCredentials, BearerAuthorization]
    """The credentials to use."""


ChallengeAnswer = Optional[Union[Literal["default", "cancel"], ChallengeCredentials]]
"""Credentials to try, "default" to go on as without the question, "cancel" to give the download up.
"""
