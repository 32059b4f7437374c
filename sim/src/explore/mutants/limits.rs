//! Bugs of circles, gates, times, budgets and providers.

use windlass_core::call::Call;
use windlass_core::counsel::{Advice, Counsel};
use windlass_core::facts::Interrupt;
use windlass_core::outcome::Shown;
use windlass_core::question::About;
use windlass_core::record::{Record, Settlement, TimeLimit, ToolChoice, Transition};
use windlass_core::run::{InUse, Phase, Run, Warned};
use windlass_core::thrash::Level;
use windlass_core::wanted::Wanted;
use windlass_core::{Conversation, Input, decide};

use super::ending::asked;
use super::{Mutant, Told, records, replace, until, wants, without};

pub(super) const MUTANTS: &[Mutant] = &[
    records("let an answer pass that nobody judged", unmarked, &["judge", "judge-unpaid"]),
    records("ask a judge who failed once more", ask_judge_again, &["judge"]),
    records("let a judge say no for ever", loop_gate, &["judge"]),
    records("rise two steps at once", two_steps, &["circles"]),
    records("never put circles before a human", never_human, &["circles"]),
    records("let a model that must ask a person do as it likes", free_choice, &["made-to-ask"]),
    records("make a model ask a person again and again", made_again, &["made-to-ask"]),
    records("let a guardrail go on without a person", never_human, &["gate"]),
    records("lose an answer that a person is asked about", forget_kept, &["gate"]),
    records("reject answers for ever", loop_gate, &["gate"]),
    records("do not mark a doubtful answer", unmarked, &["gate"]),
    records("ignore a hook that rejects the answer", deaf_gate, &["gate"]),
    records("take an answer that fits no schema", any_shape, &["structured"]),
    records("ask for a schema for ever", loop_schema, &["structured"]),
    records("lose an answer that is being looked at", lose_answer, &["gate"]),
    records("ignore the soft time", no_soft, &["times"]),
    records("ignore the hard time", no_hard, &["times"]),
    records("let tools be called after the soft time", tools_after_soft, &["times"]),
    records("give calls in the air no grace", no_grace, &["times"]),
    records("leave a call running after the hard time", runs_on, &["times"]),
    wants("forget to wake for a time", no_alarm, &["times"]),
    wants("forget to wake for the grace", no_grace_alarm, &["times"]),
    records("warn about the budget at every call", warn_always, &["money", "allowance"]),
    records("reserve less than a call may cost", reserve_less, &["money", "budget"]),
    records("ignore the cap in dollars", free_money, &["money"]),
    records("ignore the cap of the conversation", free_conversation, &["allowance", "money"]),
    records("spend as much again unasked", extend_alone, &["money"]),
    records("fall back again and again", flip_flop, &["fallback"]),
    records("wait for a provider beyond its time", wait_on, &["provider-wait"]),
];

fn two_steps(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::Watched { level: Level::Nudge, found } => {
            vec![Record::Watched { level: Level::Directive, found }]
        }
        record => vec![record],
    })
}

/// Asks the model where it should ask a human.
fn ask_instead(told: &Told<'_>, records: Vec<Record>, which: fn(&About) -> bool) -> Vec<Record> {
    let asks = |r: &Record| matches!(r, Record::Questioned { question } if which(&question.about));
    if !records.iter().any(asks) {
        return records;
    }
    let mut records = until(records, asks);
    let ask = asked(told, &records, Transition::ToolResults);
    records.push(ask);
    records
}

fn never_human(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    ask_instead(told, records, |about| matches!(about, About::Guidance { .. }))
}

fn free_choice(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    let due = records.iter().any(|record| matches!(record, Record::QuestionDue { .. }));
    replace(records, |record| match record {
        Record::Asked { ask, max_tokens, bound, reserved_tokens, transition, .. } if due => {
            let choice = ToolChoice::Open;
            vec![Record::Asked { ask, max_tokens, bound, reserved_tokens, transition, choice }]
        }
        record => vec![record],
    })
}

fn made_again(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    match told.run().is_some_and(|run| run.due_question.is_some()) {
        true => ask_instead(told, records, |about| matches!(about, About::Guidance { .. })),
        false => records,
    }
}

/// As if there were no answer to fall back on.
fn forget_kept(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    if told.run().and_then(Run::halt).is_none_or(|halt| halt.kept_answer().is_none()) {
        return records;
    }
    told.decided_for(|run| {
        if let Phase::Halted(halt) = &mut run.phase {
            halt.question.about = About::guidance("");
        }
    })
}

fn loop_gate(told: &Told<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_for(|run| run.counters.rejections = 0)
}

fn unmarked(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    without(records, |record| matches!(record, Record::Suspected { .. }))
}

fn deaf_gate(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    match told.input {
        Input::Counselled { counsel, advice: Advice::Block { .. } } => {
            let advice = Advice::Pass { context: None };
            decide(told.state, told.at, &Input::Counselled { counsel: *counsel, advice })
        }
        _ => records,
    }
}

fn any_shape(told: &Told<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| settings.output = None)
}

fn loop_schema(told: &Told<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_for(|run| run.counters.output_retries = 0)
}

fn ask_judge_again(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    let about = told.run().and_then(Run::consulting).map(|sought| sought.about.clone());
    let failed = matches!(told.input, Input::Counselled { advice: Advice::Failed { .. }, .. });
    match (about, records.first()) {
        (Some(about @ Counsel::Ruling { .. }), Some(heard)) if failed => {
            let counsel = told.state.counsels + 1;
            vec![heard.clone(), Record::CounselSought { counsel, about }]
        }
        _ => records,
    }
}

fn lose_answer(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    let sought = told.run().and_then(Run::consulting).map(|sought| &sought.about);
    let looked_at = matches!(sought, Some(Counsel::Answer { .. }));
    replace(records, |record| match record {
        Record::Finished { run, also, .. } if looked_at && !also.is_empty() => {
            let cause = also.first().copied().unwrap_or(windlass_core::stop::StopCause::UserCancel);
            vec![Record::Finished { run, cause, also: Vec::new(), said: Some("".into()) }]
        }
        record => vec![record],
    })
}

fn no_soft(told: &Told<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| {
        if let Some(times) = &mut settings.times {
            times.soft_ms = u64::MAX;
        }
    })
}

fn no_hard(told: &Told<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| {
        if let Some(times) = &mut settings.times {
            times.hard_ms = u64::MAX;
        }
    })
}

fn tools_after_soft(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::Asked { ask, max_tokens, bound, reserved_tokens, transition, .. } => {
            let choice = ToolChoice::Open;
            vec![Record::Asked { ask, max_tokens, bound, reserved_tokens, transition, choice }]
        }
        record => vec![record],
    })
}

fn no_grace(told: &Told<'_>, mut records: Vec<Record>) -> Vec<Record> {
    let soft = |r: &Record| matches!(r, Record::TimeUp { limit: TimeLimit::Soft });
    if records.iter().any(soft) {
        let calls = told.run().and_then(Run::round).into_iter().flat_map(|round| &round.calls);
        let flying = calls
            .filter(|call| call.is_running() && call.facts.interrupt == Interrupt::Interruptible);
        let shown = |call: &Call| Settlement::Shown(Shown::interrupted(1, call.reach()));
        records.extend(flying.map(|call| Record::Settled { call: call.id, shown: shown(call) }));
    }
    records
}

fn runs_on(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    let hard = |r: &Record| matches!(r, Record::TimeUp { limit: TimeLimit::Hard });
    if records.iter().any(hard) {
        return until(records, |record| matches!(record, Record::Settled { .. }));
    }
    records
}

fn no_alarm(c: &Conversation, wanted: Wanted) -> Wanted {
    let timed = c.run.as_ref().is_some_and(Run::is_active);
    Wanted { wake_at: wanted.wake_at.filter(|_| !timed), ..wanted }
}

fn no_grace_alarm(c: &Conversation, wanted: Wanted) -> Wanted {
    let up = c.run.as_ref().and_then(|run| run.time_up);
    let later = |at: windlass_core::ids::Millis| if up.is_some() { at.plus(50) } else { at };
    Wanted { wake_at: wanted.wake_at.map(later), ..wanted }
}

fn warn_always(told: &Told<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_for(|run| run.warned = Warned::No)
}

fn reserve_less(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::Asked { ask, max_tokens, bound, transition, choice, .. } => {
            let reserved_tokens = max_tokens;
            vec![Record::Asked { ask, max_tokens, bound, reserved_tokens, transition, choice }]
        }
        record => vec![record],
    })
}

fn free_money(told: &Told<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| settings.budget.run.usd_micros = None)
}

fn free_conversation(told: &Told<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| {
        settings.budget.conversation = Default::default();
        settings.budget.profile = Default::default();
    })
}

fn extend_alone(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    ask_instead(told, records, |about| matches!(about, About::Budget { .. }))
}

fn flip_flop(told: &Told<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_for(|run| run.model = InUse::First)
}

fn wait_on(told: &Told<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| settings.limits.provider_wait_ms = u64::MAX)
}
