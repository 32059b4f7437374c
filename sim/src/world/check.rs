//! What must be true of every world that has ended. One invariant, one small function; they read
//! stored lines, rows, requests, feeds and the ledger, and nothing of the runtime.

mod fence;
mod history;
mod keys;
mod log;
mod mail;
mod once;
mod order;
mod owners;
mod readers;
mod requests;
mod results;
mod room;
mod runs;
mod spend;
mod surfaced;

use super::evidence::Evidence;
use history::History;

/// An invariant that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which.
    pub invariant: &'static str,
    /// What was found instead.
    pub what: String,
}

/// A world under examination.
pub(crate) struct Case<'a> {
    pub(crate) evidence: &'a Evidence,
    pub(crate) histories: Vec<History<'a>>,
}

type Check = fn(&Case<'_>) -> Result<(), String>;

const CHECKS: &[(&str, Check)] = &[
    ("the same version decides every entry again as it was recorded", log::verifies),
    ("time in a log never goes back", log::time_goes_on),
    ("every request is one the API accepts", requests::acceptable),
    ("within a generation requests only grow at the end", requests::grow),
    ("a once-only call takes effect once unless somebody cleared it", once::at_most_once),
    ("a once-only call is recorded before its effect", once::recorded_first),
    ("a once-only call that began is accounted for", once::accounted_for),
    ("conflicting effects do not overlap", order::no_overlap),
    ("conflicting effects start in call order", order::in_call_order),
    ("no effect starts after its process lost the lane", fence::no_stale_effects),
    ("at most one owner appends", fence::epochs_rise),
    ("a key names one call", keys::name_one_call),
    ("accepted mail is read once and answered for", mail::read_once),
    ("every run ends once or waits for a human", runs::end_once),
    ("every lane comes to rest", runs::rest),
    ("the run's row says how it stands", runs::rows_agree),
    ("only what nobody can know is put before a human", surfaced::only_unknown),
    ("a recorded result is what the tool returned", results::as_returned),
    ("the transcript has the settled results", results::in_transcript),
    ("spend stays within the cap and one reserved call", spend::within_cap),
    ("what must stay is there after every compaction", room::keeps_rules),
    ("making room ends", room::ends),
    ("readers see every entry once and in order", readers::see_all),
    ("a stream ends once and nothing follows", owners::end_once),
];

/// Everything that is wrong, and how many calls were put before a human.
pub(crate) fn all(evidence: &Evidence) -> (Vec<Violation>, u64) {
    let mut histories = Vec::new();
    for lane in &evidence.lanes {
        match History::of(lane) {
            Ok(history) => histories.push(history),
            Err(error) => {
                let what = format!("{}: {error}", lane.lane);
                return (vec![Violation { invariant: "every log is dense and folds", what }], 0);
            }
        }
    }
    let case = Case { evidence, histories };
    let broken = CHECKS.iter().filter_map(|(invariant, check)| {
        check(&case).err().map(|what| Violation { invariant, what })
    });
    (broken.collect(), surfaced::count(&case))
}

/// `Ok` if it holds, else what was found.
fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}
