//! Conversations of Agent SDKs on disk: resume at a message, import, titles and deletion.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::sdk_channel::Host;
use super::test_home::TestHome;

/// Says what the model was shown: which prompts, and which answers.
const ECHO: &str = r#"
when user contains "alpha"
  say "answer one"

when user contains "beta"
  say "answer two"

when any
  say "answer to ${user}"
"#;

fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer).and_then(Value::as_str)
}

fn is_type(frame: &Value, kind: &str) -> bool {
    text(frame, "/type") == Some(kind)
}

/// One turn in a process of its own.
struct Turn {
    session: String,
    /// The id of the answer.
    answer: String,
    result: Value,
    code: i32,
}

fn turn(home: &TestHome, prompt: &str, more: &[&str]) -> Turn {
    let mut host = Host::start(home, more);
    host.prompt(prompt);
    let (frames, code, _) = host.finish();
    let result = frames.iter().find(|frame| is_type(frame, "result")).unwrap().clone();
    let answer = frames.iter().rfind(|frame| is_type(frame, "assistant"));
    Turn {
        session: text(&result, "/session_id").unwrap().to_owned(),
        answer: answer.map_or_else(String::new, |it| text(it, "/uuid").unwrap().to_owned()),
        result,
        code,
    }
}

fn transcript(home: &TestHome, session: &str) -> PathBuf {
    let projects = home.path("claude").join("projects");
    let folders = std::fs::read_dir(&projects).unwrap();
    let mut files = folders.map(|folder| folder.unwrap().path().join(format!("{session}.jsonl")));
    files.find(|file| file.exists()).unwrap_or_default()
}

/// The texts of the chain that ends with the last line.
fn chain(home: &TestHome, session: &str) -> Vec<String> {
    let file = std::fs::read_to_string(transcript(home, session)).unwrap();
    let lines: Vec<Value> = file.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut next = lines.iter().rfind(|line| text(line, "/uuid").is_some());
    let mut texts = Vec::new();
    while let Some(line) = next {
        let words = text(line, "/message/content").or(text(line, "/message/content/0/text"));
        texts.push(words.unwrap_or_default().to_owned());
        assert!(texts.len() <= lines.len(), "a cycle");
        let parent = text(line, "/parentUuid");
        next = lines.iter().find(|line| parent.is_some() && text(line, "/uuid") == parent);
    }
    texts.reverse();
    texts
}

// spec: SDK-11
#[test]
fn a_session_goes_back_to_a_message_again_and_again() {
    let home = TestHome::new(ECHO);
    let one = turn(&home, "alpha", &[]);
    let at_one = ["--resume", &one.session, "--resume-session-at", &one.answer];
    let two = turn(&home, "beta", &["--resume", &one.session]);
    let three = turn(&home, "gamma", &at_one);
    assert_eq!((&three.session, three.code), (&one.session, 0));
    assert_eq!(chain(&home, &one.session), ["alpha", "answer one", "gamma", "answer to gamma"]);
    // The branch that was left can be found, and left again.
    let at_two = ["--resume", &one.session, "--resume-session-at", &two.answer];
    turn(&home, "delta", &at_two);
    let expected = ["alpha", "answer one", "beta", "answer two", "delta", "answer to delta"];
    assert_eq!(chain(&home, &one.session), expected);
    turn(&home, "epsilon", &at_one);
    let expected = ["alpha", "answer one", "epsilon", "answer to epsilon"];
    assert_eq!(chain(&home, &one.session), expected);
}

#[test]
fn a_message_or_turn_that_is_not_there_changes_nothing() {
    let home = TestHome::new(ECHO);
    let one = turn(&home, "alpha", &[]);
    turn(&home, "beta", &["--resume", &one.session]);
    let before = std::fs::read(transcript(&home, &one.session)).unwrap();
    let unknown = "11111111-2222-4333-8444-555555555555";
    let at = ["--resume", &one.session, "--resume-session-at"];
    for (more, said) in [
        (vec![unknown], "No message found with message.uuid of: 11111111"),
        (vec![&*one.answer, "--resume-drops-turn", unknown], "Resume rejected by --resume-drops"),
    ] {
        let refused = turn(&home, "gamma", &[&at[..], &more[..]].concat());
        assert_eq!(refused.code, 1);
        let errors = refused.result["errors"][0].as_str().unwrap();
        assert!(errors.starts_with(said), "{errors}");
    }
    assert_eq!(std::fs::read(transcript(&home, &one.session)).unwrap(), before);
}

// spec: SDK-11
#[test]
fn a_transcript_of_another_program_is_imported_and_can_be_cut() {
    let home = TestHome::new(ECHO);
    let one = turn(&home, "alpha", &[]);
    let known = transcript(&home, &one.session);
    let foreign = "44444444-5555-4666-8777-888888888888";
    let line = |uuid: &str, parent: Value, role: &str, text: &str| {
        json!({"type": role, "uuid": uuid, "parentUuid": parent, "isSidechain": false,
            "sessionId": foreign, "message": {"role": role, "content": text}})
    };
    let lines = [
        line("u1", Value::Null, "user", "what was it"),
        line("a1", json!("u1"), "assistant", "it was foreign"),
        line("u2", json!("a1"), "user", "and then"),
        line("a2", json!("u2"), "assistant", "nothing"),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(known.with_file_name(format!("{foreign}.jsonl")), text).unwrap();
    let fork = turn(&home, "fork", &["--resume", foreign, "--fork-session"]);
    assert_ne!(fork.session, foreign);
    let expected =
        ["what was it", "it was foreign", "and then", "nothing", "fork", "answer to fork"];
    assert_eq!(chain(&home, &fork.session), expected);
    let again = turn(&home, "again", &["--resume", foreign]);
    assert_eq!(again.session, foreign);
    let expected =
        ["what was it", "it was foreign", "and then", "nothing", "again", "answer to again"];
    assert_eq!(chain(&home, foreign), expected);
}

// spec: SDK-11
#[test]
fn a_session_is_found_by_its_title_and_gone_with_its_transcript() {
    let home = TestHome::new(ECHO);
    let one = turn(&home, "alpha", &[]);
    let file = transcript(&home, &one.session);
    let title = json!({"type": "custom-title", "customTitle": "mine", "sessionId": one.session});
    let mut text = std::fs::read_to_string(&file).unwrap();
    text.push_str(&format!("{title}\n"));
    std::fs::write(&file, text).unwrap();
    assert_eq!(turn(&home, "beta", &["--resume", "mine"]).session, one.session);
    std::fs::remove_file(&file).unwrap();
    let gone = turn(&home, "gamma", &["--resume", &one.session]);
    assert_eq!(gone.code, 1);
    let said = format!("No conversation found with session ID: {}", one.session);
    assert_eq!(gone.result["errors"][0], said);
    // A transcript folder that is gone as a whole deletes nothing.
    let kept = turn(&home, "alpha", &[]);
    std::fs::remove_dir_all(home.path("claude")).unwrap();
    assert_eq!(turn(&home, "beta", &["--resume", &kept.session]).code, 0);
}
