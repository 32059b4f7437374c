//! The diff of a file change, as programs and people see it.

use serde_json::{Value, json};

use crate::test_home::TestHome;

const CHANGES: &str = r#"when results 0
  call Read {"file_path": "a.txt"}
when result of Read
  call Edit {"file_path": "a.txt", "old_string": "five", "new_string": "FIVE\nand a half"}
when result of Edit
  call Write {"file_path": "a.txt", "content": "only this\n"}
when result contains "updated"
  call Write {"file_path": "b.txt", "content": "new\n"}
when any
  say "done"
"#;

fn new_home() -> TestHome {
    let home = TestHome::new(CHANGES);
    home.write("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n");
    home
}

#[test]
fn programs_get_the_hunks_of_a_change_and_the_time_of_every_message() {
    let flags = ["--output-format", "stream-json", "--verbose", "--permission-mode", "acceptEdits"];
    let ran = new_home().run_prompt_unattended("go", &flags);
    let frames: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let results: Vec<&Value> =
        frames.iter().map(|frame| &frame["tool_use_result"]).filter(|r| r.is_object()).collect();
    let edit = json!([{
        "oldStart": 2, "oldLines": 7, "newStart": 2, "newLines": 8,
        "lines": [" two", " three", " four", "-five", "+FIVE", "+and a half", " six", " seven", " eight"],
    }]);
    assert_eq!(results[1]["structuredPatch"], edit, "{}", results[1]);
    let hunk = &results[2]["structuredPatch"][0];
    assert_eq!((&hunk["oldLines"], &hunk["newLines"]), (&json!(10), &json!(1)), "{hunk}");
    assert_eq!(results[2]["type"], "update");
    assert_eq!(
        (&results[3]["type"], &results[3]["structuredPatch"]),
        (&json!("create"), &json!([]))
    );
    for frame in frames.iter().filter(|f| f["type"] == "assistant" || f["type"] == "user") {
        let at = frame["timestamp"].as_str().unwrap();
        assert!(at.len() == 24 && at.starts_with("20") && at.ends_with('Z'), "{frame}");
    }
}

#[test]
fn people_who_watch_see_what_goes_and_what_comes() {
    let ran =
        new_home().run_prompt_unattended("go", &["--verbose", "--permission-mode", "acceptEdits"]);
    for line in ["       5 -five", "       5 +FIVE", "       6 +and a half", "       7  six"] {
        assert!(ran.err.lines().any(|output| output == line), "{line}: {}", ran.err);
    }
    // Without a terminal there is one line for each call.
    let ran = new_home().run_prompt_unattended("go", &["--permission-mode", "acceptEdits"]);
    assert!(!ran.err.contains("-five"), "{}", ran.err);
}
