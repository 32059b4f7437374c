//! Subscriptions, also those that fell behind.

use windlass_core::ids::Seq;

use super::history::History;
use super::{Case, ensure};
use crate::world::witness::Reading;

pub(super) fn see_all(case: &Case<'_>) -> Result<(), String> {
    for reading in &case.evidence.seen.readings {
        let history = case.histories.iter().find(|history| *history.lane() == reading.lane);
        let Some(history) = history else { continue };
        in_order(reading)?;
        as_stored(case, history, reading)?;
        to_the_end(case, history, reading)?;
    }
    Ok(())
}

fn name(reading: &Reading) -> String {
    format!("reader of {} in process {} after {}", reading.lane, reading.process, reading.after)
}

fn in_order(reading: &Reading) -> Result<(), String> {
    let due = reading.after.saturating_add(1)..;
    for (due, entry) in due.zip(&reading.entries) {
        ensure(entry.seq == due, || format!("{} saw {} for {due}", name(reading), entry.seq))?;
    }
    Ok(())
}

/// What was read is what is stored, unless a power cut took it back.
fn as_stored(case: &Case<'_>, history: &History<'_>, reading: &Reading) -> Result<(), String> {
    let kept = kept(case, reading);
    for entry in reading.entries.iter().filter(|entry| entry.seq <= kept) {
        let stored = history.steps.iter().find(|step| step.entry.seq == entry.seq);
        ensure(stored.is_some_and(|step| step.entry == **entry), || {
            format!("{} saw another entry {}", name(reading), entry.seq)
        })?;
    }
    Ok(())
}

/// The last entry that every power cut since left in place.
fn kept(case: &Case<'_>, reading: &Reading) -> Seq {
    let cuts = case.evidence.seen.power_cuts.iter().filter(|cut| cut.tick > reading.began);
    cuts.map(|cut| cut.heads.get(&reading.lane).copied().unwrap_or(0)).min().unwrap_or(Seq::MAX)
}

fn to_the_end(case: &Case<'_>, history: &History<'_>, reading: &Reading) -> Result<(), String> {
    let died = case.evidence.seen.deaths.contains_key(&reading.process);
    let last = reading.after + reading.entries.len() as u64;
    let head = history.steps.len() as u64;
    ensure(died || !case.evidence.rested || last == head, || {
        format!("{} saw {last} of {head}", name(reading))
    })
}
