"""How runs end: limits, errors of the service, stop reasons, structured output."""

import pytest
from claude_agent_sdk import AssistantMessage, ProcessError, ResultError

LOOP = 'when any\n  call Bash {"command": "echo again"}\n  usage in 100 out 10\n'
FAST_RETRIES = {"CLAUDE_CODE_MAX_RETRIES": "2"}

WEATHER = {
    "type": "json_schema",
    "schema": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "degrees": {"type": "integer"}},
        "required": ["city", "degrees"],
        "additionalProperties": False,
    },
}


# spec: SDK-04, SDK-05
async def test_max_turns(agent):
    agent.serve(LOOP)
    run = await agent.query_any("go", max_turns=2)
    assert isinstance(run.error, ResultError)
    assert run.error.subtype == run.result.subtype == "error_max_turns"
    assert run.result.is_error and run.result.terminal_reason == "max_turns"
    assert "2" in run.result.errors[0]
    assert len(agent.requests) == 2
    assert len(run.tool_results) == 2
    assert run.error.exit_code == 1
    assert run.result.result is None
    assert run.result.total_cost_usd > 0 and run.result.num_turns == 3
    assert run.result.usage["output_tokens"] == 20
    assert run.result.session_id == run.init["session_id"]
    assert run.result.stop_reason == "tool_use"


# spec: SDK-04
async def test_budget(agent):
    agent.serve(LOOP.replace("in 100 out 10", "in 1000000 out 10"))
    run = await agent.query_any("go", max_budget_usd=0.01)
    assert isinstance(run.error, ResultError)
    assert run.result.subtype == "error_max_budget_usd"
    assert run.result.terminal_reason == "budget_exhausted"
    assert "0.01" in run.result.errors[0]
    assert run.result.total_cost_usd > 0.01
    assert run.tool_results == []
    assert len(agent.requests) == 1


async def test_unknown_model(agent):
    agent.serve('when any\n  fail 404 "model: no-such-model"\n')
    run = await agent.query_any("go", model="no-such-model")
    assert isinstance(run.error, ResultError)
    assert run.error.api_error_status == 404
    assert (run.result.subtype, run.result.is_error) == ("success", True)
    assert run.result.terminal_reason == "api_error"
    [answer] = run.of(AssistantMessage)
    assert answer.model == "<synthetic>" and answer.error


async def test_wrong_key(agent):
    agent.serve('when any\n  fail 401 "invalid x-api-key"\n')
    run = await agent.query_any("go", env=FAST_RETRIES)
    assert isinstance(run.error, ResultError)
    assert run.error.api_error_status == 401
    [answer] = run.of(AssistantMessage)
    assert answer.error == "authentication_failed"
    assert run.result.is_error


@pytest.mark.parametrize(
    ("failure", "status"),
    [("fail 429 retry-after 1", 429), ("fail 529", 529), ("fail 500", 500), ("fail connect", None)],
)
async def test_retries(agent, failure, status):
    agent.serve(f'when any\n  once\n  {failure}\n\nwhen any\n  say "ok"\n')
    run = await agent.query("go")
    assert run.text == "ok"
    [retry] = run.system("api_retry")
    assert retry["attempt"] == 1
    assert retry["error_status"] == status
    assert retry["retry_delay_ms"] > 0 and retry["max_retries"] > 0
    assert not run.result.is_error


async def test_retries_come_to_an_end(agent):
    agent.serve("when any\n  fail 500\n")
    run = await agent.query_any("go", env=FAST_RETRIES)
    assert isinstance(run.error, ResultError)
    assert run.error.api_error_status == 500
    assert run.result.terminal_reason == "api_error"
    assert [retry["attempt"] for retry in run.system("api_retry")] == [1, 2]
    assert len(agent.requests) == 3


async def test_a_cut_stream_is_asked_again(agent):
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
    run = await agent.query("go")
    assert run.text == "complete"
    assert len(agent.requests) == 2


async def test_an_error_does_not_end_the_client(agent):
    agent.serve('when user contains "good"\n  say "ok"\n\nwhen any\n  fail 404 "no"\n')
    async with agent.client() as client:
        bad = await agent.ask(client, "bad")
        good = await agent.ask(client, "good")
    assert bad.result.is_error
    assert good.text == "ok" and not good.result.is_error


async def test_stop_sequence(agent):
    agent.serve('when any\n  say "until here"\n  stop stop_sequence "END"\n')
    run = await agent.query("go")
    assert run.result.stop_reason == "stop_sequence"
    assert run.result.result == "until here"


async def test_unknown_stop_reason(agent):
    agent.serve('when any\n  say "odd"\n  stop reason_of_tomorrow\n')
    run = await agent.query("go")
    assert run.result.stop_reason == "reason_of_tomorrow"
    assert not run.result.is_error


# spec: SDK-05
async def test_refusal(agent):
    agent.serve('when any\n  say "I will not"\n  stop refusal\n')
    run = await agent.query_any("go")
    assert run.result.is_error
    assert run.result.stop_reason == "refusal"
    assert isinstance(run.error, ResultError)


async def test_a_truncated_answer_is_continued(agent):
    agent.serve(
        """
        when ask 1
          say "the first half and"
          stop max_tokens

        when any
          say " the second half"
        """
    )
    run = await agent.query("go")
    assert run.text == "the first half and the second half"
    assert not run.result.is_error
    assert len(agent.requests) == 2


async def test_unknown_tool(agent):
    agent.serve('when results 0\n  call Teleport {"to": "Mars"}\n\nwhen error\n  say "No: ${result}"\n')
    run = await agent.query("go")
    assert run.tool_results[0].is_error
    assert "Teleport" in run.text


async def test_invalid_tool_input(agent):
    agent.serve('when results 0\n  call Read {"file": 3}\n\nwhen error\n  say "No: ${result}"\n')
    run = await agent.query("go")
    assert run.tool_results[0].is_error
    assert "file_path" in run.text
    assert not run.result.is_error


async def test_structured_output(agent):
    agent.serve('when results 0\n  call StructuredOutput {"city": "Rome", "degrees": 21}\n')
    run = await agent.query("weather", output_format=WEATHER)
    assert run.result.structured_output == {"city": "Rome", "degrees": 21}
    assert run.result.subtype == "success"
    assert "StructuredOutput" in agent.requests[0].tool_names()
    assert len(agent.requests) == 1


# spec: SDK-06
async def test_structured_output_is_checked(agent):
    agent.serve(
        """
        when results 0
          call StructuredOutput {"city": "Rome", "degrees": "warm"}

        when error
          call StructuredOutput {"city": "Rome", "degrees": 21}
        """
    )
    run = await agent.query("weather", output_format=WEATHER)
    assert run.tool_results[0].is_error
    assert run.result.structured_output == {"city": "Rome", "degrees": 21}


async def test_structured_output_after_tools(agent):
    agent.write("t.txt", "21\n")
    agent.serve(
        """
        when results 0
          call Read {"file_path": "%s"}

        when result of Read contains "21"
          call StructuredOutput {"city": "Rome", "degrees": 21}
        """ % (agent.project / "t.txt")
    )
    run = await agent.query("weather", output_format=WEATHER)
    assert run.result.structured_output == {"city": "Rome", "degrees": 21}


async def test_structured_output_is_asked_for_again(agent):
    agent.serve(
        """
        when ask 1
          say "It is warm."

        when any
          call StructuredOutput {"city": "Rome", "degrees": 21}
        """
    )
    run = await agent.query("weather", output_format=WEATHER)
    assert run.result.structured_output == {"city": "Rome", "degrees": 21}


# spec: SDK-04, SDK-06
async def test_structured_output_that_never_fits(agent):
    agent.serve('when any\n  call StructuredOutput {"city": 7}\n')
    run = await agent.query_any("weather", output_format=WEATHER)
    assert isinstance(run.error, ResultError)
    assert run.result.subtype == "error_max_structured_output_retries"
    assert run.result.structured_output is None


async def test_invalid_schema_is_an_error(agent):
    agent.serve('when any\n  say "ok"\n')
    schema = {"type": "json_schema", "schema": {"type": "no-such-type"}}
    run = await agent.query_any("go", output_format=schema)
    assert isinstance(run.error, ProcessError)
    assert agent.requests == []
