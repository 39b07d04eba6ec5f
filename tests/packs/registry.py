"""A registry of npm packages on loopback: what it has, and what it is asked for."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import unquote


@dataclass
class Registry:
    """name → version → the tarball; `says` names another integrity than the tarball has."""

    url: str = ""
    packages: dict[str, dict[str, bytes]] = field(default_factory=dict)
    tags: dict[str, dict[str, str]] = field(default_factory=dict)
    says: dict[str, bytes] = field(default_factory=dict)

    def publish(
        self, name: str, version: str, files: dict[str, str], tag: str = "latest", **more: Any
    ) -> None:
        manifest = {"name": name, "version": version, **more}
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            for path, text in {"package.json": json.dumps(manifest), **files}.items():
                member = tarfile.TarInfo(f"package/{path}")
                member.size, member.mode = len(text.encode()), 0o644
                archive.addfile(member, io.BytesIO(text.encode()))
        self.packages.setdefault(name, {})[version] = gzip.compress(out.getvalue(), mtime=0)
        self.tags.setdefault(name, {})[tag] = version

    def document(self, name: str) -> dict[str, Any]:
        versions = {}
        for version, source in self.packages[name].items():
            with tarfile.open(fileobj=io.BytesIO(source)) as archive:
                file = archive.extractfile("package/package.json")
                manifest = json.load(file) if file is not None else {}
            sum_ = hashlib.sha512(self.says.get(f"{name}@{version}", source)).digest()
            versions[version] = {
                **manifest,
                "dist": {
                    "tarball": f"{self.url}/-/{name.replace('/', '%2f')}/{version}.tgz",
                    "integrity": f"sha512-{b64encode(sum_).decode()}",
                },
            }
        return {"name": name, "dist-tags": self.tags[name], "versions": versions}


@contextmanager
def serving(registry: Registry) -> Iterator[Registry]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = unquote(self.path).lstrip("/")
            if path.startswith("-/"):
                name, _, file = path[2:].rpartition("/")
                body = registry.packages[name][file.removesuffix(".tgz")]
            elif path in registry.packages:
                body = json.dumps(registry.document(path)).encode()
            else:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        registry.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield registry
        server.shutdown()
        thread.join()
