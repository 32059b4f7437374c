//! Plan mode of the real binary: the model is told, the plan is presented, and a person decides.

use crate::terminal::TerminalSession;
use crate::test_home::TestHome;

const PLANS: &str = "when user is \"go\" and results 0 and tools include ExitPlanMode\n  \
    call ExitPlanMode {\"plan\": \"# The plan\\n\\n1. write a.txt\"}\n\
    when error of ExitPlanMode\n  say \"Changed: ${result}\"\n\
    when result of ExitPlanMode\n  call Write {\"file_path\": \"a.txt\", \"content\": \"x\"}\n\
    when result of Write\n  say \"Written.\"\n\
    when error of Write\n  say \"Not written.\"\n\
    when any\n  say \"No plan mode.\"\n";

const PLAN: &[&str] = &["-p", "go", "--permission-mode", "plan"];

// spec: PERMISSIONS-14
#[test]
fn the_model_is_told_to_plan_and_offered_the_tool() {
    let home = TestHome::new(PLANS);
    assert_eq!(
        home.run_prompt_unattended("go", &[]).out,
        "No plan mode.\n",
        "the tool is offered in plan mode only"
    );
    home.run_prompt("go", &["--permission-mode", "plan", "--conversation", "c"]);
    let store = rusqlite::Connection::open(home.path("w.db")).unwrap();
    let told: i64 = store
        .query_row("SELECT count(*) FROM entry WHERE body LIKE '%ExitPlanMode%'", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert!(told > 0);
}

#[test]
fn at_a_terminal_the_plan_is_shown_and_approved_sent_back_or_begun_with_edits() {
    for (typed, expected, written) in
        [("e\n", "Written.", true), ("n use b.txt\n", "use b.txt", false)]
    {
        let home = TestHome::new(PLANS);
        let mut seat = TerminalSession::start(&home, PLAN);
        seat.wait_for_text("The plan is ready. Start the work?");
        seat.wait_for_text("1. write a.txt");
        seat.wait_for_text("keep planning");
        seat.type_in(typed);
        let (status, output) = seat.end();
        assert_eq!(status.code(), Some(0), "{output}");
        assert!(output.contains(expected), "{typed:?}: {output}");
        assert_eq!(home.path("a.txt").exists(), written, "{typed:?}");
    }
}

#[test]
fn an_approved_plan_asks_about_each_change() {
    let home = TestHome::new(PLANS);
    let mut seat = TerminalSession::start(&home, PLAN);
    seat.wait_for_text("keep planning");
    seat.type_in("y\n");
    seat.wait_for_text("[n] deny");
    seat.type_in("y\n");
    let (status, output) = seat.end();
    assert_eq!(status.code(), Some(0), "{output}");
    assert!(output.contains("Written.") && home.path("a.txt").exists(), "{output}");
}

#[test]
fn in_a_pipe_the_plan_is_the_answer_and_nothing_is_changed() {
    let home = TestHome::new(PLANS);
    let ran = home.run_prompt_unattended("go", &["--permission-mode", "plan"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("give the plan as your answer"), "the model was told: {}", ran.out);
    assert!(ran.err.contains("✗ ExitPlanMode the plan: denied"), "{}", ran.err);
    assert!(!home.path("a.txt").exists());
}

#[test]
fn a_parked_plan_is_approved_later_without_repeating_the_flags() {
    let home = TestHome::new(PLANS);
    let ran = home.run_prompt("go", &["--permission-mode", "plan", "--conversation", "c"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("The plan is ready.") && ran.err.contains("1. write a.txt"));
    let ran = home.run(&["answer", "c", "1", "continue", "--script", "a.script"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Written.\n"), "{}", ran.err);
    assert!(home.path("a.txt").exists());
}

#[test]
fn a_parked_run_with_a_schema_is_approved_later_without_repeating_it() {
    let home = TestHome::new(
        "when results 0\n  call Write {\"file_path\": \"a.txt\", \"content\": \"x\"}\n\
         when result of Write\n  call StructuredOutput {\"ok\": true}\n\
         when any\n  say \"end\"\n",
    );
    let schema =
        r#"{"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}"#;
    let ran = home.run_prompt("go", &["--json-schema", schema, "--conversation", "c"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    let ran = home.run(&["approve", "c", "--script", "a.script", "--json"]);
    let result: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &result["structured_output"]["ok"]), (0, &true.into()), "{result}");
}
