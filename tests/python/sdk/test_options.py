"""The options of the SDK and what they change in requests and messages."""

import json

import pytest
from claude_agent_sdk import AgentDefinition, ProcessError
from harness import MODEL, result_text

OK = 'when any\n  say "ok"\n'


async def test_system_prompt_text(agent):
    agent.serve(OK)
    await agent.query("go", system_prompt="You are a pirate.")
    assert "You are a pirate." in agent.requests[0].system_text()


async def test_system_prompt_with_leading_dash(agent):
    agent.serve(OK)
    await agent.query("go", system_prompt="--- a line of dashes")
    assert "--- a line of dashes" in agent.requests[0].system_text()


async def test_without_system_prompt_only_little_is_sent(agent):
    agent.serve(OK)
    await agent.query("go")
    await agent.query("go", system_prompt={"type": "preset", "preset": "claude_code"})
    plain, preset = [len(request.system_text()) for request in agent.requests]
    assert plain < 1000 and plain < preset


async def test_system_prompt_appended(agent):
    agent.serve(OK)
    preset = {"type": "preset", "preset": "claude_code", "append": "Speak in rhymes."}
    await agent.query("go", system_prompt=preset)
    system = agent.requests[0].system_text()
    assert "Speak in rhymes." in system and len(system) > 1000


async def test_system_prompt_from_a_file(agent):
    agent.serve(OK)
    path = agent.write("prompt.md", "You are a parrot.")
    await agent.query("go", system_prompt={"type": "file", "path": str(path)})
    assert "You are a parrot." in agent.requests[0].system_text()


async def test_tools_select_the_built_in_set(agent):
    agent.serve(OK)
    run = await agent.query("go", tools=["Read", "Bash"])
    assert set(run.init["tools"]) == {"Read", "Bash"}
    assert agent.requests[0].tool_names() == {"Read", "Bash"}


async def test_no_tools(agent):
    agent.serve(OK)
    run = await agent.query("go", tools=[])
    assert run.init["tools"] == []
    assert agent.requests[0].tool_names() == set()


async def test_tools_preset(agent):
    agent.serve(OK)
    run = await agent.query("go", tools={"type": "preset", "preset": "claude_code"})
    assert {"Read", "Bash", "Edit", "Write"} <= set(run.init["tools"])


@pytest.mark.parametrize(
    ("alias", "part"), [("opus", "opus"), ("sonnet", "sonnet"), ("haiku", "haiku")]
)
async def test_model_aliases(agent, alias, part):
    agent.serve(OK)
    run = await agent.query_any("go", model=alias)
    assert run.init["model"].startswith(f"claude-{part}")
    assert agent.requests[0].body["model"].startswith(f"claude-{part}")


async def test_model_of_the_environment(agent):
    agent.serve(OK)
    run = await agent.query("go", model=None, env={"ANTHROPIC_MODEL": "claude-haiku-4-5"})
    assert run.init["model"] == agent.requests[0].body["model"] == "claude-haiku-4-5"


async def test_fallback_model_answers_when_the_first_is_overloaded(agent):
    agent.serve("when any\n  times 3\n  fail 529\n\n" + OK)
    run = await agent.query("go", fallback_model="claude-haiku-4-5")
    assert run.text == "ok"
    assert agent.requests[-1].body["model"] == "claude-haiku-4-5"
    [switch] = run.system("model_fallback")
    assert (switch["original_model"], switch["fallback_model"]) == (MODEL, "claude-haiku-4-5")
    assert "claude-haiku-4-5" in run.result.model_usage


async def test_cwd(agent):
    agent.serve('when results 0\n  call Bash {"command": "pwd"}\n\nwhen any\n  say "${result}"\n')
    folder = agent.project / "sub folder"
    folder.mkdir()
    run = await agent.query("go", cwd=folder)
    assert run.init["cwd"] == str(folder)
    assert result_text(run.tool_results[0]).strip() == str(folder)


async def test_add_dirs_may_be_read_and_edited(agent):
    extra = agent.root / "extra"
    extra.mkdir()
    (extra / "b.txt").write_text("from the other folder\n")
    agent.serve(
        """
        when user contains "inspect it" and results 0
          call Read {"file_path": "%s"}

        when user contains "create it" and results 0
          call Write {"file_path": "%s", "content": "new\\n"}

        when any
          say "${result}"
        """ % (extra / "b.txt", extra / "c.txt")
    )
    run = await agent.query("inspect it", add_dirs=[extra])
    assert not run.tool_results[0].is_error and "from the other folder" in run.text
    await agent.query("create it", add_dirs=[extra], permission_mode="acceptEdits")
    assert (extra / "c.txt").read_text() == "new\n"


async def test_outside_of_the_folders_edits_are_not_accepted(agent):
    extra = agent.root / "extra"
    extra.mkdir()
    agent.serve(
        """
        when results 0
          call Write {"file_path": "%s", "content": "new\\n"}

        when any
          say "${result}"
        """ % (extra / "c.txt")
    )
    run = await agent.query("write", permission_mode="acceptEdits")
    assert run.tool_results[0].is_error
    assert not (extra / "c.txt").exists()


async def test_env_reaches_the_binary(agent):
    agent.serve(OK)
    run = await agent.query("go", env={"ANTHROPIC_API_KEY": "another-key"})
    assert run.text == "ok"
    assert agent.requests[0].headers["x-api-key"] == "another-key"


async def test_user_agent_names_the_sdk(agent):
    agent.serve(OK)
    await agent.query("go")
    user_agent = agent.requests[0].headers["user-agent"]
    assert "agent-sdk/0.2.182" in user_agent and "sdk-py" in user_agent


async def test_settings_inline_and_from_a_file(agent):
    agent.serve(
        'when results 0\n  call Bash {"command": "touch x"}\n\nwhen any\n  say "${result}"\n'
    )
    settings = json.dumps({"permissions": {"allow": ["Bash(touch:*)"]}})
    inline = await agent.query("go", settings=settings)
    path = agent.write("more-settings.json", settings)
    from_file = await agent.query("go", settings=str(path))
    for run in (inline, from_file):
        assert not run.tool_results[0].is_error
    assert (agent.project / "x").exists()


async def test_sandbox_is_merged_into_settings(agent):
    agent.serve(OK)
    run = await agent.query("go", settings='{"outputStyle": "default"}', sandbox={"enabled": False})
    assert run.text == "ok"


def write_setting_files(agent):
    """A command for each source, so that init tells which sources were read."""
    agent.write(".claude/commands/of-project.md", "project command")
    (agent.config / "commands").mkdir()
    (agent.config / "commands" / "of-user.md").write_text("user command")


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        (None, {"of-user", "of-project"}),
        ([], set()),
        (["user"], {"of-user"}),
        (["project"], {"of-project"}),
        (["user", "project", "local"], {"of-user", "of-project"}),
    ],
)
async def test_setting_sources(agent, sources, expected):
    write_setting_files(agent)
    agent.serve(OK)
    run = await agent.query("go", setting_sources=sources)
    assert {"of-user", "of-project"} & set(run.init["slash_commands"]) == expected


async def test_local_settings_are_a_source_of_their_own(agent):
    style = json.dumps({"outputStyle": "terse"})
    agent.write(".claude/settings.local.json", style)
    agent.write(".claude/output-styles/terse.md", "---\nname: terse\ndescription: short\n---\nBe terse.")
    agent.serve(OK)
    with_local = await agent.query("go", setting_sources=["project", "local"])
    without = await agent.query("go", setting_sources=["project"])
    assert with_local.init["output_style"] == "terse"
    assert without.init["output_style"] == "default"


async def test_memory_of_the_project_needs_its_source(agent):
    agent.write("CLAUDE.md", "The password is swordfish.")
    agent.serve(OK)
    await agent.query("go", setting_sources=["project"])
    await agent.query("go", setting_sources=[])
    with_source, without = agent.requests
    assert "swordfish" in json.dumps(with_source.body)
    assert "swordfish" not in json.dumps(without.body)


async def test_agents_of_the_program_and_of_files(agent):
    front = "---\nname: {}\ndescription: from a file\n---\nYou come from a file.\n"
    agent.write(".claude/agents/file-agent.md", front.format("file-agent"))
    agent.serve(OK)
    agents = {
        "given": AgentDefinition(description="given", prompt="You are given.", model="haiku"),
        "huge": AgentDefinition(description="huge", prompt="x" * 260_000),
    }
    run = await agent.query("go", agents=agents, setting_sources=["project"])
    assert {"given", "huge", "file-agent"} <= set(run.init["agents"])
    without = await agent.query("go", setting_sources=[])
    assert not {"given", "file-agent"} & set(without.init["agents"])


async def test_betas_are_sent(agent):
    agent.serve(OK)
    await agent.query("go", betas=["context-1m-2025-08-07"])
    assert "context-1m-2025-08-07" in agent.requests[0].headers["anthropic-beta"]


@pytest.mark.parametrize(
    ("thinking", "expected"),
    [
        ({"type": "enabled", "budget_tokens": 5000}, ("enabled", 5000)),
        ({"type": "disabled"}, ("disabled", None)),
    ],
)
async def test_thinking(agent, thinking, expected):
    agent.serve(OK)
    await agent.query("go", thinking=thinking)
    sent = agent.requests[0].body.get("thinking", {"type": "disabled"})
    assert (sent["type"], sent.get("budget_tokens")) == expected


async def test_max_thinking_tokens(agent):
    agent.serve(OK)
    await agent.query("go", max_thinking_tokens=4000)
    assert agent.requests[0].body["thinking"]["budget_tokens"] == 4000


async def test_effort(agent):
    agent.serve(OK)
    await agent.query_any("go", effort="low", model="claude-opus-4-5")
    assert agent.requests[0].body["output_config"]["effort"] == "low"


async def test_task_budget(agent):
    agent.serve(OK)
    await agent.query_any("go", task_budget={"total": 60_000}, model="claude-opus-4-5")
    request = agent.requests[0]
    assert request.body["output_config"]["task_budget"] == {"type": "tokens", "total": 60_000}
    assert "task-budgets-2026-03-13" in request.headers["anthropic-beta"]


async def test_session_id_is_used_and_unique(agent):
    agent.serve(OK)
    session = "0f0e0d0c-0b0a-4908-8706-050403020100"
    run = await agent.query("go", session_id=session)
    assert run.result.session_id == run.init["session_id"] == session
    lines = []
    again = await agent.query_any("go", session_id=session, stderr=lines.append)
    assert isinstance(again.error, ProcessError)
    assert "already in use" in "\n".join(lines)


async def test_strict_mcp_config_ignores_the_project(agent):
    servers = {"mcpServers": {"of-project": {"command": "false"}}}
    agent.write(".mcp.json", json.dumps(servers))
    agent.serve(OK)
    run = await agent.query("go", strict_mcp_config=True)
    assert run.init["mcp_servers"] == []


async def test_stderr_is_empty_in_a_clean_run(agent):
    agent.serve(OK)
    lines = []
    run = await agent.query("go", stderr=lines.append)
    assert run.text == "ok"
    assert lines == []


async def test_extra_args_are_passed_on(agent):
    agent.serve(OK)
    run = await agent.query("go", extra_args={"debug-file": str(agent.root / "debug.log")})
    assert run.text == "ok"


async def test_slash_command_of_the_project(agent):
    agent.write(".claude/commands/greet.md", "Greet $ARGUMENTS warmly.")
    agent.serve('when user contains "Greet Ada warmly."\n  say "Dear Ada!"\n')
    run = await agent.query("/greet Ada")
    assert run.text == "Dear Ada!"


async def test_skill_of_the_project(agent):
    text = "---\nname: brewing\ndescription: how to brew tea\n---\nBoil the water first.\n"
    agent.write(".claude/skills/brewing/SKILL.md", text)
    agent.serve(
        """
        when results 0
          call Skill {"skill": "brewing"}

        when any
          say "ok"
        """
    )
    run = await agent.query("make tea", skills=["brewing"])
    assert "brewing" in run.init["skills"]
    assert not run.tool_results[0].is_error
    assert "Boil the water first." in agent.requests[-1].messages_text()


async def test_plugin_brings_its_commands(agent):
    plugin = agent.root / "plugin"
    (plugin / ".claude-plugin").mkdir(parents=True)
    (plugin / "commands").mkdir()
    manifest = {"name": "tools-of-mine", "version": "1.0.0", "description": "mine"}
    (plugin / ".claude-plugin" / "plugin.json").write_text(json.dumps(manifest))
    (plugin / "commands" / "shout.md").write_text("Shout it.")
    agent.serve(OK)
    run = await agent.query("go", plugins=[{"type": "local", "path": str(plugin)}])
    assert "tools-of-mine" in [entry["name"] for entry in run.init["plugins"]]
    assert "tools-of-mine:shout" in run.init["slash_commands"]
