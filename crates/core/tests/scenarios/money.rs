//! Tokens and money at every scope, reservations, warnings, and humans who extend a budget.

use std::sync::Arc;

use windlass_core::budget::spending::{
    CapAction, CapCheck, Spending, SpendingCaps, UnpricedPolicy,
};
use windlass_core::context::Summariser;
use windlass_core::log::ids::RunId;
use windlass_core::log::inbox::{HumanAnswer, InboxCommand};
use windlass_core::log::input::Input;
use windlass_core::log::record::{OutputBound, Record};
use windlass_core::permission::{HumanAvailability, PermissionMode};
use windlass_core::settings::conversation_settings::{ModelSpec, Settings};
use windlass_core::settings::run_settings::RunSettings;
use windlass_core::stop::StopCause;

use crate::kit::{Lane, call, calls, price, say, text};

fn tokens(tokens: u64) -> SpendingCaps {
    SpendingCaps { tokens: Some(tokens), usd_micros: None }
}

fn dollars(usd_micros: u64) -> SpendingCaps {
    SpendingCaps { tokens: None, usd_micros: Some(usd_micros) }
}

fn priced(change: impl FnOnce(&mut Settings)) -> Lane {
    Lane::with(|settings| {
        settings.model.price = Some(price());
        change(settings);
    })
}

fn bound(lane: &Lane) -> (u64, OutputBound) {
    let asking = lane.run().pending_model_call().unwrap();
    (asking.max_tokens, asking.bound)
}

// spec: BUDGETS-01
#[test]
fn a_cap_at_any_scope_lowers_the_call_before_it_is_made() {
    let scopes: [fn(&mut Settings, SpendingCaps); 4] = [
        |settings, caps| settings.budget.call = caps,
        |settings, caps| settings.budget.run = caps,
        |settings, caps| settings.budget.conversation = caps,
        |settings, caps| settings.budget.profile.caps = caps,
    ];
    for scope in scopes {
        let lane = priced(|settings| scope(settings, tokens(2_000))).prompt("hi");
        let (limit, by) = bound(&lane);
        assert!((1_024..2_000).contains(&limit) && by == OutputBound::Budget, "{limit} {by:?}");
        // 10,000 micro-dollars pay for 2,000 tokens of output and no input.
        let lane = priced(|settings| scope(settings, dollars(10_000))).prompt("hi");
        let (limit, by) = bound(&lane);
        assert!((1_024..2_000).contains(&limit) && by == OutputBound::Money, "{limit} {by:?}");
        priced(|settings| scope(settings, tokens(500))).prompt("hi").ends(StopCause::BudgetTokens);
        priced(|settings| scope(settings, dollars(500))).prompt("hi").ends(StopCause::BudgetUsd);
    }
}

// spec: BUDGETS-01
#[test]
fn a_cap_of_the_conversation_outlives_its_runs_and_one_of_the_run_does_not() {
    let lane = priced(|settings| settings.budget.conversation = tokens(10_000));
    let lane = lane.prompt("one").reply(text("1").usage(8_000, 1_500));
    lane.prompt("two").ends(StopCause::BudgetTokens);
    let lane = priced(|settings| settings.budget.run = tokens(10_000));
    let lane = lane.prompt("one").reply(text("1").usage(8_000, 1_500));
    lane.prompt("two").wants("model 2");
}

fn seen(lane: Lane, tokens: u64) -> Lane {
    lane.input(Input::SharedSpendingUpdated { total: Spending { tokens, usd_micros: 0 } })
}

// spec: BUDGETS-01
#[test]
fn what_others_spend_of_the_profile_counts_once_it_is_seen() {
    let lane = || priced(|settings| settings.budget.profile.caps = tokens(10_000));
    let one = || lane().prompt("one").reply(text("1").usage(100, 10));
    // The total includes our own spending: it is not counted twice.
    let (limit, _) = bound(&seen(one(), 110).prompt("two"));
    assert!(limit > 4_000, "{limit}");
    let (limit, by) = bound(&seen(one(), 8_000).prompt("two"));
    assert!((1_024..2_000).contains(&limit) && by == OutputBound::Budget, "{limit} {by:?}");
    seen(one(), 9_900).prompt("two").ends(StopCause::BudgetTokens);
    // A new period starts at zero, whatever this conversation spent before.
    let (limit, by) = bound(&seen(one(), 0).prompt("two"));
    assert!(limit > 4_000 && by != OutputBound::Budget, "{limit} {by:?}");
    // The same number again is not recorded, and neither is any for a run without a cap.
    seen(seen(one(), 8_000), 8_000).records_nothing();
    seen(priced(|_| {}).prompt("one"), 8_000).records_nothing();
}

// spec: BUDGETS-01
#[test]
fn what_others_spend_counts_for_the_profile_that_a_prompt_brings() {
    let lane = priced(|_| {}).prompt("one").reply(text("1").usage(100, 10));
    let mut own = (**lane.live.settings.as_ref().unwrap()).clone();
    own.budget.profile.caps = tokens(10_000);
    let settings = Some(Arc::new(RunSettings::from_settings(&own)));
    let prompt = InboxCommand::Prompt { run: RunId::from("two"), blocks: say("two"), settings };
    seen(lane, 9_900).send_command(prompt).ends(StopCause::BudgetTokens);
}

// spec: BUDGETS-02
#[test]
fn what_a_call_may_cost_is_set_aside_before_it_is_made() {
    let lane = priced(|_| {}).prompt("hi");
    let asking = lane.run().pending_model_call().unwrap();
    let (reserved, limit) = (asking.reserved_tokens, asking.max_tokens);
    let committed = lane.live.committed_spending();
    assert_eq!(committed.tokens, reserved);
    assert!(committed.usd_micros > 0 && reserved > limit, "{committed:?} {reserved} {limit}");
    let lane = lane.reply(text("hello").usage(100, 10));
    assert_eq!(
        (lane.live.committed_spending(), lane.live.committed_spending().tokens),
        (lane.live.spent, 110)
    );
    // What was reserved for a call without a reply counts as spent.
    let lost = priced(|_| {}).prompt("hi").owner_changes();
    assert!(
        lost.live.committed_spending().tokens > reserved,
        "{:?}",
        lost.live.committed_spending()
    );
    // A fork has spent nothing, and a child spends from its parent's budget.
    assert_eq!(lane.fork("lane").live.committed_spending(), Spending::default());
}

#[test]
fn what_others_spent_of_the_profile_counts() {
    let lane = priced(|settings| {
        settings.budget.profile.caps = dollars(1_000_000);
        settings.budget.profile.spent = Spending { tokens: 0, usd_micros: 999_000 };
    });
    lane.prompt("hi").ends(StopCause::BudgetUsd);
}

#[test]
fn money_is_counted_by_cache_class_and_rounded_up() {
    let lane = priced(|_| {}).prompt("hi").reply(text("a").usage(1_000, 100));
    // A thousand in at one dollar, a hundred out at five, per million.
    assert_eq!(lane.ended().spent, Spending { tokens: 1_100, usd_micros: 1_500 });
    assert_eq!(lane.live.spent, lane.ended().spent);
}

// spec: BUDGETS-06
#[test]
fn a_reply_cut_by_the_lowering_ends_for_its_budget() {
    let lane = priced(|settings| settings.budget.run = dollars(10_000)).prompt("hi");
    lane.reply(text("half a").stop("max_tokens")).ends(StopCause::BudgetUsd);
}

#[test]
fn a_finished_answer_outlives_any_cap() {
    priced(|settings| settings.budget.run = dollars(50_000))
        .prompt("hi")
        .reply(text("done").usage(900_000, 1))
        .ends(StopCause::EndTurn)
        .also([StopCause::BudgetUsd])
        .saying("done");
}

#[test]
fn most_of_a_budget_is_warned_of_once() {
    let lane = priced(|settings| settings.budget.run = tokens(20_000)).prompt("hi");
    let round = |lane: Lane, id: &str, used: u64| {
        lane.reply(calls([call(id, "read", id)]).usage(used, 10)).returns(0, id)
    };
    let lane = round(lane, "a", 15_000).so(|lane| assert_eq!(lane.count("budget_warned"), 0));
    let lane = round(lane, "b", 1_500)
        .records("call_returned result_finalized round_closed budget_warned model_call_started");
    let percent = lane.last.iter().find_map(|record| match record {
        Record::BudgetWarned { percent } => Some(*percent),
        _ => None,
    });
    assert_eq!(percent, Some(82));
    round(lane, "c", 100).so(|lane| assert_eq!(lane.count("budget_warned"), 1));
}

fn asks(settings: &mut Settings) {
    settings.budget.run = tokens(10_000);
    settings.budget.at_cap = CapAction::Ask;
}

// spec: BUDGETS-06
#[test]
fn a_human_may_let_it_spend_as_much_again() {
    let lane = priced(asks).prompt("hi").reply(calls([call("a", "read", "/a")]).usage(9_500, 10));
    let lane =
        lane.returns(0, "A").records("call_returned result_finalized round_closed question_asked");
    let lane = lane.asks("budget_tokens").parked();
    lane.clone().answer(HumanAnswer::Abandon {}).ends(StopCause::UserCancel);
    lane.clone()
        .answer(HumanAnswer::Text { text: "x".into() })
        .command_rejected("answer_not_accepted");
    lane.answer(HumanAnswer::Continue {})
        .records("question_answered budget_extended model_call_started")
        .so(|lane| assert_eq!(lane.run().budget_extensions, 1))
        .reply(calls([call("b", "read", "/b")]).usage(9_500, 10))
        .returns(0, "B")
        .parked();
}

#[test]
fn a_cap_that_was_passed_is_asked_about_after_the_tools() {
    let lane = priced(asks).prompt("hi").reply(calls([call("a", "read", "/a")]).usage(12_000, 10));
    let lane = lane.calls_are("running").returns(0, "A");
    lane.records("call_returned result_finalized round_closed question_asked")
        .answer(HumanAnswer::Continue {})
        .wants("model 2");
    // Without a human the run ends, and no tool runs on an exhausted budget.
    let absent = priced(|settings| {
        asks(settings);
        settings.rules.human = HumanAvailability::Absent;
    });
    absent
        .prompt("hi")
        .reply(calls([call("a", "read", "/a")]).usage(12_000, 10))
        .records("model_replied reply_kept run_finished")
        .ends(StopCause::BudgetTokens);
}

#[test]
fn only_the_cap_of_the_run_can_be_raised() {
    let spent = |scope: fn(&mut Settings, SpendingCaps)| {
        let lane = priced(|settings| {
            asks(settings);
            scope(settings, tokens(8_000));
        });
        lane.prompt("hi").reply(calls([call("a", "read", "/a")]).usage(8_500, 10))
    };
    spent(|settings, caps| settings.budget.conversation = caps).ends(StopCause::BudgetTokens);
    spent(|settings, caps| settings.budget.profile.caps = caps).ends(StopCause::BudgetTokens);
    // A call that is too large stays too large.
    let lane = spent(|settings, caps| settings.budget.call = caps);
    lane.returns(0, &"x ".repeat(15_500)).ends(StopCause::BudgetTokens);
}

#[test]
fn a_text_that_goes_on_after_the_question_is_joined() {
    let lane = priced(|settings| {
        asks(settings);
        settings.model.max_output_tokens = 4_096;
    });
    let lane = lane.prompt("hi").reply(text("one ").stop("max_tokens").usage(9_500, 10));
    let lane = lane.records("model_replied reply_kept note_added question_asked");
    lane.answer(HumanAnswer::Continue {}).reply(text("two")).saying("one two");
}

// spec: BUDGETS-07
#[test]
fn without_a_price_a_cap_in_dollars_is_refused_with_a_sentence() {
    let lane = Lane::with(|settings| settings.budget.run = dollars(1_000_000)).prompt("hi");
    let lane = lane.records("prompt_queued run_started run_finished").ends(StopCause::PriceUnknown);
    lane.so(|lane| {
        let output = &lane.ended().text;
        assert!(output.contains("price unknown for scripted"), "{output}");
        assert_eq!(lane.ended().counters.model_calls, 0);
    });
    Lane::with(|settings| {
        settings.budget.run = dollars(1_000_000);
        settings.budget.unpriced = UnpricedPolicy::Free;
    })
    .prompt("hi")
    .wants("model 1")
    .reply(text("a").usage(u64::MAX, 1))
    .so(|lane| assert_eq!(lane.ended().spent.usd_micros, 0));
}

// spec: BUDGETS-09
#[test]
fn a_summary_and_a_classifier_are_charged_at_their_own_price() {
    let mut cheap = price();
    cheap.input_usd_micros = 10_000_000;
    let lane = priced(|settings| {
        let model = ModelSpec { price: Some(cheap), ..ModelSpec::with_defaults("other") };
        settings.window.summariser = Summariser::Model(model);
        settings.rules.mode = PermissionMode::Auto;
        settings.rules.ask.clear();
    });
    let lane = lane.prompt("go").reply(calls([call("t", "deploy", "it")]).usage(0, 0));
    let lane = lane.calls_are("awaiting-classifier");
    let allow = windlass_core::log::input::Classification::Allow {};
    lane.classify(0, allow).so(|lane| assert_eq!(lane.live.spent.usd_micros, 505));
}

#[test]
fn classifiers_that_cannot_be_paid_are_not_asked() {
    let lane = priced(|settings| {
        settings.rules.mode = PermissionMode::Auto;
        settings.rules.ask.clear();
        settings.budget.run = tokens(30_000);
    });
    let many = calls([
        call("a", "deploy", "1"),
        call("b", "deploy", "2"),
        call("c", "deploy", "3"),
        call("d", "deploy", "4"),
    ]);
    // Each is estimated at 8,064 tokens: three fit, and a human decides about the fourth.
    let lane = lane.prompt("go").reply(many.usage(100, 10));
    lane.calls_are("awaiting-classifier awaiting-classifier awaiting-classifier awaiting-human");
}

#[test]
fn absurd_prices_and_caps_stay_numbers() {
    let absurd = windlass_core::budget::spending::ModelPrice {
        input_usd_micros: u64::MAX,
        output_usd_micros: u64::MAX,
        cache_read_usd_micros: u64::MAX,
        cache_write_usd_micros: u64::MAX,
        above: None,
    };
    let lane = |caps: SpendingCaps| {
        Lane::with(move |settings| {
            settings.model.price = Some(absurd);
            settings.budget.conversation = caps;
        })
        .prompt("hi")
    };
    lane(dollars(u64::MAX)).wants("model 1").reply(text("a").usage(1, 1)).ends(StopCause::EndTurn);
    lane(SpendingCaps::default())
        .reply(text("a").usage(u64::MAX, u64::MAX))
        .ends(StopCause::EndTurn);
    lane(dollars(0)).ends(StopCause::BudgetUsd);
    let free = windlass_core::budget::spending::ModelPrice {
        input_usd_micros: 0,
        output_usd_micros: 0,
        cache_read_usd_micros: 0,
        cache_write_usd_micros: 0,
        above: None,
    };
    Lane::with(|settings| {
        settings.model.price = Some(free);
        settings.budget.run = dollars(0);
    })
    .prompt("hi")
    .wants("model 1");
    assert!(serde_json::from_str::<windlass_core::budget::spending::ModelPrice>(
        r#"{"input_usd_micros":-1,"output_usd_micros":0,"cache_read_usd_micros":0,"cache_write_usd_micros":0}"#
    )
    .is_err());
}

#[test]
fn a_fallback_without_a_price_is_not_fallen_back_on_under_a_cap_in_dollars() {
    let lane = priced(|settings| {
        settings.fallback = Some(ModelSpec::with_defaults("unpriced"));
        settings.limits.model_retries = 0;
        settings.budget.run = dollars(1_000_000);
    });
    let down = crate::kit::passing(windlass_core::log::input::FailureClass::Transient);
    lane.prompt("hi").fails(down).ends(StopCause::ProviderFailed);
}

// spec: BUDGETS-10
#[test]
fn a_cap_that_is_checked_after_replies_lets_the_call_be_made_that_reaches_it() {
    let capped = |usd_micros| {
        priced(move |settings| {
            settings.budget.run = dollars(usd_micros);
            settings.budget.run_usd_check = CapCheck::AfterReply;
        })
        .prompt("hi")
    };
    capped(36)
        .so(|lane| assert_eq!(bound(lane), (4_096, OutputBound::Cap)))
        .reply(calls([call("t1", "read", "/a")]))
        .returns(0, "A")
        .reply(calls([call("t2", "read", "/a")]))
        .records("model_replied reply_kept run_finished")
        .ends(StopCause::BudgetUsd)
        .so(|lane| assert_eq!(lane.ended().spent.usd_micros, 70));
    // Exactly the cap is reached, too: nothing is left for another call.
    capped(35).reply(calls([call("t1", "read", "/a")])).ends(StopCause::BudgetUsd);
    capped(35).reply(text("done")).ends(StopCause::EndTurn).also([StopCause::BudgetUsd]);
}
