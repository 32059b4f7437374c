//! Runs loop detection after every round and escalates: hint, directive, question to a human.

use super::draft::DecisionDraft;
use super::escalation;
use super::next_step::{AskKind, NextStep};
use super::stop_conditions;
use crate::call::call_state::Call;
use crate::guard::loop_detection::{
    CallObservation, EscalationLevel, LoopDetection, LoopDetectorConfig,
};
use crate::log::record::{LoopFinding, Record, Transition};
use crate::message::prompt_texts;
use crate::run::active_run::RoundFatality;

/// The result of loop detection for the round that is about to close.
pub(super) struct LoopCheck {
    level_before: EscalationLevel,
    level: EscalationLevel,
    detection: Option<LoopDetection>,
}

/// Runs loop detection on the open round.
pub(super) fn check_for_loop(draft: &DecisionDraft<'_>) -> LoopCheck {
    let mut guard = draft.run().map(|run| run.loop_guard.clone()).unwrap_or_default();
    let level_before = guard.level();
    let observations: Vec<CallObservation> =
        draft.calls().iter().filter_map(Call::loop_observation).collect();
    let settings = draft.settings();
    let detection = settings
        .and_then(|own| guard.observe(&observations, LoopDetectorConfig::from_settings(&own)));
    LoopCheck { level_before, level: guard.level(), detection }
}

/// Records the detection, and calls the model or asks a human. A run that ends here needs no hint.
pub(super) fn continue_after_check(
    draft: &mut DecisionDraft<'_>,
    watch: LoopCheck,
    fatal: RoundFatality,
) -> NextStep {
    let LoopCheck { level_before, level, detection } = watch;
    if level != level_before || detection.is_some() {
        let finding =
            detection.as_ref().map(|d| LoopFinding { tier: d.tier, tool: d.tool.clone() });
        draft.record(Record::LoopDetectionUpdated { level, finding });
    }
    let halted = draft.run().is_some_and(|run| run.human_pause().is_some());
    let ends = fatal == RoundFatality::Fatal || halted || !stop_conditions::can_ask_model(draft);
    let summing_up = draft.is_wrapping_up();
    // A level that stays or falls adds no hint: the calls returned something new.
    let speaks = (level > level_before || level == EscalationLevel::Human) && !ends && !summing_up;
    match detection.filter(|_| speaks).map(|found| (found.level, found.tool)) {
        Some((EscalationLevel::Nudge, _)) => {
            draft.add_note(prompt_texts::LOOP_NUDGE);
            NextStep::ask_model(Transition::ToolResults)
        }
        Some((EscalationLevel::Directive, _)) => {
            draft.add_note(prompt_texts::LOOP_DIRECTIVE);
            let lookup = draft.settings().and_then(|settings| settings.guards.lookup_tool.clone());
            let kind = lookup.map_or(AskKind::Regular, AskKind::ForcingTool);
            NextStep::ask_model_as(Transition::ToolResults, kind)
        }
        Some((EscalationLevel::Human, tool)) => escalation::ask_through_model(
            draft,
            &prompt_texts::loop_question(&tool),
            Transition::ToolResults,
        ),
        Some((EscalationLevel::Calm, _)) | None => {
            let kind = match fatal {
                RoundFatality::Fatal => AskKind::AfterFatalRound,
                RoundFatality::NotFatal => AskKind::Regular,
            };
            NextStep::ask_model_as(Transition::ToolResults, kind)
        }
    }
}
