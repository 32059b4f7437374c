//! Room in the window: the ladder is climbed rung by rung, ends, and forgets nothing that must stay.

use windlass_core::apply::apply;
use windlass_core::conversation::Asked;
use windlass_core::counsel::{Counsel, Cut};
use windlass_core::input::FailureClass;
use windlass_core::record::{Record, ToolChoice, Transition};
use windlass_core::reply::StopReason;
use windlass_core::settings::Listening;
use windlass_core::transcript::{Part, Segment};
use windlass_core::window::{CompactionTrigger, Rewrite, Rung, Stage, Usable};
use windlass_core::{Conversation, Input};

use super::{Fact, OfFact, OfStep, Step, Verdict, ensure};

pub(super) const FACTS: &[OfFact] = &[
    ("the ladder is climbed rung by rung and ends", rung_by_rung),
    ("a run has one reactive compaction", reacts_once),
    ("what must stay is there word for word after a compaction", protected_stays),
    ("what a compaction kept has the hash it says", hash_is_true),
    ("a cheap stage leaves prompts, instructions and summary alone", pruned_rightly),
    ("a full window is not sent", full_is_not_sent),
    ("a summary is no longer than it may be", summary_is_bounded),
];

pub(super) const STEPS: &[OfStep] = &[
    ("a compaction makes room, or a further rung follows", room_or_further),
    ("the last rung is a human", last_rung_is_human),
    ("a compaction that the provider led to is reactive", reaction_is_told),
    ("a hook that puts a compaction off uses up a rung", block_uses_a_rung),
    ("hooks see all of it before anything is left out", seen_before_left_out),
];

fn climbs(record: &Record) -> Option<Rung> {
    match record {
        Record::Compacted { rung, .. } => *rung,
        Record::Climbed { rung } => Some(*rung),
        _ => None,
    }
}

fn rung_by_rung(fact: &Fact<'_>) -> Verdict {
    let Some(rung) = climbs(fact.record) else { return Ok(()) };
    let (Some(run), Some(settings)) = (&fact.now.run, &fact.now.settings) else { return Ok(()) };
    let used = &run.recoveries;
    if fact.now.compaction == Asked::Yes && rung == Rung::Compact {
        // A person asked for it: that is no sign that the last one was not enough.
        return Ok(());
    }
    let iteration = run.counters.model_calls;
    let within = settings.limits.recovery_iterations;
    let soon = |at: Option<u32>| at.is_some_and(|at| iteration.saturating_sub(at) <= within);
    let next = match (soon(used.last_prune), soon(used.last_compaction)) {
        (true, _) => Rung::AskHuman,
        (false, true) => Rung::DeepPrune,
        (false, false) => Rung::Compact,
    };
    let left = used.total < settings.limits.recoveries;
    ensure(left && rung == next, || format!("{rung:?} where {next:?} is due, {used:?}"))
}

fn reacts_once(fact: &Fact<'_>) -> Verdict {
    let Record::Compacted { trigger: CompactionTrigger::Reactive, .. } = fact.record else {
        return Ok(());
    };
    let earlier = fact.now.run.as_ref().map_or(0, |run| run.counters.reactive_compactions);
    ensure(earlier == 0, || format!("after {earlier} others"))
}

/// The provider said that the window is full: the first compaction that this leads to says so.
fn reaction_is_told(step: &Step<'_>) -> Verdict {
    let full = match &step.entry.input {
        Input::ModelFailed { failure, .. } => failure.class == FailureClass::TooLong,
        Input::Replied { reply, .. } => reply.stop_reason == StopReason::ContextWindowExceeded,
        _ => false,
    };
    let trigger = step.entry.records.iter().find_map(|record| match record {
        Record::Compacted { trigger, .. } => Some(*trigger),
        Record::CounselSought { about: Counsel::Summary { cut, .. }, .. }
        | Record::CounselSought { about: Counsel::Compaction { cut }, .. } => Some(cut.trigger),
        _ => None,
    });
    let told = trigger.is_none_or(|trigger| trigger == CompactionTrigger::Reactive);
    let calls = matches!(&step.entry.input, Input::Replied { reply, .. } if reply.tool_uses().next().is_some());
    ensure(!full || calls || told, || format!("{trigger:?}"))
}

/// Instructions, and what people said in this run.
fn must_stay(c: &Conversation) -> Vec<&Segment> {
    let segments = c.transcript.segments();
    let said = segments.iter().filter(|segment| segment.part == Part::Prompt).count();
    let of_run = c.run.as_ref().map_or(0, |run| run.prompts as usize);
    let mut older = said.saturating_sub(of_run);
    let stays = |segment: &&Segment| match segment.part {
        Part::Memory => true,
        Part::Prompt if older > 0 => {
            older -= 1;
            false
        }
        Part::Prompt => true,
        Part::Note | Part::Summary | Part::Journal | Part::Reply | Part::Results => false,
    };
    segments.iter().filter(stays).collect()
}

fn after(fact: &Fact<'_>) -> Conversation {
    let mut after = fact.now.clone();
    apply(&mut after, fact.entry.at, &fact.entry.input, fact.record);
    after
}

fn protected_stays(fact: &Fact<'_>) -> Verdict {
    if !matches!(fact.record, Record::Compacted { .. } | Record::Pruned { .. }) {
        return Ok(());
    }
    let after = after(fact);
    let mut left = after.transcript.segments().iter();
    let lost = must_stay(fact.now).into_iter().find(|stays| !left.any(|segment| segment == *stays));
    ensure(lost.is_none(), || format!("lost {lost:?}"))
}

fn hash_is_true(fact: &Fact<'_>) -> Verdict {
    let Record::Compacted { attached, kept, .. } = fact.record else { return Ok(()) };
    let places: Vec<usize> = attached.iter().filter_map(|at| usize::try_from(*at).ok()).collect();
    let hash = fact.now.transcript.hash_of(&places);
    ensure(kept.as_deref() == Some(hash.as_str()), || format!("{kept:?} for {places:?}"))
}

fn pruned_rightly(fact: &Fact<'_>) -> Verdict {
    let Record::Pruned { stage, rewrites } = fact.record else { return Ok(()) };
    let kept = fact.now.settings.as_ref().map_or(0, |settings| settings.limits.kept_messages);
    let tail = fact.now.transcript.cut_point(kept).unwrap_or(0);
    let wrong = rewrites.iter().find(|rewrite| !may_prune(fact.now, *stage, rewrite, tail));
    ensure(wrong.is_none(), || format!("{stage:?} changes {wrong:?}"))
}

fn may_prune(c: &Conversation, stage: Stage, rewrite: &Rewrite, tail: usize) -> bool {
    let place = rewrite.segment as usize;
    let summarised = c.transcript.generation() > 0;
    let Some(segment) = c.transcript.segments().get(place) else { return false };
    let fits = match segment.part {
        Part::Prompt | Part::Memory => false,
        Part::Summary => false,
        Part::Note | Part::Journal => stage == Stage::Snip && !(place == 0 && summarised),
        Part::Reply => rewrite.to.is_none() && stage == Stage::Snip,
        // Results go only with their reply; a request without one of them is refused elsewhere.
        Part::Results => rewrite.to.is_some() || stage == Stage::Snip,
    };
    fits && place < tail
}

/// The share of the window that the next request fills, in per cent.
fn share(c: &Conversation) -> u64 {
    let Some(settings) = c.settings_in_use() else { return 0 };
    let model = &settings.model;
    let tokens = c.meter.estimate(c.request_bytes());
    Usable::of(model.window_tokens, model.max_tokens).percent(tokens)
}

fn full_is_not_sent(fact: &Fact<'_>) -> Verdict {
    let Record::Asked { transition, choice: ToolChoice::Open, .. } = fact.record else {
        return Ok(());
    };
    let looks = match transition {
        Transition::Prompt | Transition::ToolResults | Transition::Guided => true,
        Transition::Steer | Transition::ContinueText | Transition::Reprompt => true,
        Transition::Rejected | Transition::Resume | Transition::ReissueToolUse => true,
        Transition::RaiseCap | Transition::SumUp => false,
        Transition::Retry | Transition::Compacted | Transition::Adopted => true,
    };
    let block = fact.now.settings.as_ref().map_or(0, |settings| settings.window.thresholds.block);
    let share = share(fact.now);
    ensure(!looks || share <= block, || format!("{transition:?} with {share} per cent"))
}

fn summary_is_bounded(fact: &Fact<'_>) -> Verdict {
    let Record::Compacted { note, .. } = fact.record else { return Ok(()) };
    let Some(settings) = &fact.now.settings else { return Ok(()) };
    let Input::Counselled { .. } = fact.entry.input else { return Ok(()) };
    // The sentence before it, the results pinned after it.
    let pinned: u64 = fact.now.transcript.bytes();
    let most = settings.limits.summary_tokens.saturating_mul(4).saturating_add(pinned + 200);
    let length = note.chars().count() as u64;
    ensure(length <= most, || format!("{length} characters of {most}"))
}

fn room_or_further(step: &Step<'_>) -> Verdict {
    let mut now = step.before.clone();
    let mut records = step.entry.records.iter();
    while let Some(record) = records.next() {
        let before = now.meter.estimate(now.request_bytes());
        apply(&mut now, step.entry.at, &step.entry.input, record);
        let Record::Compacted { .. } = record else { continue };
        let tight = now.settings.as_ref().map_or(0, |settings| settings.window.thresholds.compact);
        let after = now.meter.estimate(now.request_bytes());
        let made_room = after < before || share(&now) <= tight;
        let used_up = is_used_up(&now);
        let further = records.clone().any(goes_further);
        ensure(made_room || further || used_up, || format!("{before} to {after} tokens"))?;
    }
    Ok(())
}

fn is_used_up(c: &Conversation) -> bool {
    let (Some(run), Some(settings)) = (&c.run, &c.settings) else { return true };
    run.recoveries.total >= settings.limits.recoveries
}

fn goes_further(record: &Record) -> bool {
    match record {
        Record::Compacted { .. } | Record::Climbed { .. } | Record::Finished { .. } => true,
        Record::CounselSought { about, .. } => matches!(
            about,
            Counsel::Summary { cut: Cut { rung: Rung::DeepPrune, .. }, .. }
                | Counsel::Compaction { cut: Cut { rung: Rung::DeepPrune, .. } }
                | Counsel::Pruning { .. }
        ),
        _ => false,
    }
}

/// A summary is asked for only after hooks have spoken.
fn seen_before_left_out(step: &Step<'_>) -> Verdict {
    let leaves_out = |r: &Record| matches!(r, Record::Pruned { .. } | Record::Compacted { .. });
    let hooked = step.before.settings.as_ref().map(|settings| settings.hooks.compaction);
    if hooked != Some(Listening::Hooked) || !step.entry.records.iter().any(leaves_out) {
        return Ok(());
    }
    let sought = step.before.run.as_ref().and_then(windlass_core::run::Run::consulting);
    let seen = sought.is_some_and(|sought| match sought.about {
        Counsel::Pruning { .. } | Counsel::Compaction { .. } | Counsel::Summary { .. } => true,
        Counsel::Prompt {} | Counsel::Answer { .. } | Counsel::Ruling { .. } => false,
    });
    ensure(seen, || "nobody saw what was left out".to_owned())
}

fn block_uses_a_rung(step: &Step<'_>) -> Verdict {
    let Input::Counselled { advice, .. } = &step.entry.input else { return Ok(()) };
    let sought = step.before.run.as_ref().and_then(windlass_core::run::Run::consulting);
    let compaction = sought.is_some_and(|s| matches!(s.about, Counsel::Compaction { .. }));
    let blocked = matches!(advice, windlass_core::counsel::Advice::Block { .. });
    let climbed = step.entry.records.iter().any(|r| matches!(r, Record::Climbed { .. }));
    ensure(!(compaction && blocked) || climbed, || "it costs nothing to say no".to_owned())
}

/// Unless the run ends with it.
fn last_rung_is_human(step: &Step<'_>) -> Verdict {
    let human = Record::Climbed { rung: Rung::AskHuman };
    let Some(run) = step.after.run.as_ref().filter(|_| step.entry.records.contains(&human)) else {
        return Ok(());
    };
    let same = step.before.run.as_ref().is_some_and(|before| before.id == run.id);
    let asks = run.halt().is_some() || run.due_question.is_some();
    ensure(!same || asks, || format!("the run is {}", run.phase_name()))
}
