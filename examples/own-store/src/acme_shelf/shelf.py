"""Files on a service that speaks HTTP, as WebDAV and most stores of objects do: GET, PUT, DELETE, and `ETag`s."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx

from skillgauge.api import Problem, StoreError

from .options import TOKEN

PATIENCE_S = 20.0
ABSENT = "*"
"""Instead of a tag: write only what is not there."""


@dataclass(frozen=True)
class Item:
    """A file, and the tag of this version of it."""

    content: bytes
    tag: str


class Shelf:
    """One folder of the service. Blocks; several threads may use it.

    Args:
        location: `acme-shelf://HOST[:PORT]/PATH`. Only this machine is spoken to without TLS.
        token: who we are.
    """

    def __init__(self, location: str, token: str) -> None:
        self.location = location
        address = urlsplit(location)
        scheme = "http" if address.hostname in ("127.0.0.1", "localhost") else "https"
        self._client = httpx.Client(
            base_url=f"{scheme}://{address.netloc.rpartition('@')[2]}{address.path.rstrip('/')}/",
            headers={"authorization": f"Bearer {token}"},
            timeout=PATIENCE_S,
            transport=httpx.HTTPTransport(retries=2),
        )

    def names(self, folder: str = "") -> list[str]:
        """What is in a folder, sorted; nothing if it is not there."""
        answer = self._ask("GET", f"{folder}/" if folder else "")
        return [] if answer.status_code == 404 else sorted(map(str, answer.json()))

    def get(self, name: str) -> Item | None:
        """A file; `None` if it is not there."""
        answer = self._ask("GET", name)
        return None if answer.status_code == 404 else Item(answer.content, answer.headers["etag"])

    def put(self, name: str, content: bytes, *, over: str | None = None) -> str | None:
        """Write a file; its new tag, or `None` if `over` is given and is not what is there.

        When this returns, the service has the file for good: that is what its 2xx means.
        """
        condition = {} if over is None else {"if-none-match": "*"} if over == ABSENT else {"if-match": over}
        answer = self._ask("PUT", name, content, condition)
        return None if answer.status_code == 412 else answer.headers["etag"]

    def delete(self, name: str, tag: str) -> None:
        """Take a file away if it is still the same."""
        self._ask("DELETE", name, headers={"if-match": tag})

    def close(self) -> None:
        """Hang up."""
        self._client.close()

    def _ask(
        self, method: str, name: str, content: bytes | None = None, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        try:
            answer = self._client.request(method, name, content=content, headers=headers)
        except httpx.HTTPError as error:
            raise self._error(
                f"{type(error).__name__}: {error}", "Is the service up? Or name another --store."
            ) from error
        if answer.status_code in (401, 403):
            raise self._error(f"it refuses the token in {TOKEN}", f"Set {TOKEN}.")
        if not (answer.is_success or answer.status_code in (404, 412)):
            raise self._error(f"{method} {name} is answered by {answer.status_code}", "Try again later.")
        return answer

    def _error(self, what: str, hint: str) -> StoreError:
        return StoreError(Problem("acme-shelf.store", f"cannot keep runs on {self.location}: {what}", hint=hint))
