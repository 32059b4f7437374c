//! Slash commands, lists to choose from, the user's own commands, vi keys.

use crate::pty_screen::PtyScreen;
use crate::test_home::TestHome;

const TALK: &str = r#"
when user is "write it" and results 0
  call Read {"file_path": "a.txt"}

when result of Read contains "before"
  call Write {"file_path": "a.txt", "content": "changed\n"}

when user matches "*Look at this project*"
  say "I would write CLAUDE.md now."

when user matches "*The user ran this command*"
  say "I have read its output."

when user is "greet the world"
  say "Hello, world!"

when any
  say "You said: ${user}"
"#;

fn start(home: &TestHome, args: &[&str]) -> PtyScreen {
    let mut screen = PtyScreen::start_sized(home, args, (100, 40), &[]);
    screen.wait_until_idle();
    screen
}

/// Sends a prompt and waits for its answer.
fn send(screen: &mut PtyScreen, prompt: &str) {
    screen.type_in(&format!("{prompt}\r"));
    screen.wait_for(&format!("You said: {prompt}"));
    screen.wait_until_idle();
}

/// Runs a command and waits for what it shows.
fn command(screen: &mut PtyScreen, typed: &str, shown: &[&str]) {
    screen.wait_until_idle();
    screen.type_in(&format!("{typed}\r"));
    for text in shown {
        screen.wait_until(text, |screen| screen.everything().contains(text));
    }
}

// spec: TERMINAL-03
#[test]
fn commands_show_what_is_in_force() {
    let home = TestHome::new(TALK);
    for folder in [".claude/agents", ".claude/skills/shout", ".claude/commands", "user/.claude"] {
        std::fs::create_dir_all(home.path(folder)).unwrap();
    }
    home.write(".claude/agents/helper.md", "---\nname: helper\ndescription: helps\n---\nHelp.\n");
    home.write(
        ".claude/skills/shout/SKILL.md",
        "---\nname: shout\ndescription: in capitals\n---\nShout.\n",
    );
    home.write(
        ".claude/commands/greet.md",
        "---\ndescription: says hello\nargument-hint: NAME\n---\ngreet the $ARGUMENTS\n",
    );
    let hooks = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}]}}"#;
    home.write("user/.claude/settings.json", hooks);
    home.write("CLAUDE.md", "Be brief.\n");
    let mut screen = start(&home, &[]);
    command(&mut screen, "/help", &["/export", "Ctrl-G", "/greet", "NAME  says hello"]);
    command(&mut screen, "/agents", &["helper  helps"]);
    command(&mut screen, "/skills", &["/shout  in capitals"]);
    command(&mut screen, "/hooks", &["PreToolUse (Bash): true"]);
    command(&mut screen, "/mcp", &["No MCP servers are configured here"]);
    command(&mut screen, "/status", &["conversation  conversation:", "sandbox       "]);
    command(&mut screen, "/doctor", &["store"]);
    command(&mut screen, "/tasks", &["No command and no sub-agent runs"]);
    command(&mut screen, "/permissions", &["Mode: default", "Allowed: none"]);
    command(&mut screen, "/greet world", &["Hello, world!"]);
    command(&mut screen, "/explain", &["greet the world"]);
    command(&mut screen, "/cost", &["tokens in 1 run"]);
    command(&mut screen, "/context", &["tokens"]);
    command(&mut screen, "/compact", &["nothing"]);
    command(&mut screen, "/nonsense", &["unknown command /nonsense"]);
    command(&mut screen, "/init", &["I would write CLAUDE.md now."]);
    assert!(screen.quit().success());
}

// spec: TERMINAL-03
#[test]
fn commands_are_completed() {
    let home = TestHome::new(TALK);
    let mut screen = start(&home, &[]);
    screen.type_in("/exp");
    screen.wait_for("/explain");
    screen.wait_for("/export");
    screen.type_in("\u{1b}[B\t");
    screen.wait_for("❯ /export");
    screen.type_in("\u{15}/vi\r");
    screen.wait_for("vi keys are on");
}

/// A server with a prompt and a resource.
const SERVER: &str = r#"#!/bin/sh
reply() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/^[^i]*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"method":"initialize"'*) reply '{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"resources":{}},"serverInfo":{"name":"desk","version":"1"}}' ;;
    *'"method":"tools/list"'*) reply '{"tools":[]}' ;;
    *'"method":"prompts/list"'*) reply '{"prompts":[{"name":"review","description":"Reviews a file","arguments":[{"name":"file","required":true}]}]}' ;;
    *'"method":"prompts/get"'*) reply '{"messages":[{"role":"user","content":{"type":"text","text":"Review it well."}}]}' ;;
    *'"method":"resources/list"'*) reply '{"resources":[{"uri":"desk://note","name":"note"}]}' ;;
    *'"method":"resources/templates/list"'*) reply '{"resourceTemplates":[]}' ;;
    *'"method":"resources/read"'*) reply '{"contents":[{"uri":"desk://note","mimeType":"text/plain","text":"buy milk"}]}' ;;
  esac
done
"#;

// spec: TERMINAL-19
#[test]
fn prompts_and_resources_of_servers_and_sub_agents_are_completed() {
    let script = "when user matches \"*buy milk*\"\n  say \"Milk it is.\"\n\
                  when user contains \"Review it well.\"\n  say \"Reviewed.\"\n\
                  when user contains \"start it with Agent\"\n  say \"I ask the helper.\"\n";
    let home = TestHome::new(script);
    home.write("server.sh", SERVER);
    std::fs::create_dir_all(home.path(".claude/agents")).unwrap();
    home.write(".claude/agents/helper.md", "---\nname: helper\ndescription: helps\n---\nHelp.\n");
    let config = r#"{"mcpServers": {"desk": {"command": "/bin/sh", "args": ["server.sh"]}}}"#;
    let mut screen = start(&home, &["--mcp-config", config]);
    screen.wait_until("the prompt of the server", |screen| {
        screen.type_in("\u{15}/mcp__");
        screen.screen().contains("/mcp__desk__review  <file> Reviews a file")
    });
    screen.type_in("\t main.rs\r");
    screen.wait_for("Reviewed.");
    screen.wait_until_idle();
    screen.wait_until("the resource", |screen| {
        screen.type_in("\u{15}what is in @des");
        screen.screen().contains("@desk:desk://note")
    });
    screen.type_in("\t\r");
    screen.wait_for("Milk it is.");
    screen.wait_until_idle();
    screen.type_in("ask @help");
    screen.wait_for("@agent-helper  sub-agent: helps");
    screen.type_in("\t\r");
    screen.wait_for("I ask the helper.");
    command(&mut screen, "/help", &["/mcp__desk__review"]);
}

// spec: TERMINAL-03
#[test]
fn the_doctor_knows_the_model_of_the_session_and_titles_are_wrapped() {
    let home = TestHome::new(TALK);
    let mut screen = PtyScreen::start_sized(&home, &[], (50, 40), &[]);
    screen.wait_until_idle();
    screen.type_in("/doctor\r");
    screen.wait_until("the model", |screen| {
        screen.everything().contains("scripted (from this session)")
    });
    assert!(!screen.everything().contains("no model chosen"), "{}", screen.everything());
    screen.wait_until_idle();
    screen.type_in("/model\r");
    screen.wait_for("models`.");
    screen.type_in("\u{1b}");
    screen.wait_until_idle();
}

// spec: TERMINAL-03
#[test]
fn an_explanation_is_wrapped_once_and_a_wait_is_no_recovery() {
    let script = "when results 0\n  call Bash {\"command\": \"echo one > done\"}\nwhen any\n  say \"Written.\"\n";
    let home = TestHome::new(script);
    let mut screen = PtyScreen::start_sized(&home, &["do it"], (60, 50), &[]);
    screen.wait_for_question("Allow Bash");
    screen.type_in("y\r");
    screen.wait_for("Written.");
    screen.wait_until_idle();
    screen.type_in("/explain\r");
    screen.wait_until("the explanation", |screen| screen.everything().contains("What was used"));
    let shown = screen.everything();
    assert!(!shown.contains("Another process"), "{shown}");
    assert!(shown.contains("Question 1 was answered"), "{shown}");
    // A line that was broken at 100 columns and then at 60 would leave a short rest in the middle.
    let lines: Vec<&str> =
        shown.lines().skip_while(|line| !line.starts_with("❯ /explain")).collect();
    let first = lines.iter().position(|line| line.contains("Bash {\"command\"")).unwrap();
    assert!(lines[first].len() > 40 || lines[first].ends_with(']'), "{shown}");
}

// spec: TERMINAL-03
#[test]
fn rules_are_changed_for_the_session() {
    let home = TestHome::new(TALK);
    home.write("a.txt", "before\n");
    let mut screen = start(&home, &[]);
    command(&mut screen, "/permissions allow Write(a.txt)", &["allow Write(a.txt)"]);
    command(&mut screen, "/permissions deny Bash(rm:*)", &["deny Bash(rm:*)"]);
    command(&mut screen, "/permissions", &["Allowed: Write(a.txt)", "Denied: Bash(rm:*)"]);
    command(&mut screen, "/permissions allow Write(", &["cannot be read"]);
    command(&mut screen, "/permissions grant Read", &["unknown word \"grant\""]);
    command(&mut screen, "write it", &["You said: write it"]);
    assert_eq!(std::fs::read_to_string(home.path("a.txt")).unwrap(), "changed\n");
    command(&mut screen, "/permissions remove Write(a.txt)", &["Write(a.txt) is removed"]);
    command(&mut screen, "/permissions remove Write(a.txt)", &["there is no rule Write(a.txt)"]);
}

// spec: TERMINAL-03
#[test]
fn effort_and_model_are_chosen_from_lists() {
    let home = TestHome::new(TALK);
    let mut screen = start(&home, &[]);
    screen.type_in("/effort\r");
    screen.wait_for("How much effort");
    screen.type_in("high\r");
    screen.wait_for("The effort is high from here on.");
    command(&mut screen, "/effort low", &["The effort is low from here on."]);
    command(&mut screen, "/effort huge", &["unknown effort \"huge\""]);
    screen.type_in("/model\r");
    screen.wait_for("Choose another");
    screen.wait_for("Haiku");
    screen.type_in("\u{1b}");
    screen.wait_until_idle();
}

// spec: TERMINAL-04
#[test]
fn a_rewind_brings_back_conversation_and_files() {
    let home = TestHome::new(TALK);
    home.write("a.txt", "before\n");
    let mut screen = start(&home, &["--allowedTools", "Write"]);
    send(&mut screen, "first");
    send(&mut screen, "write it");
    send(&mut screen, "third");
    // Escape twice lists the prompts.
    screen.type_in("\u{1b}");
    screen.wait_for("Press Esc again");
    screen.type_in("\u{1b}");
    screen.wait_for("Go back to before which prompt?");
    screen.type_in("write\r");
    screen.wait_for("The conversation and the files");
    screen.wait_for("1 file, +1 -1 lines");
    screen.type_in("\r");
    screen.wait_for("The conversation goes on before: write it");
    screen.wait_for("❯ write it");
    assert_eq!(std::fs::read_to_string(home.path("a.txt")).unwrap(), "before\n");
    screen.type_in("\u{15}instead\r");
    screen.wait_for("You said: instead");
    screen.wait_until_idle();
    screen.quit();
    let mut screen = start(&home, &["--continue"]);
    let shown = screen.screen();
    assert!(shown.contains("❯ first") && shown.contains("❯ instead"), "{shown}");
    assert!(!shown.contains("❯ third") && !shown.contains("❯ write it"), "{shown}");
    // The first prompt: a new conversation.
    screen.type_in("/rewind\r");
    screen.wait_for("Go back to before which prompt?");
    screen.type_in("first\r");
    screen.wait_for("The conversation alone");
    screen.type_in("\r");
    screen.wait_for("A new conversation begins.");
    screen.wait_for("❯ first");
}

// spec: TERMINAL-06
#[test]
fn a_conversation_is_exported() {
    let home = TestHome::new(TALK);
    home.write("a.txt", "before\n");
    let mut screen = start(&home, &["--allowedTools", "Write"]);
    command(&mut screen, "/export", &["there is nothing to export yet"]);
    send(&mut screen, "write it");
    command(&mut screen, "/export talk.md", &["The conversation is in"]);
    let text = std::fs::read_to_string(home.path("talk.md")).unwrap();
    assert!(text.starts_with("## Prompt\n\nwrite it\n"), "{text}");
    assert!(
        text.contains("### Write") && text.contains("## Answer\n\nYou said: write it"),
        "{text}"
    );
    command(&mut screen, "/export talk.md", &["name another file"]);
    command(&mut screen, "/export talk.json", &["talk.json"]);
    let text = std::fs::read_to_string(home.path("talk.json")).unwrap();
    let messages: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    assert!(messages.iter().any(|message| message["type"] == "assistant"), "{text}");
}

// spec: TERMINAL-05
#[test]
fn another_conversation_is_chosen_from_a_list() {
    let home = TestHome::new(TALK);
    let mut screen = start(&home, &[]);
    send(&mut screen, "about apples");
    command(&mut screen, "/clear", &["A new conversation begins."]);
    send(&mut screen, "about pears");
    screen.type_in("/resume\r");
    screen.wait_for("Open which conversation?");
    screen.wait_for("· done");
    screen.type_in("apples\r");
    screen.wait_until("the other conversation", |screen| {
        screen.everything().matches("You said: about apples").count() == 2
    });
    screen.quit();
    // The same list before a session starts.
    let mut screen = PtyScreen::start_sized(&home, &["--resume"], (100, 40), &[]);
    screen.wait_for("Resume which conversation?");
    screen.type_in("pears\r");
    screen.wait_for("You said: about pears");
    screen.wait_until_idle();
    screen.quit();
    let mut screen = PtyScreen::start_sized(&home, &["--resume"], (40, 12), &[]);
    screen.wait_for("Resume which conversation?");
    screen.type_in("\u{1b}");
    assert!(screen.wait_for_exit().success());
    assert_eq!(home.run(&["-p", "x", "--resume"]).code, 1);
}

// spec: TERMINAL-07
#[test]
fn the_users_own_command_is_shown_and_told_to_the_model() {
    let home = TestHome::new(TALK);
    let mut screen = start(&home, &[]);
    screen.type_in("!echo here; echo there >&2; false\r");
    screen.wait_for("  there");
    screen.wait_for("exit status: 1");
    screen.quit();
    // It is not lost with the session.
    let mut screen = start(&home, &[]);
    screen.type_in("what was that?\r");
    screen.wait_for("I have read its output.");
    screen.wait_until_idle();
    screen.type_in("!sleep 60\r");
    screen.wait_for("! sleep 60");
    screen.type_in("\u{1b}");
    screen.wait_for("signal: 15");
}

// spec: TERMINAL-08
#[test]
fn vi_keys_are_remembered() {
    let home = TestHome::new(TALK);
    let mut screen = start(&home, &[]);
    command(&mut screen, "/vim", &["vi keys are on"]);
    screen.quit();
    let mut screen = start(&home, &[]);
    screen.wait_for("INSERT");
    screen.type_in("one two");
    screen.wait_for("❯ one two");
    screen.type_in("\u{1b}");
    screen.wait_for("NORMAL");
    screen.type_in("bdw");
    screen.wait_until("the deletion", |screen| !screen.screen().contains("two"));
    screen.type_in("\r");
    screen.wait_for("You said: one");
}
