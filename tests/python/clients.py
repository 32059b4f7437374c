"""Tests the official Python clients against the scripted server.

Usage: clients.py WINDLASS

Starts `windlass scripted` on a free port, runs conversations with the packages `anthropic` and
`openai`, streaming and not, and prints one line for each failure and one with the totals.
"""

import pathlib
import signal
import subprocess
import sys
import traceback

import anthropic
import openai

HERE = pathlib.Path(__file__).parent
CHECKS = []

ANTHROPIC_TOOLS = [
    {
        "name": "get_weather",
        "description": "The weather of a city.",
        "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}},
    }
]
CHAT_TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather of a city.",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
        },
    }
]
RESPONSES_TOOLS = [
    {
        "type": "function",
        "name": "get_weather",
        "description": "The weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    }
]
ANSWER = "It is 21 degrees in Paris."
HELLO = "Hello! Nice to meet you, שלום 😀."


def check(function):
    """A check takes the two clients; it fails by raising."""
    CHECKS.append(function)
    return function


def weather(city):
    return {"Paris": "21 degrees", "Rome": "25 degrees"}[city]


def raises(kind, ask):
    try:
        ask()
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was expected")


# Anthropic Messages


def messages(text, **more):
    return {
        "model": "claude-scripted",
        "max_tokens": 200,
        "messages": [{"role": "user", "content": text}],
        **more,
    }


def anthropic_round_trip(ask):
    history = [{"role": "user", "content": "weather"}]
    reply = ask(history)
    assert reply.stop_reason == "tool_use", reply.stop_reason
    assert [block.type for block in reply.content] == ["thinking", "text", "tool_use", "tool_use"]
    assert reply.content[0].thinking == "Two cities, two calls." and reply.content[0].signature
    assert reply.content[1].text == "Let me look."
    calls = [block for block in reply.content if block.type == "tool_use"]
    assert [call.input for call in calls] == [
        {"city": "Paris", "unit": "c"},
        {"city": "Rome", "unit": "c"},
    ]
    usage = reply.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cache_read_input_tokens) == (100, 40, 7)
    history.append({"role": "assistant", "content": reply.content})
    results = [
        {"type": "tool_result", "tool_use_id": call.id, "content": weather(call.input["city"])}
        for call in calls
    ]
    history.append({"role": "user", "content": results})
    reply = ask(history)
    assert reply.stop_reason == "end_turn" and reply.content[0].text == ANSWER, reply


@check
def anthropic_tool_conversation(claude, _):
    anthropic_round_trip(
        lambda history: claude.messages.create(
            model="claude-scripted", max_tokens=200, messages=history, tools=ANTHROPIC_TOOLS
        )
    )


@check
def anthropic_tool_conversation_streamed(claude, _):
    def ask(history):
        with claude.messages.stream(
            model="claude-scripted", max_tokens=200, messages=history, tools=ANTHROPIC_TOOLS
        ) as stream:
            return stream.get_final_message()

    anthropic_round_trip(ask)


@check
def anthropic_text_streamed(claude, _):
    with claude.messages.stream(**messages("hello")) as stream:
        pieces = list(stream.text_stream)
        final = stream.get_final_message()
    assert "".join(pieces) == HELLO and len(pieces) > 3, pieces
    assert final.content[0].text == HELLO and final.id.startswith("msg_")


@check
def anthropic_raw_events(claude, _):
    kinds = [event.type for event in claude.messages.create(**messages("hello"), stream=True)]
    assert kinds[0] == "message_start" and kinds[-2:] == ["message_delta", "message_stop"], kinds


@check
def anthropic_stop_sequence(claude, _):
    reply = claude.messages.create(**messages("sequence"))
    assert (reply.stop_reason, reply.stop_sequence) == ("stop_sequence", "END")


@check
def anthropic_half_a_call(claude, _):
    with claude.messages.stream(**messages("half a call")) as stream:
        reply = stream.get_final_message()
    assert reply.stop_reason == "max_tokens" and reply.content[0].type == "tool_use", reply


@check
def anthropic_unknown_block(claude, _):
    for reply in [claude.messages.create(**messages("tomorrow")), streamed_message(claude, "tomorrow")]:
        assert reply.content[0].type == "a_block_of_tomorrow" and reply.content[1].text == "after it"


def streamed_message(claude, text):
    with claude.messages.stream(**messages(text)) as stream:
        return stream.get_final_message()


@check
def anthropic_count_tokens(claude, _):
    count = claude.messages.count_tokens(
        model="m", messages=[{"role": "user", "content": "hello"}]
    )
    assert count.input_tokens > 0


@check
def anthropic_models(claude, _):
    assert [model.id for model in claude.models.list()] == ["scripted"]
    assert claude.models.retrieve("claude-scripted").id == "claude-scripted"


@check
def anthropic_errors(claude, _):
    once = claude.with_options(max_retries=0)
    table = [
        ("limited", anthropic.RateLimitError, 429, "rate_limit_error"),
        ("overloaded", anthropic.APIStatusError, 529, "overloaded_error"),
        ("unknown model", anthropic.NotFoundError, 404, "not_found_error"),
        ("no key", anthropic.AuthenticationError, 401, "authentication_error"),
        ("broken", anthropic.InternalServerError, 500, "api_error"),
    ]
    for text, kind, status, word in table:
        for stream in [False, True]:
            error = raises(kind, lambda: once.messages.create(**messages(text), stream=stream))
            assert (error.status_code, error.body["error"]["type"]) == (status, word), error
            assert error.request_id.startswith("req_")
    limited = raises(anthropic.RateLimitError, lambda: once.messages.create(**messages("limited")))
    assert limited.response.headers["retry-after"] == "1"


@check
def anthropic_bad_request(claude, _):
    call = {"type": "tool_use", "id": "t", "name": "get_weather", "input": {}}
    history = [{"role": "user", "content": "x"}, {"role": "assistant", "content": [call]}]
    error = raises(
        anthropic.BadRequestError,
        lambda: claude.messages.create(model="m", max_tokens=9, messages=history),
    )
    assert "without `tool_result` blocks" in str(error), error


@check
def anthropic_retries(claude, _):
    reply = claude.with_options(max_retries=2).messages.create(**messages("passing"))
    assert reply.content[0].text == "The second try worked."


@check
def anthropic_broken_connections(claude, _):
    once = claude.with_options(max_retries=0, timeout=0.5)
    raises(anthropic.APIConnectionError, lambda: once.messages.create(**messages("closed")))
    raises(anthropic.APITimeoutError, lambda: once.messages.create(**messages("silence")))
    error = raises(anthropic.APIStatusError, lambda: streamed_message(once, "late error"))
    assert "overloaded_error" in str(error), error
    cut = raises(Exception, lambda: streamed_message(once, "cut"))
    assert type(cut).__name__ in ("RemoteProtocolError", "APIConnectionError"), cut


# OpenAI Chat Completions


def chat(text, **more):
    return {"model": "gpt-scripted", "messages": [{"role": "user", "content": text}], **more}


def chat_streamed(gpt, **request):
    """Puts the chunks of a stream together as any client has to."""
    text, reasoning, finish, usage, calls = "", "", None, None, {}
    options = {"include_usage": True}
    for chunk in gpt.chat.completions.create(**request, stream=True, stream_options=options):
        usage = chunk.usage or usage
        for choice in chunk.choices:
            finish = choice.finish_reason or finish
            text += choice.delta.content or ""
            reasoning += getattr(choice.delta, "reasoning_content", None) or ""
            for piece in choice.delta.tool_calls or []:
                call = calls.setdefault(piece.index, {"id": None, "name": None, "arguments": ""})
                call["id"] = piece.id or call["id"]
                call["name"] = piece.function.name or call["name"]
                call["arguments"] += piece.function.arguments or ""
    return text, reasoning, [calls[index] for index in sorted(calls)], finish, usage


def chat_whole(gpt, **request):
    completion = gpt.chat.completions.create(**request)
    choice = completion.choices[0]
    calls = [
        {"id": call.id, "name": call.function.name, "arguments": call.function.arguments}
        for call in choice.message.tool_calls or []
    ]
    reasoning = getattr(choice.message, "reasoning_content", None) or ""
    return choice.message.content or "", reasoning, calls, choice.finish_reason, completion.usage


def chat_round_trip(gpt, ask):
    history = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "weather"}]
    text, reasoning, calls, finish, usage = ask(gpt, **chat("", tools=CHAT_TOOLS) | {"messages": history})
    assert (text, reasoning, finish) == ("Let me look.", "Two cities, two calls.", "tool_calls")
    assert [call["arguments"] for call in calls] == [
        '{"city": "Paris", "unit": "c"}',
        '{"city": "Rome", "unit": "c"}',
    ]
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (107, 40, 147)
    assert usage.prompt_tokens_details.cached_tokens == 7
    tool_calls = [
        {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["arguments"]}}
        for call in calls
    ]
    history.append({"role": "assistant", "content": text, "tool_calls": tool_calls})
    for call, city in zip(calls, ["Paris", "Rome"]):
        history.append({"role": "tool", "tool_call_id": call["id"], "content": weather(city)})
    text, _, calls, finish, _ = ask(gpt, **chat("", tools=CHAT_TOOLS) | {"messages": history})
    assert (text, calls, finish) == (ANSWER, [], "stop")


@check
def chat_tool_conversation(_, gpt):
    chat_round_trip(gpt, chat_whole)


@check
def chat_tool_conversation_streamed(_, gpt):
    chat_round_trip(gpt, chat_streamed)


@check
def chat_stream_helper(_, gpt):
    with gpt.chat.completions.stream(**chat("weather", tools=CHAT_TOOLS)) as stream:
        for _event in stream:
            pass
        completion = stream.get_final_completion()
    message = completion.choices[0].message
    assert [call.function.name for call in message.tool_calls] == ["get_weather"] * 2


@check
def chat_text(_, gpt):
    for ask in [chat_whole, chat_streamed]:
        text, _, _, finish, _ = ask(gpt, **chat("hello"))
        assert (text, finish) == (HELLO, "stop")


@check
def chat_finish_reasons(_, gpt):
    for ask in [chat_whole, chat_streamed]:
        assert ask(gpt, **chat("refuse"))[3] == "content_filter"
        _, _, calls, finish, _ = ask(gpt, **chat("half a call"))
        assert (calls[0]["arguments"], finish) == ('{"city": "Par', "length")


@check
def openai_models(_, gpt):
    assert [model.id for model in gpt.models.list()] == ["scripted"]
    assert gpt.models.retrieve("gpt-scripted").id == "gpt-scripted"


def openai_errors(gpt, ask):
    once = gpt.with_options(max_retries=0)
    table = [
        ("limited", openai.RateLimitError, 429, "rate_limit_exceeded"),
        ("overloaded", openai.APIStatusError, 529, "server_error"),
        ("unknown model", openai.NotFoundError, 404, "not_found"),
        ("no key", openai.AuthenticationError, 401, "invalid_api_key"),
        ("broken", openai.InternalServerError, 500, "server_error"),
    ]
    for text, kind, status, code in table:
        for stream in [False, True]:
            error = raises(kind, lambda: ask(once, text, stream))
            assert (error.status_code, error.code) == (status, code), error
            assert error.request_id.startswith("req_")
    fast = once.with_options(timeout=0.5)
    raises(openai.APIConnectionError, lambda: ask(fast, "closed", False))
    raises(openai.APITimeoutError, lambda: ask(fast, "silence", False))
    raises(openai.APIConnectionError, lambda: list(ask(fast, "cut", True)))


@check
def chat_errors(_, gpt):
    ask = lambda client, text, stream: client.chat.completions.create(**chat(text), stream=stream)
    openai_errors(gpt, ask)
    error = raises(openai.APIError, lambda: list(ask(gpt, "late error", True)))
    assert "too much at once" in str(error), error


@check
def chat_bad_request(_, gpt):
    call = {"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
    history = [{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": [call]}]
    error = raises(
        openai.BadRequestError, lambda: gpt.chat.completions.create(model="m", messages=history)
    )
    assert "did not have response messages: c" in str(error), error


# OpenAI Responses


def responses_whole(gpt, items):
    return gpt.responses.create(model="gpt-scripted", input=items, tools=RESPONSES_TOOLS)


def responses_streamed(gpt, items):
    stream = gpt.responses.create(
        model="gpt-scripted", input=items, tools=RESPONSES_TOOLS, stream=True
    )
    response = None
    for event in stream:
        if event.type in ("response.completed", "response.incomplete"):
            response = event.response
    return response


def responses_helper(gpt, items):
    with gpt.responses.stream(model="gpt-scripted", input=items, tools=RESPONSES_TOOLS) as stream:
        for _event in stream:
            pass
        return stream.get_final_response()


def responses_round_trip(gpt, ask):
    items = [{"role": "user", "content": "weather"}]
    response = ask(gpt, items)
    assert response.status == "completed" and response.output_text == "Let me look."
    kinds = ["reasoning", "message", "function_call", "function_call"]
    assert [item.type for item in response.output] == kinds
    assert response.output[0].summary[0].text == "Two cities, two calls."
    usage = response.usage
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (107, 40, 147)
    assert usage.input_tokens_details.cached_tokens == 7
    calls = response.output[2:]
    assert calls[0].arguments == '{"city": "Paris", "unit": "c"}'
    items += [item.to_dict() for item in response.output]
    for call, city in zip(calls, ["Paris", "Rome"]):
        output = weather(city)
        items.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
    response = ask(gpt, items)
    assert response.output_text == ANSWER, response


@check
def responses_tool_conversation(_, gpt):
    responses_round_trip(gpt, responses_whole)


@check
def responses_tool_conversation_streamed(_, gpt):
    responses_round_trip(gpt, responses_streamed)


@check
def responses_tool_conversation_helper(_, gpt):
    responses_round_trip(gpt, responses_helper)


@check
def responses_text(_, gpt):
    assert gpt.responses.create(model="m", input="hello").output_text == HELLO
    pieces = [
        event.delta
        for event in gpt.responses.create(model="m", input="hello", stream=True)
        if event.type == "response.output_text.delta"
    ]
    assert "".join(pieces) == HELLO and len(pieces) > 3


@check
def responses_incomplete(_, gpt):
    for ask in [responses_whole, responses_streamed]:
        response = ask(gpt, "half a call")
        assert (response.status, response.incomplete_details.reason) == ("incomplete", "max_output_tokens")
        assert response.output[0].arguments == '{"city": "Par'


@check
def responses_errors(_, gpt):
    ask = lambda client, text, stream: client.responses.create(model="m", input=text, stream=stream)
    openai_errors(gpt, ask)
    kinds = [event.type for event in ask(gpt, "late error", True)]
    assert kinds[-2:] == ["error", "response.failed"], kinds


@check
def responses_bad_request(_, gpt):
    call = {"type": "function_call", "call_id": "c", "name": "get_weather", "arguments": "{}"}
    error = raises(openai.BadRequestError, lambda: gpt.responses.create(model="m", input=[call]))
    assert "No tool output found for function call c." in str(error), error


@check
def examples_of_the_page(claude, _):
    """Every Python example of docs/scripted.md that talks to a server, as it stands there."""
    page = (HERE.parent.parent / "docs" / "scripted.md").read_text(encoding="utf-8")
    examples = [block.split("```")[0] for block in page.split("```python\n")[1:]]
    address = str(claude.base_url).rstrip("/")
    printed = []
    for example in (example for example in examples if "base_url=" in example):
        example = example.replace("http://127.0.0.1:8123", address)
        exec(example, {"print": printed.append})
    assert printed == [HELLO, HELLO, HELLO], printed


def run(address):
    claude = anthropic.Anthropic(base_url=address, api_key="none", timeout=20)
    gpt = openai.OpenAI(base_url=f"{address}/v1", api_key="none", timeout=20)
    failed = 0
    for function in CHECKS:
        try:
            function(claude, gpt)
        except Exception:
            failed += 1
            print(f"{function.__name__}: failed", flush=True)
            traceback.print_exc()
    return failed


def main():
    script = HERE / "clients.script"
    server = subprocess.Popen(
        [sys.argv[1], "scripted", "--script", str(script), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        line = server.stdout.readline()
        assert line.startswith("listening on http://127.0.0.1:"), line
        failed = run(line.removeprefix("listening on ").strip())
        server.send_signal(signal.SIGTERM)
        code = server.wait(timeout=10)
        if code != 0:
            failed += 1
            print(f"the server ended with {code} on SIGTERM")
    finally:
        server.kill()
    passed = len(CHECKS) + 1 - failed
    print(f"python-clients: {passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
