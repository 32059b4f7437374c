//! Hooks about what happens beside the calls of a run: typed commands, instructions, models, worktrees;
//! and hooks with a condition.

use serde_json::{Value, json};

use crate::test_home::{CommandOutput, TestHome};

const SCRIPT: &str = r#"
when user is "two" and results 0
  call Bash {"command": "git status --short"}
  call Bash {"command": "echo plain"}
  call Read {"file_path": "deep/a.txt"}

when user contains "Price of"
  say "asked: ${user}"

when any
  say "done"
"#;

/// Keeps the input as one line. Calls run in parallel, so a line is written at once.
const KEEP: &str = r#"line=$(tr -d '\n'); printf '%s\n' "$line" >> heard"#;

fn group(command: &str) -> Value {
    json!([{"hooks": [{"type": "command", "command": command}]}])
}

fn heard(home: &TestHome) -> Vec<Value> {
    let text = std::fs::read_to_string(home.path("heard")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn run(home: &TestHome, prompt: &str, hooks: &Value, more: &[&str]) -> CommandOutput {
    let settings = json!({"hooks": hooks}).to_string();
    let more = [&["--settings", &settings, "--allowedTools", "Bash Read"], more].concat();
    home.run_prompt_unattended(prompt, &more)
}

// spec: HOOKS-18
#[test]
fn a_hook_sees_what_a_typed_command_becomes_and_can_block_it() {
    let home = TestHome::new(SCRIPT);
    std::fs::create_dir_all(home.path(".claude/commands")).unwrap();
    home.write(".claude/commands/price.md", "Price of $1");
    let ran = run(&home, "/price tea", &json!({"UserPromptExpansion": group(KEEP)}), &[]);
    assert_eq!(ran.out, "asked: Price of tea\n", "{}", ran.err);
    let [input] = &heard(&home)[..] else { panic!("{:?}", heard(&home)) };
    assert_eq!(input["hook_event_name"], "UserPromptExpansion");
    assert_eq!(input["expansion_type"], "slash_command");
    assert_eq!((&input["command_name"], &input["command_args"]), (&json!("price"), &json!("tea")));
    assert_eq!(input["prompt"], "Price of tea");
    assert!(input["session_id"].as_str().is_some_and(|id| !id.is_empty()), "{input}");
    // Context for the model follows the prompt; an ordinary prompt is no command.
    let add = "echo '{\"hookSpecificOutput\": {\"hookEventName\": \"UserPromptExpansion\", \"additionalContext\": \"in coins\"}}'";
    let ran = run(&home, "/price tea", &json!({"UserPromptExpansion": group(add)}), &[]);
    assert_eq!(ran.out, "asked: Price of tea\n\nin coins\n", "{}", ran.err);
    let block = json!({"UserPromptExpansion": group("echo 'no prices' >&2; exit 2")});
    let ran = run(&home, "/price tea", &block, &[]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    assert!(ran.err.contains("a hook blocked /price: no prices"), "{}", ran.err);
    assert_eq!(run(&home, "hello", &block, &[]).out, "done\n");
    // A matcher is about the command.
    let other = json!({"UserPromptExpansion": [{"matcher": "cost", "hooks": [{"type": "command", "command": "exit 2"}]}]});
    assert_eq!(run(&home, "/price tea", &other, &[]).out, "asked: Price of tea\n");
}

// spec: HOOKS-18
#[test]
fn hooks_are_told_of_instructions_at_the_start_and_in_deeper_folders() {
    let home = TestHome::new(SCRIPT);
    home.write("CLAUDE.md", "Be kind.");
    home.write("CLAUDE.local.md", "Be quick.");
    std::fs::create_dir_all(home.path("deep")).unwrap();
    home.write("deep/CLAUDE.md", "Deep rules.");
    home.write("deep/a.txt", "a");
    let ran = run(&home, "two", &json!({"InstructionsLoaded": group(KEEP)}), &[]);
    assert_eq!(ran.out, "done\n", "{}", ran.err);
    let told = heard(&home);
    let line = |input: &Value| {
        let path = input["file_path"].as_str().unwrap();
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name).to_owned();
        let text = |key: &str| input[key].as_str().unwrap().to_owned();
        (name, text("memory_type"), text("load_reason"))
    };
    let told: Vec<_> = told.iter().map(line).collect();
    let of = |name: &str, kind: &str, why: &str| (name.to_owned(), kind.to_owned(), why.to_owned());
    assert_eq!(
        told,
        [
            of("CLAUDE.md", "Project", "session_start"),
            of("CLAUDE.local.md", "Local", "session_start"),
            of("CLAUDE.md", "Project", "nested_traversal"),
        ]
    );
}

// spec: HOOKS-19
#[test]
fn a_condition_chooses_the_calls_of_a_hook() {
    let home = TestHome::new(SCRIPT);
    std::fs::create_dir_all(home.path("deep")).unwrap();
    home.write("deep/a.txt", "a");
    let hook = |rule: &str| json!({"PreToolUse": [{"hooks": [{"type": "command", "command": KEEP, "if": rule}]}]});
    let calls = |rule: &str| {
        drop(std::fs::remove_file(home.path("heard")));
        let ran = run(&home, "two", &hook(rule), &[]);
        assert_eq!(ran.out, "done\n", "{rule}: {}", ran.err);
        let input = |input: &Value| input["tool_input"].to_string();
        let mut calls: Vec<String> = heard(&home).iter().map(input).collect();
        calls.sort();
        calls
    };
    let git = r#"{"command":"git status --short"}"#;
    let read = r#"{"file_path":"deep/a.txt"}"#;
    assert_eq!(calls("Bash(git *)"), [git]);
    assert_eq!(calls("Read(deep/**)"), [read]);
    assert_eq!(calls("Read(other/**)"), Vec::<String>::new());
    assert_eq!(calls("Bash").len(), 2);
    for (hooks, says) in [(hook("Bash("), "`if`"), (hook("Bsh(git *)"), "did you mean")] {
        let ran = run(&home, "two", &hooks, &[]);
        assert!(ran.code != 0 && ran.err.contains(says), "{}", ran.err);
    }
    // Without a call the condition never holds.
    let stop = json!({"Stop": [{"hooks": [{"type": "command", "command": KEEP, "if": "Bash"}]}]});
    drop(std::fs::remove_file(home.path("heard")));
    assert_eq!(run(&home, "hello", &stop, &[]).out, "done\n");
    assert_eq!(heard(&home), Vec::<Value>::new());
}
