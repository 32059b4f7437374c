//! `windlass approve`.

use crate::test_home::TestHome;

const ASKS: &str = "when results 0\n  call Bash {\"command\": \"touch done\"}\n\
     when user is \"again\" and result\n  say \"again\"\nwhen any\n  say \"it is done\"\n";

fn home_with_pending_approval() -> TestHome {
    let home = TestHome::new(ASKS);
    assert_eq!(home.run_prompt("go", &["--conversation", "c"]).code, 3);
    assert!(!home.path("done").exists());
    home
}

#[test]
fn a_call_that_waits_for_leave_runs_and_the_run_goes_on() {
    let home = home_with_pending_approval();
    let ran = home.run(&["approve", "c", "1", "--script", "a.script"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "it is done\n"), "{}", ran.err);
    assert!(home.path("done").exists());
    // The approval was for this call only.
    assert_eq!(home.run_prompt("more", &["--conversation", "c"]).code, 3);
}

#[test]
fn the_rule_is_kept_for_the_conversation() {
    let home = home_with_pending_approval();
    // The only question needs no number.
    let ran = home.run(&["approve", "c", "--rule", "--json", "--script", "a.script"]);
    let result: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &result["result"]), (0, &"it is done".into()), "{}", ran.err);
    assert!(ran.err.contains("the rule Bash") && ran.err.contains("is allowed"), "{}", ran.err);
    assert_eq!(home.run_prompt("more", &["--conversation", "c"]).out, "it is done\n");
    assert!(home.run(&["explain", "c"]).code == 0);
}

#[test]
fn detached_leave_is_only_sent() {
    let home = home_with_pending_approval();
    let sent = &home.json(&["approve", "c", "1", "--detach"])[0];
    assert_eq!((&sent["conversation"], &sent["question"]), (&"c".into(), &1.into()));
    assert!(!home.path("done").exists());
    let ran = home.run(&["resume", "c", "--script", "a.script"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "it is done\n"), "{}", ran.err);
}

#[test]
fn what_is_not_asked_cannot_be_approved() {
    let home = home_with_pending_approval();
    let said = |args: &[&str]| {
        let ran = home.run(&[&["approve", "c"], args, &["--script", "a.script"]].concat());
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
        ran.err
    };
    assert!(said(&["7"]).contains("no open question 7; open: 1"));
    home.run(&["answer", "c", "1", "deny", "--script", "a.script"]);
    assert!(said(&["1"]).contains("no open question 1"));
    assert!(said(&[]).contains("has no pending approval"));
}

#[test]
fn a_cancel_after_an_approval_wins_if_the_call_has_not_started() {
    let home = home_with_pending_approval();
    home.json(&["approve", "c", "1", "--detach"]);
    home.json(&["cancel", "c", "--detach"]);
    let ran = home.run(&["resume", "c", "--script", "a.script"]);
    assert!(!home.path("done").exists(), "{}{}", ran.out, ran.err);
    assert_eq!(home.json(&["runs"])[0]["state"], "cancelled");
}

#[test]
fn a_prompt_behind_a_question_is_said_to_wait_for_that_run() {
    let home = home_with_pending_approval();
    home.run(&["-p", "more", "--conversation", "c", "--detach"]);
    let ran = home.run(&["runs"]);
    let output = format!("{}{}", ran.out, ran.err);
    assert!(output.contains("is queued behind a run that needs an answer"), "{output}");
    assert!(!output.contains("waiting for a worker"), "{output}");
}
