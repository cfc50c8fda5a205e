"""The few functions of Flask that the cookbook uses: routes with one name in their path, `abort`, `send_file`, a test client."""

from typing import Any, Callable, Dict, NamedTuple, NoReturn


class Response(NamedTuple):
    status_code: int
    mimetype: str
    data: bytes


class Abort(Exception):
    pass


def abort(status: int) -> NoReturn:
    raise Abort(status)


def send_file(path: str, *, mimetype: str, max_age: int) -> Response:
    assert max_age > 0
    with open(path, "rb") as file:
        return Response(200, mimetype, file.read())


class Flask:
    def __init__(self, _name: str) -> None:
        self.routes: Dict[str, Callable[[str], Any]] = {}

    def get(self, rule: str) -> Callable[[Callable[[str], Any]], Callable[[str], Any]]:
        def add(function: Callable[[str], Any]) -> Callable[[str], Any]:
            self.routes[rule.partition("<")[0]] = function
            return function

        return add

    def test_client(self) -> "Asking":
        return Asking(self)


class Asking:
    """The test client, whose `get` this module's `Flask.get` is not."""

    def __init__(self, app: Flask) -> None:
        self.app = app

    def get(self, path: str) -> Response:
        prefix, _, name = path.rpartition("/")
        try:
            answer = self.app.routes[prefix + "/"](name)
        except Abort as stopped:
            return Response(stopped.args[0], "text/html", b"")
        assert isinstance(answer, Response)
        return answer
