//! The cheap stages of making room: old turns and results are cut or taken out, without a model.
//! Whoever listens at compactions sees the whole transcript first.

use super::counsel;
use super::draft::Draft;
use crate::counsel::{Counsel, Goal};
use crate::record::{Record, Transition};
use crate::settings::Listening;
use crate::window::trial::{self, Tried};

/// Tells whoever listens, if the stages would do something. Then nothing is done before they spoke.
pub(super) fn announce(draft: &mut Draft<'_>, goal: Goal, then: Transition) -> bool {
    let listening = draft.settings().map(|settings| settings.hooks.compaction);
    let tells = listening == Some(Listening::Hooked) && plan(draft, goal).is_some();
    if tells {
        counsel::seek(draft, Counsel::Pruning { goal, then });
    }
    tells
}

/// Uses the fewest stages that free enough; none if all of them together do not.
pub(super) fn prune(draft: &mut Draft<'_>, goal: Goal) -> bool {
    let Some(stages) = plan(draft, goal) else { return false };
    stages.into_iter().for_each(|record| draft.record(record));
    true
}

fn plan(draft: &Draft<'_>, goal: Goal) -> Option<Vec<Record>> {
    let settings = draft.now().settings_in_use()?;
    let enough = match goal {
        Goal::Gain => settings.window.thresholds.gain,
        Goal::OneCall => settings.window.thresholds.block,
    };
    let mut pruned = Vec::new();
    let acting = |tried: &Tried| !tried.rewrites.is_empty();
    for Tried { stage, rewrites, percent_after, .. } in
        trial::stages(draft.now(), &settings).filter(acting)
    {
        pruned.push(Record::Pruned { stage, rewrites });
        if percent_after <= enough {
            return Some(pruned);
        }
    }
    None
}
