"""Images from anywhere, cached: the Python client of the halcyon server.

`Client` and `AsyncClient` start the server and speak JSON-RPC 2.0 with it over its standard input
and output. See README.md for a first example.
"""

from . import codes, errors, events, options, questions, results, settings
from .async_client import AsyncClient
from .calls import PendingCall, ProgressCallback
from .client import Client
from .codes import *
from .delegates import AsyncDelegates, Delegate, Delegates
from .errors import *
from .events import *
from .notices import Event, Progress
from .options import *
from .process import find_binary
from .questions import *
from .results import *
from .settings import *

__version__ = "0.1.0"

__all__ = [
    "AsyncClient",
    "AsyncDelegates",
    "Client",
    "Delegate",
    "Delegates",
    "Event",
    "PendingCall",
    "Progress",
    "ProgressCallback",
    "find_binary",
]
__all__ += codes.__all__
__all__ += errors.__all__
__all__ += events.__all__
__all__ += options.__all__
__all__ += questions.__all__
__all__ += results.__all__
__all__ += settings.__all__
