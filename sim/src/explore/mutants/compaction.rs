//! Planted bugs in the context window and its recovery ladder.

use std::sync::Arc;

use windlass_core::context::{BlockRewrite, CompactionTrigger, PruneStage, RecoveryStep};
use windlass_core::log::record::{Record, Transition};
use windlass_core::message::transcript::{SegmentKind, Transcript};
use windlass_core::run::review::{PlannedCompaction, Review};
use windlass_core::settings::conversation_settings::HookPresence;

use super::ending::asked;
use super::{DecideCall, Mutant, records, replace, until, without};

pub(super) const MUTANTS: &[Mutant] = &[
    records("skip a step of the recovery ladder", skip_rung, &["window", "deep"]),
    records("stay on the first step of the recovery ladder", same_rung, &["window", "deep"]),
    records("compact more often than allowed", ignore_limit, &["too-long", "window"]),
    records("react to a full window again and again", react_again, &["too-long"]),
    records("make a reactive compaction and not say so", untold_reaction, &["too-long"]),
    records("repeat a compaction that freed nothing", repeat_in_vain, &["window"]),
    records("cut a call from its result", split_pair, &["window", "summaries"]),
    records("leave out the prompt of the run", lose_prompt, &["window", "summaries"]),
    records("leave out instructions", lose_memory, &["window", "on-request"]),
    records("reach the last step without asking a human", nobody_asked, &["deep"]),
    records("record a wrong hash of what was kept", wrong_hash, &["window"]),
    records("prune what a person said", prune_prompt, &["deep", "window"]),
    records("send a window that is full", send_full, &["window", "no-window"]),
    records("take a summary of any length", long_summary, &["summaries"]),
    records("let a hook postpone a compaction for free", free_block, &["put-off"]),
    records("leave something out before hooks have seen it", unseen, &["heard-first"]),
    records("do not pay for a summary", unpaid, &["summaries"]),
    records("do not pay for a classification", unpaid, &["judge", "judge-unpaid"]),
    records("request a summary for a review that is over", stale_counsel, &["summaries"]),
];

fn with_rung(records: Vec<Record>, change: impl Fn(RecoveryStep) -> RecoveryStep) -> Vec<Record> {
    replace(records, |record| match record {
        Record::Compacted {
            keep_from,
            note,
            step: Some(rung),
            trigger,
            kept_segments,
            kept_hash,
        } => {
            let step = Some(change(rung));
            vec![Record::Compacted { keep_from, note, step, trigger, kept_segments, kept_hash }]
        }
        record => vec![record],
    })
}

fn skip_rung(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    with_rung(records, |_| RecoveryStep::DeepPrune)
}

fn same_rung(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    with_rung(records, |_| RecoveryStep::Compact)
}

fn ignore_limit(told: &DecideCall<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_for(|run| run.recoveries.total = 0)
}

fn react_again(told: &DecideCall<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_for(|run| run.counters.reactive_compactions = 0)
}

fn untold_reaction(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let threshold = CompactionTrigger::Threshold;
    replace(records, |record| match record {
        Record::Compacted { keep_from, note, step, kept_segments, kept_hash, .. } => {
            vec![Record::Compacted {
                keep_from,
                note,
                step,
                trigger: threshold,
                kept_segments,
                kept_hash,
            }]
        }
        Record::ReviewRequested {
            id,
            review: Review::Summary { compaction, instructions, max_tokens, reserved_tokens },
        } => {
            let compaction = PlannedCompaction { trigger: threshold, ..compaction };
            let review = Review::Summary { compaction, instructions, max_tokens, reserved_tokens };
            vec![Record::ReviewRequested { id, review }]
        }
        record => vec![record],
    })
}

/// As if no step had ever been taken.
fn repeat_in_vain(told: &DecideCall<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_for(|run| run.recoveries = Default::default())
}

/// Changes what a compaction removes and keeps, given the state that it changes.
fn compacted(
    told: &DecideCall<'_>,
    records: Vec<Record>,
    change: impl Fn(&Transcript, u64, Vec<u64>) -> (u64, Vec<u64>, Arc<str>),
) -> Vec<Record> {
    let mut changed = Vec::new();
    for record in records {
        changed.push(match record {
            Record::Compacted { keep_from, note, step, trigger, kept_segments, .. } => {
                let now = told.after(&changed).transcript;
                let (keep_from, kept_segments, kept) = change(&now, keep_from, kept_segments);
                Record::Compacted {
                    keep_from,
                    note,
                    step,
                    trigger,
                    kept_segments,
                    kept_hash: Some(kept),
                }
            }
            record => record,
        });
    }
    changed
}

fn hash(transcript: &Transcript, attached: &[u64]) -> Arc<str> {
    let places: Vec<usize> = attached.iter().map(|at| *at as usize).collect();
    Arc::from(transcript.hash_segments(&places))
}

fn split_pair(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    compacted(told, records, |now, keep_from, attached| {
        let next = now.segments().get(keep_from as usize + 1).map(|segment| segment.kind);
        let keep_from = if next == Some(SegmentKind::Results) { keep_from + 1 } else { keep_from };
        let kept = hash(now, &attached);
        (keep_from, attached, kept)
    })
}

fn keep_only(
    told: &DecideCall<'_>,
    records: Vec<Record>,
    stays: fn(SegmentKind) -> bool,
) -> Vec<Record> {
    compacted(told, records, |now, keep_from, mut attached| {
        let part = |at: &u64| now.segments().get(*at as usize).map(|segment| segment.kind);
        attached.retain(|at| part(at).is_some_and(stays));
        let kept = hash(now, &attached);
        (keep_from, attached, kept)
    })
}

fn lose_prompt(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    keep_only(told, records, |part| part != SegmentKind::Prompt)
}

fn lose_memory(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    keep_only(told, records, |part| part != SegmentKind::Memory)
}

fn wrong_hash(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    compacted(told, records, |_, keep_from, attached| (keep_from, attached, Arc::from("bug")))
}

fn nobody_asked(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let human =
        |record: &Record| *record == Record::RecoveryStepUsed { step: RecoveryStep::AskHuman };
    if !records.iter().any(human) {
        return records;
    }
    let mut records = until(records, |record| matches!(record, Record::QuestionAsked { .. }));
    let ask = asked(told, &records, Transition::ToolResults);
    records.push(ask);
    records
}

fn prune_prompt(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let place = told.state.transcript.segments().iter().position(|s| s.kind == SegmentKind::Prompt);
    let Some(segment) = place.and_then(|place| u32::try_from(place).ok()) else { return records };
    replace(records, |record| match record {
        Record::Compacted { .. } => {
            let rewrites = vec![BlockRewrite { segment, block: 0, replacement: None }];
            vec![Record::Pruned { stage: PruneStage::Snip, rewrites }]
        }
        record => vec![record],
    })
}

fn send_full(told: &DecideCall<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| {
        settings.window.thresholds.compact = u64::MAX;
        settings.window.thresholds.block = u64::MAX;
    })
}

fn long_summary(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::Compacted { keep_from, note, step, trigger, kept_segments, kept_hash } => {
            let note = format!("{note}{}", "x".repeat(40_000)).into();
            vec![Record::Compacted { keep_from, note, step, trigger, kept_segments, kept_hash }]
        }
        record => vec![record],
    })
}

fn free_block(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    without(records, |record| matches!(record, Record::RecoveryStepUsed { .. }))
}

fn unseen(told: &DecideCall<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| settings.hooks.compaction = HookPresence::Absent)
}

fn unpaid(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::ReviewCompleted { id, .. } => {
            vec![Record::ReviewCompleted { id, charged: None }]
        }
        record => vec![record],
    })
}

fn stale_counsel(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let open = told.run().and_then(|run| run.pending_review()).map(|sought| sought.id);
    match (told.input, open) {
        (windlass_core::Input::ReviewReturned { result, .. }, Some(id)) => {
            let input = windlass_core::Input::ReviewReturned { id, result: result.clone() };
            windlass_core::decide(told.state, told.at, &input)
        }
        _ => records,
    }
}
