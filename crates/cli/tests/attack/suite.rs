//! Which attacks run, with which levels and users, and what came of them.

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::generator::Generator;
use crate::place::{self, Level, Place, User};
use crate::{controls, layers, race, variants};

/// Attacks at once.
const WORKERS: usize = 2;

/// Variants of each class that the subset tries.
const SUBSET_VARIANTS: usize = 12;

/// Something a hostile model tries.
pub(crate) struct Attack {
    /// What it belongs to: the numbers of the audit and of the list of bad inputs.
    pub(crate) class: &'static str,
    /// What the model runs.
    pub(crate) command: String,
    /// Whether the permissions may stop it before the kernel has to.
    pub(crate) stopped_by: Stop,
}

/// What is expected to stop an attack.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It runs, and the kernel holds it.
    Kernel,
    /// It runs with the questions that a person would be asked, and nobody answers.
    Permissions,
}

/// Runs the attacks that the arguments choose.
pub(crate) fn run() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_subset = arguments.iter().any(|word| word == "--subset");
    let seed = arguments.iter().skip_while(|word| *word != "--seed").nth(1);
    let seed = seed.and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut generator = Generator::new(seed);
    let mut attacks: Vec<Attack> = Vec::new();
    for class in variants::CLASSES {
        let mut all = class();
        generator.shuffle(&mut all);
        all.truncate(if is_subset { SUBSET_VARIANTS } else { usize::MAX });
        attacks.extend(all);
    }
    let settings = settings_of(is_subset);
    let runs: Vec<(&Attack, (Level, User))> = match is_subset {
        true => attacks.iter().zip(settings.iter().copied().cycle()).collect(),
        false => attacks.iter().flat_map(|a| settings.iter().map(move |s| (a, *s))).collect(),
    };
    let broken = run_all(&runs);
    let mut cases = runs.len();
    let mut failures = broken;
    for user in User::available() {
        cases += 1;
        failures.extend(race::swap_links(user, if is_subset { 2_000 } else { 10_000 }));
    }
    let (controls, silent) = controls::run();
    println!("controls: {controls} attacks without the sandbox, {silent} of them held");
    let (layers, without_proof) = layers::run();
    println!("layers: {layers} switched off one by one, {} without effect", without_proof.len());
    failures.extend(without_proof);
    for failure in &failures {
        println!("BROKEN {failure}");
    }
    println!("attacks: {cases} cases, {} held, {} broken", cases - failures.len(), failures.len());
    match failures.is_empty() && silent == 0 {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// The levels and users with which attacks run here.
fn settings_of(is_subset: bool) -> Vec<(Level, User)> {
    let levels: &[Level] = match place::can_filter() {
        true => &[Level::Full, Level::WithoutNamespaces],
        false => &[Level::Full],
    };
    let users = User::available();
    let all = levels.iter().flat_map(|level| users.iter().map(move |user| (*level, *user)));
    let mut all: Vec<_> = all.collect();
    if is_subset {
        // Most of it as most people have it.
        all.insert(0, (Level::Full, User::Own));
    }
    all
}

fn run_all(runs: &[(&Attack, (Level, User))]) -> Vec<String> {
    let (next, broken) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some((attack, (level, user))) =
                    runs.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let place = Place::new(*user);
                    if let Some(what) = place.try_attack(attack, *level) {
                        let Attack { class, command, .. } = attack;
                        let line = format!("{class} ({level:?}, {user:?}): {what}: {command}");
                        println!("{line}");
                        broken.lock().unwrap().push(line);
                    }
                }
            });
        }
    });
    broken.into_inner().unwrap()
}
