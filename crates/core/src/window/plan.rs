//! What making room would do, for whoever wants to know before it happens. It proposes with the
//! same parts as the loop and changes nothing; the loop judges for itself when the time comes.

use super::ladder::{Recoveries, Rung};
use super::meter::{Pressure, Thresholds};
use super::stages::Stage;
use super::trial::{self, Tried};
use crate::conversation::{Asked, Conversation};
use crate::settings::Settings;

/// How full the window is, and what would be done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Tokens of the next request, as estimated.
    pub tokens: u64,
    /// Tokens that may be in it.
    pub usable_tokens: u64,
    /// The share of them that is used.
    pub percent: u64,
    /// From when on something happens.
    pub thresholds: Thresholds,
    /// How full it is.
    pub pressure: Pressure,
    /// What each cheap stage would bring, after the ones before it.
    pub stages: Vec<StagePlan>,
    /// What the ladder would cut, if there is anything to cut.
    pub cut: Option<CutPlan>,
    /// What would act before the next model call.
    pub acts: Acts,
}

/// What a cheap stage would bring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StagePlan {
    /// Which.
    pub stage: Stage,
    /// Blocks it would change or take out.
    pub blocks: usize,
    /// Tokens after it.
    pub tokens_after: u64,
    /// The share of the window that they fill.
    pub percent_after: u64,
}

/// What a rung would cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CutPlan {
    /// Which rung.
    pub rung: Rung,
    /// The first segment that stays as it is.
    pub keep_from: usize,
    /// Segments before it that stay word for word.
    pub attached: Vec<usize>,
}

/// What would act before the next model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acts {
    /// There is room.
    Nothing,
    /// The first so many cheap stages free enough.
    Stages(usize),
    /// The cut of a rung.
    Cut,
    /// A human is asked.
    Human,
    /// Something should, and nothing can.
    Stuck,
}

/// What would be done if room were made now. Without settings nothing is known.
#[must_use]
pub fn plan(conversation: &Conversation, asked: Asked) -> Option<Plan> {
    let settings = conversation.settings_in_use()?;
    let usable = trial::usable(&settings);
    let tokens = conversation.meter_in_use().estimate(conversation.request_bytes());
    let thresholds = settings.window.thresholds;
    let pressure = usable.pressure(tokens, &thresholds);
    let stages = stages(conversation, &settings);
    let rung = next_rung(conversation, &settings);
    let cut = rung.and_then(|rung| trial::cut(conversation, &settings, rung));
    let enough = stages.iter().position(|stage| stage.percent_after <= thresholds.gain);
    let acts = match (pressure, asked, enough) {
        (Pressure::Fine, Asked::No, _) => Acts::Nothing,
        (Pressure::Tight | Pressure::Full, _, Some(last)) => Acts::Stages(last + 1),
        _ if rung == Some(Rung::AskHuman) => Acts::Human,
        _ if cut.is_some() => Acts::Cut,
        _ => Acts::Stuck,
    };
    let (usable_tokens, percent) = (usable.tokens(), usable.percent(tokens));
    Some(Plan { tokens, usable_tokens, percent, thresholds, pressure, stages, cut, acts })
}

/// The cheap stages, each after the ones before it.
fn stages(conversation: &Conversation, settings: &Settings) -> Vec<StagePlan> {
    let tried = trial::stages(conversation, settings);
    let shown = |Tried { stage, rewrites, tokens_after, percent_after }| StagePlan {
        stage,
        blocks: rewrites.len(),
        tokens_after,
        percent_after,
    };
    tried.map(shown).collect()
}

/// The rung a run would climb next; one that has not begun has climbed none.
fn next_rung(conversation: &Conversation, settings: &Settings) -> Option<Rung> {
    let (used, iteration) = match &conversation.run {
        Some(run) => (run.recoveries, run.counters.model_calls),
        None => (Recoveries::default(), 0),
    };
    used.next(iteration, &settings.limits)
}
