//! The hunt for planted bugs: each must be found by some invariant.

use super::act::Sim;
use super::batch::batch;
use super::configs;
use super::eyes::Eyes;
use super::mutants::{self, Mutant};
use super::search::{Reach, search};
use super::watch::Watch;

/// How far one configuration is walked for one bug.
const REACH: Reach = Reach { states: 200_000, ms: 15_000 };

/// A bug that was found.
pub(crate) struct Catch {
    pub(crate) invariant: &'static str,
    pub(crate) config: &'static str,
    pub(crate) states: u64,
}

/// Plants every bug in turn. `Err` if one is missed.
pub fn hunt_all() -> Result<String, String> {
    let planted: Vec<&Mutant> = mutants::all().collect();
    let watch = Watch::start();
    let caught = batch(&planted, |mutant| hunt(mutant), |mutant, catch| tell(mutant, catch));
    let found = caught.iter().flatten().count();
    println!("hunted for {} ms", watch.ms());
    let line = format!("mutants: {} planted, {found} found", planted.len());
    if found == planted.len() { Ok(line) } else { Err(line) }
}

/// Looks for one bug where it is most likely.
pub(crate) fn hunt(mutant: &Mutant) -> Option<Catch> {
    mutant.configs.iter().find_map(|name| {
        let config = configs::named(name)?;
        let walk = search(Sim { config: &config, eyes: Eyes::planted(mutant) }, REACH);
        let broken = walk.violation?.broken;
        Some(Catch { invariant: broken.invariant, config: config.name, states: walk.states })
    })
}

fn tell(mutant: &Mutant, catch: &Option<Catch>) {
    match catch {
        Some(Catch { invariant, config, states }) => {
            println!("found {}: {invariant} in {config} after {states} states", mutant.name);
        }
        None => println!("missed {} in {:?}", mutant.name, mutant.configs),
    }
}
