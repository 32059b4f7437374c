//! Lets a plan happen: starts and ends processes, sends what people send, and at last lets the world
//! come to rest.

mod rest;

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_core::block::Block;
use windlass_core::conversation::Conversation;
use windlass_core::ids::{LaneId, Seq};
use windlass_core::mail::{Answer, MailBody};
use windlass_runtime::ports::Store;
use windlass_store::memory::Keep;

use super::clock::nap;
use super::dice::Dice;
use super::event::{Event, Happening, Pace};
use super::evidence::Evidence;
use super::gate::{Gate, Life};
use super::people::{Post, sit_at_desk};
use super::plan::Plan;
use super::process::Process;
use super::shared::{Break, Shared, lane_id, run_id};
use super::store::ProcessStore;
use super::witness::ProcessId;

/// Processes alive at once.
const MOST_PROCESSES: usize = 3;

/// Tries to start one process.
const TRIES: u32 = 8;

pub(crate) struct Stage {
    shared: Arc<Shared>,
    post: Post,
    dice: Dice,
    processes: Vec<Process>,
    started: ProcessId,
    due: BTreeMap<(u64, usize), Event>,
    scheduled: usize,
    /// Heads of lanes, and for how many looks they stood still.
    quiet: BTreeMap<LaneId, (Seq, u32)>,
    folds: BTreeMap<LaneId, Conversation>,
}

/// Plays a whole plan and gives back what can be known of it.
pub(crate) async fn play(plan: Plan, broken: Break) -> Evidence {
    let dice = Dice::about(plan.seed, "stage");
    let events = plan.events.clone();
    let (shared, questions) = Shared::new(plan, broken);
    let gate = Arc::new(Gate::open());
    let store = Arc::new(ProcessStore::new(Arc::clone(&shared), ProcessId::MAX, gate));
    let post = Post { store };
    let desk = tokio::spawn(sit_at_desk(Arc::clone(&shared), post.clone(), questions));
    let mut stage = Stage {
        shared,
        post,
        dice,
        processes: Vec::new(),
        started: 0,
        due: BTreeMap::new(),
        scheduled: 0,
        quiet: BTreeMap::new(),
        folds: BTreeMap::new(),
    };
    events.into_iter().for_each(|Happening { at_ms, event }| stage.schedule(at_ms, event));
    stage.start().await;
    stage.rage().await;
    let rested = stage.come_to_rest().await;
    desk.abort();
    Evidence::gather(&stage.shared, rested).await
}

impl Stage {
    fn schedule(&mut self, at_ms: u64, event: Event) {
        self.scheduled += 1;
        self.due.insert((at_ms, self.scheduled), event);
    }

    fn schedule_in(&mut self, ms: u64, event: Event) {
        let at_ms = self.shared.wall.elapsed_ms() + ms;
        self.schedule(at_ms, event);
    }

    async fn rage(&mut self) {
        while let Some(((at_ms, _), event)) = self.due.pop_first() {
            nap(at_ms.saturating_sub(self.shared.wall.elapsed_ms())).await;
            self.happen(event).await;
        }
    }

    async fn happen(&mut self, event: Event) {
        match event {
            Event::Prompt { lane, run, reader } => self.prompt(lane, run, reader),
            Event::Steer { lane, run, copies } => self.steer(lane, run, copies),
            Event::Cancel { lane, run, copies } => self.cancel(lane, run, copies),
            Event::Abort { lane, run } => self.abort(lane, run),
            Event::StrayAnswer { lane, question } => self.stray_answer(lane, question),
            Event::Reader { lane, pace_ms, from_start } => self.reader(lane, pace_ms, from_start),
            Event::Kill => self.kill(),
            Event::PowerCut { kept } => self.cut_power(kept).await,
            Event::StoreCrash => self.crash_store(),
            Event::Freeze { ms } => self.hold(Life::Frozen, ms),
            Event::CutOff { ms } => self.hold(Life::CutOff, ms),
            Event::Thaw { process } => self.thaw(process),
            Event::SecondProcess | Event::Start => self.start().await,
            Event::HandOver => self.hand_over(),
            Event::Retire { process } => self.retire(process),
            Event::WallJump { ms } => self.shared.wall.jump(ms),
        }
    }

    fn some_process(&mut self) -> Option<&mut Process> {
        let up: Vec<usize> =
            (0..).zip(&self.processes).filter(|(_, p)| p.is_up()).map(|(n, _)| n).collect();
        let chosen = self.dice.pick(&up);
        self.processes.get_mut(chosen).filter(|process| process.is_up())
    }

    async fn start(&mut self) {
        for _ in 0..TRIES {
            if self.processes.len() >= MOST_PROCESSES {
                return;
            }
            let id = self.started;
            self.started += 1;
            let drifts = id > 0 && self.dice.chance(self.shared.plan.drift_percent);
            let system = if drifts { "You haul, and quickly." } else { "You haul." };
            if let Ok(process) = Process::start(&self.shared, id, system).await {
                self.processes.push(process);
                return;
            }
        }
    }

    fn prompt(&mut self, lane: usize, run: u32, pace: Pace) {
        match self.some_process() {
            Some(process) => process.send(lane, run, pace),
            None => {
                let run = run_id(lane, run);
                let blocks = vec![Block::text(&format!("{run}: haul"))];
                self.mail(lane, format!("prompt:{run}"), MailBody::prompt(run, blocks));
            }
        }
    }

    fn mail(&mut self, lane: usize, key: String, body: MailBody) {
        let post = self.post.clone();
        tokio::spawn(async move { post.deliver(lane_id(lane), key, body).await });
    }

    fn steer(&mut self, lane: usize, run: u32, copies: u64) {
        let run = run_id(lane, run);
        for _ in 0..copies {
            let blocks = vec![Block::text(&format!("{run}: to port 🧭"))];
            let body = MailBody::Steer { run: run.clone(), blocks };
            self.mail(lane, format!("steer:{run}"), body);
        }
    }

    fn cancel(&mut self, lane: usize, run: Option<u32>, copies: u64) {
        let run = run.map(|run| run_id(lane, run));
        let key = format!("cancel {}", self.scheduled);
        for _ in 0..copies {
            self.mail(lane, key.clone(), MailBody::Cancel { run: run.clone() });
        }
    }

    fn abort(&mut self, lane: usize, run: Option<u32>) {
        let run = run.map(|run| run_id(lane, run));
        self.mail(lane, format!("abort {}", self.scheduled), MailBody::Abort { run });
    }

    fn stray_answer(&mut self, lane: usize, question: u32) {
        let body = MailBody::Answer { question, answer: Answer::allow() };
        self.mail(lane, format!("stray {}", self.scheduled), body);
    }

    fn reader(&mut self, lane: usize, pace_ms: u64, from_start: bool) {
        if let Some(process) = self.some_process() {
            process.read(lane, pace_ms, from_start);
        }
    }

    fn kill(&mut self) {
        if !self.processes.is_empty() {
            let victim = self.dice.below(self.processes.len() as u64);
            let victim = self.processes.swap_remove(usize::try_from(victim).unwrap_or(0));
            self.shared.fault(&format!("process {} is killed", victim.id));
            victim.kill();
        }
        self.start_later();
    }

    fn start_later(&mut self) {
        let ms = self.dice.below(600);
        self.schedule_in(ms, Event::Start);
    }

    async fn cut_power(&mut self, kept: usize) {
        let unsynced = self.shared.disk.unsynced();
        self.shared
            .fault(&format!("the power goes; {kept} of {unsynced} unsynced commits are kept"));
        self.processes.drain(..).for_each(Process::kill);
        self.shared.disk.crash(Keep::SyncedAnd(kept));
        let heads = self.heads().await;
        self.shared.witness.power_cut(heads);
        self.start_later();
    }

    /// The store's machine crashes and is back at once; whoever is just taking a lane is told so and
    /// has it not. What was appended is safe. Somebody else comes who may take the same lane.
    fn crash_store(&mut self) {
        self.shared.fault("the store crashes, and forgets the next claim");
        self.shared.disk.forget_next_claim();
        self.start_later();
    }

    async fn heads(&self) -> BTreeMap<LaneId, Seq> {
        let mut heads = BTreeMap::new();
        for lane in self.shared.lanes() {
            if let Ok(Some(info)) = self.shared.disk.lane(lane.clone()).await {
                heads.insert(lane, info.head);
            }
        }
        heads
    }

    fn hold(&mut self, life: Life, ms: u64) {
        let Some(process) = self.some_process() else { return };
        let id = process.id;
        process.gate.set(life);
        self.shared.fault(&format!("process {id} is {life:?} for {ms} ms"));
        self.schedule_in(ms, Event::Thaw { process: id });
        if self.dice.chance(80) {
            self.start_later();
        }
    }

    fn thaw(&mut self, id: ProcessId) {
        let held = self.processes.iter().filter(|process| process.id == id);
        held.for_each(|process| process.gate.set(Life::Up));
    }

    fn hand_over(&mut self) {
        let Some(process) = self.some_process() else { return };
        let id = process.id;
        process.hand_over();
        self.shared.fault(&format!("process {id} hands over"));
        self.schedule_in(300, Event::Retire { process: id });
        self.start_later();
    }

    fn retire(&mut self, id: ProcessId) {
        if let Some(place) = self.processes.iter().position(|process| process.id == id) {
            self.processes.swap_remove(place).kill();
        }
    }
}
