//! The classifier, and rules that humans grant during a conversation.

use std::sync::Arc;

use windlass_core::log::inbox::HumanAnswer;
use windlass_core::log::input::Classification;
use windlass_core::permission::{HumanAvailability, PermissionMode, PermissionRule};
use windlass_core::settings::conversation_settings::Settings;

use crate::kit::{Lane, call, calls, rule, text};

fn auto(settings: &mut Settings) {
    settings.rules.mode = PermissionMode::Auto;
    settings.rules.ask.clear();
}

fn referred() -> Lane {
    Lane::with(auto).prompt("ship it").reply(calls([call("t1", "deploy", "prod")]))
}

// spec: PERMISSIONS-10
#[test]
fn what_rules_leave_open_is_put_to_a_classifier() {
    let lane = referred()
        .records("model_replied round_opened permission_decided")
        .calls_are("awaiting-classifier");
    let lane = lane.wants("classify 1.0").not_parked();
    let request = lane.live.classify_request(lane.call(0)).unwrap();
    let output = format!("{:?}", request.transcript);
    assert!(output.contains("ship it") && output.contains("deploy with"), "{output}");
    assert!(request.settings.tools.is_empty() && request.settings.stop_map.is_empty());
    lane.classify(0, Classification::Allow {})
        .records("call_classified permission_decided call_started")
        .calls_are("running");
}

// spec: PERMISSIONS-10
#[test]
fn a_call_that_a_classifier_cannot_see_whole_is_put_to_a_human() {
    let sends = |on: &str| Lane::with(auto).prompt("go").reply(calls([call("t1", "deploy", on)]));
    let lane = sends(&format!("{}HARM{}", "a".repeat(7_000), "b".repeat(7_000)));
    let lane = lane.calls_are("awaiting-classifier");
    let request = lane.live.classify_request(lane.call(0)).unwrap();
    assert!(format!("{:?}", request.transcript).contains("aHARMb"));
    sends(&"a".repeat(16_000)).calls_are("awaiting-human").parked().allow().calls_are("running");
    let absent = Lane::with(|settings| {
        auto(settings);
        settings.rules.human = HumanAvailability::Absent;
    });
    let absent = absent.prompt("go").reply(calls([call("t1", "deploy", &"a".repeat(16_000))]));
    absent.tells("denied");
}

#[test]
fn a_classifier_may_say_no() {
    let no = Classification::Deny { reason: Arc::from("too dangerous") };
    referred().classify(0, no).tells("denied: too dangerous").wants("model 2");
}

#[test]
fn a_classifier_in_doubt_or_silent_means_a_human_and_without_one_no() {
    let unsure = || Classification::Unsure { why: Arc::from("it did not answer") };
    referred()
        .classify(0, unsure())
        .calls_are("awaiting-human")
        .parked()
        .allow()
        .calls_are("running");
    let absent = Lane::with(|settings| {
        auto(settings);
        settings.rules.human = HumanAvailability::Absent;
    });
    let absent = absent.prompt("go").reply(calls([call("t1", "deploy", "prod")]));
    absent
        .classify(0, unsure())
        .tells("deploy requires approval, and no one is available to approve it");
}

#[test]
fn rules_come_before_the_classifier() {
    let lane = Lane::with(|settings| settings.rules.mode = PermissionMode::Auto).prompt("go");
    let both = calls([call("t1", "read", "z"), call("t2", "rm", "y"), call("t3", "deploy", "x")]);
    lane.reply(both).calls_are("running finished awaiting-human");
}

#[test]
fn an_opinion_nobody_asked_for_changes_nothing() {
    let lane = referred().classify(0, Classification::Allow {});
    lane.classify(0, Classification::Deny { reason: "late".into() }).records_nothing();
    referred().owner_changes().records("owner_changed").wants("classify 1.0");
    referred().cancel().records("cancel_requested result_finalized round_closed run_finished");
}

// spec: BUDGETS-09
#[test]
fn what_a_classifier_costs_counts() {
    referred()
        .classify(0, Classification::Allow {})
        .so(|lane| assert_eq!(lane.live.usage.input_tokens, 60));
}

fn grant(text: &str) -> HumanAnswer {
    HumanAnswer::allow_with_rule(PermissionRule::parse(text).unwrap())
}

#[test]
fn a_rule_that_was_granted_covers_the_next_such_call_and_nothing_else() {
    let open = Lane::with(|settings| settings.rules.ask.clear()).prompt("go");
    let lane = open.reply(calls([call("t1", "deploy", "a")])).parked().answer(grant("deploy"));
    let lane = lane
        .records("question_answered rule_granted permission_decided call_started")
        .returns(0, "done");
    let lane = lane.so(|lane| assert_eq!(lane.live.grants, [rule("deploy").into()]));
    let lane = lane.reply(calls([call("t2", "deploy", "b"), call("t3", "teleport", "c")]));
    let lane = lane.calls_are("running finished").returns(0, "done");
    // The grant lasts for the rest of the conversation, and after a crash.
    let lane = lane.reply(text("done")).prompt("more").owner_changes();
    lane.reply(calls([call("t4", "deploy", "c")])).calls_are("running");
}

#[test]
fn a_grant_never_beats_a_rule_that_holds_back() {
    let lane = Lane::new().prompt("go").reply(calls([call("t1", "deploy", "a")]));
    let lane = lane.answer(grant("deploy")).returns(0, "done");
    lane.reply(calls([call("t2", "deploy", "b")])).calls_are("awaiting-human").parked();
}

#[test]
fn a_grant_of_another_tool_grants_only_that() {
    let lane = Lane::with(|settings| settings.rules.ask.clear()).prompt("go");
    let lane =
        lane.reply(calls([call("t1", "deploy", "a")])).answer(grant("other")).returns(0, "ok");
    lane.reply(calls([call("t2", "deploy", "b")])).calls_are("awaiting-human");
}

#[test]
fn the_same_rule_is_kept_once() {
    let lane = Lane::new().prompt("go").reply(calls([call("t1", "deploy", "a")]));
    let lane =
        lane.answer(grant("deploy")).returns(0, "ok").reply(calls([call("t2", "deploy", "b")]));
    lane.answer(grant("deploy")).records("question_answered permission_decided call_started").so(
        |lane| {
            assert_eq!(lane.live.grants.len(), 1);
        },
    );
}

#[test]
fn rules_that_cannot_be_read_say_so_in_one_sentence() {
    for text in ["", "(", "Bash(", "Bash()", "WebFetch(example.com)", "a b", "Edit(../x)", "\u{7}"]
    {
        let problem = PermissionRule::parse(text).unwrap_err().to_string();
        assert!(
            problem.starts_with("the rule ") && problem.contains("; write for example"),
            "{problem}"
        );
    }
    let long = PermissionRule::parse(&"x".repeat(1_000_000)).unwrap_err().to_string();
    assert!(long.len() < 400, "{}", long.len());
    let many = format!(r#"{{"allow":[{}]}}"#, vec![r#""Read""#; 1_000_000].join(","));
    let refused = serde_json::from_str::<windlass_core::permission::Permissions>(&many);
    assert!(refused.unwrap_err().to_string().contains("more than 10000 permission rules"));
}
