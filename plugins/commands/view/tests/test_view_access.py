"""Only the browser with the cookie gets a page, though others can reach the port."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from skillgauge.api.report import RunView
from skillgauge_command_view.access import Names, is_loopback
from skillgauge_command_view.app import Desk
from skillgauge_command_view.downloads import Downloads
from skillgauge_command_view.pages.label_page import Labels
from skillgauge_command_view.serving import Place, Server
from skillgauge_command_view.sources import Runs

PAGES = ("/", "/runs", "/runs/run2", "/runs/run2/cases/0-0", "/runs/run2/trials/0", "/nowhere")
TRICKS = (
    "/../../etc/passwd",
    "/..%2f..%2fetc%2fpasswd",
    "/static/view.css",
    "/view.css/../rows.py",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/runs/..%2f..%2fetc",
    "/runs/run2/cases/..%2f0-0",
    "/runs/run2/cases/-1-0",
    "/runs/run2/cases/99-0",
    "/runs/run2/trials/-1",
    "/runs/run2/trials/99999999999999999999",
    "/runs/run2%00",
    "//example.invalid/",
    "/runs/%ff%fe",
    "/.git/config",
)


def test_a_token_opens_the_pages_once(serve: Any, views: list[RunView]) -> None:
    """The address gives one browser the cookie; a second one with the same address gets nothing."""
    with serve(views, is_open=False) as served:
        assert served.get("/runs").status_code == 401
        head = served.client.head(served.server.address)
        assert head.status_code == 401, "a preview of the address does not use the token"
        first = served.get(served.server.address)
        assert first.status_code == 200
        cookie = first.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert "Path=/" in cookie
        assert served.server.address.split("token=")[1] not in cookie
        assert served.get("/runs").status_code == 200
        assert served.get(served.server.address).status_code in (200, 303), "the browser with the cookie stays"
        with served.stranger() as stranger:
            assert stranger.get(served.server.address).status_code == 401


@pytest.mark.parametrize("path", PAGES)
def test_without_the_cookie_there_is_no_page(served: Any, path: str) -> None:
    """Pages, and what is no page, answer alike."""
    with served.stranger() as stranger:
        for cookie in ("", "x", f"skillgauge-view-{served.server.port}=", "skillgauge-view=x; ;;=", '"'):
            answer = stranger.get(path, headers={"Cookie": cookie} if cookie else {})
            assert answer.status_code == 401
            assert "run2" not in answer.text


@pytest.mark.parametrize(
    "host",
    [
        "example.invalid",
        "example.invalid:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "localhost.example.invalid:{port}",
        "",
        "127.0.0.1:{port}.example.invalid",
        "127.0.0.1:{port}@example.invalid",
        "[::2]:{port}",
        "10.0.0.1:{port}",
        "0:{port}",
    ],
)
def test_a_name_of_a_stranger_is_refused(served: Any, host: str) -> None:
    """A page whose name its owner turned to this machine gets nothing, with or without the cookie."""
    host = host.format(port=served.server.port)
    with served.stranger() as stranger:
        for client in (served.client, stranger):
            answer = client.get("/runs", headers={"Host": host})
            assert answer.status_code in (400, 421)
            assert "run2" not in answer.text


@pytest.mark.parametrize("origin", ["http://example.invalid", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_page_of_a_stranger_is_refused(served: Any, method: str, origin: str) -> None:
    """A request that another page sends names that page, and gets nothing."""
    headers = {"Origin": origin.format(port=served.server.port)}
    assert served.client.request(method, "/runs", headers=headers).status_code == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"])
@pytest.mark.parametrize("path", ["/runs", "/runs/run2", "/view.css"])
def test_pages_can_only_be_read(served: Any, method: str, path: str) -> None:
    """All else that is asked of a page is refused, from a page of ours too."""
    answer = served.client.request(method, path, headers={"Origin": served.origin})
    assert answer.status_code in (403, 405)


@pytest.mark.parametrize("path", TRICKS)
def test_no_path_leads_out_of_the_routes(served: Any, path: str) -> None:
    """Nothing but pages is served, however a path is written."""
    target = httpx.URL(served.origin).copy_with(raw_path=path.encode())
    answer = served.client.get(target)
    assert answer.status_code in (404, 421)
    assert "root:" not in answer.text


@pytest.mark.parametrize("path", [*PAGES, "/view.css"])
def test_every_answer_carries_the_policy(served: Any, path: str) -> None:
    """Refusals and errors included, no answer allows a script, a frame, or anything from elsewhere."""
    with served.stranger() as stranger:
        for client in (served.client, stranger):
            headers = client.get(path).headers
            policy = headers["content-security-policy"]
            assert policy.startswith("default-src 'none'; style-src 'self'")
            assert "unsafe" not in policy
            assert "script" not in policy
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "same-origin"
            assert headers["cache-control"] == "no-store"
            assert "server" not in headers


def test_a_server_on_every_address_answers_to_numbers_only() -> None:
    """A number cannot be turned to another machine by whoever owns a name."""
    names = Names("0.0.0.0", 80)
    assert all(names.allow(one) for one in ("192.0.2.7:80", "[2001:db8::1]:80", "localhost:80", "0.0.0.0:80"))
    assert not any(names.allow(one) for one in ("example.invalid:80", "192.0.2.7:81", "", ":80", "0x7f.1:80"))
    assert names.allow("192.0.2.7"), "browsers leave out port 80"
    assert not Names("0.0.0.0", 8080).allow("192.0.2.7")
    assert not Names("192.0.2.7", 80).allow("192.0.2.8:80")
    assert Names("box.local", 80).allow("BOX.local:80")


def test_addresses_of_this_machine_alone() -> None:
    """An address that others can reach is known by its number, and so is every name but one."""
    assert all(map(is_loopback, ("127.0.0.1", "127.8.0.1", "::1", "localhost", "LOCALHOST")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "192.0.2.7", "box.local", "localhost.box.local", "")))


def test_two_servers_have_tokens_of_their_own(tmp_path: Path) -> None:
    """Nothing that opens one opens the other."""
    labels = Labels(tmp_path / "labels.jsonl", can_add=True)
    servers = [Server(Runs([]), Place("127.0.0.1", 0), Desk(labels, Downloads())) for _ in range(2)]
    assert len({server.address.split("token=")[1] for server in servers}) == 2
    for server in servers:
        server.close()
