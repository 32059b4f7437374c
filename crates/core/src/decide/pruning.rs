//! The cheap stages of making room: old turns and results are cut or taken out, without a model.
//! Whoever listens at compactions sees the whole transcript first.

use super::counsel;
use super::draft::Draft;
use super::room;
use crate::counsel::{Counsel, Goal};
use crate::record::{Record, Transition};
use crate::settings::Listening;
use crate::transcript::Transcript;

/// Messages the cheap stages never touch: the latest turn goes back as the model gave it.
const LATEST_TURN: u32 = 2;

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
    let kept = settings.limits.kept_messages.max(LATEST_TURN);
    let keep_from = draft.now().transcript.cut_point(kept)?;
    let enough = match goal {
        Goal::Gain => settings.window.thresholds.gain,
        Goal::OneCall => settings.window.thresholds.block,
    };
    let mut trial: Transcript = draft.now().transcript.clone();
    let tail = trial.segments().len().saturating_sub(keep_from);
    let mut pruned = Vec::new();
    for stage in settings.window.cheap_stages() {
        // A stage may have taken whole segments out before the tail.
        let from = trial.segments().len().saturating_sub(tail);
        let rewrites = stage.propose(&trial, from, settings.limits.sliding_messages);
        if rewrites.is_empty() {
            continue;
        }
        trial.rewrite(&rewrites);
        pruned.push(Record::Pruned { stage, rewrites });
        if room::share_with(draft, &settings, &trial) <= enough {
            return Some(pruned);
        }
    }
    None
}
