//! Checks of every world that has ended. One invariant, one small function; they read stored lines,
//! rows, requests, feeds and the ledger, and nothing of the runtime.

mod commands;
mod compaction;
mod history;
mod human_questions;
mod idempotency_keys;
mod log;
mod once_only_calls;
mod order;
mod requests;
mod results;
mod run_streams;
mod runs;
mod single_owner;
mod spend;
mod subscriptions;

use super::evidence::Evidence;
use history::LaneHistory;

/// An invariant that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Name of the invariant.
    pub invariant: &'static str,
    /// What was found instead.
    pub what: String,
}

/// A world under examination.
pub(crate) struct CheckedWorld<'a> {
    pub(crate) evidence: &'a Evidence,
    pub(crate) histories: Vec<LaneHistory<'a>>,
}

type CheckFn = fn(&CheckedWorld<'_>) -> Result<(), String>;

const CHECKS: &[(&str, CheckFn)] = &[
    ("the same version decides every entry again as it was recorded", log::verifies),
    ("time in a log never goes back", log::time_goes_on),
    ("every request is one the API accepts", requests::acceptable),
    ("within a generation requests only grow at the end", requests::grow),
    ("a once-only call takes effect once unless a human cleared it", once_only_calls::at_most_once),
    ("a once-only call is recorded before its effect", once_only_calls::recorded_first),
    ("a once-only call that began is accounted for", once_only_calls::accounted_for),
    ("conflicting effects do not overlap", order::no_overlap),
    ("conflicting effects start in call order", order::in_call_order),
    ("no effect starts after its process lost the lane", single_owner::no_stale_effects),
    ("at most one owner appends", single_owner::epochs_rise),
    ("a key names one call", idempotency_keys::name_one_call),
    ("an accepted message is read once and handled", commands::read_once),
    ("every run ends once or waits for a human", runs::end_once),
    ("every lane comes to rest", runs::rest),
    ("the row of a run has its state", runs::rows_agree),
    ("a human is asked only about unknown effects", human_questions::only_unknown),
    ("a recorded result is what the tool returned", results::as_returned),
    ("the transcript has the final results", results::in_transcript),
    ("spend stays within the cap and one reserved call", spend::within_cap),
    ("what must stay is there after every compaction", compaction::keeps_rules),
    ("compaction ends", compaction::ends),
    ("readers see every entry once and in order", subscriptions::see_all),
    ("a stream ends once and nothing follows", run_streams::end_once),
];

/// Returns all violations, and how many calls a human was asked about.
pub(crate) fn all(evidence: &Evidence) -> (Vec<Violation>, u64) {
    let mut histories = Vec::new();
    for lane in &evidence.lanes {
        match LaneHistory::of(lane) {
            Ok(history) => histories.push(history),
            Err(error) => {
                let what = format!("{}: {error}", lane.lane);
                return (vec![Violation { invariant: "every log is dense and folds", what }], 0);
            }
        }
    }
    let case = CheckedWorld { evidence, histories };
    let broken = CHECKS.iter().filter_map(|(invariant, check)| {
        check(&case).err().map(|what| Violation { invariant, what })
    });
    (broken.collect(), human_questions::count(&case))
}

/// Returns `Ok` if the condition holds, else what was found.
fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}
