//! Checks of subscriptions, also those that fell behind.

use windlass_core::log::ids::Seq;

use super::history::LaneHistory;
use super::{CheckedWorld, ensure};
use crate::world::observation_log::ObservedSubscription;

pub(super) fn see_all(case: &CheckedWorld<'_>) -> Result<(), String> {
    for reading in &case.evidence.seen.readings {
        let history = case.histories.iter().find(|history| *history.lane() == reading.lane);
        let Some(history) = history else { continue };
        in_order(reading)?;
        as_stored(case, history, reading)?;
        to_the_end(case, history, reading)?;
    }
    Ok(())
}

fn name(reading: &ObservedSubscription) -> String {
    format!("reader of {} in process {} after {}", reading.lane, reading.process, reading.after)
}

fn in_order(reading: &ObservedSubscription) -> Result<(), String> {
    let due = reading.after.saturating_add(1)..;
    for (due, entry) in due.zip(&reading.entries) {
        ensure(entry.seq == due, || format!("{} saw {} for {due}", name(reading), entry.seq))?;
    }
    Ok(())
}

/// What was read is what is stored, unless it was lost in a power cut.
fn as_stored(
    case: &CheckedWorld<'_>,
    history: &LaneHistory<'_>,
    reading: &ObservedSubscription,
) -> Result<(), String> {
    let kept = last_durable_seq(case, reading);
    for entry in reading.entries.iter().filter(|entry| entry.seq <= kept) {
        let stored = history.steps.iter().find(|step| step.entry.seq == entry.seq);
        ensure(stored.is_some_and(|step| step.entry == **entry), || {
            format!("{} saw another entry {}", name(reading), entry.seq)
        })?;
    }
    Ok(())
}

/// Returns the last entry that survived every power cut since.
fn last_durable_seq(case: &CheckedWorld<'_>, reading: &ObservedSubscription) -> Seq {
    let cuts = case.evidence.seen.power_cuts.iter().filter(|cut| cut.tick > reading.began);
    cuts.map(|cut| cut.heads.get(&reading.lane).copied().unwrap_or(0)).min().unwrap_or(Seq::MAX)
}

fn to_the_end(
    case: &CheckedWorld<'_>,
    history: &LaneHistory<'_>,
    reading: &ObservedSubscription,
) -> Result<(), String> {
    let died = case.evidence.seen.deaths.contains_key(&reading.process);
    let last = reading.after + reading.entries.len() as u64;
    let head = history.steps.len() as u64;
    ensure(died || !case.evidence.rested || last == head, || {
        format!("{} saw {last} of {head}", name(reading))
    })
}
