"""Every endpoint checks the user's permission, for every verb."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from jupyter_server.auth import Authorizer
from jupyter_server.serverapp import ServerWebApplication
from tornado.web import RequestHandler

from ckpt_viz.entrances.server.handlers import API, handlers_below
from ckpt_viz.entrances.server.options import CkptViz
from tests.server.conftest import BASE_URL, Ask
from tests.support.tables import floats, write_bundle

ENDPOINTS = handlers_below("/", CkptViz(), "1")
NAMES = [url.rpartition("/")[2] for url, *_ in ENDPOINTS]
VERBS = RequestHandler.SUPPORTED_METHODS
_COOKIE = {"Cookie": "_xsrf=1", "X_XSRFToken": "1"}  # so that nothing else refuses


class Seen(Authorizer):  # type: ignore[misc, unused-ignore]
    """Refuses everything, and remembers what."""

    asked: list[tuple[str, str]] = []  # noqa: RUF012

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        self.asked.append((action, resource))
        return False


def test_these_are_all_endpoints(jp_serverapp: Any) -> None:
    assert NAMES == ["version", "checkpoints", "history", "graph", "answer"]
    rules = [
        rule.matcher.regex.pattern
        for group in jp_serverapp.web_app.default_router.rules
        for rule in getattr(group.target, "rules", [])
        if hasattr(rule.matcher, "regex") and "ckpt-viz" in rule.matcher.regex.pattern
    ]
    assert sorted(set(rules)) == sorted(f"{BASE_URL}{API}/{name}$" for name in NAMES)


@pytest.mark.parametrize("number", range(len(ENDPOINTS)), ids=NAMES)
def test_every_verb_of_every_handler_is_decorated(number: int) -> None:
    url, handler, _ = ENDPOINTS[number]
    assert handler.auth_resource == "contents"
    check = ServerWebApplication._check_handler_auth
    assert check(None, url, handler) == []  # type: ignore[arg-type, unused-ignore]
    for verb in VERBS:
        method = getattr(handler, verb.lower())
        assert not hasattr(method, "__allow_unauthenticated")
        assert method.__code__.co_filename.endswith("tornado/web.py")  # @authenticated
        assert method.__wrapped__.__code__.co_filename.endswith("auth/decorator.py")


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", NAMES)
async def test_no_user_gets_in_without_a_token(
    name: str, verb: str, send: Ask, jp_serverapp: Any
) -> None:
    reply = await send(f"{name}?path=", verb, Authorization="", **_COOKIE)
    assert reply.status == 403
    wrong = await send(f"{name}?path=", verb, Authorization="token wrong", **_COOKIE)
    assert wrong.status == 403
    if verb != "HEAD":
        assert reply.json["reason"] == wrong.json["reason"] == "forbidden"


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", NAMES)
async def test_no_user_gets_in_whom_the_authorizer_refuses(
    name: str, verb: str, send: Ask, jp_serverapp: Any
) -> None:
    Seen.asked.clear()
    jp_serverapp.web_app.settings["authorizer"] = Seen(parent=jp_serverapp)
    reply = await send(f"{name}?path=", verb, **_COOKIE)
    assert reply.status == 403
    assert Seen.asked == [("read", "contents")]


@pytest.mark.parametrize(
    ("name", "verb"),
    [
        (name, verb)
        for name in NAMES
        for verb in VERBS
        if verb != "GET" and (name, verb) not in (("graph", "HEAD"), ("history", "HEAD"))
    ],
)
async def test_other_verbs_do_nothing(name: str, verb: str, send: Ask) -> None:
    reply = await send(f"{name}?path=", verb, **_COOKIE)
    assert reply.status == 405


async def test_polling_does_not_count_as_work(send: Ask, jp_serverapp: Any, root: Any) -> None:
    settings = jp_serverapp.web_app.settings
    (root / "x").touch()
    before = settings.get("api_last_activity")
    await send("graph?path=x", "HEAD")
    assert settings.get("api_last_activity") == before
    await send("version")
    assert settings["api_last_activity"] != before


@pytest.mark.parametrize(
    ("denied", "mode", "asked"),
    [("run", 0, "run"), ("run", 0, "run/ckpt-1"), ("run/ckpt-1.index", 0, "run")],
)
async def test_what_the_server_may_not_read_is_denied_and_neither_hidden_nor_a_failure(
    denied: str, mode: int, asked: str, root: Path, ask: Ask
) -> None:
    (root / "run").mkdir()
    write_bundle(root / "run/ckpt-1", {"a": floats(1.0)})
    os.chmod(root / denied, mode)
    try:
        if os.access(root / denied, os.R_OK):
            pytest.skip("this user may read everything")
        reply = await ask("graph", path=asked)
    finally:
        os.chmod(root / denied, 0o755)
    assert (reply.status, reply.json["reason"]) == (403, "denied")
    assert reply.json["message"].startswith(f"{denied}: cannot be ")
