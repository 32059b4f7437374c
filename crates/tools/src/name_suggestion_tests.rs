//! Suggestions for misspelled names.

use super::name_suggestion::nearest_name;

#[test]
fn two_edits_or_another_case_are_a_slip() {
    let known = ["PreToolUse", "permissions", "env", "Bash", "PostToolUse"];
    for (name, near) in [
        ("PreToolUsee", Some("PreToolUse")),
        ("permissionss", Some("permissions")),
        ("pretooluse", Some("PreToolUse")),
        ("premissions", Some("permissions")),
        ("bash", Some("Bash")),
        ("Bsh", Some("Bash")),
        ("enw", Some("env")),
        ("Bash", None),
        ("sandbox", None),
        ("", None),
        ("xyz", None),
    ] {
        assert_eq!(nearest_name(name, known), near, "{name}");
    }
    assert_eq!(nearest_name(&"x".repeat(100_000), known), None);
}
