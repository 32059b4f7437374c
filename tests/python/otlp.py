"""Tests the OpenTelemetry traces with a receiver that decodes them as the specification defines them.

Usage: otlp.py WINDLASS

Starts a receiver, runs prompts with the scripted model, decodes what arrives with the package
`opentelemetry-proto`, and compares it span by span. Prints one line for each failure and one with the
totals.
"""

import collections
import http.server
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
from opentelemetry.proto.trace.v1 import trace_pb2

CHECKS = []
TIMEOUT_S = 30

SCRIPT = """
when user is "works" and results 0
  call Bash { "command": "echo hello" }
  call Read { "file_path": "missing.txt" }
when user is "delegates" and results 0
  call Agent { "description": "look", "prompt": "looks", "subagent_type": "general-purpose" }
when user is "is refused"
  fail 400 "secret words of the provider"
when user is "is interrupted" and results 0
  call Bash { "command": "touch began; sleep 60" }
when any
  say "The secret answer."
"""


def check(function):
    """A check takes a workplace; it fails by raising."""
    CHECKS.append(function)
    return function


class Receiver:
    """Takes traces over HTTP and keeps their spans."""

    def __init__(self, statuses=()):
        self.requests = []
        self.statuses = list(statuses)
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                status = receiver.statuses.pop(0) if receiver.statuses else 200
                if status == 200:
                    request = trace_service_pb2.ExportTraceServiceRequest.FromString(body)
                    receiver.requests.append((self.path, dict(self.headers), request))
                self.send_response(status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def spans(self):
        found = []
        for _, _, request in self.requests:
            for resource in request.resource_spans:
                for scope in resource.scope_spans:
                    found.extend(scope.spans)
        return found

    def close(self):
        self.server.shutdown()


class Workplace:
    def __init__(self, windlass):
        self.windlass = windlass
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="windlass-otlp-"))
        (self.folder / "a.script").write_text(SCRIPT)

    def command(self, *words):
        return [self.windlass, *words, "--store", str(self.folder / "w.db")]

    def environment(self, receiver, **more):
        home = self.folder / "home"
        known = {"PATH": os.environ["PATH"], "HOME": str(home), "WINDLASS_HOME": str(home)}
        return {**known, "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, **more}

    def prompt(self, text, receiver, *flags, **variables):
        words = ["-p", text, "--script", "a.script", "--allowedTools", "Bash,Read", *flags]
        return subprocess.run(
            self.command(*words), cwd=self.folder, env=self.environment(receiver, **variables),
            capture_output=True, text=True, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL,
        )


def attributes(span):
    def plain(value):
        kind = value.WhichOneof("value")
        if kind == "array_value":
            return [plain(one) for one in value.array_value.values]
        return getattr(value, kind)

    return {pair.key: plain(pair.value) for pair in span.attributes}


def named(spans, name):
    found = [span for span in spans if span.name == name]
    assert found, f"no span {name!r} in {[span.name for span in spans]}"
    return found[0]


def check_tree(spans):
    """One trace, one root, every parent known, and no child outside of its parent's time."""
    assert len({span.trace_id for span in spans}) == 1
    assert all(len(span.trace_id) == 16 and len(span.span_id) == 8 for span in spans)
    by_id = {span.span_id: span for span in spans}
    assert len(by_id) == len(spans), "ids are repeated"
    roots = [span for span in spans if not span.parent_span_id]
    assert len(roots) == 1, [span.name for span in roots]
    for span in spans:
        assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano, span.name
        if span.parent_span_id:
            parent = by_id[span.parent_span_id]
            assert parent.start_time_unix_nano <= span.start_time_unix_nano, span.name
    return roots[0]


@check
def a_run_is_a_trace_of_its_iterations_model_calls_and_tools(place):
    receiver = Receiver()
    ran = place.prompt("works", receiver, OTEL_SERVICE_NAME="agents", OTEL_EXPORTER_OTLP_HEADERS="x-key=a%20b")
    assert ran.returncode == 0, ran.stderr
    path, headers, request = receiver.requests[0]
    assert path == "/v1/traces" and headers["content-type"] == "application/x-protobuf", (path, headers)
    assert headers["x-key"] == "a b"
    resource = attributes(request.resource_spans[0].resource)
    assert resource["service.name"] == "agents", resource
    spans = receiver.spans()
    root = check_tree(spans)
    counts = collections.Counter(span.name.split(" ")[0] for span in spans)
    assert counts == {"invoke_agent": 1, "iteration": 2, "chat": 2, "execute_tool": 2}, counts
    about = attributes(root)
    assert root.name == "invoke_agent default" and about["gen_ai.operation.name"] == "invoke_agent"
    assert about["windlass.stop_cause"] == "end_turn" and about["gen_ai.usage.output_tokens"] > 0
    assert root.status.code == trace_pb2.Status.STATUS_CODE_UNSET
    chat = named(spans, "chat scripted")
    assert chat.kind == trace_pb2.Span.SPAN_KIND_CLIENT
    assert attributes(chat)["gen_ai.response.finish_reasons"] == ["tool_use"], attributes(chat)
    assert attributes(named(spans, "execute_tool Bash"))["gen_ai.tool.name"] == "Bash"
    failed = named(spans, "execute_tool Read")
    assert failed.status.code == trace_pb2.Status.STATUS_CODE_ERROR
    assert attributes(failed)["error.type"] == "failed"
    iteration = named(spans, "iteration 1")
    assert iteration.parent_span_id == root.span_id and failed.parent_span_id == iteration.span_id


@check
def content_is_sent_only_if_it_is_asked_for(place):
    receiver = Receiver()
    place.prompt("works", receiver)
    place.prompt("is refused", receiver)
    sent = b"".join(request.SerializeToString() for _, _, request in receiver.requests)
    for text in (b"secret", b"echo hello", b"missing.txt"):
        assert text not in sent, text
    receiver = Receiver()
    place.prompt("works", receiver, OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="true")
    root = check_tree(receiver.spans())
    assert "The secret answer." in attributes(root)["gen_ai.output.messages"]
    assert "works" in attributes(root)["gen_ai.input.messages"]


@check
def a_failed_run_has_its_cause(place):
    receiver = Receiver()
    place.prompt("is refused", receiver)
    root = check_tree(receiver.spans())
    assert root.status.code == trace_pb2.Status.STATUS_CODE_ERROR
    assert attributes(root)["error.type"] == "provider_failed"
    assert named(receiver.spans(), "chat scripted").status.code == trace_pb2.Status.STATUS_CODE_ERROR


@check
def sub_agents_belong_to_the_trace_of_their_parent(place):
    receiver = Receiver()
    ran = place.prompt("delegates", receiver)
    assert ran.returncode == 0, ran.stderr
    spans = receiver.spans()
    check_tree(spans)
    agents = [span for span in spans if span.name.startswith("invoke_agent")]
    assert len(agents) == 2, [span.name for span in spans]
    child = next(span for span in agents if span.parent_span_id)
    assert named(spans, "sub-agent Agent").span_id == child.parent_span_id


@check
def a_run_that_another_process_resumes_is_one_trace(place):
    receiver = Receiver()
    words = ["-p", "is interrupted", "--script", "a.script", "--allowedTools", "Bash", "--conversation", "c"]
    process = subprocess.Popen(
        place.command(*words), cwd=place.folder, env=place.environment(receiver),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
    )
    until = time.monotonic() + TIMEOUT_S
    while not (place.folder / "began").exists():
        assert time.monotonic() < until, "the command did not start"
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not receiver.requests
    environment = place.environment(receiver)
    run = lambda *words: subprocess.run(place.command(*words), cwd=place.folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL)
    run("resume", "c", "--script", "a.script", "--when-asked", "park")
    done = run("answer", "c", "1", "abandon", "--script", "a.script")
    assert done.returncode == 0, done.stderr
    root = check_tree(receiver.spans())
    assert root.end_time_unix_nano > root.start_time_unix_nano
    unknown = named(receiver.spans(), "execute_tool Bash")
    assert attributes(unknown)["error.type"] == "unknown", attributes(unknown)
    assert named(receiver.spans(), "takeover").parent_span_id


@check
def a_receiver_that_is_busy_gets_the_trace_later_and_one_that_is_gone_costs_nothing(place):
    receiver = Receiver(statuses=[503])
    place.prompt("works", receiver)
    check_tree(receiver.spans())
    receiver.close()
    gone = Receiver()
    gone.close()
    gone.server.server_close()
    ran = place.prompt("works", gone)
    assert ran.returncode == 0 and "The secret answer." in ran.stdout


@check
def nothing_is_sent_where_the_variables_say_so(place):
    for variables in ({"OTEL_SDK_DISABLED": "true"}, {"OTEL_TRACES_EXPORTER": "none"}, {"OTEL_TRACES_SAMPLER": "always_off"}):
        receiver = Receiver()
        assert place.prompt("works", receiver, **variables).returncode == 0
        assert not receiver.requests, variables
    receiver = Receiver()
    ran = place.prompt("works", receiver, OTEL_EXPORTER_OTLP_PROTOCOL="grpc")
    assert ran.returncode == 0 and not receiver.requests
    assert "OTEL_EXPORTER_OTLP_PROTOCOL: `grpc` is not supported" in ran.stderr, ran.stderr


def main():
    windlass = str(pathlib.Path(sys.argv[1]).resolve())
    failures = 0
    for function in CHECKS:
        try:
            function(Workplace(windlass))
        except Exception:
            failures += 1
            print(f"FAILED {function.__name__}\n{traceback.format_exc()}")
    print(f"{len(CHECKS) - failures} of {len(CHECKS)} checks of traces passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
