//! Plan mode: the model is told to plan, presents its plan, and works once a person approved it.

use std::sync::Arc;

use windlass_core::mail::Answer;
use windlass_core::permission::{Human, Mode};
use windlass_core::question::About;
use windlass_core::raw::Raw;
use windlass_core::settings::{Settings, ToolSpec};
use windlass_core::stop::StopCause;
use windlass_core::words;

use crate::kit::{Answering, Lane, call, calls, text};

fn planning(settings: &mut Settings) {
    settings.rules.mode = Mode::Plan;
    settings.tools.push(ToolSpec {
        name: Arc::from("ExitPlanMode"),
        description: Arc::from("presents the plan"),
        input_schema: Raw::parse(r#"{"type":"object"}"#).unwrap(),
    });
}

fn plan(id: &str) -> Answering {
    let block = format!(
        r##"{{"type":"tool_use","id":"{id}","name":"ExitPlanMode","input":{{"plan":"# Plan\n1. write /a"}}}}"##
    );
    calls([]).json(&block)
}

fn system(lane: &Lane) -> String {
    lane.live.request().unwrap().system().into_owned()
}

fn mode(lane: &Lane) -> Mode {
    lane.live.settings.as_ref().unwrap().rules.mode
}

// spec: PERMISSIONS-08
#[test]
fn the_model_is_told_to_plan_until_its_plan_is_approved() {
    let lane = Lane::with(planning).prompt("build it");
    assert!(system(&lane).ends_with(words::PLAN_MODE), "{}", system(&lane));
    // What changes something does not run.
    let lane = lane.reply(calls([call("w", "write", "/a")])).tells("the mode is plan");
    let asked = lane.reply(plan("p")).settles("replied round_opened judged questioned").parked();
    let question = asked.live.run.as_ref().unwrap().questions().next().unwrap().about.clone();
    assert!(matches!(question, About::Plan { ref plan, .. } if &**plan == "# Plan\n1. write /a"));

    let lane = asked.clone().allow().settles("answered mode_changed settled round_closed asked");
    assert_eq!(mode(&lane), Mode::Default);
    assert_eq!(system(&lane), "You haul.");
    let lane = lane.tells("the person approved the plan");
    lane.reply(calls([call("w2", "write", "/a")])).wants("run 3.0#1");

    let lane = asked.clone().answer(Answer::Continue {});
    assert_eq!(mode(&lane), Mode::AcceptEdits);

    let lane = asked.clone().deny("use /b");
    assert_eq!(mode(&lane), Mode::Plan);
    let lane = lane.tells("the person did not approve the plan: use /b");
    assert!(system(&lane).ends_with(words::PLAN_MODE));
    lane.reply(plan("p2")).parked().answer(Answer::Text { text: Arc::from("?") }).parked();

    // The question outlives its process, and the approval too.
    let lane = asked.clone().adopted().parked().allow().adopted();
    assert_eq!(mode(&lane), Mode::Default);
    asked.cancel().ends(StopCause::UserCancel);
}

// spec: PERMISSIONS-08
#[test]
fn an_approval_is_for_its_run_alone() {
    let lane = Lane::with(planning).prompt("build it").reply(plan("p")).allow();
    let lane = lane.so(|lane| assert_eq!(mode(lane), Mode::Default));
    let lane = lane.reply(text("built")).ends(StopCause::EndTurn);
    let lane = lane.so(|lane| assert_eq!(mode(lane), Mode::Plan)).prompt("and that");
    assert!(system(&lane).ends_with(words::PLAN_MODE));
}

#[test]
fn where_nobody_can_approve_the_plan_is_the_answer() {
    let lane = Lane::with(|settings| {
        planning(settings);
        settings.rules.human = Human::Absent;
    });
    let lane = lane.prompt("build it").reply(plan("p")).tells(words::PLAN_UNSEEN);
    lane.reply(text("# Plan")).ends(StopCause::EndTurn).saying("# Plan");
}

#[test]
fn outside_of_plan_mode_there_is_nothing_to_approve() {
    let lane = Lane::with(|settings| {
        planning(settings);
        settings.rules.mode = Mode::Default;
    });
    let lane = lane.prompt("go").so(|lane| assert_eq!(system(lane), "You haul."));
    lane.reply(plan("p")).tells(words::NOT_PLANNING).wants("ask 2");
    // Without the tool, and where no tool runs, the plan is given in words.
    for (mode, tool) in [(Mode::Plan, false), (Mode::PlanNone, true)] {
        let lane = Lane::with(|settings| {
            planning(settings);
            settings.rules.mode = mode;
            if !tool {
                settings.tools.pop();
            }
        });
        let lane = lane.prompt("go");
        assert!(system(&lane).ends_with(words::PLAN_MODE_IN_WORDS));
    }
}
