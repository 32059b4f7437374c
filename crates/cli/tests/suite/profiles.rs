//! The built-in profiles: their checklists are enforced, and names in a checklist are checked.

use crate::test_home::TestHome;

const BUILDS: &str = "when user is \"go\" and ask 1\n  say \"Done already.\"\n\
    when ask 2\n  call TodoWrite {\"todos\": [{\"content\": \"write\", \"status\": \"completed\"}]}\n\
    when result of TodoWrite\n  call Write {\"file_path\": \"a.txt\", \"content\": \"x\"}\n\
    when any\n  say \"Really done.\"\n";

#[test]
fn builder_wants_a_task_list_and_a_written_file_before_it_is_done() {
    let home = TestHome::new(BUILDS);
    let ran =
        home.run_prompt_unattended("go", &["--profile", "builder", "--allowedTools", "Write"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Really done.\n"), "{}", ran.err);
    let rejected = "the answer was rejected by the checklist: the work is not complete: ";
    assert!(
        ran.err.contains(rejected) && ran.err.contains("TodoWrite must succeed at least once"),
        "{}",
        ran.err
    );
    assert!(home.path("a.txt").exists());
    let run = &home.json(&["runs"])[0];
    assert_eq!(run["profile"], "builder", "{run}");
}

#[test]
fn router_is_for_short_runs() {
    let home = TestHome::new("when any\n  call Read {\"file_path\": \"a.script\"}\n");
    let ran = home.run_prompt("go", &["--profile", "router", "--conversation", "c"]);
    assert_ne!(ran.code, 0, "{}", ran.err);
    let output = home.run(&["explain", "c"]).out;
    assert!(output.contains(" of 12 rounds with tool calls"), "{output}");
}

#[test]
fn a_checklist_with_an_unknown_tool_is_an_error() {
    let home = TestHome::new(BUILDS);
    std::fs::create_dir(home.path("home")).unwrap();
    home.write("home/config.toml", "[profiles.x]\nchecklist = { Wriite = 1 }\n");
    let ran = home.run_prompt_unattended("go", &["--profile", "x"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    assert!(ran.err.contains("Wriite"), "{}", ran.err);
    assert!(!home.path("w.db").exists());
}

#[test]
fn a_gate_that_fails_is_told_with_what_it_printed_and_without_empty_lines() {
    for (command, told) in [
        ("exit 1", "failed with exit code 1\n"),
        ("echo why >&2; exit 2", "failed with exit code 2\nwhy\n"),
        ("echo out; echo why >&2; exit 2", "failed with exit code 2\nout\nwhy\n"),
    ] {
        let home = TestHome::new("when any\n  say \"done\"\n");
        std::fs::create_dir(home.path("home")).unwrap();
        home.write("home/config.toml", &format!("[profiles.g]\ngate_command = \"{command}\"\n"));
        let ran = home.run_prompt_unattended("go", &["--profile", "g"]);
        let plain: Vec<&str> = ran.err.lines().map(str::trim).collect();
        assert!(format!("{}\n", plain.join("\n")).contains(told), "{command}: {}", ran.err);
        assert!(!plain.contains(&""), "{command}: {}", ran.err);
    }
}
