"""A real S3 server on this machine, moto's, which records what its clients request."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, NamedTuple

_RANGE = re.compile(r"bytes=(\d+)-(\d+)")

# What a user sets to reach a server that is not Amazon's. boto3, s3fs and so every worker read it.
_SECRETS = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}


class Request(NamedTuple):
    """What a client has requested: "GET", the path, and the bytes from `start` to before `end`."""

    method: str
    path: str
    start: int | None = None
    end: int | None = None


class S3Server:
    """The server: its address, and what was requested from it since `forget`.

    If `gate` is not set, a GET of a shard waits for it.
    """

    def __init__(self) -> None:
        import boto3
        from moto.moto_server.werkzeug_app import (
            DomainDispatcherApplication,
            MotoRequestHandler,
            create_backend_app,
        )
        from werkzeug.serving import make_server

        class Handler(MotoRequestHandler):
            def log(self, *_: object) -> None:
                """Print no line for each request."""

        self.requests: list[Request] = []
        self.gate = Event()
        self.gate.set()
        self._lock = Lock()
        self._application: Any = DomainDispatcherApplication(create_backend_app)
        self._server = make_server("127.0.0.1", 0, self._answer, True, request_handler=Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self.environment = {"AWS_ENDPOINT_URL_S3": self.url, **_SECRETS}
        self._thread = Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self._client = boto3.client(
            "s3",
            endpoint_url=self.url,
            region_name=_SECRETS["AWS_DEFAULT_REGION"],
            aws_access_key_id=_SECRETS["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=_SECRETS["AWS_SECRET_ACCESS_KEY"],
        )

    def upload(self, directory: Path, bucket: str) -> str:
        """Put the files of a directory into a bucket, and return its address."""
        self._client.create_bucket(Bucket=bucket)
        for path in sorted(directory.iterdir()):
            self.put(bucket, path.name, path.read_bytes())
        return f"s3://{bucket}"

    def put(self, bucket: str, name: str, data: bytes) -> None:
        """Write a file."""
        self._client.put_object(Bucket=bucket, Key=name, Body=data)

    def delete(self, bucket: str, name: str) -> None:
        """Remove a file."""
        self._client.delete_object(Bucket=bucket, Key=name)

    def forget(self) -> None:
        """Forget the requests up to now."""
        with self._lock:
            self.requests.clear()

    def ranges(self, name: str = ".data-") -> list[Request]:
        """Return what was read of files whose path has these letters, in the order of the bytes."""
        return sorted(one for one in self.requests if one.method == "GET" and name in one.path)

    def close(self) -> None:
        """Stop."""
        self.gate.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, environ: Mapping[str, Any], start_response: Any) -> Iterable[bytes]:
        found = _RANGE.fullmatch(environ.get("HTTP_RANGE", ""))
        span = (int(found[1]), int(found[2]) + 1) if found is not None else (None, None)
        request = Request(environ["REQUEST_METHOD"], environ["PATH_INFO"], *span)
        with self._lock:
            self.requests.append(request)
        if request.method == "GET" and ".data-" in request.path:
            self.gate.wait(60)
        answer: Iterable[bytes] = self._application(environ, start_response)
        return answer


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """Yield a server that this process and those that it starts find in their environment."""
    server = S3Server()
    before = {name: os.environ.get(name) for name in server.environment}
    os.environ.update(server.environment)
    try:
        yield server
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        server.close()
