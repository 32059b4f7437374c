//! The pruning stages: old turns and results are shortened or removed without a model call.
//! Compaction hooks see the whole transcript first.

use super::draft::DecisionDraft;
use crate::context::compaction_trial::{self, StageTrial};
use crate::log::record::{Record, Transition};
use crate::run::review::{PruneGoal, Review};
use crate::settings::conversation_settings::HookPresence;

/// Returns the review by compaction hooks that comes first, if there are hooks and the stages would
/// change something; nothing is pruned before the hooks respond.
pub(super) fn review_before_pruning(
    draft: &DecisionDraft<'_>,
    goal: PruneGoal,
    next_transition: Transition,
) -> Option<Review> {
    let hooks = draft.settings().map(|settings| settings.hooks.compaction);
    let reviewed = hooks == Some(HookPresence::Present) && plan_pruning(draft, goal).is_some();
    reviewed.then_some(Review::Pruning { goal, next_transition })
}

/// Applies the fewest stages that free enough; none if all of them together do not.
pub(super) fn prune(draft: &mut DecisionDraft<'_>, goal: PruneGoal) -> bool {
    let Some(stages) = plan_pruning(draft, goal) else { return false };
    stages.into_iter().for_each(|record| draft.record(record));
    true
}

fn plan_pruning(draft: &DecisionDraft<'_>, goal: PruneGoal) -> Option<Vec<Record>> {
    let settings = draft.state().active_settings()?;
    let enough = match goal {
        PruneGoal::CompactionTarget => settings.window.thresholds.gain,
        PruneGoal::OneCall => settings.window.thresholds.block,
    };
    let mut pruned = Vec::new();
    let acting = |tried: &StageTrial| !tried.rewrites.is_empty();
    for StageTrial { stage, rewrites, percent_after, .. } in
        compaction_trial::try_stages(draft.state(), &settings).filter(acting)
    {
        pruned.push(Record::Pruned { stage, rewrites });
        if percent_after <= enough {
            return Some(pruned);
        }
    }
    None
}
