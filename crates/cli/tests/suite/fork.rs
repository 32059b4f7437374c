//! `windlass fork`, completions and the manual.

use crate::test_home::TestHome;

#[test]
fn a_fork_shares_the_past_and_goes_its_own_way() {
    let place = TestHome::new("when any\n  say \"said ${user}\"\n");
    place.run_prompt("one", &["--conversation", "c"]);
    place.run_prompt("two", &["--conversation", "c"]);
    let ran = place.run(&["fork", "c"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let child = ran.out.trim().to_owned();
    place.run_prompt("three", &["--conversation", &child]);
    let shown = place.run(&["show", &child]).out;
    for expected in ["said one", "said two", "forked from c after entry", "said three"] {
        assert!(shown.contains(expected), "{expected:?} is missing in\n{shown}");
    }
    assert!(!place.run(&["show", "c"]).out.contains("said three"));
}

#[test]
fn a_fork_begins_at_an_earlier_entry_where_no_round_is_open() {
    let place = TestHome::new(
        "when user is \"look\" and results 0\n  call Bash {\"command\": \"echo x\"}\n\
         when any\n  say \"said ${user}\"\n",
    );
    place.run_prompt("one", &["--conversation", "c"]);
    place.run_prompt("look", &["--conversation", "c", "--allow", "Bash"]);
    let first =
        place.json(&["show", "c"]).iter().find(|s| s["kind"] == "end").unwrap()["entry"].clone();
    let forked = &place.json(&["fork", "c", "--at", &first.to_string()])[0];
    assert_eq!((&forked["at"], &forked["forked_from"]), (&first, &"c".into()));
    let shown = place.run(&["show", forked["conversation"].as_str().unwrap()]).out;
    assert!(shown.contains("said one") && !shown.contains("look"), "{shown}");

    let inside =
        place.json(&["show", "c"]).iter().find(|s| s["kind"] == "call").unwrap()["entry"].clone();
    let ran = place.run(&["fork", "c", "--at", &inside.to_string()]);
    assert!(ran.err.contains("is inside a round"), "{}", ran.err);
    let ran = place.run(&["fork", "c", "--at", "999"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.contains("--at must not be larger"), "{}", ran.err);
}

/// The page as `man` shows it; `None` where `man` is not installed or cannot render.
fn render_manual(place: &TestHome, page: &str) -> Option<String> {
    std::fs::write(place.path("windlass.1"), page).unwrap();
    let mut man = std::process::Command::new("man");
    let ran = man.arg("-l").arg(place.path("windlass.1")).env("MANWIDTH", "80").output().ok()?;
    let (out, err) = (String::from_utf8(ran.stdout).ok()?, String::from_utf8_lossy(&ran.stderr));
    (ran.status.success() && err.is_empty() && !out.is_empty()).then_some(out)
}

#[test]
fn completions_and_manual_know_every_command() {
    let place = TestHome::new("");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = place.run_bare(&["completions", shell]);
        assert_eq!(ran.code, 0, "{shell}");
        for command in ["explain", "doctor", "approve", "completions"] {
            assert!(ran.out.contains(command), "{shell} does not know {command}");
        }
    }
    assert_eq!(place.run_bare(&["completions", "tcl"]).code, 2);
    let ran = place.run_bare(&["man"]);
    assert!(ran.out.contains(".TH windlass 1") && ran.out.contains("explain"), "{}", ran.out);
    for section in ["EXIT STATUS", "FILES", "ENVIRONMENT", "EXAMPLES"] {
        assert!(ran.out.contains(&format!(".SH \"{section}\"")), "{section}: {}", ran.out);
    }
    assert!(render_manual(&place, &ran.out).is_none_or(|text| text.contains("EXIT STATUS")));
    let ran = place.run_bare(&["man", "explain"]);
    assert!(
        ran.out.contains("windlass\\-explain") && ran.out.contains("\\-\\-json"),
        "{}",
        ran.out
    );
    assert!(place.run_bare(&["man", "nope"]).err.contains("unknown command `nope`"));
}
