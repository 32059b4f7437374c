"""A rule-based model over HTTP for the SDK's own end-to-end tests.

Those tests speak to a real model: they ask it in plain words to use a tool, and name files that
exist for one run only. A script of the scripted model cannot pick a file name out of a prompt, so
this model reads the prompt with patterns instead. It serves one answer for one prompt and forgets.
"""

import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KNOWN_MODEL = re.compile(r"^claude-(opus|sonnet|haiku|\d)-")
PIECE_CHARACTERS = 12
SLOW_PIECE_SECONDS = 0.05
NUMBERS = {"character_count": 11}


def text(value):
    return {"type": "text", "text": value}


def call(name, /, number=1, **tool_input):
    """A call; its id says which request made it, so that it is unique in a conversation."""
    return {"type": "tool_use", "name": name, "number": number, "input": tool_input}


def instance(schema, name=""):
    """A value that fits a JSON schema."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        return {key: instance(part, key) for key, part in schema.get("properties", {}).items()}
    if kind == "array":
        return [instance(schema.get("items", {})) for _ in range(2)]
    if kind in ("number", "integer"):
        return NUMBERS.get(name, 2)
    return True if kind == "boolean" else "word"


class Conversation:
    """What a rule looks at."""

    def __init__(self, body):
        self.body = body
        self.tools = {tool["name"]: tool for tool in body.get("tools", []) if "name" in tool}
        self.last = [m for m in body["messages"] if m["role"] == "user"][-1]["content"]
        self.has_results = isinstance(self.last, list) and any(
            block["type"] == "tool_result" for block in self.last
        )

    @property
    def prompt(self):
        if isinstance(self.last, str):
            return self.last
        return "\n".join(block["text"] for block in self.last if block["type"] == "text")

    @property
    def results(self):
        return json.dumps(self.last)


def answer(conversation):
    """The content blocks of an answer."""
    schema_tool = conversation.tools.get("StructuredOutput")
    if schema_tool:
        return [call("StructuredOutput", **instance(schema_tool["input_schema"]))]
    if conversation.has_results:
        return answer_results(conversation)
    return answer_prompt(conversation.prompt)


def answer_results(conversation):
    if "Hello, Alice" in conversation.results:
        return [call("mcp__test__echo", text="test")]
    return [text("DONE")]


def answer_prompt(prompt):
    if "greeter" in prompt and "Agent tool" in prompt:
        task = {"description": "greet", "prompt": "say hi", "subagent_type": "greeter"}
        return [call("Agent", **task, run_in_background=False)]
    if "greet tool" in prompt:
        return [call("mcp__test__greet", name="Alice")]
    if names := re.findall(r"mcp__\w+", prompt):
        return [call_of_program(name, number) for number, name in enumerate(names, 1)]
    if found := re.search(r"(touch \S+|echo '[^']*')", prompt):
        return [call("Bash", command=found[1])]
    if found := re.search(r"create the file (\S+)", prompt):
        return [call("Write", file_path=found[1], content="hello")]
    if "slowly" in prompt:
        return [text(" ".join(str(number) for number in range(1, 101)))]
    return [text("Four, said the model.")]


def call_of_program(name, number):
    given = {"name": "Bob"} if name.endswith("__greet") else {"text": "test"}
    return call(name, number, **given)


class ModelHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.send_json(200, {})

    def do_GET(self):
        self.send_json(200, {"data": [], "has_more": False})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "count_tokens" in self.path:
            self.send_json(200, {"input_tokens": 100})
        elif not self.path.startswith("/v1/messages"):
            self.send_json(404, {})
        elif not KNOWN_MODEL.match(body["model"]):
            self.send_json(404, error_document("not_found_error", f"model: {body['model']}"))
        else:
            self.send_answer(body)

    def send_answer(self, body):
        conversation = Conversation(body)
        blocks = answer(conversation)
        if body.get("thinking", {}).get("type") in ("enabled", "adaptive"):
            blocks = [{"type": "thinking", "thinking": "2 and 2, step by step.", "signature": "c2ln"}, *blocks]
        message = whole_message(body["model"], blocks, len(body["messages"]))
        if not body.get("stream"):
            return self.send_json(200, message)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        pause = SLOW_PIECE_SECONDS if "slowly" in conversation.prompt else 0
        try:
            for event in stream_events(message):
                self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
                self.wfile.flush()
                time.sleep(pause)
        except OSError:
            pass
        self.close_connection = True

    def send_json(self, status, document):
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def error_document(kind, message):
    return {"type": "error", "error": {"type": kind, "message": message}}


def whole_message(model, blocks, turn):
    for block in blocks:
        if block["type"] == "tool_use":
            block["id"] = f"toolu_{turn}_{block.pop('number')}"
    reason = "tool_use" if blocks[-1]["type"] == "tool_use" else "end_turn"
    return {
        "id": f"msg_{time.time_ns()}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": blocks,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }


def stream_events(message):
    blocks = message["content"]
    start = {**message, "content": [], "stop_reason": None}
    yield {"type": "message_start", "message": start}
    for index, block in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": empty_block(block)}
        for delta in deltas(block):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": message["usage"]}
    yield {"type": "message_stop"}


def empty_block(block):
    emptied = {"text": {"text": ""}, "thinking": {"thinking": "", "signature": ""}}
    return {**block, **emptied.get(block["type"], {"input": {}})}


def deltas(block):
    if block["type"] == "tool_use":
        yield {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        return
    kind = block["type"]
    whole = block[kind]
    for at in range(0, len(whole), PIECE_CHARACTERS):
        yield {"type": f"{kind}_delta", kind: whole[at : at + PIECE_CHARACTERS]}
    if kind == "thinking":
        yield {"type": "signature_delta", "signature": block["signature"]}


def start_model():
    """Starts the model on a free port of this machine and returns its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), ModelHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"
