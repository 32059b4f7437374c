//! `windlass explain`: why a call did not run.

use windlass::core::call::Call;
use windlass::core::input::HookAnswer;
use windlass::core::outcome::Outcome;
use windlass::core::permission::Mode;
use windlass::core::settings::Listening;
use windlass::ports::{Heard, Hooks, Scene, Task};

use crate::kit::Place;
use crate::stage::{Act, played};

const CALL: &str = "when user contains \"The call:\"\n  say \"deny\"\n\
     when results 0\n  call Wipe {\"what\": \"disk\"}\nwhen any\n  say \"done\"\n";

struct Guarding;

impl Hooks for Guarding {
    fn before(&self, _scene: Scene, _call: Call) -> Task<'_, Heard> {
        let answer = HookAnswer::Deny { reason: "not on a Friday".into() };
        Box::pin(std::future::ready(answer.into()))
    }

    fn after(&self, _scene: Scene, _call: Call, _outcome: Outcome) -> Task<'_, Heard> {
        Box::pin(std::future::ready(HookAnswer::Pass {}.into()))
    }
}

fn told(place: &Place, conversation: &str, expected: &str) {
    let ran = place.run(&["explain", conversation]);
    let out = ran.out.replace("\n  ", " ");
    assert!(out.contains(expected), "{expected:?} is missing in\n{}", ran.out);
    let calls = &out[out.find(expected).unwrap()..];
    assert!(calls[expected.len()..].starts_with(" [entry "), "evidence: {out}");
}

// spec: CLI-07
#[test]
fn who_said_no_to_a_call_is_named() {
    let place = Place::new(CALL);
    let wipe = "Wipe {\"what\": \"disk\"} did not run;";

    played(&place, "rule", &["go"], |b| b.tool(Act::change("Wipe")).deny("Wipe"));
    told(&place, "rule", &format!("{wipe} a deny rule said no: the rule Wipe denies it."));

    played(&place, "hook", &["go"], |b| {
        b.tool(Act::change("Wipe"))
            .hooks(Guarding)
            .settings(|settings| settings.hooks.before_tool = Listening::Hooked)
    });
    told(&place, "hook", &format!("{wipe} a hook said no: not on a Friday."));

    played(&place, "classifier", &["go"], |b| {
        b.tool(Act::change("Wipe")).settings(|settings| settings.rules.mode = Mode::Auto)
    });
    let why = "a classifier found it too dangerous";
    told(&place, "classifier", &format!("{wipe} the classifier said no: {why}."));

    played(&place, "mode", &["go"], |b| {
        b.tool(Act::change("Wipe")).settings(|settings| settings.rules.mode = Mode::Plan)
    });
    let why = "the mode is plan; nothing is changed";
    told(&place, "mode", &format!("{wipe} the permission mode said no: {why}."));

    played(&place, "nobody", &["go"], |b| b.tool(Act::change("Wipe")).nobody_to_ask());
    let why = "Wipe requires approval, and no one is available to approve it";
    told(&place, "nobody", &format!("{wipe} the permissions said no: {why}."));
}

#[test]
fn leave_that_was_asked_for_and_refused_and_calls_that_fit_no_tool_are_told() {
    let place = Place::new(
        "when results 0\n  call Bash {\"command\": \"rm -r x\"}\n  call Nope {}\n\
         when any\n  say \"done\"\n",
    );
    place.ask("go", &["--conversation", "c"]);
    let asked = "Bash {\"command\": \"rm -r x\"} needed approval (question 1): no rule allows it.";
    told(&place, "c", asked);
    told(&place, "c", "Nope {} could not run: there is no tool named \"Nope\".");
    place.run(&["answer", "c", "1", "deny", "not today", "--script", "a.script"]);
    let denied = "Bash {\"command\": \"rm -r x\"} did not run; a human said no: not today.";
    told(&place, "c", denied);
}
