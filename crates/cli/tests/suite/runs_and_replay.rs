//! `runs` and `replay`.

use crate::test_home::TestHome;

#[test]
fn runs_are_listed_newest_first_also_as_json() {
    let home = TestHome::new("when any\n  say \"said ${user}\"\n");
    assert!(home.run(&["runs"]).out.contains("no runs yet"));
    home.run_prompt("one", &["--conversation", "a"]);
    home.run_prompt("two", &["--conversation", "b"]);
    let ran = home.run(&["runs", "--json"]);
    let lines: Vec<serde_json::Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["text"], "said two");
    assert_eq!(lines[1]["conversation"], "a");
    assert_eq!(lines[0]["state"], "completed");
}

#[test]
fn replay_decides_every_step_again() {
    let home = TestHome::new(
        "when results 0\n  call Read {\"file_path\": \"a\"}\nwhen any\n  say \"x\"\n",
    );
    home.write("a", "text");
    home.run_prompt("one", &["--conversation", "a", "--allow", "Read"]);
    let ran = home.run(&["replay", "a"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("all decisions are identical"), "{}", ran.out);
}
