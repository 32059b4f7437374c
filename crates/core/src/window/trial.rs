//! What each means of making room would bring, tried on a copy. The loop acts on it and whoever
//! asks beforehand is shown it, so both see the same.

use super::ladder::Rung;
use super::meter::{Meter, Usable};
use super::plan::CutPlan;
use super::stages::{Rewrite, Stage};
use crate::conversation::Conversation;
use crate::settings::Settings;
use crate::transcript::Transcript;

/// Messages the cheap stages never touch: the latest turn goes back as the model gave it.
const LATEST_TURN: u32 = 2;

/// A cheap stage and what it would change, after the ones before it.
pub(crate) struct Tried {
    pub(crate) stage: Stage,
    pub(crate) rewrites: Vec<Rewrite>,
    pub(crate) tokens_after: u64,
    pub(crate) percent_after: u64,
}

/// The cheap stages, each after the ones before it; no more are tried than are looked at.
pub(crate) fn stages(
    conversation: &Conversation,
    settings: &Settings,
) -> impl Iterator<Item = Tried> {
    let mut trial = conversation.transcript.clone();
    let keep_from = trial.cut_point(settings.limits.kept_messages.max(LATEST_TURN));
    let tail = trial.segments().len().saturating_sub(keep_from.unwrap_or(0));
    let stages = settings.window.cheap_stages().filter(move |_| keep_from.is_some());
    let mut meter = None;
    stages.map(move |stage| {
        // Counted once for all stages, and not before one is tried.
        let meter = *meter.get_or_insert_with(|| conversation.meter_in_use());
        // A stage may have taken whole segments out before the tail.
        let from = trial.segments().len().saturating_sub(tail);
        let rewrites = stage.propose(&trial, from, settings.limits.sliding_messages);
        trial.rewrite(&rewrites);
        let tokens_after = tokens_with(conversation, meter, &trial);
        let percent_after = usable(settings).percent(tokens_after);
        Tried { stage, rewrites, tokens_after, percent_after }
    })
}

/// What a rung would cut; `None` if there is nothing to leave out.
pub(crate) fn cut(conversation: &Conversation, settings: &Settings, rung: Rung) -> Option<CutPlan> {
    let transcript = &conversation.transcript;
    let keep_from = transcript.cut_point(rung.kept_messages(&settings.limits))?;
    let prompts = conversation.run.as_ref().map_or(0, |run| run.prompts);
    let attached = transcript.protected(keep_from, prompts);
    // What would stay word for word is not left out.
    (attached.len() < keep_from).then_some(CutPlan { rung, keep_from, attached })
}

/// The room that there is.
pub(crate) fn usable(settings: &Settings) -> Usable {
    Usable::of(settings.model.window_tokens, settings.model.max_tokens)
}

/// The share of it that is full with another transcript.
pub(crate) fn share_with(
    conversation: &Conversation,
    settings: &Settings,
    trial: &Transcript,
) -> u64 {
    usable(settings).percent(tokens_with(conversation, conversation.meter_in_use(), trial))
}

fn tokens_with(conversation: &Conversation, meter: Meter, trial: &Transcript) -> u64 {
    let fixed = conversation.request_bytes().saturating_sub(conversation.transcript.bytes());
    meter.estimate(fixed.saturating_add(trial.bytes()))
}
