//! Effects being performed. The driver says what is wanted; what is missing is started, what is no
//! longer wanted is dropped, and every flight ends by putting one input into the driver's inbox.

mod ask;
pub(crate) mod catch;
mod consult;
mod tool;

pub(crate) use tool::within;

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use windlass_core::conversation::Conversation;
use windlass_core::ids::{CallId, LaneId};
use windlass_core::input::Input;
use windlass_core::wanted::Effect;

use crate::agent::Agent;
use crate::feed::{Feed, OwnerFeed};
use crate::ports::Scene;
use crate::turns::Turns;

/// Inputs that may wait for the driver; a flight that finds the inbox full waits.
const INBOX_INPUTS: usize = 1_024;

/// The flights of one lane.
pub(crate) struct Flights {
    lane: LaneId,
    agent: Agent,
    feed: Feed,
    owner: Option<OwnerFeed>,
    inbox: mpsc::Sender<Landed>,
    in_the_air: BTreeMap<Effect, Flight>,
    flown: FlightNo,
    turns: Option<Turns>,
}

/// Flights are numbered: one that was taken out of the air may have landed a moment before.
pub(crate) type FlightNo = u64;

struct Flight {
    no: FlightNo,
    task: AbortHandle,
}

/// A flight that brought something.
#[derive(Debug)]
pub(crate) struct Landed {
    /// Which flight.
    pub(crate) flight: FlightNo,
    /// What it brought; boxed, because the inbox keeps room for many.
    pub(crate) input: Box<Input>,
}

impl Flights {
    pub(crate) fn new(
        lane: LaneId,
        agent: Agent,
        feed: Feed,
        owner: Option<OwnerFeed>,
    ) -> (Self, mpsc::Receiver<Landed>) {
        let (inbox, landed) = mpsc::channel(INBOX_INPUTS);
        let in_the_air = BTreeMap::new();
        (Self { lane, agent, feed, owner, inbox, in_the_air, flown: 0, turns: None }, landed)
    }

    /// Tools wait for their turn from here on.
    pub(crate) fn take_turns(&mut self, turns: Turns) {
        self.turns = Some(turns);
    }

    /// Makes what is in the air what is wanted. A flight that landed stays in the table until it is
    /// no longer wanted: an early call whose result waits for its reply is not flown twice.
    pub(crate) fn reconcile(&mut self, conversation: &Conversation, wanted: &[Effect]) {
        self.drop_unwanted(wanted);
        for effect in wanted {
            if !self.in_the_air.contains_key(effect) {
                self.start(conversation, *effect);
            }
        }
    }

    /// Drops everything that is not a tool call.
    pub(crate) fn keep_calls(&mut self) {
        self.retain(|effect| matches!(effect, Effect::RunTool { .. }));
    }

    /// Drops what is not wanted any more, and starts nothing.
    pub(crate) fn drop_unwanted(&mut self, wanted: &[Effect]) {
        self.retain(|effect| wanted.contains(effect));
    }

    fn retain(&mut self, keep: impl Fn(&Effect) -> bool) {
        self.in_the_air.retain(|effect, flight| {
            let kept = keep(effect);
            if !kept {
                flight.task.abort();
            }
            kept
        });
    }

    /// Whether anything is in the air.
    pub(crate) fn has_any(&self) -> bool {
        !self.in_the_air.is_empty()
    }

    /// Whether every effect of `wanted` is in the air already.
    pub(crate) fn has_all(&self, wanted: &[Effect]) -> bool {
        wanted.iter().all(|effect| self.in_the_air.contains_key(effect))
    }

    /// Whether what a flight brought still counts.
    pub(crate) fn is_in_the_air(&self, flight: FlightNo) -> bool {
        self.in_the_air.values().any(|flying| flying.no == flight)
    }

    /// Takes a call out of the air, so that it is flown again if it is wanted.
    pub(crate) fn recall(&mut self, call: CallId) {
        self.in_the_air.retain(|effect, flight| {
            let recalled = matches!(effect, Effect::RunTool { call: id, .. } if *id == call);
            if recalled {
                flight.task.abort();
            }
            !recalled
        });
    }

    fn start(&mut self, conversation: &Conversation, effect: Effect) {
        self.flown = self.flown.wrapping_add(1);
        let task = match effect {
            Effect::Ask(_) => self.ask(conversation),
            Effect::RunTool { call, attempt } => self.run_tool(conversation, call, attempt),
            Effect::HookBefore(call) => self.hook_before(conversation, call),
            Effect::HookAfter(call) => self.hook_after(conversation, call),
            Effect::Probe(call) => self.probe(conversation, call),
            Effect::Classify(call) => self.classify(conversation, call),
            Effect::Consult(_) => self.consult(conversation),
            Effect::Configure => self.configure(),
        };
        if let Some(task) = task {
            self.in_the_air.insert(effect, Flight { no: self.flown, task });
        }
    }

    /// What hooks see.
    fn scene(&self, conversation: &Conversation) -> Scene {
        Scene { lane: self.lane.clone(), conversation: conversation.clone() }
    }

    /// Flies a future whose value is the input it brings.
    fn fly(&self, flight: impl Future<Output = Input> + Send + 'static) -> Option<AbortHandle> {
        let inbox = self.inbox.clone();
        let no = self.flown;
        let task = tokio::spawn(async move {
            let input = flight.await;
            // The driver is gone if this fails, and with it everybody who cared.
            let _ = inbox.send(Landed { flight: no, input: Box::new(input) }).await;
        });
        Some(task.abort_handle())
    }

    fn configure(&self) -> Option<AbortHandle> {
        let settings = Arc::clone(&self.agent.settings);
        self.fly(std::future::ready(Input::Configured { settings }))
    }

    /// Drops everything in the air.
    pub(crate) fn ground(&mut self) {
        for flight in std::mem::take(&mut self.in_the_air).into_values() {
            flight.task.abort();
        }
    }
}

impl Drop for Flights {
    fn drop(&mut self) {
        self.ground();
    }
}
