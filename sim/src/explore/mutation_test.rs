//! Mutation testing: each planted bug must be found by some invariant.

use super::batch::batch;
use super::configs;
use super::core_under_test::CoreUnderTest;
use super::mutants::{self, Mutant};
use super::search::{ExplorationLimits, search};
use super::stopwatch::Stopwatch;
use super::transitions::ExplorerSim;

/// How far one configuration is explored for one bug.
const REACH: ExplorationLimits = ExplorationLimits { states: 200_000, ms: 60_000 };

/// A bug that was found.
pub(crate) struct FoundMutant {
    pub(crate) invariant: &'static str,
    pub(crate) config: &'static str,
    pub(crate) states: u64,
}

/// Plants every bug in turn. `Err` if one is missed.
pub fn test_all_mutants() -> Result<String, String> {
    let planted: Vec<&Mutant> = mutants::all().collect();
    let watch = Stopwatch::start();
    let caught = batch(&planted, |mutant| find_mutant(mutant), |mutant, catch| tell(mutant, catch));
    let found = caught.iter().flatten().count();
    println!("hunted for {} ms", watch.elapsed_ms());
    let line = format!("mutants: {} planted, {found} found", planted.len());
    if found == planted.len() { Ok(line) } else { Err(line) }
}

/// Searches one bug where it is most likely to be found.
pub(crate) fn find_mutant(mutant: &Mutant) -> Option<FoundMutant> {
    mutant.configs.iter().find_map(|name| {
        let config = configs::find_config(name)?;
        let walk = search(
            ExplorerSim { config: &config, eyes: CoreUnderTest::with_mutant(mutant) },
            REACH,
        );
        let broken = walk.violation?.broken;
        Some(FoundMutant { invariant: broken.invariant, config: config.name, states: walk.states })
    })
}

fn tell(mutant: &Mutant, catch: &Option<FoundMutant>) {
    match catch {
        Some(FoundMutant { invariant, config, states }) => {
            println!("found {}: {invariant} in {config} after {states} states", mutant.name);
        }
        None => println!("missed {} in {:?}", mutant.name, mutant.configs),
    }
}
