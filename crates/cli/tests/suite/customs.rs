//! Commands that people wrote down, and beginning anew.

use serde_json::{Value, json};

use crate::kit::{Place, Ran};

const TOUCH: &str = "when results 0\n  call Bash {\"command\": \"touch here\"}\n\
     when error\n  say \"no: ${user}\"\nwhen any\n  say \"yes: ${user}\"\n";

const PAGE: &str =
    "---\ndescription: Touches\nallowed-tools: Bash(touch:*)\n---\nTouch $1, please.\n";

const STREAM: &[&str] = &["--output-format", "stream-json", "--verbose"];

fn place() -> Place {
    let place = Place::new(TOUCH);
    std::fs::create_dir_all(place.path(".claude/commands/do")).unwrap();
    place.write(".claude/commands/do/touch.md", PAGE);
    place
}

fn frames(ran: &Ran) -> Vec<Value> {
    ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_command_of_an_untrusted_folder_is_words_and_of_a_trusted_one_its_rules_count() {
    let place = place();
    let ran = place.alone("/do:touch it", &[]);
    assert_eq!(ran.out, "no: Touch it, please.\n", "{}", ran.err);
    assert!(ran.err.contains("allowed-tools of /do:touch counts only"), "{}", ran.err);
    assert!(!place.path("here").exists());
    assert_eq!(place.run_bare(&["trust", "."]).code, 0);
    let ran = place.alone("/do:touch it", &[]);
    assert_eq!(ran.out, "yes: Touch it, please.\n", "{}", ran.err);
    assert!(place.path("here").exists());
    // They count for this prompt, not for the next one.
    let ran = place.alone("touch it", &["--continue"]);
    assert_eq!(ran.out, "no: touch it\n", "{}", ran.err);
}

#[test]
fn programs_find_commands_in_the_first_message_and_people_in_the_help() {
    let place = place();
    let init = frames(&place.alone("hi", STREAM)).remove(0);
    let names = json!(["cancel", "clear", "compact", "context", "cost", "help", "do:touch"]);
    assert_eq!(init["slash_commands"], names);
    let ran = place.run(&["-p", "/help"]);
    assert!(ran.out.contains("/do:touch  Touches"), "{}", ran.out);
    let ran = place.alone("/do:tuch", &[]);
    assert!(ran.code == 2 && ran.err.contains("/help, /do:touch; a prompt"), "{}", ran.err);
}

#[test]
fn a_link_out_of_an_untrusted_folder_is_no_command() {
    let place = place();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret.md"), "the secret").unwrap();
    let link = place.path(".claude/commands/secret.md");
    std::os::unix::fs::symlink(outside.path().join("secret.md"), link).unwrap();
    let ran = place.alone("/secret", &[]);
    assert!(ran.code == 2 && ran.err.contains("there is no command /secret"), "{}", ran.err);
}

#[test]
fn clear_begins_anew_and_the_old_conversation_stays() {
    let place = Place::new("when any\n  say \"${user}\"\n");
    place.alone("one", &["--conversation", "old"]);
    let flags = [&["-p", "/clear", "--continue"], STREAM].concat();
    let told = frames(&place.run(&flags));
    let kinds: Vec<&str> = told.iter().map(|frame| frame["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["conversation_reset", "system", "result"]);
    let (reset, result) = (&told[0], &told[2]);
    assert_eq!((&reset["session_id"], &result["local_command"]), (&json!("old"), &json!("clear")));
    assert_eq!(reset["new_conversation_id"], result["session_id"]);
    let ran = place.alone("two", &["--continue", "--output-format", "json"]);
    let next: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(next["session_id"], result["session_id"]);
    // From then on it is the newest, until somebody says something elsewhere.
    place.alone("three", &["--resume", "old"]);
    place.run(&["-p", "/clear"]);
    place.alone("four", &["--resume", "old"]);
    let ran = place.alone("five", &["--continue", "--output-format", "json"]);
    let next: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(next["session_id"], "old");
}
