//! Answers to approval questions that do more than allow or deny: changed arguments, changes of the
//! permissions, the end of the run; and who gave them.

use std::sync::Arc;

use windlass_core::log::inbox::{AnswerChannel, AnswerSource, HumanAnswer, InboxCommand};
use windlass_core::message::raw_json::RawJson;
use windlass_core::permission::{PermissionMode, PermissionUpdate, RuleBehavior};
use windlass_core::run::active_run::StopPoint;
use windlass_core::stop::StopCause;

use crate::kit::{Lane, call, calls, rule, text};

fn asked() -> Lane {
    Lane::new().prompt("deploy it").reply(calls([call("t1", "deploy", "prod")])).parked()
}

fn add(behavior: RuleBehavior, text: &str) -> PermissionUpdate {
    PermissionUpdate::AddRules { behavior, rules: vec![rule(text)] }
}

fn with_updates<const N: usize>(updates: [PermissionUpdate; N]) -> HumanAnswer {
    HumanAnswer::allow().with_permission_updates(updates.to_vec())
}

// spec: PERMISSIONS-24
#[test]
fn a_call_runs_with_the_arguments_of_the_answer() {
    asked()
        .allow_with_input(0, "staging")
        .records("question_answered call_input_changed permission_decided call_started")
        .calls_are("running")
        .so(|lane| {
            let call = &lane.run().round().unwrap().calls[0];
            assert_eq!(call.tool_use.input.text(), r#"{"on":"staging"}"#);
        })
        .returns(0, "deployed to staging")
        .shows([
            "user: deploy it",
            // The model's own message stays as it was written.
            "assistant: <deploy t1>",
            "user: <t1 ok: deployed to staging>",
        ])
        .reply(text("done"))
        .ends(StopCause::EndTurn);
}

// spec: PERMISSIONS-24, INV-09
#[test]
fn a_changed_call_waits_for_a_later_one_that_it_would_disturb() {
    Lane::with(|settings| settings.rules.ask = vec![rule("write")])
        .prompt("go")
        .reply(calls([call("t1", "write", "/a"), call("t2", "send", "/b")]))
        .calls_are("awaiting-human running")
        .allow_with_input(0, "/b")
        .calls_are("ready running")
        .returns(1, "sent")
        .calls_are("running finished");
}

// spec: PERMISSIONS-24
#[test]
fn rules_and_schemas_win_over_changed_arguments() {
    let denied = asked().answer(with_updates([add(RuleBehavior::Deny, "deploy")]));
    denied.tells("the rule deploy denies it").phase("calling_model");
    let not_an_object = HumanAnswer::allow().with_changed_input(RawJson::string("prod"));
    asked().allow_assessed(0, not_an_object).tells("not a JSON object").phase("calling_model");
    let unassessed = HumanAnswer::allow().with_changed_input(RawJson::parse("{}").unwrap());
    asked().answer(unassessed).command_rejected("input_not_assessed").parked();
}

// spec: PERMISSIONS-25
#[test]
fn rules_of_an_answer_hold_for_the_rest_of_the_conversation() {
    let updates = [
        add(RuleBehavior::Allow, "deploy"),
        add(RuleBehavior::Deny, "send"),
        add(RuleBehavior::Ask, "write"),
    ];
    let lane = asked()
        .answer(with_updates(updates))
        .records(
            "question_answered permissions_updated permissions_updated permissions_updated \
             permission_decided call_started",
        )
        .returns(0, "ok")
        .reply(text("done"))
        .prompt("more");
    // An ask rule of the settings still wins over an allow rule of the conversation.
    let again = lane.reply(calls([
        call("t2", "send", "x"),
        call("t3", "write", "/a"),
        call("t4", "deploy", "prod"),
    ]));
    again.calls_are("finished awaiting-human awaiting-human");
}

// spec: PERMISSIONS-25
#[test]
fn rules_can_be_replaced_and_removed() {
    let remove = |rules| PermissionUpdate::RemoveRules { behavior: RuleBehavior::Deny, rules };
    let replace = |rules| PermissionUpdate::ReplaceRules { behavior: RuleBehavior::Deny, rules };
    let deny = |lane: &Lane| -> Vec<String> {
        let rules = &lane.live.settings.as_ref().unwrap().rules;
        rules.deny.iter().map(|rule| rule.text().to_string()).collect()
    };
    Lane::new()
        .prompt("go")
        .update_permissions([add(RuleBehavior::Deny, "send"), add(RuleBehavior::Deny, "write")])
        .so(|lane| assert_eq!(deny(lane), ["rm", "send", "write"]))
        .update_permissions([remove(vec![rule("send"), rule("rm")])])
        .so(|lane| assert_eq!(deny(lane), ["rm", "write"], "rules of the settings stay"))
        .update_permissions([replace(vec![rule("fetch")])])
        .so(|lane| assert_eq!(deny(lane), ["rm", "fetch"]))
        .reply(text("done"))
        .prompt("again")
        .so(|lane| assert_eq!(deny(lane), ["rm", "fetch"], "in later runs too"));
}

// spec: PERMISSIONS-25
#[test]
fn a_question_that_is_no_longer_needed_disappears() {
    let open = || {
        Lane::with(|settings| settings.rules.ask = vec![rule("mail*")])
            .prompt("go")
            .reply(calls([call("t1", "deploy", "a"), call("t2", "deploy", "b")]))
            .calls_are("awaiting-human awaiting-human")
    };
    let granted = open().answer_to(1, with_updates([add(RuleBehavior::Allow, "deploy")]));
    granted
        .calls_are("running ready")
        .answer_to(2, HumanAnswer::allow())
        .command_rejected("question_not_open");
    let bypassed = open().set_mode(PermissionMode::BypassPermissions);
    bypassed.calls_are("running ready");
    let denied = open().set_mode(PermissionMode::DontAsk);
    denied.tells("the mode dontAsk asks no one").phase("calling_model");
    open().set_mode(PermissionMode::AcceptEdits).calls_are("awaiting-human awaiting-human");
}

#[test]
fn a_deny_rule_stops_a_call_that_was_allowed_and_has_not_run() {
    Lane::new()
        .prompt("go")
        .reply(calls([call("t1", "bash", "a"), call("t2", "bash", "b")]))
        .calls_are("running ready")
        .update_permissions([add(RuleBehavior::Deny, "bash")])
        .calls_are("running finished")
        .returns(0, "A")
        .tells("the rule bash denies it");
}

// spec: PERMISSIONS-26
#[test]
fn a_human_who_denies_can_end_the_run() {
    Lane::new()
        .prompt("go")
        .reply(calls([
            call("t1", "deploy", "prod"),
            call("t2", "sleep", "1"),
            call("t3", "deploy", "x"),
        ]))
        .answer_to(1, HumanAnswer::deny_and_interrupt("stop it"))
        .ends(StopCause::UserCancel)
        .so(|lane| assert_eq!(lane.ended().stopped_during, Some(StopPoint::ToolCalls)))
        .prompt("again")
        .tells("denied: stop it")
        .tells("cancelled before this call ran");
    let asking = Lane::new().prompt("go").reply(calls([call("t1", "ask_human", "colour?")]));
    asking.answer(HumanAnswer::deny_and_interrupt("no")).ends(StopCause::UserCancel);
}

// spec: PERMISSIONS-26
#[test]
fn who_answered_is_in_the_log() {
    let source = AnswerSource::new(AnswerChannel::Sdk).with_detail("  a program  ");
    let answer = HumanAnswer::allow();
    let lane = asked().send_command(InboxCommand::Answer {
        question: 1,
        answer,
        answered_by: Some(source),
    });
    let entry = lane.log.last().unwrap().encode();
    assert!(entry.contains(r#""answered_by":{"channel":"sdk","detail":"a program"}"#), "{entry}");
}

#[test]
fn changes_that_cannot_be_made_are_rejected() {
    let relative = PermissionUpdate::AddFolders { folders: vec![Arc::from("../x")] };
    asked().answer(with_updates([relative.clone()])).command_rejected("folder_not_absolute");
    Lane::new().update_permissions([relative]).command_rejected("folder_not_absolute");
    let folders = (0..101).map(|n| Arc::from(format!("/{n}"))).collect();
    let many = PermissionUpdate::AddFolders { folders };
    Lane::new().update_permissions([many]).command_rejected("too_many_permissions");
}
