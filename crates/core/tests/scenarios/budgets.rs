//! Token budgets, round caps, and several stop causes at once.

use windlass_core::call::outcome::ToolError;
use windlass_core::log::record::OutputBound;
use windlass_core::settings::conversation_settings::Settings;
use windlass_core::stop::StopCause;

use crate::kit::{Lane, call, calls, paid_only, summed_up, text};

fn capped(tokens: u64) -> Lane {
    Lane::with(|settings| settings.limits.run_tokens = Some(tokens))
}

// spec: BUDGETS-02
#[test]
fn the_output_is_lowered_to_what_the_budget_can_pay() {
    capped(3_000)
        .prompt("hi")
        .so(|lane| {
            let asking = lane.run().pending_model_call().unwrap();
            assert_eq!(asking.bound, OutputBound::Budget);
            assert!((2_000..3_000).contains(&asking.max_tokens), "{}", asking.max_tokens);
            assert!(asking.reserved_tokens <= 3_000);
        })
        .reply(text("half a").stop("max_tokens"))
        .records("model_replied reply_dropped run_finished")
        .ends(StopCause::BudgetTokens)
        .saying("");
}

// spec: BUDGETS-02
#[test]
fn no_call_is_made_below_the_least_output() {
    capped(1_000)
        .prompt("hi")
        .records("prompt_queued run_started run_finished")
        .ends(StopCause::BudgetTokens)
        .so(|lane| assert_eq!(lane.ended().counters.model_calls, 0));
    capped(1_000_000).prompt(&"x".repeat(8_000_000)).ends(StopCause::BudgetTokens);
    // A model that never returns more than that is still called.
    Lane::with(|settings| {
        settings.limits.run_tokens = Some(500);
        settings.model.max_tokens = 100;
        settings.model.max_output_tokens = 100;
    })
    .prompt("hi")
    .wants("model 1");
}

// spec: BUDGETS-03
#[test]
fn a_finished_answer_is_never_thrown_away() {
    capped(5_000)
        .prompt("hi")
        .reply(text("done").usage(9_000, 1))
        .ends(StopCause::EndTurn)
        .also([StopCause::BudgetTokens])
        .saying("done");
    // Equal to the cap is not over it.
    capped(5_000).prompt("hi").reply(text("done").usage(4_000, 1_000)).also([]);
}

#[test]
fn tools_are_not_run_on_an_empty_purse() {
    capped(5_000)
        .prompt("hi")
        .reply(calls([call("t1", "write", "/a")]).text("let me").usage(5_000, 1))
        .records("model_replied reply_kept run_finished")
        .ends(StopCause::BudgetTokens)
        .saying("")
        .shows(["user: hi", "assistant: let me"]);
}

// spec: STOP-19
#[test]
fn the_last_round_is_followed_by_a_free_answer() {
    let one_round = || {
        let lane = Lane::with(|settings| settings.limits.tool_rounds = 1).prompt("hi");
        lane.reply(calls([call("t1", "read", "/a")])).returns(0, "A").wants("model 2")
    };
    one_round().reply(text("done")).ends(StopCause::EndTurn).also([]);
    one_round()
        .reply(calls([call("t2", "read", "/b")]))
        .records("model_replied reply_kept run_finished")
        .ends(StopCause::MaxToolRounds)
        .so(|lane| {
            assert_eq!(lane.ended().counters.tool_rounds, 1);
            assert!(lane.ended().cause.is_resumable());
        });
}

// spec: STOP-19
#[test]
fn model_calls_have_a_backstop() {
    Lane::with(|settings| settings.limits.model_calls = 2)
        .prompt("hi")
        .reply(text("a ").stop("pause_turn"))
        .reply(text("b ").stop("pause_turn"))
        .records("model_replied reply_kept run_finished")
        .ends(StopCause::MaxModelCalls)
        .so(|lane| assert_eq!(lane.ended().counters.model_calls, 2));
}

#[test]
fn causes_that_meet_keep_their_order() {
    let lane = Lane::with(|settings| {
        settings.limits.run_tokens = Some(10_000);
        settings.limits.model_calls = 1;
        settings.limits.tool_rounds = 1;
    });
    let acting = lane.prompt("hi").reply(calls([call("t1", "write", "/a")]).usage(20, 4_000));
    acting
        .cancel()
        .errs(0, ToolError::new("x", "y", "z").into_fatal())
        .ends(StopCause::ToolFatal)
        .also([StopCause::UserCancel, StopCause::MaxModelCalls]);
    let before_tools = |lane: Lane| {
        lane.prompt("hi").cancel().reply(calls([call("t1", "write", "/a")]).usage(9_000, 1))
    };
    before_tools(Lane::with(|settings| {
        settings.limits.run_tokens = Some(8_000);
        settings.limits.tool_rounds = 0;
    }))
    .ends(StopCause::UserCancel)
    .also([StopCause::BudgetTokens, StopCause::MaxToolRounds]);
    let over = Lane::with(|settings| {
        settings.limits.run_tokens = Some(8_000);
        settings.limits.model_calls = 1;
    });
    over.prompt("hi")
        .reply(text("a").stop("pause_turn").usage(9_000, 1))
        .ends(StopCause::BudgetTokens)
        .also([StopCause::MaxModelCalls]);
}

// spec: STOP-21
#[test]
fn every_cause_has_its_place() {
    use StopCause::{BudgetTokens, EndTurn, HardTime, MaxModelCalls, ToolFatal, UserCancel};
    let all = || {
        let lane = Lane::with(|settings| {
            settings.limits.run_tokens = Some(8_000);
            settings.limits.model_calls = 1;
            settings.budget.at_cap = windlass_core::budget::spending::CapAction::Ask;
            settings.times = Some(windlass_core::settings::limits::RunTimeLimits {
                soft_ms: 1_000,
                hard_ms: 2_000,
                grace_ms: 0,
            });
        });
        lane.prompt("hi")
    };
    // A finished answer comes first, whatever else applies.
    all().cancel().later(2_000).reply(text("done").usage(9_000, 1)).ends(EndTurn).also([
        UserCancel,
        BudgetTokens,
        HardTime,
    ]);
    // Tools run on an exhausted budget if a human may extend it.
    all()
        .reply(calls([call("t1", "write", "/a")]).usage(9_000, 1))
        .cancel()
        .later(2_000)
        .errs(0, ToolError::new("x", "y", "z").into_fatal())
        .ends(ToolFatal)
        .also([UserCancel, BudgetTokens, HardTime, MaxModelCalls]);
}

#[test]
fn limits_of_nothing_still_end_the_run() {
    Lane::with(|settings| settings.limits.model_calls = 0)
        .prompt("one")
        .ends(StopCause::MaxModelCalls)
        .prompt("two")
        .ends(StopCause::MaxModelCalls);
}

#[test]
fn absurd_numbers_stay_numbers() {
    Lane::with(|settings| {
        settings.limits.run_tokens = Some(u64::MAX);
        settings.model.max_tokens = u64::MAX;
        settings.model.max_output_tokens = u64::MAX;
    })
    .prompt("hi")
    .reply(text("a").usage(u64::MAX, u64::MAX))
    .ends(StopCause::EndTurn)
    .prompt("again")
    .so(|lane| assert_eq!(lane.live.usage.total_tokens(), u64::MAX))
    .owner_changes()
    .ends(StopCause::BudgetTokens);
    Lane::with(|settings| {
        settings.model.max_tokens = 0;
        settings.model.max_output_tokens = 0;
    })
    .prompt("hi")
    .so(|lane| assert_eq!(lane.run().pending_model_call().unwrap().max_tokens, 1));
}

// spec: BUDGETS-08
#[test]
fn a_task_budget_goes_on_after_a_compaction_where_it_was() {
    let task = |settings: &mut Settings| {
        paid_only(settings);
        settings.thinking.task_tokens = Some(100_000);
    };
    let left = |lane: &Lane| lane.live.model_request().unwrap().task_remaining_tokens;
    let before = Lane::with(task).prompt("go").fills(0..8, 6_000);
    assert_eq!(left(&before), None, "the model still sees all of it");
    let after = before
        .reads(8, 6_000)
        .records("call_returned result_finalized round_closed compacted model_call_started");
    let told = left(&after).unwrap();
    // Nine pages of 6,000 bytes are about 13,500 tokens, and the calls are not free.
    assert!((84_000..87_000).contains(&told), "{told}");
    // It stays constant during the generation, and the next one continues from what was left.
    let later = after.fills(9..12, 6_000);
    assert_eq!(left(&later), Some(told));
    let again = later.fills(12..14, 6_000);
    assert!(again.live.transcript.generation() > 1);
    let told_again = left(&again).unwrap();
    assert!(told_again + 6_000 < told, "{told_again} after {told}");
    // A crash does not change it, and another task starts with all of it.
    let again = again.crash();
    assert_eq!(left(&again), Some(told_again));
    let next = again.reply(text("done")).prompt("more");
    assert_eq!(left(&next), None);
}

#[test]
fn a_task_budget_is_no_cap_and_the_summary_has_none() {
    let task = |settings: &mut Settings| {
        summed_up(settings);
        settings.thinking.task_tokens = Some(10);
    };
    let lane = Lane::with(task).prompt("go").fills_up(6_000).consults("summary");
    let summary = lane.live.summary_request().unwrap();
    assert_eq!(
        (summary.settings.thinking.task_tokens, summary.task_remaining_tokens),
        (None, None)
    );
    let lane = lane.summary("short");
    assert_eq!(lane.live.model_request().unwrap().task_remaining_tokens, Some(0));
}
