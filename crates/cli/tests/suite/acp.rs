//! `windlass acp` with raw lines: malformed, huge and interleaved ones, and an editor that is slow
//! or gone. What the official libraries do is in `tests/python/acp` and `tests/typescript-acp`.

use std::io::BufRead;

use serde_json::json;

use super::raw_editor::RawEditor;
use super::test_home::TestHome;

const ANSWERS: &str = r#"
when user contains "write" and results 0
  call Write {"file_path": "note.txt", "content": "hello"}

when user contains "write"
  say "Written."

when user contains "forever"
  pace 200ms
  say "one two three four five six seven eight nine ten eleven twelve"

when any
  say "You said ${user}."
"#;

// spec: EDITORS-10
#[test]
fn malformed_lines_are_answered_and_the_connection_goes_on() {
    let home = TestHome::new(ANSWERS);
    let mut editor = RawEditor::start(&home);
    let session = editor.open_session(&home);
    editor.send_bytes(b"garbage\n");
    assert_eq!(editor.stray_error(), -32_700);
    editor.send_bytes(b"\xff\xfe{\n");
    assert_eq!(editor.stray_error(), -32_700);
    editor.send_bytes(b"[]\n\n  \n");
    assert_eq!(editor.stray_error(), -32_600);
    editor.send_bytes(b"{\"jsonrpc\": \"2.0\"}\n");
    assert_eq!(editor.stray_error(), -32_600);
    let id = editor.request("session/invent", &json!({}));
    assert_eq!(editor.answer(id)["error"]["code"], -32_601);
    let id = editor.request("session/prompt", &json!({"sessionId": 5}));
    assert_eq!(editor.answer(id)["error"]["code"], -32_602);
    let id = editor.prompt("unknown", "hello");
    assert_eq!(editor.answer(id)["error"]["code"], -32_002);
    editor
        .send(&json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "x"}}));
    editor.send(&json!({"jsonrpc": "2.0", "id": 999, "result": {}}));
    let id = editor.prompt(&session, "hello");
    assert_eq!(editor.answer(id)["result"]["stopReason"], "end_turn");
    assert_eq!(editor.close(), 0);
}

// spec: EDITORS-10
#[test]
fn a_huge_line_is_refused_and_a_large_one_is_read() {
    let home = TestHome::new(ANSWERS);
    let mut editor = RawEditor::start(&home);
    let session = editor.open_session(&home);
    let piece = vec![b'x'; 1 << 20];
    editor.send_bytes(b"{\"jsonrpc\": \"2.0\", \"method\": \"");
    for _ in 0..65 {
        editor.send_bytes(&piece);
    }
    editor.send_bytes(b"\"}\n");
    assert_eq!(editor.stray_error(), -32_600);
    // A long line that is not JSON is not repeated in full.
    editor.send_bytes(&[&piece[..], b"\n"].concat());
    let mut line = String::new();
    editor.output.read_line(&mut line).unwrap();
    assert!(line.contains("-32700") && line.len() < 10_000, "{}", line.len());
    let id = editor.prompt(&session, &format!("hello {}", "y".repeat(100_000)));
    assert_eq!(editor.answer(id)["result"]["stopReason"], "end_turn");
    assert_eq!(editor.close(), 0);
}

// spec: EDITORS-10
#[test]
fn a_line_in_pieces_and_lines_in_one_piece_are_the_same() {
    let home = TestHome::new(ANSWERS);
    let mut editor = RawEditor::start(&home);
    let session = editor.open_session(&home);
    let prompt = |id: u64, text: &str| {
        let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]});
        format!(
            "{}\n",
            json!({"jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": params})
        )
    };
    let both = [prompt(100, "first"), prompt(101, "second")].concat();
    editor.send_bytes(both.as_bytes());
    for byte in prompt(102, "third").as_bytes() {
        editor.send_bytes(std::slice::from_ref(byte));
    }
    for id in 100..103 {
        assert_eq!(editor.answer(id)["result"]["stopReason"], "end_turn");
    }
    assert_eq!(editor.close(), 0);
}

// spec: EDITORS-05
#[test]
fn a_cancel_right_behind_its_prompt_counts() {
    let home = TestHome::new(ANSWERS);
    let mut editor = RawEditor::start(&home);
    let session = editor.open_session(&home);
    let prompts = [editor.prompt(&session, "forever"), editor.prompt(&session, "forever")];
    let cancel =
        json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}});
    editor.send(&cancel);
    editor.send(&cancel);
    for id in prompts {
        assert_eq!(editor.answer(id)["result"]["stopReason"], "cancelled");
    }
    let id = editor.prompt(&session, "hello");
    assert_eq!(editor.answer(id)["result"]["stopReason"], "end_turn");
    assert_eq!(editor.close(), 0);
}

// spec: EDITORS-07
#[test]
fn an_editor_that_is_gone_loses_nothing() {
    let home = TestHome::new(ANSWERS);
    let mut editor = RawEditor::start(&home);
    let session = editor.open_session(&home);
    editor.prompt(&session, "write it");
    while editor.next()["method"] != "session/request_permission" {}
    assert_eq!(editor.close(), 0);
    assert!(!home.path("note.txt").exists());

    let mut editor = RawEditor::start(&home);
    editor.open_session(&home);
    let folder = home.path("");
    let place = json!({"sessionId": session, "cwd": folder.to_str().unwrap(), "mcpServers": []});
    let id = editor.request("session/load", &place);
    assert!(editor.answer(id)["error"].is_null());
    let id = editor.prompt(&session, "go on and write");
    assert_eq!(editor.answer(id)["result"]["stopReason"], "end_turn");
    assert_eq!(std::fs::read_to_string(home.path("note.txt")).unwrap(), "hello");
    assert_eq!(editor.close(), 0);
}

// spec: EDITORS-01
#[test]
fn a_session_needs_a_handshake() {
    let home = TestHome::new(ANSWERS);
    let mut editor = RawEditor::start(&home);
    let place = json!({"cwd": home.path("").to_str().unwrap(), "mcpServers": []});
    let id = editor.request("session/new", &place);
    assert_eq!(editor.answer(id)["error"]["code"], -32_600);
    assert_eq!(editor.close(), 0);
}
