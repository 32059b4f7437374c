"""The lines between program and binary: order, unknown and broken ones, ends."""

import contextlib
import json
import os
import re
import signal
import subprocess

import pytest
from raw_channel import RawChannel, answers, control, is_result, user

OK = """
when user contains "slowly"
  delay 600ms
  say "slow answer"

when user contains "alpha"
  say "answer alpha"

when any
  say "ok"
"""


def test_initialize_and_message_in_one_write(agent):
    agent.serve(OK)
    with RawChannel(agent) as channel:
        channel.send(control("1", subtype="initialize", hooks=None), user("alpha"))
        frames = channel.receive(is_result)
        _, errors, code = channel.finish()
    kinds = [frame["type"] for frame in frames if frame.get("subtype") != "session_state_changed"]
    assert kinds == ["control_response", "system", "assistant", "result"]
    assert frames[-1]["result"] == "answer alpha"
    assert (errors, code) == ("", 0)


def test_control_request_between_initialize_and_message(agent):
    agent.serve(OK)
    with RawChannel(agent) as channel:
        status = control("2", subtype="mcp_status")
        channel.send(control("1", subtype="initialize"), status, user("alpha"))
        frames = channel.receive(is_result)
    replies = [f["response"]["request_id"] for f in frames if f["type"] == "control_response"]
    assert sorted(replies) == ["1", "2"]


# spec: FEED-08
def test_what_was_streamed_of_a_cut_reply_is_taken_back(agent):
    agent.serve(
        """
        when any
          once
          say "This never becomes"
          cut inside

        when any
          say "complete"
        """
    )
    with RawChannel(agent, "--include-partial-messages") as channel:
        channel.send(user("go"))
        frames = channel.receive(is_result)
    starts = [f["event"] for f in frames if f["type"] == "stream_event"]
    ids = [e["message"]["id"] for e in starts if e["type"] == "message_start"]
    [tombstone] = [frame for frame in frames if frame["type"] == "tombstone"]
    assert tombstone["message"]["id"] == ids[0] != ids[1]
    [answer] = [frame for frame in frames if frame["type"] == "assistant"]
    assert answer["message"]["id"] == ids[1]
    assert frames.index(tombstone) < frames.index(answer)


def test_without_initialize(agent):
    agent.serve(OK)
    with RawChannel(agent) as channel:
        channel.send(user("alpha"))
        frames, errors, code = channel.finish()
    assert any(is_result(frame) and frame["result"] == "answer alpha" for frame in frames)
    assert (errors, code) == ("", 0)


def test_end_of_input_does_not_cancel(agent):
    agent.serve(OK)
    with RawChannel(agent) as channel:
        channel.send(user("slowly"), user("alpha"))
        frames, _, code = channel.finish()
    assert [f["result"] for f in frames if is_result(f)][-1] == "answer alpha"
    assert "slow answer" in json.dumps(frames)
    assert code == 0


def test_no_input_at_all(agent):
    agent.serve(OK)
    with RawChannel(agent) as channel:
        frames, errors, code = channel.finish()
    assert (frames, errors, code) == ([], "", 0)


def test_unknown_control_request_gets_an_error(agent):
    agent.serve(OK)
    with RawChannel(agent) as channel:
        channel.send(control("1", subtype="initialize"), control("2", subtype="make_coffee"))
        reply = channel.receive(answers("2"))[-1]["response"]
        channel.send(user("alpha"))
        result = channel.receive(is_result)[-1]
    assert reply["subtype"] == "error"
    assert "make_coffee" in reply["error"]
    assert result["result"] == "answer alpha"


def test_control_request_without_its_fields_gets_an_error(agent):
    agent.serve(OK)
    with RawChannel(agent) as channel:
        channel.send(control("1", subtype="initialize"), control("2", subtype="set_permission_mode"))
        reply = channel.receive(answers("2"))[-1]["response"]
        channel.send(user("alpha"))
        result = channel.receive(is_result)[-1]
    assert reply["subtype"] == "error"
    assert result["result"] == "answer alpha"


@pytest.mark.parametrize(
    "line",
    [
        {"type": "keep_alive"},
        {"type": "message_of_tomorrow", "content": [1, 2, 3]},
        {"type": "control_cancel_request", "request_id": "nobody-sent-this"},
        {"type": "control_response", "response": {"subtype": "success", "request_id": "nobody"}},
    ],
    ids=["keep_alive", "unknown", "cancel", "response"],
)
def test_lines_that_are_ignored(agent, line):
    agent.serve(OK)
    with RawChannel(agent) as channel:
        channel.send(control("1", subtype="initialize", field_of_tomorrow={"a": 1}), line)
        channel.send(user("alpha", field_of_tomorrow=7), line)
        frames = channel.receive(is_result)
        channel.send(line)
        _, _, code = channel.finish()
    assert frames[-1]["result"] == "answer alpha"
    assert code == 0


def test_empty_lines_are_ignored(agent):
    agent.serve(OK)
    with RawChannel(agent) as channel:
        channel.write("\n\n")
        channel.send(user("alpha"))
        assert channel.receive(is_result)[-1]["result"] == "answer alpha"


def test_a_line_in_two_halves(agent):
    agent.serve(OK)
    line = json.dumps(user("alpha 😀")).encode() + b"\n"
    with RawChannel(agent) as channel:
        channel.send(control("1", subtype="initialize"))
        channel.receive(answers("1"))
        middle = line.index(b"alpha") + 2
        channel.write(line[:middle])
        channel.process.stdin.flush()
        channel.write(line[middle:])
        assert channel.receive(is_result)[-1]["result"] == "answer alpha"


def test_a_last_line_without_its_end(agent):
    agent.serve(OK)
    with RawChannel(agent) as channel:
        channel.write(json.dumps(user("alpha")))
        frames, _, code = channel.finish()
    assert [f["result"] for f in frames if is_result(f)] == ["answer alpha"]
    assert code == 0


def test_a_line_that_is_not_json_ends_the_process(agent):
    agent.serve(OK)
    with RawChannel(agent) as channel:
        channel.write("this is not JSON\n")
        _, errors, code = channel.finish()
    assert code == 1
    assert errors.strip() and len(errors.strip().splitlines()) <= 3


def test_a_huge_line(agent):
    agent.serve(OK)
    with RawChannel(agent) as channel:
        channel.send(user("alpha", field_of_tomorrow="x" * 12_000_000))
        assert channel.receive(is_result)[-1]["result"] == "answer alpha"


BROKEN = {
    "truncated": b'{"type": "user", "message": {"role": "us',
    "not_an_object": b'["user", "hello"]',
    "not_utf8": b'{"type": "user", "message": "\xff\xfe"}',
    "deep": b"[" * 200_000,
    "binary": bytes(range(1, 10)) * 500,
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_line_is_one_sentence_and_loses_nothing(agent, name):
    """What came before is answered and recorded; the error says what is wrong; nothing hangs."""
    agent.serve(OK)
    with RawChannel(agent) as channel:
        channel.send(user("alpha"))
        session = channel.receive(is_result)[-1]["session_id"]
        channel.write(BROKEN[name] + b"\n")
        channel.send(user("beta"))
        frames, errors, code = channel.finish()
    ignored = [frame for frame in frames if is_result(frame)]
    if name == "not_an_object" and ignored:
        assert code == 0
    else:
        assert code == 1 and not ignored
        assert 0 < len(errors.strip()) < 1_000 and len(errors.strip().splitlines()) == 1, errors
    with RawChannel(agent, f"--resume={session}") as channel:
        channel.send(user("again"))
        assert channel.receive(is_result)[-1]["result"] == "ok"
    assert "answer alpha" in agent.requests[-1].messages_text()


def test_a_half_written_last_line_is_an_error_after_the_turns(agent):
    agent.serve(OK)
    with RawChannel(agent) as channel:
        channel.send(user("alpha"))
        channel.receive(is_result)
        channel.write(json.dumps(user("beta"))[:-9])
        frames, errors, code = channel.finish()
    assert code == 1 and len(errors.strip().splitlines()) == 1
    assert not any(is_result(frame) for frame in frames)


def test_a_line_over_the_limit_is_one_sentence(agent):
    agent.serve(OK)
    with RawChannel(agent) as channel:
        with contextlib.suppress(BrokenPipeError):
            channel.write(b'{"type": "keep_alive", "x": "' + b"x" * (65 << 20) + b'"}\n')
        with contextlib.suppress(BrokenPipeError):
            channel.process.stdin.close()
        errors = channel.process.stderr.read().decode()
        code = channel.process.wait()
    assert code == 1
    assert "longer than" in errors and len(errors.strip().splitlines()) == 1


def test_requests_prompts_and_answers_may_be_interleaved(agent):
    """Answers in the reverse order, requests between them, prompts behind, one byte at a time."""
    agent.serve(
        """
        when user contains "write" and results 0
          call Write as toolu_a {"file_path": "a.txt", "content": "a"}
          call Write as toolu_b {"file_path": "b.txt", "content": "b"}

        when any
          say "done ${user}"
        """
    )
    with RawChannel(agent, "--permission-prompt-tool", "stdio") as channel:
        channel.send(control("i", subtype="initialize"), user("write"), user("second"))
        asked = []
        for frame in channel.frames():
            if frame["type"] == "control_request":
                asked.append(frame)
            if len(asked) == 2:
                break
        lines = [
            control("s", subtype="mcp_status"),
            permit(asked[1]),
            control("u", subtype="no_such_request"),
            permit(asked[0]),
            user("third"),
        ]
        for byte in "".join(json.dumps(line) + "\n" for line in lines).encode():
            channel.process.stdin.write(bytes([byte]))
            channel.process.stdin.flush()
        frames, errors, code = channel.finish()
    results = [frame["result"] for frame in frames if is_result(frame)]
    assert results == ["done write", "done second", "done third"]
    replies = {f["response"]["request_id"]: f["response"]["subtype"] for f in frames if f["type"] == "control_response"}
    assert replies == {"s": "success", "u": "error"}
    assert (agent.project / "a.txt").read_text() + (agent.project / "b.txt").read_text() == "ab"
    assert (errors, code) == ("", 0)


def permit(request):
    response = {"behavior": "allow", "updatedInput": request["request"]["input"]}
    answer = {"subtype": "success", "request_id": request["request_id"], "response": response}
    return {"type": "control_response", "response": answer}


def test_a_program_that_stops_reading_ends_the_process(agent):
    agent.serve(OK)
    with RawChannel(agent) as channel:
        channel.send(user("alpha"))
        channel.receive(is_result)
        channel.process.stdout.close()
        channel.send(user("beta"))
        assert channel.process.wait(timeout=30) == 1


def test_every_line_of_the_output_is_one_frame(agent):
    agent.serve('when any\n  say "two\\nlines and \\u2028 a separator"\n')
    with RawChannel(agent) as channel:
        channel.send(user("go"))
        channel.process.stdin.close()
        output = channel.process.stdout.read().decode()
    frames = [json.loads(line) for line in output.split("\n") if line]
    assert any(is_result(frame) for frame in frames)
    for frame in frames:
        if frame["type"] in ("system", "assistant", "user", "result"):
            assert frame["uuid"] and frame["session_id"]


def test_exit_code_follows_the_last_result(agent):
    agent.serve('when user contains "good"\n  say "ok"\n\nwhen any\n  fail 404 "no"\n')
    with RawChannel(agent) as channel:
        channel.send(user("bad"))
        assert channel.receive(is_result)[-1]["is_error"]
        channel.send(user("good"))
        assert not channel.receive(is_result)[-1]["is_error"]
        _, _, code = channel.finish()
    assert code == 0
    with RawChannel(agent) as channel:
        channel.send(user("bad"))
        _, _, code = channel.finish()
    assert code == 1


def test_terminate(agent):
    agent.serve("when any\n  fail timeout\n")
    with RawChannel(agent) as channel:
        channel.send(control("1", subtype="initialize"), user("go"))
        channel.receive(lambda frame: frame.get("subtype") == "init")
        os.kill(channel.process.pid, signal.SIGTERM)
        assert channel.process.wait() == 143


def test_both_spellings_of_flags(agent):
    agent.serve(OK)
    flags = ["--system-prompt=--a prompt", "--tools=", "--setting-sources=", "--max-turns", "3"]
    with RawChannel(agent, *flags) as channel:
        channel.send(user("alpha"))
        frames = channel.receive(is_result)
    assert "--a prompt" in agent.requests[0].system_text()
    [init] = [frame for frame in frames if frame.get("subtype") == "init"]
    assert init["tools"] == []


def test_stream_json_needs_verbose(agent):
    command = [agent.cli, "-p", "go", "--output-format", "stream-json"]
    done = subprocess.run(command, cwd=agent.project, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "--verbose" in done.stderr and done.stdout == ""


def test_version(agent):
    done = subprocess.run([agent.cli, "-v"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert re.search(r"\d+\.\d+\.\d+", done.stdout)


def test_bad_permission_mode_is_one_line(agent):
    with RawChannel(agent, "--permission-mode", "yolo") as channel:
        frames, errors, code = channel.finish()
    assert (frames, code) == ([], 1)
    assert "yolo" in errors or "permission-mode" in errors
