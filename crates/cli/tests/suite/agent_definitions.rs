//! What an agent file can give a sub-agent (skills, hooks, MCP servers, tools), and `windlass agents`.

use serde_json::{Value, json};

use crate::test_home::TestHome;

const DELEGATE: &str = "when user is \"work\" and results 0\n  call Bash {\"command\": \"echo x > made\"}\n\
                        when user is \"work\"\n  say \"inner: ${result}\"\n\
                        when user is \"go\" and results 0\n  call Agent {\"description\": \"d\", \"prompt\": \"work\", \"subagent_type\": \"helper\"}\n\
                        when user is \"alone\" and results 0\n  call Bash {\"command\": \"echo x > made\"}\n\
                        when any\n  say \"${result}\"\n";

fn home_with(files: &[(&str, &str)]) -> TestHome {
    let home = TestHome::new(DELEGATE);
    for (name, text) in files {
        std::fs::create_dir_all(home.path(name).parent().unwrap()).unwrap();
        home.write(name, text);
    }
    home
}

const HOOKED: &str = "---\nname: helper\ndescription: Helps\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: sh deny.sh\n  Stop:\n    - hooks:\n        - {\"type\": \"command\", \"command\": \"cat >> stops; echo >> stops\"}\n---\nYou help.\n";

const DENY: &str = "echo 'not for helpers' >&2\nexit 2\n";

// spec: CHILDREN-07
#[test]
fn hooks_of_an_agent_run_for_it_alone_and_after_trust_only() {
    let home = home_with(&[(".claude/agents/helper.md", HOOKED), ("deny.sh", DENY)]);
    let run = |prompt: &str| {
        let ran = home.run_prompt_unattended(prompt, &["--allowedTools", "Agent Bash"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        (std::fs::remove_file(home.path("made")).is_ok(), ran)
    };
    let (made, ran) = run("go");
    assert!(made && ran.err.contains("is not trusted"), "untrusted hooks ran: {}", ran.err);
    let trusted = home.run_bare(&["trust", "."]);
    assert!(trusted.code == 0, "{}{}", trusted.out, trusted.err);
    let (made, ran) = run("go");
    assert!(!made && ran.out.contains("not for helpers"), "{}{}", ran.out, ran.err);
    let stop: Value =
        serde_json::from_str(std::fs::read_to_string(home.path("stops")).unwrap().trim()).unwrap();
    assert_eq!(stop["hook_event_name"], "SubagentStop");
    assert_eq!(stop["agent_type"], "helper");
    let (made, ran) = run("alone");
    assert!(made, "the hook of the agent ran for its parent: {}", ran.err);
    // Trust is bound to the script that the hook names.
    home.write("deny.sh", "exit 0\n");
    let (made, ran) = run("go");
    assert!(made && ran.err.contains("changed since you trusted it"), "{}", ran.err);
}

/// The settings with which the sub-agent of a conversation ran.
fn settings_of_child(
    home: &TestHome,
) -> std::sync::Arc<windlass::core::settings::conversation_settings::Settings> {
    let lanes = home.query("SELECT id FROM lane WHERE id LIKE '%/%'");
    assert_eq!(lanes.len(), 1, "{lanes:?}");
    home.settings_of_runs(lanes.first().unwrap()).pop().unwrap()
}

// spec: CHILDREN-07
#[test]
fn skills_of_an_agent_are_a_part_of_its_prompt_and_its_tools_are_those_it_names() {
    let agent = "---\nname: helper\ndescription: Helps\nskills: [rules, missing]\ntools: Bash, mcp__db__*\nmcpServers: [db]\n---\nYou help.\n";
    let skill = "---\nname: rules\ndescription: House rules\n---\nAlways write a test first.\n";
    let home =
        home_with(&[(".claude/agents/helper.md", agent), (".claude/skills/rules/SKILL.md", skill)]);
    let more = ["--allowedTools", "Agent Bash", "--conversation", "c"];
    let ran = home.run_prompt_unattended("go", &more);
    assert!(ran.out.contains("inner:"), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("the skill missing of an agent is left out"), "{}", ran.err);
    let settings = settings_of_child(&home);
    assert!(settings.system.starts_with("You help."), "{}", settings.system);
    assert!(settings.system.contains("Always write a test first."), "{}", settings.system);
    let tools: Vec<&str> = settings.tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(tools, ["Bash"]);
}

// spec: CHILDREN-07
#[test]
fn a_mistake_in_the_hooks_of_an_agent_is_an_error_before_anything_runs() {
    for (hooks, says) in [
        ("hooks:\n  PreToolUs:\n    - hooks: []", "did you mean `PreToolUse`?"),
        ("hooks:\n  PreToolUse:\n    - hooks:\n      - type: command", "a hook has no `command`"),
        ("hooks: {broken", "is not JSON"),
        ("hooks:\n  a: 1\n     b: 2", "indented"),
    ] {
        let text = format!("---\nname: helper\ndescription: Helps\n{hooks}\n---\nYou help.\n");
        let home = home_with(&[(".claude/agents/helper.md", &text)]);
        let ran = home.run_prompt_unattended("go", &["--allowedTools", "Agent Bash"]);
        assert_eq!(ran.code, 2, "{hooks}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(says) && !home.path("made").exists(), "{hooks}: {}", ran.err);
        let listed = home.run_bare(&["agents"]);
        assert_eq!(listed.code, 1, "{hooks}: {}", listed.out);
        assert!(listed.out.contains(says), "{hooks}: {}", listed.out);
    }
}

// spec: CLI-13
#[test]
fn agents_are_listed_with_their_sources_and_errors() {
    let empty = home_with(&[]);
    let listed = empty.run_bare(&["agents"]);
    assert_eq!((listed.code, listed.err.as_str()), (0, ""));
    assert!(listed.out.starts_with("There are no agents here"), "{}", listed.out);

    let own = "---\nname: helper\ndescription: My own\nmodel: haiku\n---\nMine.\n";
    let plain = "---\nname: helper\ndescription: Of the project\nmodel: opus\n---\nTheirs.\n";
    let home = home_with(&[
        ("user/.claude/agents/helper.md", own),
        (".claude/agents/helper.md", plain),
        (".claude/agents/broken.md", "no front matter"),
    ]);
    // The user's own comes first in a folder that is not trusted.
    let listed = home.run_bare(&["agents", "list", "--json"]);
    let all: Value = serde_json::from_str(&listed.out).unwrap();
    assert_eq!(listed.code, 1, "{}", listed.err);
    assert_eq!(
        (&all["agents"][0]["source"], &all["agents"][0]["model"]),
        (&json!("user"), &json!("haiku"))
    );
    assert_eq!(
        (&all["hidden"][0]["source"], &all["hidden"][0]["model"]),
        (&json!("project"), &Value::Null)
    );
    assert!(all["errors"][0].as_str().unwrap().contains("broken.md is ignored"), "{all}");
    assert_eq!(home.run_bare(&["trust", "."]).code, 0);
    let listed = home.run_bare(&["agents"]);
    assert!(listed.out.contains("helper  Of the project  ("), "{}", listed.out);
    assert!(listed.out.contains("helper  replaced by the one above"), "{}", listed.out);
    let shown = home.run_bare(&["agents", "show", "helper"]);
    assert!(
        shown.out.contains("model        opus") && shown.out.ends_with("Theirs.\n"),
        "{}",
        shown.out
    );
    let unknown = home.run_bare(&["agents", "show", "nobody"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("unknown agent `nobody`; available: helper"), "{}", unknown.err);
}

// spec: CLI-11
#[test]
fn files_of_other_agents_are_read_unchanged_and_doctor_prints_their_paths() {
    let agent = "---\nname: helper\ndescription: Helps\ncolor: blue\n---\nYou help.\n";
    let skill = "---\nname: rules\ndescription: House rules\nlicense: MIT\n---\nTest first.\n";
    let files = [
        ("CLAUDE.md", "Use tabs.\n"),
        ("AGENTS.md", "Use spaces.\n"),
        (".claude/settings.json", "{\"permissions\": {\"allow\": [\"Bash\"]}}"),
        (".claude/agents/helper.md", agent),
        (".claude/skills/rules/SKILL.md", skill),
        (".mcp.json", "{\"mcpServers\": {}}"),
        ("home/config.toml", ""),
    ];
    let home = home_with(&files);
    assert_eq!(home.run_bare(&["trust", "."]).code, 0);
    let doctor = home.run_bare(&["doctor"]);
    let root = home.path(".").canonicalize().unwrap();
    for (name, text) in files {
        let path = root.join(name);
        assert!(doctor.out.contains(path.to_str().unwrap()), "{name}: {}", doctor.out);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "{name} was changed");
    }
    let ran = home.run_prompt_unattended("go", &["--allowedTools", "Agent", "--conversation", "c"]);
    assert!(ran.out.contains("inner:"), "{}{}", ran.out, ran.err);
    assert!(home.path("made").exists(), "the allow rule of the project counts: {}", ran.err);
    let settings = settings_of_child(&home);
    assert!(settings.system.contains("You help."), "{}", settings.system);
    let own = home.settings_of_runs("c");
    let context = &own.first().unwrap().user_context;
    assert!(context.contains("Use tabs.") && context.contains("Use spaces."), "{context}");
}
