//! Making room in the window: the cheap stages, then the ladder. Every way through here ends with
//! the model asked, somebody consulted, a human asked, or the run ended.

use std::sync::Arc;

use super::boundary::{self, finish_badly};
use super::budget;
use super::calls;
use super::counsel;
use super::draft::Draft;
use crate::budget::Planned;
use crate::conversation::Asked;
use crate::counsel::{Counsel, Cut};
use crate::cut;
use crate::question::About;
use crate::record::{Record, ToolChoice, Transition};
use crate::settings::{Listening, Settings};
use crate::stop::StopCause;
use crate::transcript::Transcript;
use crate::window::{Pressure, Rung, Stage, Summariser, Usable, render};
use crate::words;

/// Characters a token is taken for when a text is cut to fit.
const CHARS_PER_TOKEN: u64 = 4;

/// Room is made if the window is tight or somebody asked for it; then the model is asked.
pub(super) fn before_asking(draft: &mut Draft<'_>, transition: Transition) {
    let asked = draft.now().compaction == Asked::Yes;
    let cap_tokens = draft.run().map_or(0, |run| run.cap_tokens);
    if let Err(cap) = budget::affordable(draft, cap_tokens) {
        return budget::reached(draft, cap);
    }
    match pressure(draft) {
        Pressure::Fine if !asked => ask(draft, transition),
        Pressure::Fine => climb(draft, transition, None),
        Pressure::Tight | Pressure::Full if tidy(draft) => ask(draft, transition),
        Pressure::Tight => climb(draft, transition, None),
        Pressure::Full => climb(draft, transition, Some(StopCause::BlockingLimit)),
    }
}

/// Room is made although the window did not seem tight: the provider says so, or replies are cut
/// again and again. Without room the run ends.
pub(super) fn or_end(draft: &mut Draft<'_>, transition: Transition, otherwise: StopCause) {
    climb(draft, transition, Some(otherwise));
}

/// Whether room can be made at all.
pub(super) fn is_possible(draft: &Draft<'_>) -> bool {
    let (Some(run), Some(settings)) = (draft.run(), draft.settings()) else { return false };
    let next = run.recoveries.next(run.counters.model_calls, settings.limits.recoveries);
    let can = |rung| rung == Rung::AskHuman || place(draft, &settings, rung).is_some();
    settings.window.has(Stage::Auto) && next.is_some_and(can)
}

fn ask(draft: &mut Draft<'_>, transition: Transition) {
    boundary::ask_now(draft, transition, None, ToolChoice::Open);
}

/// How full the window is.
pub(super) fn pressure(draft: &Draft<'_>) -> Pressure {
    let Some(settings) = draft.now().settings_in_use() else { return Pressure::Fine };
    usable(&settings)
        .pressure(budget::input_estimate(draft), &settings.window.thresholds)
}

fn percent(draft: &Draft<'_>, settings: &Settings) -> u64 {
    usable(settings).percent(budget::input_estimate(draft))
}

fn usable(settings: &Settings) -> Usable {
    Usable::of(settings.model.window_tokens, settings.model.max_tokens)
}

/// The fewest cheap stages that free enough; none if all of them together do not.
fn tidy(draft: &mut Draft<'_>) -> bool {
    let Some(settings) = draft.now().settings_in_use() else { return false };
    let Some(keep_from) = draft.now().transcript.cut_point(settings.limits.kept_messages) else {
        return false;
    };
    let mut trial: Transcript = draft.now().transcript.clone();
    let fixed = draft.now().request_bytes().saturating_sub(trial.bytes());
    let mut pruned = Vec::new();
    for stage in settings.window.cheap_stages() {
        let rewrites = stage.propose(&trial, keep_from);
        if rewrites.is_empty() {
            continue;
        }
        trial.rewrite(&rewrites);
        pruned.push(Record::Pruned { stage, rewrites });
        let tokens = draft.now().meter.estimate(fixed.saturating_add(trial.bytes()));
        if usable(&settings).percent(tokens) <= settings.window.thresholds.gain {
            pruned.into_iter().for_each(|record| draft.record(record));
            return true;
        }
    }
    false
}

/// The next rung. Without one the run goes on as it is, or ends with `otherwise`.
fn climb(draft: &mut Draft<'_>, transition: Transition, otherwise: Option<StopCause>) {
    let (Some(run), Some(settings)) = (draft.run(), draft.settings()) else { return };
    let next = run.recoveries.next(run.counters.model_calls, settings.limits.recoveries);
    let next = next.filter(|_| settings.window.has(Stage::Auto));
    match next.map(|rung| (rung, place(draft, &settings, rung))) {
        Some((Rung::AskHuman, _)) => {
            draft.record(Record::Climbed { rung: Rung::AskHuman });
            calls::question(draft, About::Guidance { question: words::LOSING_CONTEXT.into() });
        }
        Some((rung, Some(keep_from))) => {
            let cut = Cut { rung, keep_from: keep_from as u64, then: transition };
            if settings.hooks.compaction == Listening::Hooked {
                counsel::seek(draft, Counsel::Compaction { cut });
            } else {
                sum_up(draft, cut, None);
            }
        }
        Some((_, None)) | None => stuck(draft, transition, otherwise),
    }
}

fn stuck(draft: &mut Draft<'_>, transition: Transition, otherwise: Option<StopCause>) {
    match otherwise {
        Some(cause) => finish_badly(draft, &[cause]),
        None => ask(draft, transition),
    }
}

/// Where a rung would cut; `None` if there is nothing to leave out.
fn place(draft: &Draft<'_>, settings: &Settings, rung: Rung) -> Option<usize> {
    let kept = settings.limits.kept_messages.min(rung.kept_messages());
    let transcript = &draft.now().transcript;
    let cut = transcript.cut_point(kept)?;
    // What would stay word for word is not left out.
    (transcript.protected(cut, prompts(draft)).len() < cut).then_some(cut)
}

fn prompts(draft: &Draft<'_>) -> u32 {
    draft.run().map_or(0, |run| run.prompts)
}

/// Hooks spoke, or nobody listens: somebody sums up what will be left out, if that can be paid for.
pub(super) fn sum_up(draft: &mut Draft<'_>, cut: Cut, wishes: Option<Arc<str>>) {
    let Some(settings) = draft.now().settings_in_use() else { return };
    let model = match &settings.window.summariser {
        Summariser::Own => &settings.model,
        Summariser::Model(model) => model,
        Summariser::Nobody => return compact(draft, &cut, None),
    };
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

/// Leaves out what the cut says, and asks the model; one rung further if that freed too little.
pub(super) fn compact(draft: &mut Draft<'_>, cut: &Cut, summary: Option<&str>) {
    let Some(settings) = draft.now().settings_in_use() else { return };
    let Ok(keep_from) = usize::try_from(cut.keep_from) else { return };
    let limit = settings.limits.summary_tokens.saturating_mul(CHARS_PER_TOKEN);
    let summary = summary.map(|text| cut::text(text, limit)).filter(|text| !text.trim().is_empty());
    let transcript = &draft.now().transcript;
    let left_out = transcript.segments().iter().take(keep_from);
    let note = Arc::from(render::note(cut.rung, summary.as_deref(), left_out));
    let attached = transcript.protected(keep_from, prompts(draft));
    let kept = Some(Arc::from(transcript.hash_of(&attached)));
    let attached = attached.into_iter().map(|at| at as u64).collect();
    draft.record(Record::Compacted {
        keep_from: cut.keep_from,
        note,
        rung: Some(cut.rung),
        attached,
        kept,
    });
    let share = percent(draft, &settings);
    if cut.rung == Rung::Compact && share > settings.window.thresholds.gain {
        return climb(draft, cut.then, blocks(share, &settings));
    }
    boundary::ask(draft, cut.then);
}

fn blocks(share: u64, settings: &Settings) -> Option<StopCause> {
    (share > settings.window.thresholds.block).then_some(StopCause::BlockingLimit)
}
