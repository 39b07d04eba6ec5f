"""An editor that debugs: starts the program, sends requests, takes what comes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

Message = dict[str, Any]
PATIENCE = 60  # seconds for a message


class Editor:
    """One session with `hookscope dap`."""

    def __init__(self, workspace: Path, *options: str) -> None:
        argv = [sys.executable, "-m", "hookscope", *options]
        self.process = subprocess.Popen(
            argv, cwd=workspace, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.events: list[Message] = []  # those that came
        self.outputs: list[Message] = []  # all that was ever shown
        self._came: Queue[Message | None] = Queue()
        self._number = 0
        self._answers: dict[int, Message] = {}
        self._listens = Thread(target=self._listen, daemon=True)
        self._listens.start()

    def _listen(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while head := stream.readline():
            assert head.lower().startswith(b"content-length:"), head
            assert stream.readline() == b"\r\n"
            self._came.put(json.loads(stream.read(int(head.split(b":")[1]))))
        self._came.put(None)

    def write(self, data: bytes) -> None:
        """Send these very bytes."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def ask(self, command: str, **arguments: object) -> int:
        """Send a request; its number."""
        self._number += 1
        message = {"seq": self._number, "type": "request", "command": command, "arguments": arguments}
        body = json.dumps(message).encode()
        self.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        return self._number

    def response(self, number: int) -> Message:
        """The response to the request of that number."""
        while number not in self._answers:
            self._take()
        return self._answers.pop(number)

    def do(self, command: str, **arguments: object) -> Message:
        """The body of the response to a request that succeeds."""
        response = self.response(self.ask(command, **arguments))
        assert response["success"], response
        return dict(response.get("body") or {})

    def refused(self, command: str, **arguments: object) -> str:
        """The sentence of one that does not."""
        response = self.response(self.ask(command, **arguments))
        assert not response["success"], response
        return str(response["message"])

    def event(self, name: str, fits: Callable[[Message], bool] = lambda _: True) -> Message:
        """The body of the next event of that name that fits; those before it are passed over."""
        while True:
            for place, event in enumerate(self.events):
                if event["event"] == name and fits(event["body"]):
                    del self.events[: place + 1]
                    return dict(event["body"])
            self._take()

    def _take(self) -> None:
        message = self._came.get(timeout=PATIENCE)
        assert message is not None, self.process.communicate()[1].decode()
        if message["type"] == "event":
            self.events.append(message)
            if message["event"] == "output":
                self.outputs.append(message["body"])
        else:
            self._answers[message["request_seq"]] = message

    # What editors do

    def begin(
        self,
        lines: Mapping[Path, Sequence[int | Message]] | None = None,
        filters: tuple[str, ...] = ("leaving",),
        **launch: object,
    ) -> list[Message]:
        """Launch, and name these lines or points; the breakpoints as they were answered."""
        self.do(
            "initialize",
            adapterID="hookscope",
            linesStartAt1=True,
            pathFormat="path",
            supportsVariableType=True,
        )
        self.event("initialized")
        launched = self.ask("launch", **launch)
        told = []
        for file, wanted in (lines or {}).items():
            points = [{"line": one} if isinstance(one, int) else one for one in wanted]
            told += self.do("setBreakpoints", source={"path": str(file)}, breakpoints=points)["breakpoints"]
        self.do("setExceptionBreakpoints", filters=list(filters))
        self.do("configurationDone")
        response = self.response(launched)
        assert response["success"], response
        return told

    def stopped(self, reason: str) -> Message:
        """It stands for that reason."""
        body = self.event("stopped")
        assert body["reason"] == reason, body
        return body

    def stack(self, stopped: Message) -> list[Message]:
        """The frames, innermost first."""
        frames: list[Message] = self.do("stackTrace", threadId=stopped["threadId"])["stackFrames"]
        return frames

    def place(self, stopped: Message) -> str:
        """`handler.py:3`."""
        top = self.stack(stopped)[0]
        return f"{top['source']['name']}:{top['line']}"

    def variables(self, frame: Message) -> dict[str, Message]:
        """Of the function, by name."""
        return self.members(self.scopes(frame)["Variables"])

    def scopes(self, frame: Message) -> dict[str, Message]:
        """By name."""
        return {one["name"]: one for one in self.do("scopes", frameId=frame["id"])["scopes"]}

    def members(self, holder: Message) -> dict[str, Message]:
        """Of a scope or a variable, by name."""
        found = self.do("variables", variablesReference=holder["variablesReference"])["variables"]
        return {one["name"]: one for one in found}

    def value(self, expression: str, stopped: Message) -> str:
        """What the expression is in the innermost frame."""
        frame = self.stack(stopped)[0]["id"]
        return str(self.do("evaluate", expression=expression, frameId=frame, context="repl")["result"])

    def printed(self, category: str) -> str:
        """What has come of that kind and was not passed over."""
        texts = [one["body"] for one in self.events if one["event"] == "output"]
        return "".join(text["output"] for text in texts if text["category"] == category)

    def leave(self) -> int:
        """Take leave; the exit code."""
        self.do("disconnect")
        return self.process.wait(PATIENCE)

    def kill(self) -> None:
        """Whatever becomes of the test."""
        self.process.kill()
        self.process.wait(PATIENCE)
        self._listens.join(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            with suppress(OSError):  # what it was not told any more
                stream.close()
