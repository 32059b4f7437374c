//! A simulated process: a real host behind a gate, a driver for its lanes, and the readers that
//! live in it.

mod lane_driver;
mod owner;
mod reader;

use std::sync::Arc;

use tokio::task::AbortHandle;
use windlass_runtime::ports::StoreError;
use windlass_runtime::{Agent, LaneHost};

use super::clock::ProcessClock;
use super::event::ReaderPace;
use super::hooks::SimHooks;
use super::model::HostileModel;
use super::observation_log::ProcessId;
use super::process_gate::{ProcessGate, ProcessLife};
use super::shared::SharedWorld;
use super::store::ProcessStore;
use super::tools::toolbox;
use super::world_plan::LEASE;

pub(crate) struct Process {
    pub(crate) id: ProcessId,
    pub(crate) gate: Arc<ProcessGate>,
    host: Arc<LaneHost>,
    store: Arc<ProcessStore>,
    shared: Arc<SharedWorld>,
    tasks: Vec<AbortHandle>,
}

impl Process {
    /// Starts a process; its settings may differ from those of the last one.
    pub(crate) async fn start(
        shared: &Arc<SharedWorld>,
        id: ProcessId,
        system: &str,
    ) -> Result<Self, StoreError> {
        let gate = Arc::new(ProcessGate::open());
        let store = Arc::new(ProcessStore::new(Arc::clone(shared), id, Arc::clone(&gate)));
        let agent = agent(shared, id, &gate, Arc::clone(&store), system);
        let host = LaneHost::start(agent, LEASE).await?;
        let shared = Arc::clone(shared);
        let mut process = Self { id, gate, host, store, shared, tasks: Vec::new() };
        process.take_care();
        Ok(process)
    }

    fn take_care(&mut self) {
        let lanes: Vec<_> = self.shared.lanes().collect();
        for lane in lanes {
            let session = self.host.session(lane);
            let care = lane_driver::LaneDriver::new(session, &self.store, &self.shared, self.id);
            self.spawn(care.watch());
        }
    }

    fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.push(tokio::spawn(task).abort_handle());
    }

    pub(crate) fn send(&mut self, lane: usize, run: u32, pace: ReaderPace) {
        let session = self.host.session(super::shared::lane_id(lane));
        let shared = Arc::clone(&self.shared);
        self.spawn(owner::send(shared, session, super::shared::run_id(lane, run), pace));
    }

    pub(crate) fn read(&mut self, lane: usize, pace_ms: u64, from_start: bool) {
        let session = self.host.session(super::shared::lane_id(lane));
        let shared = Arc::clone(&self.shared);
        let reader = reader::FeedReader { shared, session, process: self.id, pace_ms };
        self.spawn(reader.read(from_start));
    }

    pub(crate) fn hand_over(&self) {
        self.host.hand_over();
    }

    pub(crate) fn is_up(&self) -> bool {
        self.gate.life() == ProcessLife::Up
    }

    /// Ends the process as SIGKILL would.
    pub(crate) fn kill(mut self) {
        self.gate.set(ProcessLife::Dead);
        self.shared.observations.death(self.id);
        self.tasks.drain(..).for_each(|task| task.abort());
    }
}

fn agent(
    shared: &Arc<SharedWorld>,
    id: ProcessId,
    gate: &Arc<ProcessGate>,
    store: Arc<ProcessStore>,
    system: &str,
) -> Agent {
    let model = HostileModel { shared: Arc::clone(shared), gate: Arc::clone(gate) };
    let clock = ProcessClock { wall: shared.wall.clone(), gate: Arc::clone(gate) };
    let mut settings = shared.plan.settings.clone();
    settings.system = system.into();
    let tools = toolbox(shared, id, gate);
    let mut agent = Agent::new(Arc::new(model), store, Arc::new(clock), tools, settings);
    agent.ports.hooks = Arc::new(SimHooks { shared: Arc::clone(shared), gate: Arc::clone(gate) });
    agent
}
