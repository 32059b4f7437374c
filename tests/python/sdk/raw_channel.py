"""The CLI as a subprocess with lines on both sides, for what an SDK never sends."""

import json
import os
import subprocess
import threading

from harness import MODEL

FLAGS = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"]
WAIT_SECONDS = 60


class RawChannel:
    """A process that speaks lines of JSON; a watchdog ends it if a case waits too long."""

    def __init__(self, agent, *flags):
        self.process = subprocess.Popen(
            [str(agent.cli), *FLAGS, "--model", MODEL, *flags],
            cwd=agent.project,
            env={**os.environ, "CLAUDE_AGENT_SDK_VERSION": "0.2.182", "CLAUDE_CODE_ENTRYPOINT": "sdk-py"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.watchdog = threading.Timer(WAIT_SECONDS, self.process.kill)
        self.watchdog.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.watchdog.cancel()
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                stream.close()
            except OSError:
                pass

    def write(self, data):
        self.process.stdin.write(data if isinstance(data, bytes) else data.encode())
        self.process.stdin.flush()

    def send(self, *messages):
        """Sends messages in one write, as a program does that has several at hand."""
        self.write("".join(json.dumps(message) + "\n" for message in messages))

    def frames(self):
        for line in self.process.stdout:
            yield json.loads(line)

    def receive(self, wanted):
        """Receives frames up to the first that is wanted, which is the last of the list."""
        frames = []
        for frame in self.frames():
            frames.append(frame)
            if wanted(frame):
                return frames
        raise AssertionError(f"the output ended after {frames}: {self.process.stderr.read()}")

    def finish(self):
        """Closes the input and returns the frames that still come, the error output and the exit code."""
        self.process.stdin.close()
        frames = list(self.frames())
        errors = self.process.stderr.read().decode()
        return frames, errors, self.process.wait()


def user(text, **more):
    return {"type": "user", "message": {"role": "user", "content": text}, **more}


def control(request_id, **request):
    return {"type": "control_request", "request_id": request_id, "request": request}


def is_result(frame):
    return frame["type"] == "result"


def answers(request_id):
    def is_answer(frame):
        return frame["type"] == "control_response" and frame["response"]["request_id"] == request_id

    return is_answer
