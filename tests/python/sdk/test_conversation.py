"""Prompts and answers: one shot, streaming input, several turns."""

import json

from claude_agent_sdk import AssistantMessage, ResultMessage, TextBlock, ThinkingBlock, UserMessage
from harness import MODEL, stream, user_message

ECHO = """
when user contains "hello"
  say "Hello yourself."

when user contains "alpha"
  say "first answer"

when user contains "beta"
  say "second answer"

when any
  say "something else"
"""


# spec: SDK-03, SDK-09
async def test_plain_text(agent):
    agent.serve(ECHO)
    run = await agent.query("hello there")
    assert run.text == "Hello yourself."
    assert run.messages[0].subtype == "init"
    assert isinstance(run.messages[-1], ResultMessage)
    answer = run.of(AssistantMessage)[0]
    assert answer.model == MODEL
    assert answer.content == [TextBlock("Hello yourself.")]
    assert answer.session_id == run.result.session_id
    assert answer.uuid and answer.message_id


# spec: SDK-03
async def test_result_fields(agent):
    agent.serve('when any\n  say "done"\n  usage in 1000 out 200\n')
    result = (await agent.query("go")).result
    assert (result.subtype, result.is_error, result.num_turns) == ("success", False, 1)
    assert result.result == "done"
    assert result.stop_reason == "end_turn"
    assert result.terminal_reason == "completed"
    assert result.permission_denials == []
    assert result.usage["input_tokens"] == 1000
    assert result.usage["output_tokens"] == 200
    assert 0 < result.total_cost_usd < 1
    usage = result.model_usage[MODEL]
    assert (usage["inputTokens"], usage["outputTokens"]) == (1000, 200)
    assert abs(usage["costUSD"] - result.total_cost_usd) < 1e-9
    assert result.duration_ms >= result.duration_api_ms >= 0


async def test_init_describes_the_session(agent):
    agent.serve(ECHO)
    init = (await agent.query("hello")).init
    assert init["cwd"] == str(agent.project)
    assert init["model"] == MODEL
    assert init["permissionMode"] == "default"
    assert init["apiKeySource"] == "ANTHROPIC_API_KEY"
    assert init["mcp_servers"] == []
    assert {"Bash", "Read", "Write", "Edit"} <= set(init["tools"])
    assert "compact" in init["slash_commands"]
    major, minor, patch = init["claude_code_version"].split(" ")[0].split(".")[:3]
    assert (int(major), int(minor), int(patch)) >= (2, 1, 248)
    for name in ("agents", "skills", "plugins"):
        assert isinstance(init[name], list)
    assert init["output_style"] == "default"


async def test_streaming_input_has_one_result_for_each_message(agent):
    agent.serve(ECHO)
    prompts = stream(user_message("alpha"), user_message("beta"))
    run = await agent.query(prompts)
    results = run.of(ResultMessage)
    assert [result.result for result in results] == ["first answer", "second answer"]
    assert len({result.session_id for result in results}) == 1


async def test_streaming_input_with_content_blocks(agent):
    agent.serve(ECHO)
    blocks = [{"type": "text", "text": "look:"}, {"type": "text", "text": "hello"}]
    run = await agent.query(stream(user_message(blocks)))
    assert run.text == "Hello yourself."
    sent = agent.requests[0].messages_text()
    assert "look:" in sent and "hello" in sent


async def test_image_reaches_the_model(agent):
    agent.serve(ECHO)
    pixel = (
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    )
    source = {"type": "base64", "media_type": "image/png", "data": pixel}
    blocks = [{"type": "image", "source": source}, {"type": "text", "text": "hello"}]
    run = await agent.query(stream(user_message(blocks)))
    assert run.text == "Hello yourself."
    content = agent.requests[0].body["messages"][0]["content"]
    assert "image" in [block["type"] for block in content]


async def test_client_keeps_the_conversation(agent):
    agent.serve(ECHO)
    async with agent.client() as client:
        first = await agent.ask(client, "alpha")
        second = await agent.ask(client, "beta")
    assert (first.text, second.text) == ("first answer", "second answer")
    assert first.result.session_id == second.result.session_id
    assert first.init["session_id"] == second.init["session_id"]
    history = json.dumps(agent.requests[1].body["messages"])
    assert "first answer" in history


async def test_thinking_is_a_block_of_its_own(agent):
    agent.serve('when any\n  think "Let me see."\n  say "Seen."\n')
    run = await agent.query("go")
    [thought] = run.blocks(ThinkingBlock)
    assert thought.thinking == "Let me see."
    assert thought.signature
    assert run.text == "Seen."
    ids = {message.message_id for message in run.of(AssistantMessage)}
    assert len(run.of(AssistantMessage)) == 2 and len(ids) == 1


async def test_tool_call_and_result(agent):
    agent.serve(
        """
        when results 0
          say "Let me look."
          call Read {"file_path": "%s"}

        when result of Read contains "forty-two"
          say "It says forty-two."
        """
        % (agent.project / "a.txt")
    )
    agent.write("a.txt", "forty-two\n")
    run = await agent.query("read it")
    assert run.text == "Let me look.It says forty-two."
    [call], [result] = run.tool_uses, run.tool_results
    assert (call.name, call.id) == ("Read", result.tool_use_id)
    assert not result.is_error and "forty-two" in result.content
    [user] = run.of(UserMessage)
    assert user.tool_use_result["file"]["filePath"] == str(agent.project / "a.txt")
    assert run.result.num_turns == 2


async def test_parallel_tool_calls(agent):
    agent.serve(
        """
        when results 0
          call Bash as toolu_a {"command": "echo alpha"}
          call Bash as toolu_b {"command": "echo beta"}

        when results 2
          say "Both came back."
        """
    )
    run = await agent.query("go")
    assert run.text == "Both came back."
    assert {(block.tool_use_id, block.content.strip()) for block in run.tool_results} == {
        ("toolu_a", "alpha"),
        ("toolu_b", "beta"),
    }
    assert len(run.of(UserMessage)) == 2
    assert run.result.num_turns == 3
    back = agent.requests[1].body["messages"][-1]["content"]
    ids = [block["tool_use_id"] for block in back if block["type"] == "tool_result"]
    assert ids == ["toolu_a", "toolu_b"]


async def test_large_prompt(agent):
    agent.serve(ECHO)
    run = await agent.query("hello " + "x" * 400_000)
    assert run.text == "Hello yourself."
    assert len(agent.requests[0].messages_text()) > 400_000


async def test_large_answer(agent):
    text = "a long line " * 12_000
    agent.serve(f'when any\n  say "{text}"\n')
    run = await agent.query("go")
    assert run.text == text
    assert run.result.result == text


async def test_unicode_passes_unchanged(agent):
    text = "שלום 😀 \u2028 é \u0001"
    agent.serve('when any\n  say "${user}"\n')
    run = await agent.query(f"<{text}>")
    assert f"<{text}>" in run.text


async def test_origin_is_echoed_on_the_result(agent):
    agent.serve(ECHO)
    marked = await agent.query(stream(user_message("hello", origin={"kind": "human"})))
    plain = await agent.query("hello")
    assert marked.result.origin == {"kind": "human"}
    assert plain.result.origin is None


async def test_replayed_user_messages(agent):
    agent.serve(ECHO)
    uuid = "7d5c9f5e-0a3b-4c1e-9f57-5f2f0a6f3b11"
    run = await agent.query(
        stream(user_message("hello", uuid=uuid)), extra_args={"replay-user-messages": None}
    )
    replayed = [message for message in run.of(UserMessage) if message.uuid == uuid]
    assert len(replayed) == 1
    assert "hello" in str(replayed[0].content)


async def test_clear_starts_a_new_session(agent):
    agent.serve(ECHO)
    async with agent.client() as client:
        first = await agent.ask(client, "alpha")
        cleared = await agent.ask(client, "/clear")
        second = await agent.ask(client, "beta")
    [reset] = [m for m in cleared.messages if type(m).__name__ == "ConversationResetMessage"]
    assert reset.session_id == first.result.session_id
    assert cleared.result.session_id != first.result.session_id
    assert second.result.session_id == cleared.result.session_id
    assert "first answer" not in agent.requests[-1].messages_text()


async def test_verbatim_prompt_is_no_command(agent):
    agent.serve('when user contains "/clear"\n  say "I saw it."\n')
    run = await agent.query("/clear", verbatim_prompts=True)
    assert run.text == "I saw it."
