//! Bugs of the window and its ladder.

use std::sync::Arc;

use windlass_core::counsel::{Counsel, Cut};
use windlass_core::record::{Record, Transition};
use windlass_core::settings::Listening;
use windlass_core::transcript::{Part, Transcript};
use windlass_core::window::{CompactionTrigger, Rewrite, Rung, Stage};

use super::ending::asked;
use super::{Mutant, Told, records, replace, until, without};

pub(super) const MUTANTS: &[Mutant] = &[
    records("skip a rung of the ladder", skip_rung, &["window", "deep"]),
    records("stay on the first rung", same_rung, &["window", "deep"]),
    records("compact more often than allowed", ignore_limit, &["too-long", "window"]),
    records("react to a full window again and again", react_again, &["too-long"]),
    records("make a reactive compaction and not say so", untold_reaction, &["too-long"]),
    records("repeat a compaction that freed nothing", repeat_in_vain, &["window"]),
    records("cut a call from its result", split_pair, &["window", "summaries"]),
    records("leave out the prompt of the run", lose_prompt, &["window", "summaries"]),
    records("leave out instructions", lose_memory, &["window", "on-request"]),
    records("climb to the last rung and ask nobody", nobody_asked, &["deep"]),
    records("say another hash than that of what was kept", wrong_hash, &["window"]),
    records("prune what a person said", prune_prompt, &["deep", "window"]),
    records("send a window that is full", send_full, &["window", "no-window"]),
    records("take a summary of any length", long_summary, &["summaries"]),
    records("let a hook put a compaction off for nothing", free_block, &["put-off"]),
    records("leave something out before hooks have seen it", unseen, &["heard-first"]),
    records("do not pay for a summary", unpaid, &["summaries"]),
    records("do not pay for a ruling", unpaid, &["judge", "judge-unpaid"]),
    records("ask for the summary of a counsel that is over", stale_counsel, &["summaries"]),
];

fn with_rung(records: Vec<Record>, change: impl Fn(Rung) -> Rung) -> Vec<Record> {
    replace(records, |record| match record {
        Record::Compacted { keep_from, note, rung: Some(rung), trigger, attached, kept } => {
            let rung = Some(change(rung));
            vec![Record::Compacted { keep_from, note, rung, trigger, attached, kept }]
        }
        record => vec![record],
    })
}

fn skip_rung(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    with_rung(records, |_| Rung::DeepPrune)
}

fn same_rung(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    with_rung(records, |_| Rung::Compact)
}

fn ignore_limit(told: &Told<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_for(|run| run.recoveries.total = 0)
}

fn react_again(told: &Told<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_for(|run| run.counters.reactive_compactions = 0)
}

fn untold_reaction(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    let threshold = CompactionTrigger::Threshold;
    replace(records, |record| match record {
        Record::Compacted { keep_from, note, rung, attached, kept, .. } => {
            vec![Record::Compacted { keep_from, note, rung, trigger: threshold, attached, kept }]
        }
        Record::CounselSought {
            counsel,
            about: Counsel::Summary { cut, wishes, max_tokens, reserved_tokens },
        } => {
            let cut = Cut { trigger: threshold, ..cut };
            let about = Counsel::Summary { cut, wishes, max_tokens, reserved_tokens };
            vec![Record::CounselSought { counsel, about }]
        }
        record => vec![record],
    })
}

/// As if no rung had ever been climbed.
fn repeat_in_vain(told: &Told<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_for(|run| run.recoveries = Default::default())
}

/// What a compaction leaves out and keeps, changed with a look at what it is about to change.
fn compacted(
    told: &Told<'_>,
    records: Vec<Record>,
    change: impl Fn(&Transcript, u64, Vec<u64>) -> (u64, Vec<u64>, Arc<str>),
) -> Vec<Record> {
    let mut changed = Vec::new();
    for record in records {
        changed.push(match record {
            Record::Compacted { keep_from, note, rung, trigger, attached, .. } => {
                let now = told.after(&changed).transcript;
                let (keep_from, attached, kept) = change(&now, keep_from, attached);
                Record::Compacted { keep_from, note, rung, trigger, attached, kept: Some(kept) }
            }
            record => record,
        });
    }
    changed
}

fn hash(transcript: &Transcript, attached: &[u64]) -> Arc<str> {
    let places: Vec<usize> = attached.iter().map(|at| *at as usize).collect();
    Arc::from(transcript.hash_of(&places))
}

fn split_pair(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    compacted(told, records, |now, keep_from, attached| {
        let next = now.segments().get(keep_from as usize + 1).map(|segment| segment.part);
        let keep_from = if next == Some(Part::Results) { keep_from + 1 } else { keep_from };
        let kept = hash(now, &attached);
        (keep_from, attached, kept)
    })
}

fn keep_only(told: &Told<'_>, records: Vec<Record>, stays: fn(Part) -> bool) -> Vec<Record> {
    compacted(told, records, |now, keep_from, mut attached| {
        let part = |at: &u64| now.segments().get(*at as usize).map(|segment| segment.part);
        attached.retain(|at| part(at).is_some_and(stays));
        let kept = hash(now, &attached);
        (keep_from, attached, kept)
    })
}

fn lose_prompt(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    keep_only(told, records, |part| part != Part::Prompt)
}

fn lose_memory(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    keep_only(told, records, |part| part != Part::Memory)
}

fn wrong_hash(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    compacted(told, records, |_, keep_from, attached| (keep_from, attached, Arc::from("bug")))
}

fn nobody_asked(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    let human = |record: &Record| *record == Record::Climbed { rung: Rung::AskHuman };
    if !records.iter().any(human) {
        return records;
    }
    let mut records = until(records, |record| matches!(record, Record::Questioned { .. }));
    let ask = asked(told, &records, Transition::ToolResults);
    records.push(ask);
    records
}

fn prune_prompt(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    let place = told.state.transcript.segments().iter().position(|s| s.part == Part::Prompt);
    let Some(segment) = place.and_then(|place| u32::try_from(place).ok()) else { return records };
    replace(records, |record| match record {
        Record::Compacted { .. } => {
            let rewrites = vec![Rewrite { segment, block: 0, to: None }];
            vec![Record::Pruned { stage: Stage::Snip, rewrites }]
        }
        record => vec![record],
    })
}

fn send_full(told: &Told<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| {
        settings.window.thresholds.compact = u64::MAX;
        settings.window.thresholds.block = u64::MAX;
    })
}

fn long_summary(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::Compacted { keep_from, note, rung, trigger, attached, kept } => {
            let note = format!("{note}{}", "x".repeat(40_000)).into();
            vec![Record::Compacted { keep_from, note, rung, trigger, attached, kept }]
        }
        record => vec![record],
    })
}

fn free_block(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    without(records, |record| matches!(record, Record::Climbed { .. }))
}

fn unseen(told: &Told<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| settings.hooks.compaction = Listening::Nobody)
}

fn unpaid(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::CounselHeard { counsel, .. } => {
            vec![Record::CounselHeard { counsel, charged: None }]
        }
        record => vec![record],
    })
}

fn stale_counsel(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    let open = told.run().and_then(|run| run.consulting()).map(|sought| sought.id);
    match (told.input, open) {
        (windlass_core::Input::Counselled { advice, .. }, Some(counsel)) => {
            let input = windlass_core::Input::Counselled { counsel, advice: advice.clone() };
            windlass_core::decide(told.state, told.at, &input)
        }
        _ => records,
    }
}
