//! Properties of lanes: whatever happens, the log stays valid.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use windlass_core::log::ids::CallId;
use windlass_core::projection::project_rows;
use windlass_core::{Conversation, Entry, Input, Record, wanted};

use super::cases;
use super::narrow::narrow;
use super::steps::{Step, happen, step};
use crate::kit::Lane;

pub(crate) fn story() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 0..45)
}

pub(crate) fn told(
    settings: windlass_core::settings::conversation_settings::Settings,
    story: Vec<Step>,
) -> Lane {
    story.into_iter().fold(Lane::bare().configure(settings), happen)
}

proptest! {
    #![proptest_config(cases(60))]

    // The lane's own check, when it goes out of scope: every prefix gives a request the API accepts,
    // the fold is what the driver held, the same version decides the same, and every entry is read
    // as it was written.
    //
    // spec: INV-01, INV-02, INV-03, INV-06, LOG-02, LOG-03, STOP-16
    #[test]
    fn whatever_happens_the_log_stays_good(settings in narrow(), story in story()) {
        let lane = told(settings, story);
        prop_assert_eq!(Conversation::replay(&lane.log), Conversation::replay(&lane.log));
        ends_are_single(&lane.log)?;
        once_only_calls_start_once(&lane.log)?;
    }

    // spec: INV-11
    #[test]
    fn a_log_from_elsewhere_brings_nothing_down(
        settings in narrow(),
        story in story(),
        picks in prop::collection::vec((any::<u16>(), any::<u16>()), 1..60),
    ) {
        let lane = told(settings, story);
        let mut now = Conversation::default();
        for (entry, record) in picks {
            // Inputs and records that were never decided together.
            let input = lane.log[usize::from(entry) % lane.log.len()].input.clone();
            let records: Vec<&Record> = lane.log.iter().flat_map(|entry| &entry.records).collect();
            let records = vec![records[usize::from(record) % records.len()].clone()];
            let seq = now.head + 1;
            let entry = Entry { seq, at: lane.now, input, records };
            let _ = project_rows(&now, &entry);
            now.fold(&entry).unwrap();
            let _ = (wanted(&now), now.model_request().map(|request| request.messages().len()));
            let _ = Entry::decide(&now, lane.now, Input::TimerFired {});
        }
    }
}

fn ends_are_single(log: &[Entry]) -> Result<(), TestCaseError> {
    let mut open: BTreeSet<&str> = BTreeSet::new();
    for record in log.iter().flat_map(|entry| &entry.records) {
        match record {
            Record::RunStarted { run } => {
                prop_assert!(open.is_empty(), "two runs at once");
                open.insert(run.as_str());
            }
            Record::RunFinished { run, .. } => {
                open.remove(run.as_str());
            }
            Record::Forked { .. } => open.clear(),
            _ => {}
        }
    }
    Ok(())
}

/// A once-only call starts again only after it was found that it did not happen.
fn once_only_calls_start_once(log: &[Entry]) -> Result<(), TestCaseError> {
    let mut started: BTreeMap<CallId, &str> = BTreeMap::new();
    for record in log.iter().flat_map(|entry| &entry.records) {
        match record {
            Record::CallStarted { call } => {
                let before = started.insert(*call, "started");
                prop_assert!(before != Some("started"), "{call} started twice");
            }
            Record::CallRequeued { call } => {
                started.insert(*call, "cleared");
            }
            _ => {}
        }
    }
    Ok(())
}
