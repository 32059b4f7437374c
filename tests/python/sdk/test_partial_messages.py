"""Stream events: on demand only, complete, and in the order of the service."""

from claude_agent_sdk import AssistantMessage, StreamEvent, SystemMessage

ANSWER = """
when results 0
  think "Let me think."
  say "I will look."
  call Bash {"command": "echo hi"}

when any
  say "It says hi."
"""


def events(run):
    return [message.event for message in run.of(StreamEvent)]


async def test_off_by_default(agent):
    agent.serve(ANSWER)
    run = await agent.query("go")
    assert run.of(StreamEvent) == []


async def test_each_message_has_its_whole_frame(agent):
    agent.serve(ANSWER)
    run = await agent.query("go", include_partial_messages=True)
    kinds = [event["type"] for event in events(run)]
    assert kinds.count("message_start") == kinds.count("message_stop") == 2
    assert kinds.count("message_delta") == 2
    assert kinds.count("content_block_start") == kinds.count("content_block_stop") == 4
    assert isinstance(run.messages[0], SystemMessage) and run.messages[0].subtype == "init"
    assert all(message.session_id == run.result.session_id for message in run.of(StreamEvent))


async def test_deltas_add_up(agent):
    agent.serve(ANSWER)
    run = await agent.query("go", include_partial_messages=True)
    deltas = [event["delta"] for event in events(run) if event["type"] == "content_block_delta"]

    def joined(kind, field):
        return "".join(delta[field] for delta in deltas if delta["type"] == kind)

    assert joined("text_delta", "text") == "I will look.It says hi."
    assert joined("thinking_delta", "thinking") == "Let me think."
    assert '"echo hi"' in joined("input_json_delta", "partial_json")
    assert joined("signature_delta", "signature")
    assert len([delta for delta in deltas if delta["type"] == "text_delta"]) > 2


async def test_a_block_comes_after_its_deltas_and_before_its_stop(agent):
    agent.serve('when any\n  say "a few words here"\n')
    run = await agent.query("go", include_partial_messages=True)
    order = []
    for message in run.messages:
        if isinstance(message, StreamEvent):
            order.append(message.event["type"])
        elif isinstance(message, AssistantMessage):
            order.append("assistant")
    last_delta = max(i for i, kind in enumerate(order) if kind == "content_block_delta")
    assert order[last_delta:] == [
        "content_block_delta",
        "assistant",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


async def test_events_carry_the_ids_and_usage_of_the_service(agent):
    agent.serve('when any\n  say "words"\n  usage in 77 out 7\n')
    run = await agent.query("go", include_partial_messages=True)
    start = next(event for event in events(run) if event["type"] == "message_start")
    delta = next(event for event in events(run) if event["type"] == "message_delta")
    [answer] = run.of(AssistantMessage)
    assert start["message"]["id"] == answer.message_id
    assert start["message"]["usage"]["input_tokens"] == 77
    assert delta["usage"]["output_tokens"] == 7
    assert delta["delta"]["stop_reason"] == "end_turn"


async def test_partial_messages_in_a_client(agent):
    agent.serve('when any\n  say "words and words"\n')
    async with agent.client(include_partial_messages=True) as client:
        first = await agent.ask(client, "one")
        second = await agent.ask(client, "two")
    assert events(first) and events(second)


async def test_the_init_frame_is_the_first_message_also_in_an_untrusted_folder(agent):
    agent.serve('when any\n  say "ok"\n')
    agent.write(".claude/settings.json", '{"permissions": {"allow": ["Bash"]}}')
    run = await agent.query("go", setting_sources=["project"])
    kinds = [m.subtype for m in run.messages if isinstance(m, SystemMessage)]
    assert kinds[0] == "init" and "informational" in kinds


async def test_thinking_tokens_of_the_environment(agent):
    agent.serve(ANSWER)
    run = await agent.query("go", include_partial_messages=True, env={"MAX_THINKING_TOKENS": "8000"})
    assert agent.requests[0].body["thinking"] == {"type": "enabled", "budget_tokens": 8000}
    assert run.result.subtype == "success"
