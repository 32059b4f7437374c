//! Sub-agent definitions: `.claude/agents/*.md`.

use serde_json::Value;

use crate::test_home::{CommandOutput, TestHome};

/// An agent with a shell delegates the counting to a sub-agent.
const COUNT: &str = r#"
when user is "count" and not tools include Bash
  say "Twelve, and I have no shell."

when results 0
  call Agent {"description": "count", "prompt": "count", "subagent_type": "counter"}

when any
  say "They say: ${result}"
"#;

const COUNTER: &str = "---\nname: counter\ndescription: Counts things\ntools: [Read, Grep]\n\
     model: haiku\n---\n\nYou count tiles and nothing else.\n";

fn home_with_agents(agents: &[(&str, &str)]) -> TestHome {
    let home = TestHome::new(COUNT);
    std::fs::create_dir_all(home.path(".claude/agents")).unwrap();
    for (name, text) in agents {
        home.write(&format!(".claude/agents/{name}"), text);
    }
    home
}

fn init_frame(ran: &CommandOutput) -> Value {
    serde_json::from_str(ran.out.lines().next().unwrap()).unwrap()
}

const STREAM: &[&str] = &["--output-format", "stream-json", "--verbose"];

#[test]
fn a_child_is_the_agent_that_its_task_names() {
    let home = home_with_agents(&[("counter.md", COUNTER)]);
    assert_eq!(home.run_bare(&["trust", "."]).code, 0);
    let ran = home.run_prompt_unattended("how many?", &["--conversation", "c"]);
    assert_eq!(ran.out, "They say: Twelve, and I have no shell.\n", "{}", ran.err);
    let store = std::fs::read(home.path("w.db")).unwrap();
    let stored = String::from_utf8_lossy(&store);
    assert!(stored.contains("You count tiles and nothing else."));
    assert!(stored.contains("- counter: Counts things"));
    let init = init_frame(&home.run_prompt_unattended("how many?", STREAM));
    assert_eq!(init["agents"], serde_json::json!(["general-purpose", "counter"]));
}

#[test]
fn agents_of_an_untrusted_folder_are_text_and_do_not_hide_the_users_own() {
    let home = home_with_agents(&[("counter.md", COUNTER)]);
    let ran = home.run_prompt_unattended("how many?", &[]);
    assert!(ran.out.contains("no shell"), "{}", ran.out);
    assert!(ran.err.contains("is not trusted") && ran.err.contains("(1 agent)"), "{}", ran.err);
    let has_prompt = |text: &str| {
        let store = std::fs::read(home.path("w.db")).unwrap();
        String::from_utf8_lossy(&store).contains(text)
    };
    std::fs::create_dir_all(home.path("user/.claude/agents")).unwrap();
    home.write("user/.claude/agents/counter.md", &COUNTER.replace("count tiles", "count sheep"));
    home.run_prompt_unattended("how many?", &[]);
    assert!(has_prompt("You count sheep and nothing else."));
    let ran = home.run_prompt_unattended("how many?", &["--setting-sources", ""]);
    assert!(ran.out.contains("no agent counter"), "{}", ran.out);
}

#[test]
fn a_file_that_is_no_agent_is_left_out_in_one_sentence() {
    let home = home_with_agents(&[
        ("README.md", "# Our agents\n"),
        ("nameless.md", "---\ndescription: x\n---\nbody"),
        ("mute.md", "---\nname: mute\ndescription: x\n---\n"),
        ("counter.md", COUNTER),
    ]);
    assert_eq!(home.run_bare(&["trust", "."]).code, 0);
    let ran = home.run_prompt_unattended("how many?", &[]);
    assert!(ran.code == 0 && ran.out.contains("no shell"), "{}", ran.err);
    for (file, reason) in [
        ("README.md", "no front matter"),
        ("nameless.md", "lacks `name`"),
        ("mute.md", "the file has no prompt text"),
    ] {
        let told = |line: &&str| line.contains(file) && line.contains(reason);
        assert_eq!(ran.err.lines().filter(told).count(), 1, "{file}: {}", ran.err);
    }
    let doctor = home.run(&["doctor"]).out;
    assert!(doctor.contains("available sub-agents: counter"), "{doctor}");
    assert!(doctor.contains("mute.md is ignored: the file has no prompt text"), "{doctor}");
}

// spec: TOOLS-05
#[test]
fn tools_have_the_names_that_people_know_them_by() {
    let home = TestHome::new(
        "when user is \"ask\" and results 0\n  \
         call AskUserQuestion {\"questions\": [{\"question\": \"Which?\"}]}\n\
         when tools include AskUserQuestion\n  say \"can ask\"\n\
         when tools include Agent\n  say \"can hand out\"\nwhen any\n  say \"neither\"\n",
    );
    assert_eq!(home.run_prompt_unattended("go", &["--tools", "ask_human"]).out, "can ask\n");
    assert_eq!(home.run_prompt_unattended("go", &["--tools", "Task"]).out, "can hand out\n");
    assert_eq!(
        home.run_prompt_unattended("go", &["--disallowedTools", "Task,ask_human"]).out,
        "neither\n"
    );
    assert!(
        init_frame(&home.run_prompt_unattended("go", STREAM))["tools"]
            .to_string()
            .contains("\"Task\"")
    );
    // In a profile, too: the human must have been asked.
    std::fs::create_dir_all(home.path("home")).unwrap();
    home.write("home/config.toml", "[profiles.careful]\nchecklist = { ask_human = 1 }\n");
    let ran = home.run_prompt("ask", &["--profile", "careful", "--conversation", "c"]);
    assert!(ran.code == 3 && ran.err.contains("Which?"), "{}", ran.err);
    let profile = ["--script", "a.script", "--profile", "careful"];
    let ran = home.run(&[&["answer", "c", "1", "text", "this one"], &profile[..]].concat());
    assert_eq!((ran.code, ran.out.as_str()), (0, "can ask\n"), "{}", ran.err);
    let ran = home.run_prompt("go", &["--profile", "careful"]);
    assert!(ran.err.contains("the answer was rejected by the checklist"), "{}", ran.err);
}

/// A mistake in front matter is reported with its position, by a run and by `doctor` alike, and
/// nothing runs.
// spec: PERMISSIONS-22
#[test]
fn a_slip_in_the_head_of_an_agent_file_is_an_error_with_its_line() {
    for (line, expected) in [
        ("tols: Read", "unknown key of an agent file `tols`; did you mean `tools`?"),
        ("disallowed_tools: Bash", "did you mean `disallowedTools`?"),
        ("tools: Read, Bsh", "names the unknown tool `Bsh`; did you mean `Bash`?"),
        ("disallowedTools: Nonsense", "`Nonsense`, so it would deny nothing"),
        ("model: [haiku, sonnet]", "`model` must be a text"),
        ("tools:\n  Read: true", "`tools` must be a list of tools"),
        ("name: other", "`name` is there twice, first in line 2"),
    ] {
        let text = COUNTER.replace("tools: [Read, Grep]\nmodel: haiku", line);
        let home = home_with_agents(&[("counter.md", &text)]);
        assert_eq!(home.run_bare(&["trust", "."]).code, 0);
        let doctor = home.run_bare(&["doctor"]);
        assert!(
            doctor.out.contains("counter.md") && doctor.out.contains("line 4: "),
            "{line}: {}",
            doctor.out
        );
        assert!(doctor.out.contains(expected), "{line}: {}", doctor.out);
        if line.starts_with("name") {
            continue;
        }
        assert_ne!(doctor.code, 0, "{line}");
        let ran = home.run_prompt_unattended("how many?", &[]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{line}: {}", ran.err);
        assert!(
            ran.err.contains("counter.md line 4: ") && ran.err.contains(expected),
            "{}",
            ran.err
        );
    }
}

// spec: PERMISSIONS-22
#[test]
fn an_unknown_key_of_an_agent_file_is_a_warning_and_a_known_one_of_claude_code_is_fine() {
    let text = COUNTER.replace(
        "model: haiku",
        "model: haiku\nflavour: sweet\ncolor: red\nmcpServers: x\nmemory: user",
    );
    let home = home_with_agents(&[("counter.md", &text)]);
    assert_eq!(home.run_bare(&["trust", "."]).code, 0);
    let ran = home.run_prompt_unattended("how many?", &[]);
    assert_eq!(ran.out, "They say: Twelve, and I have no shell.\n", "{}", ran.err);
    assert!(
        ran.err.contains("counter.md line 6: unknown key of an agent file `flavour`"),
        "{}",
        ran.err
    );
    assert!(!ran.err.contains("color") && !ran.err.contains("memory"), "{}", ran.err);
    let ran = home.run_prompt_unattended("how many?", &["--strict-settings"]);
    assert!(ran.code == 2 && ran.err.contains("--strict-settings"), "{}", ran.err);
}

#[test]
fn an_agent_does_not_have_the_tools_that_its_file_disallows() {
    let text = COUNTER.replace("tools: [Read, Grep]", "disallowedTools: Bash(git:*), Write");
    let home = home_with_agents(&[("counter.md", &text)]);
    let ran = home.run_prompt_unattended("how many?", &[]);
    assert_eq!(ran.out, "They say: Twelve, and I have no shell.\n", "{}", ran.err);
}
