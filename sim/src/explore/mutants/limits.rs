//! Planted bugs in loop detection, gates, time limits, budgets and provider failures.

use windlass_core::call::call_facts::Interruptibility;
use windlass_core::call::call_state::Call;
use windlass_core::call::outcome::CallResult;
use windlass_core::guard::loop_detection::EscalationLevel;
use windlass_core::log::record::{Record, RecordedResult, TimeLimit, ToolChoice, Transition};
use windlass_core::run::active_run::{ActiveModel, Run, RunPhase};
use windlass_core::run::question::QuestionKind;
use windlass_core::run::review::{Review, ReviewResult};
use windlass_core::run::wanted::Wanted;
use windlass_core::{Conversation, Input, decide};

use super::ending::asked;
use super::{DecideCall, Mutant, records, replace, until, wants, without};

pub(super) const MUTANTS: &[Mutant] = &[
    records("accept an answer without the judge", unmarked, &["judge", "judge-unpaid"]),
    records("ask a judge that failed again", ask_judge_again, &["judge"]),
    records("let a judge reject for ever", loop_gate, &["judge"]),
    records("escalate two steps at once", two_steps, &["circles"]),
    records("never ask a human about a loop", never_human, &["circles"]),
    records("let a model that must ask a person do as it likes", free_choice, &["made-to-ask"]),
    records("force the model to ask a person again and again", made_again, &["made-to-ask"]),
    records("let a guardrail go on without a person", never_human, &["gate"]),
    records("lose an answer that a person is asked about", forget_kept, &["gate"]),
    records("reject answers for ever", loop_gate, &["gate"]),
    records("do not mark a doubtful answer", unmarked, &["gate"]),
    records("ignore a hook that rejects the answer", deaf_gate, &["gate"]),
    records("take an answer that fits no schema", any_shape, &["structured"]),
    records("ask for a schema for ever", loop_schema, &["structured"]),
    records("lose an answer that is under review", lose_answer, &["gate"]),
    records("ignore the soft time", no_soft, &["times"]),
    records("ignore the hard time", no_hard, &["times"]),
    records("let tools be called after the soft time", tools_after_soft, &["times"]),
    records("give calls in flight no grace period", no_grace, &["times"]),
    records("leave a call running after the hard time", runs_on, &["times"]),
    wants("forget to wake for a time", no_alarm, &["times"]),
    wants("forget to wake for the grace", no_grace_alarm, &["times"]),
    records("warn about the budget at every call", warn_always, &["money", "allowance"]),
    records("reserve less than a call may cost", reserve_less, &["money", "budget"]),
    records("ignore the cap in dollars", free_money, &["money"]),
    records("ignore the cap of the conversation", free_conversation, &["allowance", "money"]),
    records("double the budget without asking", extend_alone, &["money"]),
    records("fall back again and again", flip_flop, &["fallback"]),
    records("wait for a provider beyond its time", wait_on, &["provider-wait"]),
];

fn two_steps(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::LoopDetectionUpdated { level: EscalationLevel::Nudge, finding } => {
            vec![Record::LoopDetectionUpdated { level: EscalationLevel::Directive, finding }]
        }
        record => vec![record],
    })
}

/// Calls the model where a human should be asked.
fn ask_instead(
    told: &DecideCall<'_>,
    records: Vec<Record>,
    which: fn(&QuestionKind) -> bool,
) -> Vec<Record> {
    let asks =
        |r: &Record| matches!(r, Record::QuestionAsked { question } if which(&question.kind));
    if !records.iter().any(asks) {
        return records;
    }
    let mut records = until(records, asks);
    let ask = asked(told, &records, Transition::ToolResults);
    records.push(ask);
    records
}

fn never_human(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    ask_instead(told, records, |about| matches!(about, QuestionKind::Guidance { .. }))
}

fn free_choice(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let due = records.iter().any(|record| matches!(record, Record::QuestionRequired { .. }));
    replace(records, |record| match record {
        Record::ModelCallStarted {
            model_call,
            max_tokens,
            bound,
            reserved_tokens,
            transition,
            ..
        } if due => {
            let choice = ToolChoice::Auto;
            vec![Record::ModelCallStarted {
                model_call,
                max_tokens,
                bound,
                reserved_tokens,
                transition,
                choice,
            }]
        }
        record => vec![record],
    })
}

fn made_again(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    match told.run().is_some_and(|run| run.required_question.is_some()) {
        true => ask_instead(told, records, |about| matches!(about, QuestionKind::Guidance { .. })),
        false => records,
    }
}

/// As if there were no suspect answer to end with.
fn forget_kept(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    if told.run().and_then(Run::human_pause).is_none_or(|halt| halt.suspect_answer().is_none()) {
        return records;
    }
    told.decided_for(|run| {
        if let RunPhase::Paused(halt) = &mut run.phase {
            halt.question.kind = QuestionKind::guidance("");
        }
    })
}

fn loop_gate(told: &DecideCall<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_for(|run| run.counters.rejections = 0)
}

fn unmarked(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    without(records, |record| matches!(record, Record::AnswerMarkedSuspect { .. }))
}

fn deaf_gate(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    match told.input {
        Input::ReviewReturned { id, result: ReviewResult::Block { .. } } => {
            let result = ReviewResult::Pass { context: None };
            decide(told.state, told.at, &Input::ReviewReturned { id: *id, result })
        }
        _ => records,
    }
}

fn any_shape(told: &DecideCall<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| settings.output = None)
}

fn loop_schema(told: &DecideCall<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_for(|run| run.counters.output_retries = 0)
}

fn ask_judge_again(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let about = told.run().and_then(Run::pending_review).map(|sought| sought.review.clone());
    let failed =
        matches!(told.input, Input::ReviewReturned { result: ReviewResult::Failed { .. }, .. });
    match (about, records.first()) {
        (Some(review @ Review::Judge { .. }), Some(heard)) if failed => {
            let id = told.state.review_count + 1;
            vec![heard.clone(), Record::ReviewRequested { id, review }]
        }
        _ => records,
    }
}

fn lose_answer(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let sought = told.run().and_then(Run::pending_review).map(|sought| &sought.review);
    let looked_at = matches!(sought, Some(Review::Answer { .. }));
    replace(records, |record| match record {
        Record::RunFinished { run, other_causes, .. } if looked_at && !other_causes.is_empty() => {
            let cause =
                other_causes.first().copied().unwrap_or(windlass_core::stop::StopCause::UserCancel);
            vec![Record::RunFinished {
                run,
                cause,
                other_causes: Vec::new(),
                text_override: Some("".into()),
            }]
        }
        record => vec![record],
    })
}

fn no_soft(told: &DecideCall<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| {
        if let Some(times) = &mut settings.times {
            times.soft_ms = u64::MAX;
        }
    })
}

fn no_hard(told: &DecideCall<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| {
        if let Some(times) = &mut settings.times {
            times.hard_ms = u64::MAX;
        }
    })
}

fn tools_after_soft(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::ModelCallStarted {
            model_call,
            max_tokens,
            bound,
            reserved_tokens,
            transition,
            ..
        } => {
            let choice = ToolChoice::Auto;
            vec![Record::ModelCallStarted {
                model_call,
                max_tokens,
                bound,
                reserved_tokens,
                transition,
                choice,
            }]
        }
        record => vec![record],
    })
}

fn no_grace(told: &DecideCall<'_>, mut records: Vec<Record>) -> Vec<Record> {
    let soft = |r: &Record| matches!(r, Record::TimeLimitReached { limit: TimeLimit::Soft });
    if records.iter().any(soft) {
        let calls = told.run().and_then(Run::round).into_iter().flat_map(|round| &round.calls);
        let flying = calls.filter(|call| {
            call.is_running() && call.facts.interrupt == Interruptibility::Interruptible
        });
        let shown = |call: &Call| {
            RecordedResult::Replaced(CallResult::from_interruption(1, call.side_effects()))
        };
        records.extend(
            flying.map(|call| Record::ResultFinalized { call: call.id, result: shown(call) }),
        );
    }
    records
}

fn runs_on(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let hard = |r: &Record| matches!(r, Record::TimeLimitReached { limit: TimeLimit::Hard });
    if records.iter().any(hard) {
        return until(records, |record| matches!(record, Record::ResultFinalized { .. }));
    }
    records
}

fn no_alarm(c: &Conversation, wanted: Wanted) -> Wanted {
    let timed = c.run.as_ref().is_some_and(Run::is_active);
    Wanted { wake_at: wanted.wake_at.filter(|_| !timed), ..wanted }
}

fn no_grace_alarm(c: &Conversation, wanted: Wanted) -> Wanted {
    let up = c.run.as_ref().and_then(|run| run.reached_time_limit);
    let later =
        |at: windlass_core::log::ids::UnixMillis| if up.is_some() { at.plus_ms(50) } else { at };
    Wanted { wake_at: wanted.wake_at.map(later), ..wanted }
}

fn warn_always(told: &DecideCall<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_for(|run| run.is_budget_warning_given = false)
}

fn reserve_less(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::ModelCallStarted { model_call, max_tokens, bound, transition, choice, .. } => {
            let reserved_tokens = max_tokens;
            vec![Record::ModelCallStarted {
                model_call,
                max_tokens,
                bound,
                reserved_tokens,
                transition,
                choice,
            }]
        }
        record => vec![record],
    })
}

fn free_money(told: &DecideCall<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| settings.budget.run.usd_micros = None)
}

fn free_conversation(told: &DecideCall<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| {
        settings.budget.conversation = Default::default();
        settings.budget.profile = Default::default();
    })
}

fn extend_alone(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    ask_instead(told, records, |about| matches!(about, QuestionKind::Budget { .. }))
}

fn flip_flop(told: &DecideCall<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_for(|run| run.active_model = ActiveModel::Primary)
}

fn wait_on(told: &DecideCall<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| settings.limits.provider_wait_ms = u64::MAX)
}
