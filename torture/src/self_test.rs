//! Self-test: proves that the audit can fail. The same campaign, with a binary that breaks a
//! promise on purpose, must end with that violation counted.

use anyhow::Result;

use crate::args::{BrokenPromise, TortureArgs};
use crate::campaign;
use crate::campaign_tally::CampaignTally;
use crate::report;

/// Number of kills within which a broken binary must be caught.
const MAX_KILLS: u64 = 40;

/// Number of faulty runs after which it counts as caught.
const CAUGHT_RUNS: u64 = 2;

/// Number of seeds that are tried: not every seed hits the right moment.
const MAX_SEEDS: u64 = 6;

/// Returns whether every broken binary is caught.
pub(crate) fn run_self_test(args: &TortureArgs) -> Result<bool> {
    for broken in [BrokenPromise::Fence, BrokenPromise::Envelope, BrokenPromise::Lease] {
        if !is_caught(args, broken)? {
            report::print_start(&format!(
                "self-test: a broken {} was NOT detected",
                broken.as_str()
            ));
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_caught(args: &TortureArgs, broken: BrokenPromise) -> Result<bool> {
    for seed in args.seed..args.seed.saturating_add(MAX_SEEDS) {
        report::print_start(&format!(
            "self-test: {} broken on purpose, seed {seed}",
            broken.as_str()
        ));
        let args = TortureArgs { broken: Some(broken), kills: MAX_KILLS, seed, ..args.clone() };
        let (tally, _) = campaign::run_until(&args, CAUGHT_RUNS)?;
        report::print_start(&format!("  {}", report::format_last_line(args.store, &tally)));
        if !tally.is_clean() && count_expected_violations(&tally, broken) > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Counts the violations that a broken promise must cause.
fn count_expected_violations(tally: &CampaignTally, broken: BrokenPromise) -> u64 {
    match broken {
        BrokenPromise::Fence => tally.stale_writes,
        BrokenPromise::Envelope => tally.duplicated,
        BrokenPromise::Lease => tally.needless,
    }
}
