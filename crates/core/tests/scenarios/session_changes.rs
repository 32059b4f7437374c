//! The mode, the folders and the model of a conversation change while it goes on.

use std::sync::Arc;

use windlass_core::budget::spending::SpendingCaps;
use windlass_core::log::ids::RunId;
use windlass_core::log::inbox::InboxCommand;
use windlass_core::log::input::FailureClass;
use windlass_core::permission::{PermissionMode, PermissionUpdate};
use windlass_core::settings::conversation_settings::{Effort, ModelSpec, ThinkingSettings};
use windlass_core::settings::model_change::ModelChange;
use windlass_core::settings::run_settings::{RunModels, RunSettings};
use windlass_core::stop::StopCause;

use crate::kit::{Lane, call, calls, passing, price, say, settings, text};

fn mode(lane: &Lane) -> PermissionMode {
    lane.live.settings.as_ref().unwrap().rules.mode
}

fn model(lane: &Lane) -> String {
    lane.live.active_model().unwrap().name.to_string()
}

fn models(name: &str) -> RunModels {
    let model = ModelSpec::with_defaults(name);
    RunModels {
        model,
        fallback: None,
        further_fallbacks: Vec::new(),
        temperature: None,
        cache: None,
    }
}

/// A prompt with settings of its own.
fn prompt_in_mode(run: &str, mode: PermissionMode) -> InboxCommand {
    let mut own = settings();
    own.rules.mode = mode;
    let settings = Some(Arc::new(RunSettings::from_settings(&own)));
    InboxCommand::Prompt { run: RunId::from(run), blocks: say(run), settings }
}

// spec: PERMISSIONS-25
#[test]
fn the_mode_changes_at_once_and_for_later_runs() {
    Lane::new()
        .prompt("go")
        .reply(calls([call("t1", "read", "/a")]))
        .set_mode(PermissionMode::Plan)
        .records("permissions_updated")
        .so(|lane| assert_eq!(mode(lane), PermissionMode::Plan))
        .returns(0, "A")
        .reply(calls([call("t2", "write", "/a")]))
        .tells("permission mode plan")
        .reply(text("done"))
        .prompt("again")
        .so(|lane| assert_eq!(mode(lane), PermissionMode::Plan))
        .set_mode(PermissionMode::Default)
        .reply(text("done"))
        .prompt("and again")
        .so(|lane| assert_eq!(mode(lane), PermissionMode::Default));
}

// spec: PERMISSIONS-25
#[test]
fn a_prompt_that_brings_another_mode_has_it() {
    Lane::new()
        .prompt("go")
        .set_mode(PermissionMode::AcceptEdits)
        .reply(text("done"))
        .send_command(prompt_in_mode("a", PermissionMode::DontAsk))
        .so(|lane| assert_eq!(mode(lane), PermissionMode::DontAsk))
        .reply(text("done"))
        .send_command(prompt_in_mode("b", PermissionMode::Default))
        .so(|lane| assert_eq!(mode(lane), PermissionMode::AcceptEdits));
}

#[test]
fn the_mode_can_change_between_runs() {
    Lane::new()
        .prompt("go")
        .reply(text("done"))
        .set_mode(PermissionMode::Plan)
        .records("permissions_updated")
        .prompt("again")
        .so(|lane| assert_eq!(mode(lane), PermissionMode::Plan));
}

#[test]
fn folders_are_added_and_taken_back() {
    let folders = |lane: &Lane| -> Vec<String> {
        let rules = &lane.live.settings.as_ref().unwrap().rules;
        rules.folders.iter().map(ToString::to_string).collect()
    };
    let add = PermissionUpdate::AddFolders { folders: vec![Arc::from("/x"), Arc::from("/y")] };
    let remove = PermissionUpdate::RemoveFolders { folders: vec![Arc::from("/x")] };
    Lane::new()
        .prompt("go")
        .update_permissions([add])
        .so(|lane| assert_eq!(folders(lane), ["/x", "/y"]))
        .update_permissions([remove])
        .so(|lane| assert_eq!(folders(lane), ["/y"]))
        .reply(text("done"))
        .prompt("again")
        .so(|lane| assert_eq!(folders(lane), ["/y"]));
}

// spec: MODELS-12
#[test]
fn the_model_changes_with_the_next_model_call() {
    Lane::new()
        .prompt("go")
        .set_model(models("other").into())
        .records("model_change_requested")
        .so(|lane| assert_eq!(model(lane), "scripted", "the call in flight is not disturbed"))
        .reply(calls([call("t1", "read", "/a")]))
        .returns(0, "A")
        .so(|lane| assert_eq!(model(lane), "other"))
        .records("call_returned result_finalized round_closed model_changed model_call_started")
        .reply(text("done"))
        .prompt("again")
        .so(|lane| assert_eq!(model(lane), "other", "later runs have it too"));
}

// spec: MODELS-12
#[test]
fn another_model_helps_a_run_whose_provider_is_down() {
    Lane::new()
        .prompt("go")
        .fails(passing(FailureClass::Transient))
        .set_model(models("other").into())
        .wake()
        .so(|lane| assert_eq!(model(lane), "other"))
        .reply(text("done"))
        .ends(StopCause::EndTurn);
}

#[test]
fn a_reply_is_charged_with_the_price_of_its_own_model() {
    let lane = Lane::with(|settings| settings.model.price = Some(price()));
    let lane = lane.prompt("go").set_model(models("free").into()).reply(text("done"));
    assert_eq!(lane.ended().spent.usd_micros, 35, "10 tokens in, 5 out");
}

#[test]
fn a_change_of_thinking_keeps_the_model() {
    let thinking = ThinkingSettings { effort: Some(Effort::High), ..ThinkingSettings::default() };
    let change = ModelChange { models: None, thinking: Some(thinking) };
    let effort = |lane: &Lane| lane.live.settings.as_ref().unwrap().thinking.effort;
    Lane::new()
        .set_model(models("other").into())
        .set_model(change)
        .prompt("go")
        .so(|lane| assert_eq!((model(lane).as_str(), effort(lane)), ("other", Some(Effort::High))));
}

#[test]
fn a_prompt_that_names_another_model_has_it() {
    let mut own = settings();
    own.model.name = Arc::from("third");
    let own = Some(Arc::new(RunSettings::from_settings(&own)));
    Lane::new()
        .prompt("go")
        .set_model(models("other").into())
        .reply(text("done"))
        .send_command(InboxCommand::Prompt { run: "r".into(), blocks: say("x"), settings: own })
        .so(|lane| assert_eq!(model(lane), "third"));
}

#[test]
fn a_model_without_a_price_is_refused_under_a_dollar_cap() {
    let lane = Lane::with(|settings| {
        settings.model.price = Some(price());
        settings.budget.run = SpendingCaps { tokens: None, usd_micros: Some(1_000_000) };
    });
    lane.prompt("go").set_model(models("unpriced").into()).command_rejected("price_unknown");
}

fn texts(lane: &Lane) -> Vec<String> {
    let segments = lane.live.transcript.segments().iter();
    let blocks = segments.flat_map(|segment| segment.blocks.to_vec());
    blocks.filter_map(|block| block.as_text().map(str::to_owned)).collect()
}

#[test]
fn a_turn_is_taken_back() {
    let lane = Lane::new().prompt("one").reply(text("first"));
    let end = lane.live.head;
    lane.prompt("two")
        .reply(text("second"))
        .rewind_to(end)
        .records("history_replaced")
        .so(|lane| assert_eq!(texts(lane), ["one", "first"]))
        .prompt("three")
        .reply(text("third"))
        .so(|lane| assert_eq!(texts(lane), ["one", "first", "three", "third"]))
        .ends(StopCause::EndTurn);
}

#[test]
fn messages_are_not_replaced_under_a_run() {
    let lane = Lane::new().prompt("one").reply(text("first"));
    let end = lane.live.head;
    lane.prompt("two").rewind_to(end).command_rejected("run_not_finished");
    Lane::new().prompt("one").reply(text("x")).rewind_to(0).command_rejected("empty_history");
}
