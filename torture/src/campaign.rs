//! Many conversations under torture at once, until enough processes were killed.
//!
//! What a clean campaign shows:
// spec: INV-02, INV-03, INV-07, INV-10, INV-12, STORE-02, STORE-05
// spec: FAULT-06, FAULT-07, FAULT-08, FAULT-11, FAULT-14, FAULT-15, FAULT-18, FAULT-38

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::args::{Args, StoreKind};
use crate::brood::Brood;
use crate::budget::Budget;
use crate::clock::Stopwatch;
use crate::fault::Fault;
use crate::ground::Ground;
use crate::guard::Guard;
use crate::nemesis::Nemesis;
use crate::order::Binary;
use crate::processes;
use crate::progress;
use crate::report;
use crate::server::Server;
use crate::store::Where;
use crate::tally::{RunEnd, Tally, Verdict};
use crate::trial::Trial;

/// Faulty runs after which nothing more is to be learned.
const ENOUGH: u64 = 12;

/// How long the last processes may take to go: a tool's processes get two seconds to end in good
/// order.
const LEAVING: Duration = Duration::from_secs(10);

/// What all conversations of a campaign share.
pub(crate) struct Campaign<'b> {
    pub(crate) binary: Binary,
    pub(crate) ground: Ground,
    pub(crate) brood: &'b Brood,
    pub(crate) nemesis: Nemesis,
    pub(crate) budget: Budget,
    pub(crate) seed: u64,
    enough: u64,
    numbers: AtomicU64,
    tally: Mutex<Tally>,
}

/// Runs a whole campaign.
pub(crate) fn run(args: &Args) -> Result<Tally> {
    let (tally, ground) = run_until(args, ENOUGH)?;
    if !tally.is_clean() || args.keep.is_some() {
        report::kept(&ground.keep());
    }
    Ok(tally)
}

/// Runs a campaign that ends early after `enough` faulty runs; what it leaves goes with the ground.
pub(crate) fn run_until(args: &Args, enough: u64) -> Result<(Tally, Ground)> {
    let watch = Stopwatch::start();
    let brood = Brood::gather()?;
    let mut server = match args.store {
        StoreKind::Sqlite => None,
        StoreKind::Postgres => Some(Server::start(&brood, args.seed)?),
    };
    let stores = server.as_ref().map(Server::stores).unwrap_or_default();
    let campaign = Campaign::new(args, enough, &brood, stores)?;
    let guard = Guard::over(&brood, campaign.ground.root())?;
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..args.jobs).map(|_| scope.spawn(|| campaign.work())).collect();
        progress::watch(&campaign, watch, &workers);
    });
    let weather = server.as_mut().map(Server::calm).transpose()?;
    campaign.audit_stores();
    drop(server);
    campaign.audit_processes();
    drop(guard);
    let tally = campaign.so_far();
    report::blows(watch.elapsed(), &tally, &campaign.nemesis.coverage());
    if let Some(weather) = weather {
        report::begin(&format!("  meanwhile {weather}"));
    }
    Ok((tally, campaign.ground))
}

impl<'b> Campaign<'b> {
    fn new(args: &Args, enough: u64, brood: &'b Brood, stores: Vec<Where>) -> Result<Self> {
        let program = args.bin.canonicalize();
        let program = program.with_context(|| format!("the binary {}", args.bin.display()))?;
        let name = args.broken.map_or("torture", |broken| broken.name());
        Ok(Self {
            binary: Binary { program, broken: args.broken },
            ground: Ground::new(args.keep.as_deref(), name, stores)?,
            brood,
            nemesis: Nemesis::new(args.broken),
            budget: Budget::of(args.kills),
            seed: args.seed,
            enough,
            numbers: AtomicU64::new(1),
            tally: Mutex::default(),
        })
    }

    /// One conversation after the other.
    fn work(&self) {
        while !self.budget.is_empty() && self.tally().faulty < self.enough {
            let number = self.numbers.fetch_add(1, Ordering::Relaxed);
            match Trial::new(self, number) {
                Ok(mut trial) => self.conclude(&mut trial),
                Err(error) => self.note(&Fault::lost(format!("{error:#}"))),
            }
        }
    }

    fn conclude(&self, trial: &mut Trial<'_>) {
        let verdict = trial.run();
        self.tally().add(&verdict);
        report::faults(&trial.place.folder, &verdict.faults);
        if is_fine(&verdict) {
            // What cannot be cleared is in nobody's way.
            let _ = self.ground.clear(&trial.place);
        }
    }

    /// What only the whole shows: damaged stores, strange lanes.
    fn audit_stores(&self) {
        for store in self.ground.stores() {
            if let Err(error) = store.check() {
                self.note(&Fault::lost(format!("{error:#}")));
            }
        }
        if let Err(error) = self.audit_lanes() {
            self.note(&Fault::lost(format!("the stores cannot be read: {error:#}")));
        }
    }

    /// And processes that stayed.
    fn audit_processes(&self) {
        let mut left = processes::wait_until_quiet(self.ground.root(), LEAVING);
        left.extend(self.brood.wait_for_orphans(LEAVING));
        if !left.is_empty() {
            self.note(&Fault::lost(format!("processes {left:?} were left running")));
        }
    }

    /// Every run has its lane, and every lane is of one run.
    fn audit_lanes(&self) -> Result<()> {
        let mut lanes = 0;
        for store in self.ground.stores() {
            lanes += store.conversations()?.len() as u64;
        }
        let runs = self.tally().runs;
        if lanes != runs {
            self.note(&Fault::lost(format!("there are {lanes} lanes for {runs} runs")));
        }
        Ok(())
    }

    fn note(&self, fault: &Fault) {
        report::faults(self.ground.root(), std::slice::from_ref(fault));
        let mut tally = self.tally();
        tally.count(fault);
        tally.faulty += 1;
    }

    /// The counts as they are now.
    pub(crate) fn so_far(&self) -> Tally {
        Tally { kills: self.budget.spent(), ..self.tally().clone() }
    }

    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_fine(verdict: &Verdict) -> bool {
    verdict.faults.is_empty() && verdict.end != RunEnd::Never
}
