//! Runs a plan: starts and ends processes, sends commands, and finally lets the world come to rest.

mod lane_rest;

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_core::log::ids::{LaneId, Seq};
use windlass_core::log::inbox::{HumanAnswer, InboxCommand};
use windlass_core::message::content_block::ContentBlock;
use windlass_core::run::conversation::Conversation;
use windlass_runtime::ports::Store;
use windlass_store::memory::CrashSurvival;

use super::clock::sleep_virtual;
use super::command_sender::{CommandSender, answer_questions};
use super::event::{ReaderPace, TimedEvent, WorldEvent};
use super::evidence::Evidence;
use super::observation_log::ProcessId;
use super::process::Process;
use super::process_gate::{ProcessGate, ProcessLife};
use super::seeded_rng::SeededRng;
use super::shared::{RemovedSafeguard, SharedWorld, lane_id, run_id};
use super::store::ProcessStore;
use super::world_plan::WorldPlan;

/// Maximum number of processes at once.
const MOST_PROCESSES: usize = 3;

/// How often starting one process is tried.
const TRIES: u32 = 8;

pub(crate) struct WorldRunner {
    shared: Arc<SharedWorld>,
    post: CommandSender,
    rng: SeededRng,
    processes: Vec<Process>,
    started: ProcessId,
    due: BTreeMap<(u64, usize), WorldEvent>,
    scheduled: usize,
    /// Heads of lanes, and for how many polls they were unchanged.
    quiet: BTreeMap<LaneId, (Seq, u32)>,
    folds: BTreeMap<LaneId, Conversation>,
}

/// Plays a whole plan and returns its evidence.
pub(crate) async fn play(plan: WorldPlan, broken: RemovedSafeguard) -> Evidence {
    let rng = SeededRng::about(plan.seed, "stage");
    let events = plan.events.clone();
    let (shared, questions) = SharedWorld::new(plan, broken);
    let gate = Arc::new(ProcessGate::open());
    let store = Arc::new(ProcessStore::new(Arc::clone(&shared), ProcessId::MAX, gate));
    let post = CommandSender { store };
    let desk = tokio::spawn(answer_questions(Arc::clone(&shared), post.clone(), questions));
    let mut stage = WorldRunner {
        shared,
        post,
        rng,
        processes: Vec::new(),
        started: 0,
        due: BTreeMap::new(),
        scheduled: 0,
        quiet: BTreeMap::new(),
        folds: BTreeMap::new(),
    };
    events.into_iter().for_each(|TimedEvent { at_ms, event }| stage.schedule(at_ms, event));
    stage.start().await;
    stage.rage().await;
    let rested = stage.come_to_rest().await;
    desk.abort();
    Evidence::gather(&stage.shared, rested).await
}

impl WorldRunner {
    fn schedule(&mut self, at_ms: u64, event: WorldEvent) {
        self.scheduled += 1;
        self.due.insert((at_ms, self.scheduled), event);
    }

    fn schedule_in(&mut self, ms: u64, event: WorldEvent) {
        let at_ms = self.shared.wall.elapsed_ms() + ms;
        self.schedule(at_ms, event);
    }

    async fn rage(&mut self) {
        while let Some(((at_ms, _), event)) = self.due.pop_first() {
            sleep_virtual(at_ms.saturating_sub(self.shared.wall.elapsed_ms())).await;
            self.happen(event).await;
        }
    }

    async fn happen(&mut self, event: WorldEvent) {
        match event {
            WorldEvent::Prompt { lane, run, reader } => self.prompt(lane, run, reader),
            WorldEvent::Steer { lane, run, copies } => self.steer(lane, run, copies),
            WorldEvent::Cancel { lane, run, copies } => self.cancel(lane, run, copies),
            WorldEvent::Abort { lane, run } => self.abort(lane, run),
            WorldEvent::StrayAnswer { lane, question } => self.stray_answer(lane, question),
            WorldEvent::Reader { lane, pace_ms, from_start } => {
                self.reader(lane, pace_ms, from_start);
            }
            WorldEvent::Kill => self.kill(),
            WorldEvent::PowerCut { kept } => self.cut_power(kept).await,
            WorldEvent::StoreCrash => self.crash_store(),
            WorldEvent::Freeze { ms } => self.hold(ProcessLife::Frozen, ms),
            WorldEvent::CutOff { ms } => self.hold(ProcessLife::CutOff, ms),
            WorldEvent::Thaw { process } => self.thaw(process),
            WorldEvent::SecondProcess | WorldEvent::Start => self.start().await,
            WorldEvent::HandOver => self.hand_over(),
            WorldEvent::Retire { process } => self.retire(process),
            WorldEvent::WallJump { ms } => self.shared.wall.jump(ms),
        }
    }

    fn some_process(&mut self) -> Option<&mut Process> {
        let up: Vec<usize> =
            (0..).zip(&self.processes).filter(|(_, p)| p.is_up()).map(|(n, _)| n).collect();
        let chosen = self.rng.pick(&up);
        self.processes.get_mut(chosen).filter(|process| process.is_up())
    }

    async fn start(&mut self) {
        for _ in 0..TRIES {
            if self.processes.len() >= MOST_PROCESSES {
                return;
            }
            let id = self.started;
            self.started += 1;
            let drifts = id > 0 && self.rng.chance(self.shared.plan.drift_percent);
            let system = if drifts { "You haul, and quickly." } else { "You haul." };
            if let Ok(process) = Process::start(&self.shared, id, system).await {
                self.processes.push(process);
                return;
            }
        }
    }

    fn prompt(&mut self, lane: usize, run: u32, pace: ReaderPace) {
        match self.some_process() {
            Some(process) => process.send(lane, run, pace),
            None => {
                let run = run_id(lane, run);
                let blocks = vec![ContentBlock::text(&format!("{run}: haul"))];
                self.send_command(lane, format!("prompt:{run}"), InboxCommand::prompt(run, blocks));
            }
        }
    }

    fn send_command(&mut self, lane: usize, key: String, body: InboxCommand) {
        let post = self.post.clone();
        tokio::spawn(async move { post.deliver(lane_id(lane), key, body).await });
    }

    fn steer(&mut self, lane: usize, run: u32, copies: u64) {
        let run = run_id(lane, run);
        for _ in 0..copies {
            let blocks = vec![ContentBlock::text(&format!("{run}: to port 🧭"))];
            let body = InboxCommand::Steer { run: run.clone(), blocks };
            self.send_command(lane, format!("steer:{run}"), body);
        }
    }

    fn cancel(&mut self, lane: usize, run: Option<u32>, copies: u64) {
        let run = run.map(|run| run_id(lane, run));
        let key = format!("cancel {}", self.scheduled);
        for _ in 0..copies {
            self.send_command(lane, key.clone(), InboxCommand::Cancel { run: run.clone() });
        }
    }

    fn abort(&mut self, lane: usize, run: Option<u32>) {
        let run = run.map(|run| run_id(lane, run));
        self.send_command(
            lane,
            format!("abort {}", self.scheduled),
            InboxCommand::Abort { run, partial_reply: None },
        );
    }

    fn stray_answer(&mut self, lane: usize, question: u32) {
        let body = InboxCommand::answer(question, HumanAnswer::allow());
        self.send_command(lane, format!("stray {}", self.scheduled), body);
    }

    fn reader(&mut self, lane: usize, pace_ms: u64, from_start: bool) {
        if let Some(process) = self.some_process() {
            process.read(lane, pace_ms, from_start);
        }
    }

    fn kill(&mut self) {
        if !self.processes.is_empty() {
            let victim = self.rng.below(self.processes.len() as u64);
            let victim = self.processes.swap_remove(usize::try_from(victim).unwrap_or(0));
            self.shared.fault(&format!("process {} is killed", victim.id));
            victim.kill();
        }
        self.start_later();
    }

    fn start_later(&mut self) {
        let ms = self.rng.below(600);
        self.schedule_in(ms, WorldEvent::Start);
    }

    async fn cut_power(&mut self, kept: usize) {
        let unsynced = self.shared.disk.unsynced_commits();
        self.shared
            .fault(&format!("the power goes; {kept} of {unsynced} unsynced commits are kept"));
        self.processes.drain(..).for_each(Process::kill);
        self.shared.disk.crash(CrashSurvival::SyncedAnd(kept));
        let heads = self.heads().await;
        self.shared.observations.power_cut(heads);
        self.start_later();
    }

    /// The store's machine crashes and is back at once; a worker that is just claiming a lane gets
    /// an error and does not own it. What was appended is durable. Another worker comes that may
    /// claim the same lane.
    fn crash_store(&mut self) {
        self.shared.fault("the store crashes, and forgets the next claim");
        self.shared.disk.forget_next_claim();
        self.start_later();
    }

    async fn heads(&self) -> BTreeMap<LaneId, Seq> {
        let mut heads = BTreeMap::new();
        for lane in self.shared.lanes() {
            if let Ok(Some(info)) = self.shared.disk.lane_info(lane.clone()).await {
                heads.insert(lane, info.head);
            }
        }
        heads
    }

    fn hold(&mut self, life: ProcessLife, ms: u64) {
        let Some(process) = self.some_process() else { return };
        let id = process.id;
        process.gate.set(life);
        self.shared.fault(&format!("process {id} is {life:?} for {ms} ms"));
        self.schedule_in(ms, WorldEvent::Thaw { process: id });
        if self.rng.chance(80) {
            self.start_later();
        }
    }

    fn thaw(&mut self, id: ProcessId) {
        let held = self.processes.iter().filter(|process| process.id == id);
        held.for_each(|process| process.gate.set(ProcessLife::Up));
    }

    fn hand_over(&mut self) {
        let Some(process) = self.some_process() else { return };
        let id = process.id;
        process.hand_over();
        self.shared.fault(&format!("process {id} hands over"));
        self.schedule_in(300, WorldEvent::Retire { process: id });
        self.start_later();
    }

    fn retire(&mut self, id: ProcessId) {
        if let Some(place) = self.processes.iter().position(|process| process.id == id) {
            self.processes.swap_remove(place).kill();
        }
    }
}
