use std::sync::Arc;

use windlass::core::message::raw_json::RawJson;

use super::*;

fn call(name: &str, input: &str) -> ToolUse {
    let input = RawJson::parse(input).unwrap();
    ToolUse { id: Arc::from("toolu_1"), name: Arc::from(name), input }
}

#[test]
fn the_command_comes_first_decoded_and_whole() {
    let long = "x".repeat(2_000);
    let input = format!(
        "{{\"description\": \"harmless\", \"command\": \"\\u0074ouch 'my  dir'   {long}\\nrm \\u202ey\"}}"
    );
    let call = call("Bash", &input);
    assert_eq!(approval_title(&call), "Allow Bash to run this command?");
    let lines = call_details(&call, None);
    assert_eq!(lines[0], format!("    touch 'my  dir'   {long}"));
    assert_eq!(lines[1], "    rm \\u202ey");
    assert_eq!(lines[2], "  description: harmless");
}

#[test]
fn changes_of_files_are_diffs_that_show_the_indentation() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.py"), "def f():\n    return a - b\n").unwrap();
    let edit = call(
        "Edit",
        r#"{"file_path": "a.py", "old_string": "    return a - b\n", "new_string": "\treturn a + b\n"}"#,
    );
    assert_eq!(approval_title(&edit), "Allow Edit of a.py?");
    let lines = call_details(&edit, Some(folder.path()));
    assert_eq!(lines[1], "       2 -    return a - b", "{lines:?}");
    assert_eq!(lines[2], "       2 +→   return a + b", "{lines:?}");
    // Without the file the texts themselves are compared.
    let lines = call_details(&edit, None);
    assert!(lines[0].ends_with("-    return a - b"), "{lines:?}");
    let write = call("Write", r#"{"file_path": "a.py", "content": "def f():\n    pass\n"}"#);
    let lines = call_details(&write, Some(folder.path()));
    assert_eq!(lines[0], "  replaces the file:");
    assert!(lines.iter().any(|line| line.ends_with("-    return a - b")), "{lines:?}");
    assert!(lines.iter().any(|line| line.ends_with("+    pass")), "{lines:?}");
    let new = call("Write", r#"{"file_path": "b.py", "content": "x\n"}"#);
    assert_eq!(call_details(&new, Some(folder.path()))[..2], ["  new file:", "       1 +x"]);
}

#[test]
fn other_tools_show_every_argument() {
    let call = call("Deploy", r#"{"to": "prod", "force": true, "notes": "a\nb"}"#);
    assert_eq!(approval_title(&call), "Allow Deploy with these arguments?");
    let expected = ["  to: prod", "  force: true", "  notes:", "    a", "    b"];
    assert_eq!(call_details(&call, None), expected);
}
