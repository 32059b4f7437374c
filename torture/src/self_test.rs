//! Proves that the audit can fail: the same torture, with a binary that breaks a promise on
//! purpose, must end with that fault counted.

use anyhow::Result;

use crate::args::{Args, Break};
use crate::campaign;
use crate::report;
use crate::tally::Tally;

/// Kills within which a broken binary must be caught.
const KILLS: u64 = 40;

/// Faulty runs after which it is caught.
const CAUGHT: u64 = 2;

/// A fault needs its moment; so many seeds are tried.
const SEEDS: u64 = 6;

/// Whether every broken binary is caught.
pub(crate) fn passes(args: &Args) -> Result<bool> {
    for broken in [Break::Fence, Break::Envelope, Break::Lease] {
        if !is_caught(args, broken)? {
            report::begin(&format!("self-test: a broken {} was NOT noticed", broken.name()));
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_caught(args: &Args, broken: Break) -> Result<bool> {
    for seed in args.seed..args.seed.saturating_add(SEEDS) {
        report::begin(&format!("self-test: the {} broken on purpose, seed {seed}", broken.name()));
        let args = Args { broken: Some(broken), kills: KILLS, seed, ..args.clone() };
        let (tally, _) = campaign::run_until(&args, CAUGHT)?;
        report::begin(&format!("  {}", report::line(args.store, &tally)));
        if !tally.is_clean() && counted(&tally, broken) > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The faults that a broken promise must show as.
fn counted(tally: &Tally, broken: Break) -> u64 {
    match broken {
        Break::Fence => tally.stale_writes,
        Break::Envelope => tally.duplicated,
        Break::Lease => tally.needless,
    }
}
