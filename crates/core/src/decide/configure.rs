//! What a conversation runs with, and where it comes from.

use std::sync::Arc;

use super::boundary;
use super::calls;
use super::draft::Draft;
use crate::ids::{LaneId, Seq};
use crate::record::{Record, Transition};
use crate::run::Leave;
use crate::settings::Settings;

/// Settings change between runs, or in a halted run whose human said yes; never under a run's feet.
pub(super) fn configured(draft: &mut Draft<'_>, settings: &Arc<Settings>) {
    match draft.run() {
        None if draft.now().owner_settings.as_ref() == Some(settings) => {}
        None => draft.record(Record::Configured {}),
        Some(run) => {
            if run.halt().is_some_and(|halt| halt.leave == Leave::Given) {
                draft.record(Record::Configured {});
                go_on(draft);
            }
        }
    }
}

fn go_on(draft: &mut Draft<'_>) {
    if calls::is_acting(draft) {
        calls::advance(draft);
    } else if draft.run().is_some_and(|run| run.counters.model_calls == 0) {
        boundary::begin(draft);
    } else {
        boundary::ask(draft, Transition::Adopted);
    }
}

/// A copy begins where no round is open.
pub(super) fn forked(draft: &mut Draft<'_>, parent: &LaneId, at: Seq) {
    if draft.now().is_at_rest() {
        draft.record(Record::Forked { parent: parent.clone(), at });
    }
}
