//! `windlass fork`, completions and the manual.

use crate::test_home::TestHome;

#[test]
fn a_fork_shares_the_past_and_goes_its_own_way() {
    let home = TestHome::new("when any\n  say \"said ${user}\"\n");
    home.run_prompt("one", &["--conversation", "c"]);
    home.run_prompt("two", &["--conversation", "c"]);
    let ran = home.run(&["fork", "c"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let child = ran.out.trim().to_owned();
    home.run_prompt("three", &["--conversation", &child]);
    let output = home.run(&["show", &child]).out;
    for expected in ["said one", "said two", "forked from c after entry", "said three"] {
        assert!(output.contains(expected), "{expected:?} is missing in\n{output}");
    }
    assert!(!home.run(&["show", "c"]).out.contains("said three"));
}

#[test]
fn a_fork_begins_at_an_earlier_entry_where_no_round_is_open() {
    let home = TestHome::new(
        "when user is \"look\" and results 0\n  call Bash {\"command\": \"echo x\"}\n\
         when any\n  say \"said ${user}\"\n",
    );
    home.run_prompt("one", &["--conversation", "c"]);
    home.run_prompt("look", &["--conversation", "c", "--allow", "Bash"]);
    let first =
        home.json(&["show", "c"]).iter().find(|s| s["kind"] == "end").unwrap()["entry"].clone();
    let forked = &home.json(&["fork", "c", "--at", &first.to_string()])[0];
    assert_eq!((&forked["at"], &forked["forked_from"]), (&first, &"c".into()));
    let output = home.run(&["show", forked["conversation"].as_str().unwrap()]).out;
    assert!(output.contains("said one") && !output.contains("look"), "{output}");

    let inside =
        home.json(&["show", "c"]).iter().find(|s| s["kind"] == "call").unwrap()["entry"].clone();
    let ran = home.run(&["fork", "c", "--at", &inside.to_string()]);
    assert!(ran.err.contains("is inside a round"), "{}", ran.err);
    let ran = home.run(&["fork", "c", "--at", "999"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.contains("--at must not be larger"), "{}", ran.err);
}

#[test]
fn completions_and_manual_know_every_command() {
    let home = TestHome::new("");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = home.run_bare(&["completions", shell]);
        assert_eq!(ran.code, 0, "{shell}");
        for command in ["explain", "doctor", "approve", "completions"] {
            assert!(ran.out.contains(command), "{shell} does not know {command}");
        }
    }
    assert_eq!(home.run_bare(&["completions", "tcl"]).code, 2);
    let ran = home.run_bare(&["man"]);
    assert!(ran.out.contains(".TH windlass 1") && ran.out.contains("explain"), "{}", ran.out);
    for section in ["EXIT STATUS", "FILES", "ENVIRONMENT", "EXAMPLES"] {
        assert!(ran.out.contains(&format!(".SH \"{section}\"")), "{section}: {}", ran.out);
    }
    let ran = home.run_bare(&["man", "explain"]);
    assert!(
        ran.out.contains("windlass\\-explain") && ran.out.contains("\\-\\-json"),
        "{}",
        ran.out
    );
    assert!(home.run_bare(&["man", "nope"]).err.contains("unknown command `nope`"));
}
