//! Sessions of `windlass acp`: what an editor is shown, what it is asked, and what it can choose.

use serde_json::json;

use super::raw_editor::RawEditor;
use super::test_home::TestHome;

const ANSWERS: &str = r#"
when user contains "write" and results 0
  call Write {"file_path": "note.txt", "content": "hello"}

when user contains "write"
  say "Written."

when user contains "edit" and results 0
  call Read {"file_path": "open.txt"}

when user contains "edit" and result contains "typed"
  call Edit {"file_path": "open.txt", "old_string": "typed", "new_string": "changed"}

when user contains "edit"
  say "Edited."

when user contains "tasks" and results 0
  call TodoWrite {"todos": [{"content": "one", "status": "completed", "activeForm": "doing one"}]}

when user contains "tasks"
  say "Listed."

when any
  say "You said ${user}."
"#;

fn start(open_text: Option<(&'static str, String)>) -> (TestHome, RawEditor, String) {
    let home = TestHome::new(ANSWERS);
    let mut editor = RawEditor::start(&home);
    editor.open_text = open_text;
    let session = editor.open_session(&home);
    (home, editor, session)
}

// spec: EDITORS-02
#[test]
fn a_prompt_is_answered_in_chunks_that_are_shown_once() {
    let (_home, mut editor, session) = start(None);
    let prompt = json!([
        {"type": "text", "text": "look at "},
        {"type": "resource_link", "name": "a.rs", "uri": "file:///src/a.rs"},
        {"type": "resource", "resource": {"uri": "file:///src/b.rs", "text": "fn b() {}"}},
    ]);
    let id = editor.request("session/prompt", &json!({"sessionId": session, "prompt": prompt}));
    assert_eq!(editor.answer(id)["result"]["stopReason"], "end_turn");
    let links = "look at [@a.rs](/src/a.rs)[@b.rs](/src/b.rs).";
    assert!(editor.text().ends_with(links) && editor.text().contains("fn b() {}"));
    assert!(editor.shown("agent_message_chunk").len() > 1);
    assert_eq!(editor.run(&session, "tasks please"), "end_turn");
    let plan = editor.shown("plan");
    assert_eq!(plan[0]["entries"][0]["status"], "completed");
    let audio = json!([{"type": "audio", "data": "AA==", "mimeType": "audio/wav"}]);
    let id = editor.request("session/prompt", &json!({"sessionId": session, "prompt": audio}));
    assert_eq!(editor.answer(id)["error"]["message"], "audio is not supported; send text");
}

// spec: EDITORS-03
#[test]
fn a_change_is_asked_about_with_its_rule_and_shown_as_a_diff() {
    let (home, mut editor, session) = start(None);
    editor.choice = "reject";
    editor.run(&session, "write it");
    assert!(!home.path("note.txt").exists());
    assert_eq!(editor.shown("tool_call_update").last().unwrap()["status"], "failed");
    editor.choice = "allow_always";
    assert_eq!(editor.run(&session, "write it"), "end_turn");
    assert_eq!(std::fs::read_to_string(home.path("note.txt")).unwrap(), "hello");
    let asked = editor.questions.last().unwrap();
    let diff = &asked["toolCall"]["content"][0];
    assert_eq!((&diff["type"], &diff["newText"]), (&json!("diff"), &json!("hello")));
    let rule = asked["options"][1]["name"].as_str().unwrap();
    assert!(rule.starts_with("Always allow Write("), "{rule}");
    let call = editor.shown("tool_call")[0];
    assert_eq!((&call["title"], &call["kind"]), (&json!("Write note.txt"), &json!("edit")));
    // The call is shown before it is asked about.
    assert_eq!(call["toolCallId"], editor.questions[0]["toolCall"]["toolCallId"]);
}

// spec: EDITORS-04
#[test]
fn mode_and_model_can_be_chosen() {
    let (home, mut editor, session) = start(None);
    let mode = json!({"sessionId": session, "modeId": "acceptEdits"});
    let id = editor.request("session/set_mode", &mode);
    assert!(editor.answer(id)["error"].is_null());
    editor.run(&session, "write it");
    assert!(editor.questions.is_empty() && home.path("note.txt").exists());
    let set =
        |name: &str, value: &str| json!({"sessionId": session, "configId": name, "value": value});
    let id = editor.request("session/set_config_option", &set("mode", "plan"));
    assert_eq!(editor.answer(id)["result"]["configOptions"][0]["currentValue"], "plan");
    let id = editor.request("session/set_config_option", &set("model", "default"));
    assert!(editor.answer(id)["error"].is_null());
    for (name, value) in [("mode", "yolo"), ("colour", "red")] {
        let id = editor.request("session/set_config_option", &set(name, value));
        assert_eq!(editor.answer(id)["error"]["code"], -32_602);
    }
}

// spec: EDITORS-06
#[test]
fn a_session_is_listed_loaded_resumed_closed_and_deleted() {
    let (home, mut editor, session) = start(None);
    editor.run(&session, "write it");
    editor.close();
    let mut editor = RawEditor::start(&home);
    editor.open_session(&home);
    let folder = home.path("");
    let id = editor.request("session/list", &json!({"cwd": folder.to_str().unwrap()}));
    let listed = editor.answer(id);
    assert_eq!(listed["result"]["sessions"][0]["sessionId"], session);
    let place = json!({"sessionId": session, "cwd": folder.to_str().unwrap(), "mcpServers": []});
    editor.updates.clear();
    let id = editor.request("session/load", &place);
    assert!(editor.answer(id)["error"].is_null());
    assert_eq!(editor.shown("user_message_chunk")[0]["content"]["text"], "write it");
    assert_eq!(editor.shown("tool_call_update")[0]["status"], "completed");
    let id = editor.request("session/resume", &place);
    assert!(editor.answer(id)["error"].is_null());
    assert_eq!(editor.shown("user_message_chunk").len(), 1);
    for method in ["session/close", "session/delete"] {
        let id = editor.request(method, &json!({"sessionId": session}));
        assert!(editor.answer(id)["error"].is_null(), "{method}");
    }
    let id = editor.request("session/load", &place);
    assert_eq!(editor.answer(id)["error"]["code"], -32_002);
}

// spec: EDITORS-08
#[test]
fn unsaved_text_counts_and_changes_go_through_the_editor() {
    let (home, mut editor, session) = start(Some(("open.txt", "typed\n".to_owned())));
    home.write("open.txt", "saved\n");
    assert_eq!(editor.run(&session, "edit it"), "end_turn");
    assert_eq!(editor.open_text, Some(("open.txt", "changed\n".to_owned())));
    // This editor has not saved it yet.
    assert_eq!(std::fs::read_to_string(home.path("open.txt")).unwrap(), "saved\n");
}

// spec: EDITORS-09
#[test]
fn what_is_not_available_is_said() {
    let (home, mut editor, _) = start(None);
    let server = json!({"type": "sse", "name": "tickets", "url": "http://[::1]:1/", "headers": []});
    let place = json!({"cwd": home.path("").to_str().unwrap(), "mcpServers": [server]});
    let id = editor.request("session/new", &place);
    let session = editor.answer(id)["result"]["sessionId"].as_str().unwrap().to_owned();
    editor.run(&session, "hello");
    assert!(editor.text().contains("MCP servers are not connected: tickets"));
}
