//! One conversation from its prompt to its end, under faults.

use std::fs::File;
use std::io::Write;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::campaign::TortureCampaign;
use crate::campaign_tally::{ConversationEnd, ConversationResult, FaultCounts};
use crate::faults::apply_fault::ProcessResult;
use crate::observe::audit_conversation::{self, AuditEvidence};
use crate::observe::log_reader::{LaneProgress, LoggedQuestion, LoggedQuestionKind};
use crate::observe::store::StoredLane;
use crate::observe::violation::Violation;
use crate::plan::binary_command::{BinaryCommand, EffectTruth};
use crate::plan::conversation_plan::ConversationPlan;
use crate::plan::seeded_random::SeededRandom;
use crate::process::child::ProcessEnd;
use crate::process::clock::{Deadline, Stopwatch};
use crate::process::process_table;
use crate::work_folder::ConversationFolder;

/// A conversation that takes longer hangs.
const CONVERSATION_TIMEOUT: Duration = Duration::from_secs(90);

/// Maximum number of consecutive processes that may end by themselves without progress.
const MAX_IDLE_PROCESSES: u32 = 4;

/// By then every command of a tool has ended.
const ORPHAN_TIMEOUT: Duration = Duration::from_secs(5);

/// A conversation under faults.
pub(crate) struct ConversationTrial<'c> {
    pub(crate) campaign: &'c TortureCampaign<'c>,
    pub(crate) plan: ConversationPlan,
    pub(crate) place: ConversationFolder,
    pub(crate) random: SeededRandom,
    pub(crate) faults_left: u64,
    pub(crate) fault_counts: FaultCounts,
    pub(crate) faults: Vec<Violation>,
    age: Stopwatch,
}

impl<'c> ConversationTrial<'c> {
    /// The `number`-th conversation of a campaign.
    pub(crate) fn new(campaign: &'c TortureCampaign<'c>, number: u64) -> Result<Self> {
        let mut random = SeededRandom::new(campaign.seed, number);
        let plan = ConversationPlan::generate(number, &mut random);
        let place = campaign.work_folder.create_place(number, &plan)?;
        let faults_left = random.between(1, 6);
        let age = Stopwatch::start();
        let (fault_counts, faults) = (FaultCounts::default(), Vec::new());
        Ok(Self { campaign, plan, place, random, faults_left, fault_counts, faults, age })
    }

    /// Runs the conversation to its end and audits it.
    pub(crate) fn run_and_audit(&mut self) -> ConversationResult {
        if let Err(error) = self.drive_to_end().and_then(|()| self.verify_replay()) {
            self.write_note(&format!("gave up: {error:#}"));
            self.faults.push(Violation::lost_data(format!("{error:#}")));
        }
        self.expect_no_processes();
        let end = match self.audit() {
            Ok(end) => end,
            Err(error) => {
                self.faults.push(Violation::lost_data(format!("the audit failed: {error:#}")));
                ConversationEnd::Never
            }
        };
        ConversationResult {
            end,
            faults: std::mem::take(&mut self.faults),
            fault_counts: self.fault_counts,
        }
    }

    fn drive_to_end(&mut self) -> Result<()> {
        let deadline = Deadline::after(CONVERSATION_TIMEOUT);
        let mut idle = 0;
        // No prompt was accepted yet.
        let mut lane: Option<StoredLane> = None;
        while let Some(command) = self.next_command(lane.as_ref())? {
            ensure!(
                !deadline.has_passed(),
                "it has been hanging for {} s",
                CONVERSATION_TIMEOUT.as_secs()
            );
            let result = self.run_with_fault(command)?;
            let now = self.read_lane()?;
            let head = |lane: &Option<StoredLane>| lane.as_ref().map(|lane| lane.head);
            let is_unchanged = result != ProcessResult::Interrupted && head(&now) == head(&lane);
            idle = if is_unchanged { idle + 1 } else { 0 };
            ensure!(idle <= MAX_IDLE_PROCESSES, "{idle} processes in a row left it where it was");
            lane = now;
        }
        Ok(())
    }

    /// The next command, by the state in the store; `None` once the run has ended.
    fn next_command(&mut self, lane: Option<&StoredLane>) -> Result<Option<BinaryCommand>> {
        let Some(lane) = lane else { return Ok(Some(BinaryCommand::Send)) };
        Ok(match lane.lane_progress() {
            LaneProgress::Open => Some(BinaryCommand::Resume),
            LaneProgress::NeedsAnswer(question) => Some(self.answer_truthfully(lane, &question)?),
            LaneProgress::Finished => None,
        })
    }

    /// Answers by the ledger, once no process is left that could still change it.
    fn answer_truthfully(
        &mut self,
        lane: &StoredLane,
        question: &LoggedQuestion,
    ) -> Result<BinaryCommand> {
        let LoggedQuestionKind::Uncertain(call) = question.about else {
            bail!("unexpected question: {:?}", question.about);
        };
        self.expect_no_processes();
        let block = lane.find_call(call).context("the question is about an unknown call")?;
        let mut effects = self.plan.effects();
        let effect = effects.find(|effect| audit_conversation::is_effect_block(block, effect));
        let effect = effect.context("the question is about a call without effects")?;
        let happened = self.place.ledger.has_effect(effect)?;
        let truth = if happened { EffectTruth::Happened } else { EffectTruth::DidNotHappen };
        Ok(BinaryCommand::Answer { question: question.id, truth })
    }

    /// Checks that no process is left. Tools that outlive their process end by themselves soon.
    fn expect_no_processes(&mut self) {
        let left = process_table::wait_until_quiet(&self.place.folder, ORPHAN_TIMEOUT);
        if !left.is_empty() {
            process_table::kill_all_under(&self.place.folder);
            self.faults.push(Violation::lost_data(format!("processes {left:?} were left running")));
        }
        self.campaign.registry.reap_orphans();
    }

    /// Verifies the log by replaying it. Skipped for a broken binary: its log need not match its
    /// decisions.
    fn verify_replay(&mut self) -> Result<()> {
        if self.campaign.binary.broken.is_some() {
            return Ok(());
        }
        let result = self.run_undisturbed(BinaryCommand::Replay)?;
        ensure!(
            result == ProcessResult::Ended(ProcessEnd::Success),
            "replaying it gives something else"
        );
        Ok(())
    }

    fn audit(&mut self) -> Result<ConversationEnd> {
        let lane = self.read_lane()?.context("its prompt was never accepted")?;
        let ledger = self.place.ledger.read_lines()?;
        let evidence = AuditEvidence { plan: &self.plan, lane: &lane, ledger: &ledger };
        self.faults.extend(audit_conversation::find_violations(evidence));
        Ok(match (lane.lane_progress(), audit_conversation::was_human_asked(&lane)) {
            (LaneProgress::Finished, false) => ConversationEnd::Completed,
            (LaneProgress::Finished, true) => ConversationEnd::Surfaced,
            (LaneProgress::Open | LaneProgress::NeedsAnswer(_), _) => ConversationEnd::Never,
        })
    }

    pub(crate) fn read_lane(&self) -> Result<Option<StoredLane>> {
        self.place.store.read_lane(&self.plan.conversation)
    }

    /// Writes a note about a fault into the output of the processes.
    pub(crate) fn write_note(&self, what: &str) {
        let at = self.age.elapsed().as_millis();
        let output = File::options().create(true).append(true).open(&self.place.output);
        // The note is optional evidence; a run does not fail without it.
        let _ = output.and_then(|mut output| writeln!(output, "-- {at} ms: {what}"));
    }
}
