//! Plan mode: the model is told to plan, presents its plan, and works once a human approved it.

use std::sync::Arc;

use windlass_core::log::inbox::HumanAnswer;
use windlass_core::message::prompt_texts;
use windlass_core::message::raw_json::RawJson;
use windlass_core::permission::{HumanAvailability, PermissionMode};
use windlass_core::run::question::QuestionKind;
use windlass_core::settings::conversation_settings::{Settings, ToolSpec};
use windlass_core::stop::StopCause;

use crate::kit::{Lane, ReplyBuilder, call, calls, text};

fn planning(settings: &mut Settings) {
    settings.rules.mode = PermissionMode::Plan;
    settings.tools.push(ToolSpec {
        name: Arc::from("ExitPlanMode"),
        description: Arc::from("presents the plan"),
        input_schema: RawJson::parse(r#"{"type":"object"}"#).unwrap(),
    });
}

fn plan(id: &str) -> ReplyBuilder {
    let block = format!(
        r##"{{"type":"tool_use","id":"{id}","name":"ExitPlanMode","input":{{"plan":"# Plan\n1. write /a"}}}}"##
    );
    calls([]).json(&block)
}

fn system(lane: &Lane) -> String {
    lane.live.model_request().unwrap().system_prompt().into_owned()
}

fn mode(lane: &Lane) -> PermissionMode {
    lane.live.settings.as_ref().unwrap().rules.mode
}

// spec: PERMISSIONS-08
#[test]
fn the_model_is_told_to_plan_until_its_plan_is_approved() {
    let lane = Lane::with(planning).prompt("build it");
    assert!(system(&lane).ends_with(prompt_texts::PLAN_MODE), "{}", system(&lane));
    // A call with side effects does not run.
    let lane = lane.reply(calls([call("w", "write", "/a")])).tells("permission mode plan");
    let asked = lane
        .reply(plan("p"))
        .records("model_replied round_opened permission_decided question_asked")
        .parked();
    let question = asked.live.run.as_ref().unwrap().open_questions().next().unwrap().kind.clone();
    assert!(
        matches!(question, QuestionKind::Plan { ref plan, .. } if &**plan == "# Plan\n1. write /a")
    );

    let lane = asked
        .clone()
        .allow()
        .records("question_answered mode_changed result_finalized round_closed model_call_started");
    assert_eq!(mode(&lane), PermissionMode::Default);
    assert_eq!(system(&lane), "You haul.");
    let lane = lane.tells("the plan was approved");
    lane.reply(calls([call("w2", "write", "/a")])).wants("run 3.0#1");

    let lane = asked.clone().answer(HumanAnswer::Continue {});
    assert_eq!(mode(&lane), PermissionMode::AcceptEdits);

    let lane = asked.clone().deny("use /b");
    assert_eq!(mode(&lane), PermissionMode::Plan);
    let lane = lane.tells("the plan was not approved: use /b");
    assert!(system(&lane).ends_with(prompt_texts::PLAN_MODE));
    lane.reply(plan("p2")).parked().answer(HumanAnswer::Text { text: Arc::from("?") }).parked();

    // The question survives its process, and the approval does too.
    let lane = asked.clone().owner_changes().parked().allow().owner_changes();
    assert_eq!(mode(&lane), PermissionMode::Default);
    asked.cancel().ends(StopCause::UserCancel);
}

// spec: PERMISSIONS-08
#[test]
fn an_approval_is_for_its_run_alone() {
    let lane = Lane::with(planning).prompt("build it").reply(plan("p")).allow();
    let lane = lane.so(|lane| assert_eq!(mode(lane), PermissionMode::Default));
    let lane = lane.reply(text("built")).ends(StopCause::EndTurn);
    let lane = lane.so(|lane| assert_eq!(mode(lane), PermissionMode::Plan)).prompt("and that");
    assert!(system(&lane).ends_with(prompt_texts::PLAN_MODE));
}

#[test]
fn where_nobody_can_approve_the_plan_is_the_answer() {
    let lane = Lane::with(|settings| {
        planning(settings);
        settings.rules.human = HumanAvailability::Absent;
    });
    let lane = lane.prompt("build it").reply(plan("p")).tells(prompt_texts::NO_PLAN_APPROVER);
    lane.reply(text("# Plan")).ends(StopCause::EndTurn).saying("# Plan");
}

#[test]
fn outside_of_plan_mode_there_is_nothing_to_approve() {
    let lane = Lane::with(|settings| {
        planning(settings);
        settings.rules.mode = PermissionMode::Default;
    });
    let lane = lane.prompt("go").so(|lane| assert_eq!(system(lane), "You haul."));
    lane.reply(plan("p")).tells(prompt_texts::PLAN_MODE_IS_OFF).wants("model 2");
    // Without the tool, and where no tool runs, the plan is given as text.
    for (mode, tool) in [(PermissionMode::Plan, false), (PermissionMode::PlanNone, true)] {
        let lane = Lane::with(|settings| {
            planning(settings);
            settings.rules.mode = mode;
            if !tool {
                settings.tools.pop();
            }
        });
        let lane = lane.prompt("go");
        assert!(system(&lane).ends_with(prompt_texts::PLAN_MODE_WITHOUT_TOOL));
    }
}
