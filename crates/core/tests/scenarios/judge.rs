//! The judge as completion gate: its rulings, and that nothing but a yes counts as one.

use std::sync::Arc;

use windlass_core::context::Summariser;
use windlass_core::log::inbox::HumanAnswer;
use windlass_core::log::record::ToolChoice;
use windlass_core::message::reply::TokenUsage;
use windlass_core::run::review::ReviewResult;
use windlass_core::settings::conversation_settings::{HookPresence, ModelSpec, Settings};
use windlass_core::stop::StopCause;

use crate::kit::{Lane, call, calls, price, text};

fn judged_with(change: impl FnOnce(&mut Settings)) -> Lane {
    Lane::with(|settings| {
        settings.gate.judge = Some(Arc::from("every file has a test"));
        change(settings);
    })
    .prompt("build it")
}

fn judged() -> Lane {
    judged_with(|_| {})
}

fn failed(reason: &str) -> ReviewResult {
    ReviewResult::Failed { why: Arc::from(reason), usage: TokenUsage::default() }
}

fn suspect(lane: &Lane) -> Option<&str> {
    lane.ended().suspect_reason.as_deref()
}

// spec: GUARDS-08
#[test]
fn an_answer_counts_when_the_judge_says_yes() {
    for yes in ["yes", "Yes.", " YES ", "**yes**", "yes: both files have one"] {
        let lane =
            judged().reply(text("done")).records("model_replied reply_kept review_requested");
        let lane = lane.consults("ruling").wants("review 1").summary(yes);
        let lane =
            lane.records("review_completed run_finished").ends(StopCause::EndTurn).saying("done");
        assert_eq!(suspect(&lane), None, "{yes}");
    }
}

// spec: GUARDS-08
#[test]
fn a_no_goes_back_with_its_reason_and_not_for_ever() {
    let lane = judged().reply(text("one")).summary("no: b.rs has none");
    let lane = lane
        .records("review_completed answer_rejected note_added model_call_started")
        .shows_last("user: b.rs has none");
    let lane = lane.reply(text("two")).summary("No, still none").tells("still none");
    let lane = lane.reply(text("three")).summary("no");
    let lane = lane.records("review_completed answer_rejected note_added question_asked");
    lane.asks("My answer was rejected 3 times: the judge gave no reason")
        .answer(HumanAnswer::Abandon {})
        .ends(StopCause::EndTurn)
        .saying("three")
        .so(|lane| assert_eq!(suspect(lane), Some("the judge gave no reason")));
}

// spec: GUARDS-08
#[test]
fn what_is_neither_leaves_a_doubt_and_no_loop() {
    for junk in ["", "yesterday", "yes, but b.rs has none", "not sure", "{\"verdict\": true}"] {
        let lane = judged().reply(text("done")).summary(junk);
        let lane =
            lane.records("review_completed answer_marked_suspect run_finished").saying("done");
        assert_eq!(suspect(&lane), Some("the judge answered neither yes nor no"), "{junk}");
    }
    let lane = judged().reply(text("done")).review_returned(failed("no answer within 120000 ms"));
    let lane = lane.records("review_completed answer_marked_suspect run_finished");
    let reason = "the judge model failed: no answer within 120000 ms";
    assert_eq!(suspect(&lane), Some(reason));
    // Nothing else can accept the answer in its place.
    let lane = judged().reply(text("done")).review_returned(ReviewResult::Pass { context: None });
    assert_eq!(suspect(&lane), Some("the judge answered neither yes nor no"));
}

// spec: GUARDS-08
#[test]
fn the_judge_comes_after_checklist_and_hooks() {
    let lane = judged_with(|settings| settings.hooks.answer = HookPresence::Present);
    let lane = lane.reply(text("done")).consults("answer");
    lane.clone().review_returned(failed("a hook hangs")).consults("ruling");
    lane.clone()
        .review_returned(ReviewResult::Stop { reason: Arc::from("enough") })
        .ends(StopCause::EndTurn)
        .so(|lane| assert!(suspect(lane).is_some(), "a hook does not stand in for the judge"));
    let lane = lane.review_returned(ReviewResult::Pass { context: None }).consults("ruling");
    lane.steer("and this").summary("yes").wants("model 2");
}

#[test]
fn a_doubt_about_an_answer_that_was_not_the_last_is_forgotten() {
    let lane = judged().reply(text("one")).steer("and this").summary("perhaps").wants("model 2");
    lane.reply(text("two")).summary("yes").so(|lane| assert_eq!(suspect(lane), None));
}

// spec: GUARDS-08
#[test]
fn the_judge_is_the_cheap_model_and_sees_work_and_answer() {
    let lane = judged_with(|settings| {
        settings.window.summariser = Summariser::Model(ModelSpec::with_defaults("cheap"));
    });
    let lane = lane.reply(calls([call("t1", "read", "/a.rs")])).returns(0, "fn a() {}");
    let request = lane.reply(text("all done")).live.review_request().unwrap();
    assert_eq!(&*request.settings.model.name, "cheap");
    assert_eq!((request.choice, request.settings.tools.len()), (ToolChoice::NoTools, 0));
    let output = request.transcript.segments()[0].blocks[0].as_text().unwrap().to_owned();
    for part in ["every file has a test", "build it", "fn a() {}", "all done"] {
        assert!(output.contains(part), "{part:?} is not in {output}");
    }
}

#[test]
fn a_ruling_is_paid_for_or_done_without() {
    let lane = judged().reply(text("done"));
    let before = lane.live.spent.tokens;
    let lane = lane.summary("yes");
    assert_eq!(lane.live.spent.tokens, before + 120);
    let poor = judged_with(|settings| settings.limits.run_tokens = Some(10_000));
    let lane = poor
        .reply(text("done"))
        .records("model_replied reply_kept answer_marked_suspect run_finished");
    assert_eq!(suspect(&lane), Some("the remaining budget does not cover the judge model"));
    let unpriced = judged_with(|settings| {
        settings.model.price = Some(price());
        settings.budget.run.usd_micros = Some(10_000_000);
        settings.window.summariser = Summariser::Model(ModelSpec::with_defaults("no price"));
    });
    let lane = unpriced
        .reply(text("done"))
        .records("model_replied reply_kept answer_marked_suspect run_finished");
    assert_eq!(suspect(&lane), Some("the remaining budget does not cover the judge model"));
}

#[test]
fn a_run_that_ends_meanwhile_keeps_its_answer_with_a_doubt() {
    let lane = judged().reply(text("done")).cancel();
    let lane = lane
        .records("cancel_requested review_completed answer_marked_suspect run_finished")
        .saying("done");
    assert_eq!(suspect(&lane), Some("the run ended before the judge answered"));
    let lane =
        judged().reply(text("done")).owner_changes_with_hash("another prompt").saying("done");
    assert!(suspect(&lane).is_some());
}

#[test]
fn a_new_owner_asks_the_judge_again_and_the_lost_ruling_is_charged() {
    let lane = judged().reply(text("done"));
    let before = lane.live.spent.tokens;
    let lane = lane
        .owner_changes()
        .records("owner_changed review_completed review_requested")
        .wants("review 2");
    assert_eq!(lane.live.spent.tokens, before + 16_512);
    lane.summary("yes").ends(StopCause::EndTurn).so(|lane| assert_eq!(suspect(lane), None));
}
