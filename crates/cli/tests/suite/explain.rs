//! `windlass explain`: the end of a run, what was used, gates, the journal, and who drives.

use std::process::{Child, Stdio};

use windlass::core::budget::Caps;
use windlass::core::call::Call;
use windlass::core::counsel::{Advice, Counsel};
use windlass::core::gate::Need;
use windlass::core::input::HookAnswer;
use windlass::core::journal::Field;
use windlass::core::outcome::Outcome;
use windlass::core::settings::Listening;
use windlass::ports::{Heard, Hooks, Scene, Task};

use crate::kit::Place;
use crate::stage::{Act, played};

const LOOP: &str = "when any\n  call Read {\"file_path\": \"a.txt\"}\n";

// spec: CLI-05
#[test]
fn a_run_at_its_cap_is_understood_from_one_command() {
    let place = Place::new(LOOP);
    place.write("a.txt", "x");
    place.ask("loop", &["--max-turns", "3", "--conversation", "c"]);
    let ran = place.run(&["explain", "c"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    for expected in [
        "It ended (max_iters): the limit of rounds with tool calls is reached (3 of 3 rounds with tool\n  calls used). [entry 9]",
        "--max-turns N",
        "3 of 3 rounds with tool calls, 4 iterations, 4 of 16 model calls, 3 tool calls",
        "Read: the same call again and again; the model got a hint. [entry 8]",
        "Iterations",
        "tool_use\n   4",
        "max_iters\nended: max_iters",
    ] {
        assert!(ran.out.contains(expected), "{expected:?} is missing in\n{}", ran.out);
    }
    let json = place.json(&["explain", "c"]);
    let told = &json[0]["explanation"];
    assert_eq!((&told["state"], &told["conversation"]), (&"failed".into(), &"c".into()));
    assert_eq!(told["sections"][0]["about"], "ending");
    assert_eq!(told["sections"][0]["sentences"][0]["entries"][0], 9);
    assert_eq!(json[0]["iterations"].as_array().unwrap().len(), 4);
    // A run is named by its id as well.
    let run = told["run"].as_str().unwrap();
    assert_eq!(place.run(&["explain", run]).out, ran.out);
}

/// Rejects the first answers.
struct Strict;

impl Hooks for Strict {
    fn before(&self, _scene: Scene, _call: Call) -> Task<'_, Heard> {
        Box::pin(std::future::ready(HookAnswer::Pass {}.into()))
    }

    fn after(&self, _scene: Scene, _call: Call, _outcome: Outcome) -> Task<'_, Heard> {
        Box::pin(std::future::ready(HookAnswer::Pass {}.into()))
    }

    fn counsel(&self, scene: Scene, _about: Counsel) -> Task<'_, Advice> {
        let calls = scene.conversation.run.map_or(0, |run| run.counters.model_calls);
        let advice = match calls {
            0 | 1 => Advice::Block { reason: "the tests have not been run".into() },
            _ => Advice::Pass { context: None },
        };
        Box::pin(std::future::ready(advice))
    }
}

// spec: CLI-06
#[test]
fn what_sends_a_run_on_is_named_rounds_gate_and_stop_hook() {
    let place = Place::new("when any\n  say \"done\"\n");
    played(&place, "hook", &["go"], |builder| {
        builder.hooks(Strict).settings(|settings| settings.hooks.answer = Listening::Hooked)
    });
    let ran = place.run(&["explain", "hook"]);
    let sent_on = "A Stop hook rejected the answer (1 of 2): the tests have not been run [entry";
    assert!(ran.out.contains(sent_on), "{}", ran.out);
    assert!(
        ran.out.contains("0 of 50 rounds with tool calls, 2 iterations, 2 of 110 model calls"),
        "{}",
        ran.out
    );

    played(&place, "gate", &["go"], |builder| {
        let need = Need { tool: "Test".into(), at_least: 1 };
        let alone = builder.tool(Act::look("Test", "x")).nobody_to_ask();
        alone.settings(|settings| settings.gate.checklist = vec![need])
    });
    let ran = place.run(&["explain", "gate"]);
    let count = ran.out.matches("The completion gate rejected the answer").count();
    assert_eq!(count, 2, "{}", ran.out);
    assert!(ran.out.contains("(1 of 2)") && ran.out.contains("(2 of 2)"), "{}", ran.out);
    assert!(ran.out.contains("The answer counts, but it is doubtful"), "{}", ran.out);
}

#[test]
fn the_journal_tells_who_takes_over_what_was_wanted_and_what_comes_next() {
    let place = Place::new("when any\n  call Journal {}\n");
    let journal = Act::journal(&[
        (Field::Objective, "make the tests pass"),
        (Field::CurrentState, "two of three pass"),
        (Field::HandoffNextAction, "look at test three"),
    ]);
    played(&place, "c", &["go"], |builder| {
        builder.tool(journal).allow_everything_else().settings(|settings| {
            settings.limits = settings.limits.clone().with_tool_rounds(1);
        })
    });
    let ran = place.run(&["explain", "c"]);
    for expected in [
        "It ended (max_iters)",
        "objective: make the tests pass",
        "state: two of three pass",
        "next action: look at test three",
    ] {
        assert!(ran.out.contains(expected), "{expected:?} is missing in\n{}", ran.out);
    }
}

#[test]
fn budgets_are_shown_with_their_caps() {
    let place = Place::new("when any\n  say \"x\"\n  usage in 900 out 200\n");
    played(&place, "c", &["one", "two"], |builder| {
        builder.settings(|settings| {
            settings.budget.run = Caps { tokens: Some(90_000), usd_micros: None };
            settings.budget.conversation = Caps { tokens: Some(100_000), usd_micros: None };
        })
    });
    let ran = place.run(&["explain", "c"]);
    assert!(ran.out.contains("1,100 tokens of 90,000"), "{}", ran.out);
    assert!(ran.out.contains("the whole conversation: 2,200 tokens of 100,000"), "{}", ran.out);
}

#[test]
fn a_run_that_waits_says_for_whom_and_how_to_answer() {
    let place = Place::new("when any\n  call Bash {\"command\": \"touch x\"}\n");
    place.ask("go", &["--conversation", "c"]);
    let ran = place.run(&["explain", "c"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for expected in
        ["c needs an answer", "Allow Bash to run this command?     touch x Answer", "approve c"]
    {
        assert!(ran.out.replace("\n  ", " ").contains(expected), "{expected:?}: {}", ran.out);
    }
}

/// A run of the binary that hangs in its model call.
fn hanging(place: &Place) -> Child {
    place
        .command(&["-p", "hang", "--script", "a.script", "--store", "w.db", "--conversation", "c"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn a_run_whose_process_died_says_so_and_how_to_go_on() {
    let place = Place::new("when any\n  delay 60s\n  say \"late\"\n");
    let mut child = hanging(&place);
    let is_asking = || place.run(&["trace", "c"]).out.contains("not over: asking");
    let tries = (0..200).find(|_| is_asking());
    let alive = place.run(&["explain", "c"]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(tries.is_some(), "it never asked the model");
    assert!(alive.out.contains("A process is working on it."), "{}", alive.out);
    let ran = place.run(&["explain", "c"]);
    assert!(ran.out.contains("It is interrupted, its process is gone"), "{}", ran.out);
    assert!(ran.out.contains("windlass resume c"), "{}", ran.out);
    assert!(ran.out.contains(" of c is interrupted\n"), "{}", ran.out);
    assert!(!ran.out.contains("running") && !ran.out.contains("does now"), "{}", ran.out);
    let ran = place.run(&["doctor"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("1 run interrupted: c"), "{}", ran.out);
}
