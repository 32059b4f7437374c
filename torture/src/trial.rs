//! One conversation, from its prompt to its end, through everything that is done to it.

use std::fs::File;
use std::io::Write;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::audit::{self, Evidence};
use crate::campaign::Campaign;
use crate::child::Ended;
use crate::clock::{Deadline, Stopwatch};
use crate::dice::Dice;
use crate::fault::Fault;
use crate::ground::Place;
use crate::log::{About, Question, Standing};
use crate::order::{Order, Truth};
use crate::plan::Plan;
use crate::processes;
use crate::store::Lane;
use crate::strike::Fate;
use crate::tally::{Blows, RunEnd, Verdict};

/// A conversation that is not over by then hangs.
const LIFE: Duration = Duration::from_secs(90);

/// Processes in a row that may end by themselves and leave everything as it was.
const IDLE: u32 = 4;

/// Every command of a tool is over by then.
const GHOSTS: Duration = Duration::from_secs(5);

/// A conversation under torture.
pub(crate) struct Trial<'c> {
    pub(crate) campaign: &'c Campaign<'c>,
    pub(crate) plan: Plan,
    pub(crate) place: Place,
    pub(crate) dice: Dice,
    pub(crate) blows_left: u64,
    pub(crate) blows: Blows,
    pub(crate) faults: Vec<Fault>,
    age: Stopwatch,
}

impl<'c> Trial<'c> {
    /// The `number`-th conversation of a campaign.
    pub(crate) fn new(campaign: &'c Campaign<'c>, number: u64) -> Result<Self> {
        let mut dice = Dice::new(campaign.seed, number);
        let plan = Plan::draw(number, &mut dice);
        let place = campaign.ground.place(number, &plan)?;
        let blows_left = dice.between(1, 6);
        let age = Stopwatch::start();
        let (blows, faults) = (Blows::default(), Vec::new());
        Ok(Self { campaign, plan, place, dice, blows_left, blows, faults, age })
    }

    /// Brings it to its end and judges it.
    pub(crate) fn run(&mut self) -> Verdict {
        if let Err(error) = self.live().and_then(|()| self.replay()) {
            self.note(&format!("gave up: {error:#}"));
            self.faults.push(Fault::lost(format!("{error:#}")));
        }
        self.expect_quiet();
        let end = match self.audit() {
            Ok(end) => end,
            Err(error) => {
                self.faults.push(Fault::lost(format!("it cannot be audited: {error:#}")));
                RunEnd::Never
            }
        };
        Verdict { end, faults: std::mem::take(&mut self.faults), blows: self.blows }
    }

    fn live(&mut self) -> Result<()> {
        let deadline = Deadline::after(LIFE);
        let mut idle = 0;
        // Nobody has spoken to it yet.
        let mut lane: Option<Lane> = None;
        while let Some(order) = self.next_order(lane.as_ref())? {
            ensure!(!deadline.has_passed(), "it hangs since {} s", LIFE.as_secs());
            let fate = self.perform(order)?;
            let now = self.lane()?;
            let head = |lane: &Option<Lane>| lane.as_ref().map(|lane| lane.head);
            let stands = fate != Fate::Struck && head(&now) == head(&lane);
            idle = if stands { idle + 1 } else { 0 };
            ensure!(idle <= IDLE, "{idle} processes in a row left it where it was");
            lane = now;
        }
        Ok(())
    }

    /// What has to be done next, by what the store says; nothing once it has its end.
    fn next_order(&mut self, lane: Option<&Lane>) -> Result<Option<Order>> {
        let Some(lane) = lane else { return Ok(Some(Order::Send)) };
        Ok(match lane.standing() {
            Standing::Open => Some(Order::Resume),
            Standing::Asks(question) => Some(self.answer(lane, &question)?),
            Standing::Finished => None,
        })
    }

    /// The truth, once everybody is gone who could still change it.
    fn answer(&mut self, lane: &Lane, question: &Question) -> Result<Order> {
        let About::Uncertain(call) = question.about else {
            bail!("it asks what nobody can answer: {:?}", question.about);
        };
        self.expect_quiet();
        let block = lane.call(call).context("the question is about a call nobody made")?;
        let mut effects = self.plan.effects();
        let effect = effects.find(|effect| audit::is_block_of(block, effect));
        let effect = effect.context("the question is about a call without effects")?;
        let happened = self.place.ledger.has(effect)?;
        let truth = if happened { Truth::Happened } else { Truth::DidNotHappen };
        Ok(Order::Answer { question: question.id, truth })
    }

    /// Tools that outlive their process end by themselves soon; nothing else may be there.
    fn expect_quiet(&mut self) {
        let left = processes::wait_until_quiet(&self.place.folder, GHOSTS);
        if !left.is_empty() {
            processes::end_all_under(&self.place.folder);
            self.faults.push(Fault::lost(format!("processes {left:?} were left running")));
        }
        self.campaign.brood.bury();
    }

    /// A broken binary is not asked: its log need not fit its decisions.
    fn replay(&mut self) -> Result<()> {
        if self.campaign.binary.broken.is_some() {
            return Ok(());
        }
        let fate = self.undisturbed(Order::Replay)?;
        ensure!(fate == Fate::Ended(Ended::Well), "replaying it gives something else");
        Ok(())
    }

    fn audit(&mut self) -> Result<RunEnd> {
        let lane = self.lane()?.context("its prompt was never accepted")?;
        let ledger = self.place.ledger.lines()?;
        let evidence = Evidence { plan: &self.plan, lane: &lane, ledger: &ledger };
        self.faults.extend(audit::faults(evidence));
        Ok(match (lane.standing(), audit::was_surfaced(&lane)) {
            (Standing::Finished, false) => RunEnd::Completed,
            (Standing::Finished, true) => RunEnd::Surfaced,
            (Standing::Open | Standing::Asks(_), _) => RunEnd::Never,
        })
    }

    pub(crate) fn lane(&self) -> Result<Option<Lane>> {
        self.place.store.lane(&self.plan.conversation)
    }

    /// Writes down what is done, beside what the processes print.
    pub(crate) fn note(&self, what: &str) {
        let at = self.age.elapsed().as_millis();
        let output = File::options().create(true).append(true).open(&self.place.output);
        // Evidence is welcome; a run does not fail for want of it.
        let _ = output.and_then(|mut output| writeln!(output, "-- {at} ms: {what}"));
    }
}
