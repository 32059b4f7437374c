//! Custom commands, and `/clear`.

use serde_json::{Value, json};

use crate::test_home::{CommandOutput, TestHome};

const TOUCH: &str = "when results 0\n  call Bash {\"command\": \"touch here\"}\n\
     when error\n  say \"no: ${user}\"\nwhen any\n  say \"yes: ${user}\"\n";

const PAGE: &str =
    "---\ndescription: Touches\nallowed-tools: Bash(touch:*)\n---\nTouch $1, please.\n";

const STREAM: &[&str] = &["--output-format", "stream-json", "--verbose"];

fn new_home() -> TestHome {
    let home = TestHome::new(TOUCH);
    std::fs::create_dir_all(home.path(".claude/commands/do")).unwrap();
    home.write(".claude/commands/do/touch.md", PAGE);
    home
}

fn parse_frames(ran: &CommandOutput) -> Vec<Value> {
    ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_command_of_an_untrusted_folder_is_words_and_of_a_trusted_one_its_rules_count() {
    let home = new_home();
    let ran = home.run_prompt_unattended("/do:touch it", &[]);
    assert_eq!(ran.out, "no: Touch it, please.\n", "{}", ran.err);
    assert!(ran.err.contains("allowed-tools of /do:touch is ignored"), "{}", ran.err);
    assert!(!home.path("here").exists());
    assert_eq!(home.run_bare(&["trust", "."]).code, 0);
    let ran = home.run_prompt_unattended("/do:touch it", &[]);
    assert_eq!(ran.out, "yes: Touch it, please.\n", "{}", ran.err);
    assert!(home.path("here").exists());
    // The rules apply to this prompt, not to the next one.
    let ran = home.run_prompt_unattended("touch it", &["--continue"]);
    assert_eq!(ran.out, "no: touch it\n", "{}", ran.err);
}

#[test]
fn programs_find_commands_in_the_first_message_and_people_in_the_help() {
    let home = new_home();
    let init = parse_frames(&home.run_prompt_unattended("hi", STREAM)).remove(0);
    let names = json!(["cancel", "clear", "compact", "context", "cost", "help", "do:touch"]);
    assert_eq!(init["slash_commands"], names);
    let ran = home.run(&["-p", "/help"]);
    assert!(ran.out.contains("/do:touch  Touches"), "{}", ran.out);
    let ran = home.run_prompt_unattended("/do:tuch", &[]);
    assert!(ran.code == 2 && ran.err.contains("/help, /do:touch; start a prompt"), "{}", ran.err);
}

#[test]
fn a_link_out_of_an_untrusted_folder_is_no_command() {
    let home = new_home();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret.md"), "the secret").unwrap();
    let link = home.path(".claude/commands/secret.md");
    std::os::unix::fs::symlink(outside.path().join("secret.md"), link).unwrap();
    let ran = home.run_prompt_unattended("/secret", &[]);
    assert!(ran.code == 2 && ran.err.contains("unknown command /secret"), "{}", ran.err);
}

#[test]
fn clear_begins_anew_and_the_old_conversation_stays() {
    let home = TestHome::new("when any\n  say \"${user}\"\n");
    home.run_prompt_unattended("one", &["--conversation", "old"]);
    let flags = [&["-p", "/clear", "--continue"], STREAM].concat();
    let messages = parse_frames(&home.run(&flags));
    let kinds: Vec<&str> = messages.iter().map(|frame| frame["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["conversation_reset", "system", "result"]);
    let (reset, result) = (&messages[0], &messages[2]);
    assert_eq!((&reset["session_id"], &result["local_command"]), (&json!("old"), &json!("clear")));
    assert_eq!(reset["new_conversation_id"], result["session_id"]);
    let ran = home.run_prompt_unattended("two", &["--continue", "--output-format", "json"]);
    let next: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(next["session_id"], result["session_id"]);
    // From then on it is the newest, until another conversation gets a prompt.
    home.run_prompt_unattended("three", &["--resume", "old"]);
    home.run(&["-p", "/clear"]);
    home.run_prompt_unattended("four", &["--resume", "old"]);
    let ran = home.run_prompt_unattended("five", &["--continue", "--output-format", "json"]);
    let next: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(next["session_id"], "old");
}

/// A mistake in front matter is reported with its position, by the command and by `doctor`.
// spec: PERMISSIONS-22
#[test]
fn a_slip_in_the_head_of_a_command_page_is_an_error_with_its_line() {
    for (line, expected) in [
        ("alowed-tools: Bash(touch:*)", "did you mean `allowed-tools`?"),
        ("allowed-tools: Bsh(touch:*)", "did you mean `Bash`?"),
        ("allowed-tools: Bash(touch", "cannot be read"),
        ("model:\n  name: haiku", "`model` must be a text"),
    ] {
        let home = new_home();
        let text = PAGE.replace("allowed-tools: Bash(touch:*)", line);
        home.write(".claude/commands/do/touch.md", &text);
        assert_eq!(home.run_bare(&["trust", "."]).code, 0);
        let ran = home.run_prompt_unattended("/do:touch it", &[]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{line}: {}", ran.err);
        assert!(
            ran.err.contains("touch.md: line 3: ") && ran.err.contains(expected),
            "{}",
            ran.err
        );
        let doctor = home.run_bare(&["doctor"]);
        assert!(doctor.code != 0 && doctor.out.contains(expected), "{line}: {}", doctor.out);
        // Other prompts do not need the command.
        assert_eq!(home.run_prompt_unattended("touch it", &[]).out, "no: touch it\n", "{line}");
    }
    let home = new_home();
    home.write(
        ".claude/commands/do/touch.md",
        &PAGE.replace("description", "flavour: x\ndescription"),
    );
    let ran = home.run_prompt_unattended("/do:touch it", &[]);
    assert!(
        ran.code == 0 && ran.err.contains("line 2: unknown key of a command page"),
        "{}",
        ran.err
    );
    let ran = home.run_prompt_unattended("/do:touch it", &["--strict-settings"]);
    assert!(ran.code != 0 && ran.err.contains("--strict-settings"), "{}", ran.err);
}

/// Lists of rules may be written in any form that YAML has for them.
#[test]
fn rules_of_a_page_may_be_a_list_with_quotes() {
    for list in ["[\"Bash(touch:*)\", Read]", "\n  - Bash(touch:*)\n  - \"Read\""] {
        let home = new_home();
        home.write(".claude/commands/do/touch.md", &PAGE.replace("Bash(touch:*)", list));
        assert_eq!(home.run_bare(&["trust", "."]).code, 0);
        let ran = home.run_prompt_unattended("/do:touch it", &[]);
        assert_eq!(ran.out, "yes: Touch it, please.\n", "{list}: {}", ran.err);
    }
}
