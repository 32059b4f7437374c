"""The scripted model on a free port, with a record of the requests that reached it."""

import json
import os
import socket
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

PIECE_BYTES = 64 * 1024
HEAD_END = b"\r\n\r\n"


@dataclass
class RecordedRequest:
    """One request as the model service received it."""

    method: str
    path: str
    headers: dict
    body: dict
    arrived: float = field(default_factory=time.monotonic)

    def messages_text(self):
        """Everything that the conversation says, as one text to search in."""
        return json.dumps(self.body.get("messages", []), ensure_ascii=False)

    def system_text(self):
        """The system prompt as one text, whether it came as a string or as blocks."""
        system = self.body.get("system", "")
        return system if isinstance(system, str) else "\n".join(block["text"] for block in system)

    def tool_names(self):
        return {tool["name"] for tool in self.body.get("tools", [])}


class RequestRecorder:
    """A byte-for-byte TCP relay in front of the server that keeps what clients sent."""

    def __init__(self, upstream_port):
        self.upstream = ("127.0.0.1", upstream_port)
        self.requests = []
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(self.upstream)
            self._start_copy(client, server, RequestParser(self.requests).feed)
            self._start_copy(server, client, lambda piece: None)

    @staticmethod
    def _start_copy(source, target, keep):
        arguments = (source, target, keep)
        threading.Thread(target=copy_stream, args=arguments, daemon=True).start()


def copy_stream(source, target, keep):
    """Copies until one side ends, then passes the end on, so that a cut stays a cut."""
    try:
        while piece := source.recv(PIECE_BYTES):
            keep(piece)
            target.sendall(piece)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


class RequestParser:
    """Appends each request of one connection to a list as soon as it is complete."""

    def __init__(self, requests):
        self.requests = requests
        self.pending = b""

    def feed(self, piece):
        self.pending += piece
        while (request := self._take()) is not None:
            self.requests.append(request)

    def _take(self):
        if HEAD_END not in self.pending:
            return None
        head, rest = self.pending.split(HEAD_END, 1)
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ", 2)
        pairs = (line.split(":", 1) for line in lines)
        headers = {name.lower(): value.strip() for name, value in pairs}
        body, rest = split_body(headers, rest)
        if body is None:
            return None
        self.pending = rest
        return RecordedRequest(method, path, headers, json.loads(body) if body else {})


def split_body(headers, rest):
    """The body of a request and what follows it; no body while it is incomplete."""
    if headers.get("transfer-encoding") == "chunked":
        return split_chunks(rest)
    length = int(headers.get("content-length", "0"))
    return (rest[:length], rest[length:]) if len(rest) >= length else (None, rest)


def split_chunks(rest):
    body = b""
    while b"\r\n" in rest:
        size, rest = rest.split(b"\r\n", 1)
        length = int(size, 16)
        body, rest = body + rest[:length], rest[length + 2 :]
        if length == 0:
            return body, rest
    return None, rest


class ModelServer:
    """`windlass scripted` with one script, and the recorder in front of it."""

    def __init__(self, script, folder):
        path = Path(folder) / "model.script"
        path.write_text(script, encoding="utf-8")
        self.log = open(Path(folder) / "model.log", "w", encoding="utf-8")
        self.process = subprocess.Popen(
            [os.environ["WINDLASS"], "scripted", "--script", str(path), "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )
        line = self.process.stdout.readline().strip()
        assert line.startswith("listening on http://127.0.0.1:"), line
        self.recorder = RequestRecorder(int(line.rsplit(":", 1)[1]))
        self.address = f"http://127.0.0.1:{self.recorder.port}"

    def requests(self):
        """The Messages requests of the run; token counts and model lists are left out."""
        paths = ("/v1/messages", "/v1/messages?beta=true")
        return [request for request in list(self.recorder.requests) if request.path in paths]

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.recorder.close()
        self.log.close()
