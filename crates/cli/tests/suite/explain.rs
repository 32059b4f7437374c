//! `windlass explain`: the end of a run, its usage, gates, the journal, and the process that drives
//! it.

use std::process::{Child, Stdio};

use windlass::core::budget::spending::SpendingCaps;
use windlass::core::call::call_state::Call;
use windlass::core::call::outcome::ToolOutcome;
use windlass::core::guard::completion_gate::ChecklistItem;
use windlass::core::log::input::HookDecision;
use windlass::core::run::journal::JournalField;
use windlass::core::run::review::{Review, ReviewResult};
use windlass::core::settings::conversation_settings::HookPresence;
use windlass::ports::{BoxFuture, HookContext, HookResponse, Hooks};

use crate::scripted_runs::{ScriptedTool, play_prompts};
use crate::test_home::TestHome;

const LOOP: &str = "when any\n  call Read {\"file_path\": \"a.txt\"}\n";

// spec: CLI-05
#[test]
fn a_run_at_its_cap_is_understood_from_one_command() {
    let home = TestHome::new(LOOP);
    home.write("a.txt", "x");
    home.run_prompt("loop", &["--max-turns", "3", "--conversation", "c"]);
    let ran = home.run(&["explain", "c"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    for expected in [
        "It stopped (max_iters): the limit of rounds with tool calls was reached (3 of 3 rounds with tool\n  calls used). [entry 9]",
        "It made no progress",
        "3 of 3 rounds with tool calls, 4 iterations, 4 of 16 model calls, 3 tool calls",
        "Loop detected: Read repeats the same call; the model received a hint. [entry 8]",
        "Iterations",
        "tool_use\n   4",
        "max_iters\nstopped (max_iters)",
    ] {
        assert!(ran.out.contains(expected), "{expected:?} is missing in\n{}", ran.out);
    }
    let json = home.json(&["explain", "c"]);
    let message = &json[0]["explanation"];
    assert_eq!((&message["state"], &message["conversation"]), (&"failed".into(), &"c".into()));
    assert_eq!(message["sections"][0]["topic"], "ending");
    assert_eq!(message["sections"][0]["sentences"][0]["entries"][0], 9);
    assert_eq!(json[0]["iterations"].as_array().unwrap().len(), 4);
    // A run can be named by its id as well.
    let run = message["run"].as_str().unwrap();
    assert_eq!(home.run(&["explain", run]).out, ran.out);
}

/// Rejects the first answers.
struct StrictHooks;

impl Hooks for StrictHooks {
    fn before_tool_call(&self, _scene: HookContext, _call: Call) -> BoxFuture<'_, HookResponse> {
        Box::pin(std::future::ready(HookDecision::Pass {}.into()))
    }

    fn after_tool_call(
        &self,
        _scene: HookContext,
        _call: Call,
        _outcome: ToolOutcome,
    ) -> BoxFuture<'_, HookResponse> {
        Box::pin(std::future::ready(HookDecision::Pass {}.into()))
    }

    fn review(&self, scene: HookContext, about: Review) -> BoxFuture<'_, ReviewResult> {
        let calls = scene.conversation.run.map_or(0, |run| run.counters.model_calls);
        let result = match calls {
            0 | 1 if matches!(about, Review::Answer { .. }) => {
                ReviewResult::Block { reason: "the tests have not been run".into() }
            }
            _ => ReviewResult::Pass { context: None },
        };
        Box::pin(std::future::ready(result))
    }
}

// spec: CLI-06
#[test]
fn what_sends_a_run_on_is_named_rounds_gate_and_stop_hook() {
    let home = TestHome::new("when any\n  say \"done\"\n");
    play_prompts(&home, "hook", &["go"], |builder| {
        builder
            .hooks(StrictHooks)
            .settings(|settings| settings.hooks.answer = HookPresence::Present)
    });
    let ran = home.run(&["explain", "hook"]);
    let sent_on = "A Stop hook rejected the answer (1 of 2): the tests have not been run [entry";
    assert!(ran.out.contains(sent_on), "{}", ran.out);
    assert!(
        ran.out.contains("0 of 50 rounds with tool calls, 2 iterations, 2 of 110 model calls"),
        "{}",
        ran.out
    );

    play_prompts(&home, "gate", &["go"], |builder| {
        let need = ChecklistItem { tool: "Test".into(), at_least: 1 };
        let alone = builder.tool(ScriptedTool::read_only("Test", "x")).deny_when_unattended();
        alone.settings(|settings| settings.gate.checklist = vec![need])
    });
    let ran = home.run(&["explain", "gate"]);
    let count = ran.out.matches("The completion gate rejected the answer").count();
    assert_eq!(count, 2, "{}", ran.out);
    assert!(ran.out.contains("(1 of 2)") && ran.out.contains("(2 of 2)"), "{}", ran.out);
    assert!(ran.out.contains("The answer was accepted but is suspect"), "{}", ran.out);
}

#[test]
fn the_journal_tells_who_takes_over_what_was_wanted_and_what_comes_next() {
    let home = TestHome::new("when any\n  call Journal {}\n");
    let journal = ScriptedTool::journal(&[
        (JournalField::Objective, "make the tests pass"),
        (JournalField::CurrentState, "two of three pass"),
        (JournalField::HandoffNextAction, "look at test three"),
    ]);
    play_prompts(&home, "c", &["go"], |builder| {
        builder.tool(journal).allow_by_default().settings(|settings| {
            settings.limits = settings.limits.clone().with_tool_rounds(1);
        })
    });
    let ran = home.run(&["explain", "c"]);
    for expected in [
        "It stopped (max_iters)",
        "objective: make the tests pass",
        "state: two of three pass",
        "next action: look at test three",
    ] {
        assert!(ran.out.contains(expected), "{expected:?} is missing in\n{}", ran.out);
    }
}

#[test]
fn budgets_are_shown_with_their_caps() {
    let home = TestHome::new("when any\n  say \"x\"\n  usage in 900 out 200\n");
    play_prompts(&home, "c", &["one", "two"], |builder| {
        builder.settings(|settings| {
            settings.budget.run = SpendingCaps { tokens: Some(90_000), usd_micros: None };
            settings.budget.conversation = SpendingCaps { tokens: Some(100_000), usd_micros: None };
        })
    });
    let ran = home.run(&["explain", "c"]);
    assert!(ran.out.contains("1,100 tokens of 90,000"), "{}", ran.out);
    assert!(ran.out.contains("the whole conversation: 2,200 tokens of 100,000"), "{}", ran.out);
}

#[test]
fn a_run_that_waits_says_for_whom_and_how_to_answer() {
    let home = TestHome::new("when any\n  call Bash {\"command\": \"touch x\"}\n");
    home.run_prompt("go", &["--conversation", "c"]);
    let ran = home.run(&["explain", "c"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for expected in
        ["c needs an answer", "Allow Bash to run this command?     touch x Answer", "approve c"]
    {
        assert!(ran.out.replace("\n  ", " ").contains(expected), "{expected:?}: {}", ran.out);
    }
}

/// A run of the binary that hangs in its model call.
fn start_hanging_run(home: &TestHome) -> Child {
    home.command(&["-p", "hang", "--script", "a.script", "--store", "w.db", "--conversation", "c"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn a_run_whose_process_died_says_so_and_how_to_go_on() {
    let home = TestHome::new("when any\n  delay 60s\n  say \"late\"\n");
    let mut child = start_hanging_run(&home);
    let is_calling_model =
        || home.run(&["trace", "c"]).out.contains("not finished: calling the model");
    let tries = (0..200).find(|_| is_calling_model());
    let alive = home.run(&["explain", "c"]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(tries.is_some(), "it never asked the model");
    assert!(alive.out.contains("A process is driving it."), "{}", alive.out);
    let ran = home.run(&["explain", "c"]);
    assert!(ran.out.contains("It is interrupted, its process is gone"), "{}", ran.out);
    assert!(ran.out.contains("windlass resume c"), "{}", ran.out);
    assert!(ran.out.contains(" of c is interrupted: no process is working on it\n"), "{}", ran.out);
    assert!(!ran.out.contains("running") && !ran.out.contains("is doing"), "{}", ran.out);
    let ran = home.run(&["doctor"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("1 run interrupted: c"), "{}", ran.out);
}
