//! A torture campaign: many conversations at once, until enough processes were killed.
//!
//! What a clean campaign shows:
// spec: INV-02, INV-03, INV-07, INV-10, INV-12, STORE-02, STORE-05
// spec: FAULT-06, FAULT-07, FAULT-08, FAULT-11, FAULT-14, FAULT-15, FAULT-18, FAULT-38

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::args::{StoreKind, TortureArgs};
use crate::campaign_tally::{CampaignTally, ConversationEnd, ConversationResult};
use crate::conversation_trial::ConversationTrial;
use crate::faults::fault_injector::FaultInjector;
use crate::faults::kill_budget::KillBudget;
use crate::observe::store::StoreLocation;
use crate::observe::violation::Violation;
use crate::plan::binary_command::TestedBinary;
use crate::postgres_under_test::TorturedServer;
use crate::process::child_registry::ChildRegistry;
use crate::process::clock::Stopwatch;
use crate::process::folder_guard::FolderGuard;
use crate::process::process_table;
use crate::progress;
use crate::report;
use crate::work_folder::WorkFolder;

/// Number of faulty runs after which the campaign stops early.
const MAX_FAULTY_RUNS: u64 = 12;

/// How long the last processes may take to exit: a tool's processes get two seconds to end in good
/// order.
const EXIT_TIMEOUT: Duration = Duration::from_secs(10);

/// State that all conversations of a campaign share.
pub(crate) struct TortureCampaign<'b> {
    pub(crate) binary: TestedBinary,
    pub(crate) work_folder: WorkFolder,
    pub(crate) registry: &'b ChildRegistry,
    pub(crate) fault_injector: FaultInjector,
    pub(crate) budget: KillBudget,
    pub(crate) seed: u64,
    enough: u64,
    numbers: AtomicU64,
    tally: Mutex<CampaignTally>,
}

/// Runs a whole campaign.
pub(crate) fn run(args: &TortureArgs) -> Result<CampaignTally> {
    let (tally, ground) = run_until(args, MAX_FAULTY_RUNS)?;
    if !tally.is_clean() || args.keep.is_some() {
        report::print_kept_folder(&ground.keep_folder());
    }
    Ok(tally)
}

/// Runs a campaign that ends early after `enough` faulty runs; its files are removed with the work
/// folder.
pub(crate) fn run_until(args: &TortureArgs, enough: u64) -> Result<(CampaignTally, WorkFolder)> {
    let watch = Stopwatch::start();
    let registry = ChildRegistry::become_subreaper()?;
    let mut server = match args.store {
        StoreKind::Sqlite => None,
        StoreKind::Postgres => Some(TorturedServer::start(&registry, args.seed)?),
    };
    let stores = server.as_ref().map(TorturedServer::stores).unwrap_or_default();
    let campaign = TortureCampaign::new(args, enough, &registry, stores)?;
    let guard = FolderGuard::start(&registry, campaign.work_folder.root())?;
    std::thread::scope(|scope| {
        let workers: Vec<_> =
            (0..args.jobs).map(|_| scope.spawn(|| campaign.run_conversations())).collect();
        progress::report_until_done(&campaign, watch, &workers);
    });
    let server_faults = server.as_mut().map(TorturedServer::stop_faults).transpose()?;
    campaign.audit_stores();
    drop(server);
    campaign.audit_processes();
    drop(guard);
    let tally = campaign.snapshot();
    report::print_faults(watch.elapsed(), &tally, &campaign.fault_injector.coverage());
    if let Some(server_faults) = server_faults {
        report::print_start(&format!("  server faults: {server_faults}"));
    }
    Ok((tally, campaign.work_folder))
}

impl<'b> TortureCampaign<'b> {
    fn new(
        args: &TortureArgs,
        enough: u64,
        registry: &'b ChildRegistry,
        stores: Vec<StoreLocation>,
    ) -> Result<Self> {
        let program = args.bin.canonicalize();
        let program = program.with_context(|| format!("the binary {}", args.bin.display()))?;
        let name = args.broken.map_or("torture", |broken| broken.as_str());
        Ok(Self {
            binary: TestedBinary { program, broken: args.broken },
            work_folder: WorkFolder::new(args.keep.as_deref(), name, stores)?,
            registry,
            fault_injector: FaultInjector::new(args.store, args.broken),
            budget: KillBudget::with_kills(args.kills),
            seed: args.seed,
            enough,
            numbers: AtomicU64::new(1),
            tally: Mutex::default(),
        })
    }

    /// Runs one conversation after the other.
    fn run_conversations(&self) {
        while !self.budget.is_empty() && self.lock_tally().faulty < self.enough {
            let number = self.numbers.fetch_add(1, Ordering::Relaxed);
            match ConversationTrial::new(self, number) {
                Ok(mut trial) => self.record_result(&mut trial),
                Err(error) => self.record_violation(&Violation::lost_data(format!("{error:#}"))),
            }
        }
    }

    fn record_result(&self, trial: &mut ConversationTrial<'_>) {
        let verdict = trial.run_and_audit();
        self.lock_tally().add(&verdict);
        report::print_violations(&trial.place.folder, &verdict.faults);
        if is_clean_run(&verdict) {
            // A folder that cannot be removed does no harm.
            let _ = self.work_folder.remove_place(&trial.place);
        }
    }

    /// Audits what only the whole campaign shows: damaged stores, unexpected lanes.
    fn audit_stores(&self) {
        for store in self.work_folder.stores() {
            if let Err(error) = store.check_integrity() {
                self.record_violation(&Violation::lost_data(format!("{error:#}")));
            }
        }
        if let Err(error) = self.audit_lanes() {
            self.record_violation(&Violation::lost_data(format!(
                "the stores cannot be read: {error:#}"
            )));
        }
    }

    /// Audits processes that were left running.
    fn audit_processes(&self) {
        let mut left = process_table::wait_until_quiet(self.work_folder.root(), EXIT_TIMEOUT);
        left.extend(self.registry.wait_for_orphans(EXIT_TIMEOUT));
        if !left.is_empty() {
            self.record_violation(&Violation::lost_data(format!(
                "processes {left:?} were left running"
            )));
        }
    }

    /// Checks that every run has its lane, and that every lane belongs to one run.
    fn audit_lanes(&self) -> Result<()> {
        let mut lanes = 0;
        for store in self.work_folder.stores() {
            lanes += store.list_conversations()?.len() as u64;
        }
        let runs = self.lock_tally().runs;
        if lanes != runs {
            self.record_violation(&Violation::lost_data(format!("{lanes} lanes for {runs} runs")));
        }
        Ok(())
    }

    fn record_violation(&self, fault: &Violation) {
        report::print_violations(self.work_folder.root(), std::slice::from_ref(fault));
        let mut tally = self.lock_tally();
        tally.count_violation(fault);
        tally.faulty += 1;
    }

    /// The current counts.
    pub(crate) fn snapshot(&self) -> CampaignTally {
        CampaignTally { kills: self.budget.kills_done(), ..self.lock_tally().clone() }
    }

    fn lock_tally(&self) -> MutexGuard<'_, CampaignTally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_clean_run(verdict: &ConversationResult) -> bool {
    verdict.faults.is_empty() && verdict.end != ConversationEnd::Never
}
