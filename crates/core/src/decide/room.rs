//! Making room in the window: the cheap stages, then the ladder. Every way through here ends with
//! the model asked, somebody consulted, a human asked, or the run ended.

use std::sync::Arc;

use super::answer;
use super::boundary::{self, finish_badly};
use super::budget;
use super::clock;
use super::counsel;
use super::draft::Draft;
use super::person;
use super::pruning;
use crate::aside;
use crate::budget::Planned;
use crate::conversation::Asked;
use crate::counsel::{Counsel, Cut, Goal};
use crate::cut;
use crate::record::{Record, ToolChoice, Transition};
use crate::run::Fatality;
use crate::settings::{Listening, Settings};
use crate::stop::StopCause;
use crate::window::{CompactionTrigger, Pressure, Rung, Summariser, render, trial};
use crate::words;

/// Characters a token is taken for when a text is cut to fit.
const CHARS_PER_TOKEN: u64 = 4;

/// Room is made if the window is tight or somebody asked for it; then the model is asked.
pub(super) fn before_asking(draft: &mut Draft<'_>, transition: Transition) {
    let cap_tokens = draft.run().map_or(0, |run| run.cap_tokens);
    if let Err(cap) = budget::affordable(draft, cap_tokens) {
        return budget::reached(draft, cap);
    }
    match pressure(draft) {
        Pressure::Fine if !is_asked_for(draft) => ask(draft, transition),
        Pressure::Fine => {
            let rung = first_rung(draft);
            let trigger = CompactionTrigger::Requested;
            take(draft, rung, RoomNeeded { then: transition, otherwise: None, trigger });
        }
        Pressure::Tight | Pressure::Full if pruning::announce(draft, Goal::Gain, transition) => {}
        Pressure::Tight | Pressure::Full => make(draft, transition),
    }
}

/// Whoever listens has seen what there is: the cheap stages, then the ladder.
pub(super) fn make(draft: &mut Draft<'_>, transition: Transition) {
    if pruning::prune(draft, Goal::Gain) {
        ask(draft, transition);
    } else {
        let trigger = match is_asked_for(draft) {
            true => CompactionTrigger::Requested,
            false => CompactionTrigger::Threshold,
        };
        climb(draft, RoomNeeded { then: transition, otherwise: if_full(draft), trigger });
    }
}

/// Why room is made, and what follows.
#[derive(Clone, Copy)]
struct RoomNeeded {
    /// Why the model is asked then.
    then: Transition,
    /// How the run ends if there is none to be made; it goes on as it is if not said.
    otherwise: Option<StopCause>,
    trigger: CompactionTrigger,
}

/// Why the run would end if no room were made.
fn if_full(draft: &Draft<'_>) -> Option<StopCause> {
    (pressure(draft) == Pressure::Full).then_some(StopCause::BlockingLimit)
}

/// Whether the model can be asked at once: the window is not tight, and nobody wants more room.
pub(super) fn is_there(draft: &Draft<'_>) -> bool {
    pressure(draft) == Pressure::Fine && !is_asked_for(draft)
}

fn is_asked_for(draft: &Draft<'_>) -> bool {
    draft.now().compaction == Asked::Yes
}

/// Whether there is anything that a compaction could leave out.
pub(super) fn has_something_old(draft: &Draft<'_>) -> bool {
    let Some(settings) = draft.settings() else { return false };
    place(draft, &settings, Rung::Compact).is_some()
}

/// Reactive compactions of one run.
const REACTIVE_COMPACTIONS: u32 = 1;

/// A reactive compaction: room is made although the window did not seem tight, because the provider
/// says so or replies are cut again and again. Once in a run; a second time, or without room, the
/// run ends.
pub(super) fn or_end(draft: &mut Draft<'_>, transition: Transition, otherwise: StopCause) {
    if has_reacted(draft) {
        return stuck(draft, transition, Some(otherwise), Told::Nothing);
    }
    let trigger = CompactionTrigger::Reactive;
    climb(draft, RoomNeeded { then: transition, otherwise: Some(otherwise), trigger });
}

fn has_reacted(draft: &Draft<'_>) -> bool {
    let used = draft.run().map_or(0, |run| run.counters.reactive_compactions);
    used >= REACTIVE_COMPACTIONS
}

/// Whether a reactive compaction can make room.
pub(super) fn can_react(draft: &Draft<'_>) -> bool {
    let Some(settings) = draft.settings() else { return false };
    let can = |rung| rung == Rung::AskHuman || place(draft, &settings, rung).is_some();
    !has_reacted(draft) && next_rung(draft).is_some_and(can)
}

fn ask(draft: &mut Draft<'_>, transition: Transition) {
    // Making room can come from where nothing was checked yet, and takes time.
    if boundary::stops(draft, Fatality::GoesOn) {
        return;
    }
    let transition = boundary::on_time(draft, transition);
    let is_last = transition == Transition::SumUp;
    let choice = if is_last { ToolChoice::Nothing } else { ToolChoice::Open };
    boundary::ask_now(draft, transition, None, choice);
}

/// How full the window is.
fn pressure(draft: &Draft<'_>) -> Pressure {
    let Some(settings) = draft.now().settings_in_use() else { return Pressure::Fine };
    trial::usable(&settings).pressure(budget::input_estimate(draft), &settings.window.thresholds)
}

fn next_rung(draft: &Draft<'_>) -> Option<Rung> {
    let run = draft.run()?;
    run.recoveries.next(run.counters.model_calls, &draft.limits())
}

/// A compaction that somebody asked for is an ordinary one, however soon it comes after another.
fn first_rung(draft: &Draft<'_>) -> Option<Rung> {
    next_rung(draft).map(|_| Rung::Compact)
}

/// The next rung. Without one the run goes on as it is, or ends.
fn climb(draft: &mut Draft<'_>, need: RoomNeeded) {
    take(draft, next_rung(draft), need);
}

fn take(draft: &mut Draft<'_>, rung: Option<Rung>, need: RoomNeeded) {
    let Some(settings) = draft.settings() else { return };
    let RoomNeeded { then, otherwise, trigger } = need;
    let rung = rung.map(|rung| or_deeper(draft, &settings, rung, otherwise));
    match rung.map(|rung| (rung, place(draft, &settings, rung))) {
        // A run that sums up because its time is up asks nobody any more.
        Some((Rung::AskHuman, _)) if !is_late(draft) => {
            draft.record(Record::Climbed { rung: Rung::AskHuman });
            match otherwise {
                None => person::ask_through_model(draft, words::LOSING_CONTEXT, then),
                // A request that does not fit cannot make the model ask.
                Some(_) => person::ask(draft, words::LOSING_CONTEXT),
            }
        }
        Some((rung @ (Rung::Compact | Rung::DeepPrune), Some(keep_from))) => {
            let cut = Cut { rung, keep_from: keep_from as u64, then, trigger };
            if settings.hooks.compaction == Listening::Hooked {
                counsel::seek(draft, Counsel::Compaction { cut });
            } else {
                sum_up(draft, cut, None);
            }
        }
        Some(_) | None => stuck(draft, then, otherwise, Told::Nothing),
    }
}

/// What whoever listens was told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    /// That something is about to be left out.
    All,
    /// Nothing yet.
    Nothing,
}

/// Whether the run only sums up. Hooks and summaries take time: it is looked at anew.
fn is_late(draft: &mut Draft<'_>) -> bool {
    clock::look(draft);
    boundary::is_summing_up(draft)
}

/// A few large messages leave an ordinary compaction nothing: where a run would end for that, fewer
/// are kept.
fn or_deeper(
    draft: &Draft<'_>,
    settings: &Settings,
    rung: Rung,
    otherwise: Option<StopCause>,
) -> Rung {
    let nothing = rung == Rung::Compact && place(draft, settings, rung).is_none();
    if nothing && otherwise.is_some() { Rung::DeepPrune } else { rung }
}

/// No rung is left. What the cheap stages free may still do for a call.
fn stuck(draft: &mut Draft<'_>, transition: Transition, otherwise: Option<StopCause>, told: Told) {
    match otherwise {
        None => ask(draft, transition),
        Some(StopCause::BlockingLimit)
            if told == Told::Nothing && pruning::announce(draft, Goal::OneCall, transition) => {}
        Some(StopCause::BlockingLimit) if pruning::prune(draft, Goal::OneCall) => {
            ask(draft, transition);
        }
        Some(_) if is_late(draft) => {
            answer::finish_with(draft, StopCause::SoftTime);
        }
        Some(cause) => finish_badly(draft, &[cause]),
    }
}

/// Whoever listens was told that the last means is used.
pub(super) fn make_do(draft: &mut Draft<'_>, transition: Transition) {
    stuck(draft, transition, Some(StopCause::BlockingLimit), Told::All);
}

/// A hook wants nothing left out: the model is asked as it is, if that is possible.
pub(super) fn left_as_it_is(draft: &mut Draft<'_>, transition: Transition) {
    stuck(draft, transition, if_full(draft), Told::All);
}

/// A hook put the compaction off.
pub(super) fn put_off(draft: &mut Draft<'_>, cut: &Cut) {
    draft.record(Record::Climbed { rung: cut.rung });
    left_as_it_is(draft, cut.then);
}

/// Where a rung would cut; `None` if there is nothing to leave out.
fn place(draft: &Draft<'_>, settings: &Settings, rung: Rung) -> Option<usize> {
    trial::cut(draft.now(), settings, rung).map(|cut| cut.keep_from)
}

fn prompts(draft: &Draft<'_>) -> u32 {
    draft.run().map_or(0, |run| run.prompts)
}

/// Hooks spoke, or nobody listens: somebody sums up what will be left out, if that can be paid for.
pub(super) fn sum_up(draft: &mut Draft<'_>, cut: Cut, wishes: Option<Arc<str>>) {
    let Some(settings) = draft.now().settings_in_use() else { return };
    let wishes = all_wishes(draft, wishes);
    let model = aside::beside(&settings);
    if settings.window.summariser == Summariser::Nobody || budget::is_unpriced(draft, model) {
        return compact(draft, &cut, None);
    }
    let planned = Planned {
        input_tokens: budget::input_estimate(draft).min(model.window_tokens),
        cap_tokens: settings.limits.summary_tokens.clamp(1, model.most_output_tokens.max(1)),
        least_tokens: settings.limits.least_output_tokens.min(settings.limits.summary_tokens),
    };
    match budget::room(draft, planned, model.price.as_ref()) {
        Err(_) => compact(draft, &cut, None),
        Ok(max_tokens) => {
            let reserved_tokens = planned.input_tokens.saturating_add(max_tokens);
            counsel::seek(draft, Counsel::Summary { cut, wishes, max_tokens, reserved_tokens });
        }
    }
}

/// What people and hooks want the summary to keep.
fn all_wishes(draft: &Draft<'_>, hooks: Option<Arc<str>>) -> Option<Arc<str>> {
    match (draft.now().compaction_wishes.clone(), hooks) {
        (Some(people), Some(hooks)) => Some(Arc::from(format!("{people}\n{hooks}"))),
        (people, hooks) => people.or(hooks),
    }
}

/// Leaves out what the cut says, and asks the model; one rung further if that freed too little.
pub(super) fn compact(draft: &mut Draft<'_>, cut: &Cut, summary: Option<&str>) {
    let Some(settings) = draft.now().settings_in_use() else { return };
    let Ok(keep_from) = usize::try_from(cut.keep_from) else { return };
    let transcript = &draft.now().transcript;
    let attached = transcript.protected(keep_from, prompts(draft));
    let kept = Some(Arc::from(transcript.hash_of(&attached)));
    let note = fitting_note(draft, &settings, cut, &attached, summary);
    let attached = attached.into_iter().map(|at| at as u64).collect();
    draft.record(Record::Compacted {
        keep_from: cut.keep_from,
        note,
        rung: Some(cut.rung),
        trigger: cut.trigger,
        attached,
        kept,
    });
    let share = trial::share_with(draft.now(), &settings, &draft.now().transcript);
    if cut.rung == Rung::Compact && share > settings.window.thresholds.gain {
        let (otherwise, trigger) = (blocks(share, &settings), CompactionTrigger::Threshold);
        return climb(draft, RoomNeeded { then: cut.then, otherwise, trigger });
    }
    boundary::ask(draft, cut.then);
}

/// The fullest note that leaves the window as empty as a compaction must; the shortest if none does.
fn fitting_note(
    draft: &Draft<'_>,
    settings: &Settings,
    cut: &Cut,
    attached: &[usize],
    summary: Option<&str>,
) -> Arc<str> {
    let keep_from = usize::try_from(cut.keep_from).unwrap_or(usize::MAX);
    let limit = settings.limits.summary_tokens.saturating_mul(CHARS_PER_TOKEN);
    let summary = summary.map(|text| cut::text(text, limit)).filter(|text| !text.trim().is_empty());
    let transcript = &draft.now().transcript;
    let journal = draft.now().journal_to_show();
    let left_out = transcript.segments().iter().take(keep_from);
    let notes = render::notes(cut.rung, summary.as_deref(), left_out);
    let fits = |note: &&String| {
        let mut changed = transcript.clone();
        changed.compact(keep_from, note, attached, &journal);
        trial::share_with(draft.now(), settings, &changed) <= settings.window.thresholds.gain
    };
    let [.., shortest] = &notes;
    Arc::from(notes.iter().find(fits).unwrap_or(shortest).as_str())
}

fn blocks(share: u64, settings: &Settings) -> Option<StopCause> {
    (share > settings.window.thresholds.block).then_some(StopCause::BlockingLimit)
}
