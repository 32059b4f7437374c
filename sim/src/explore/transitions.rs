//! Performs a move: what the driver and the world around it do.

use std::sync::Arc;

use windlass_core::call::call_state::CallState;
use windlass_core::log::ids::{CallId, LaneId, UnixMillis};
use windlass_core::log::inbox::InboxMessage;
use windlass_core::log::input::{Input, ProbeResult};
use windlass_core::message::reply::{ModelReply, TokenUsage};
use windlass_core::run::active_run::{PendingModelCall, Run};
use windlass_core::run::side_requests::CLASSIFICATION_RESERVED_TOKENS;
use windlass_core::run::wanted::Effect;
use windlass_core::settings::conversation_settings::Settings;

use super::bounds::{RemainingChoices, spend};
use super::choices;
use super::command_bodies;
use super::config::{CommandDelivery, ExplorerConfig, OwnerChoice, UsageReporting};
use super::core_under_test::CoreUnderTest;
use super::invariants::{self, BrokenInvariant};
use super::ledger::Ledger;
use super::moves::{CommandChoice, ProbeChoice, TimeLapse, ToolList, WorldMove, streamed_blocks};
use super::review_choices::{self, ReviewChoice};
use super::world::ExploredState;

/// How late a timer may fire.
const LATE_MS: u64 = 1_000;

/// How long the process sleeps: longer than any driver takes to notice.
const ASLEEP_MS: u64 = 1_000_000;

/// A configuration with the core under test: unmodified or with a planted bug.
#[derive(Clone, Copy)]
pub(crate) struct ExplorerSim<'a> {
    pub(crate) config: &'a ExplorerConfig,
    pub(crate) eyes: CoreUnderTest<'a>,
}

impl ExplorerSim<'_> {
    /// Returns the first state: an empty lane with its settings recorded.
    pub(crate) fn start(&self) -> Result<ExploredState, BrokenInvariant> {
        let mut world = ExploredState::new(self.config);
        self.feed(&mut world, self.settings_of(OwnerChoice::First))?;
        world.sync();
        Ok(world)
    }

    /// Returns the state after `step`.
    pub(crate) fn act(
        &self,
        before: &ExploredState,
        step: WorldMove,
    ) -> Result<ExploredState, BrokenInvariant> {
        let mut world = before.clone();
        charge(&mut world.left, before, step);
        match step {
            WorldMove::Fire(call) => fire(&mut world, call)?,
            WorldMove::Post(letter) => self.post(&mut world, letter)?,
            WorldMove::Drain => self.drain(&mut world)?,
            WorldMove::Die { keep, owner } => self.die(&mut world, keep, owner)?,
            WorldMove::Fork => self.fork(&mut world)?,
            WorldMove::Tick => self.tick(&mut world)?,
            WorldMove::Configure | WorldMove::Offer(_) => self.configure(&mut world, step)?,
            WorldMove::Lapse(lapse) => self.lapse(&mut world, lapse),
            WorldMove::OfferTools(list) => self.offer_tools(&mut world, list)?,
            WorldMove::Advise(says) => self.return_review(&mut world, says)?,
            WorldMove::Say(_) | WorldMove::Block(_) | WorldMove::Fail(_) => {
                self.of_model(&mut world, step)?;
            }
            WorldMove::Return(..)
            | WorldMove::Hook(..)
            | WorldMove::Probe(..)
            | WorldMove::Think(..) => {
                self.of_call(&mut world, step)?;
            }
        }
        Ok(world)
    }

    /// Sends an input to the core, stores and applies its records, and drops effects that are no
    /// longer wanted.
    pub(crate) fn feed(
        &self,
        world: &mut ExploredState,
        input: Input,
    ) -> Result<(), BrokenInvariant> {
        let Some(entry) = self.eyes.decide(&world.live, world.now, input) else { return Ok(()) };
        let before = world.live.clone();
        invariants::facts(world, &entry)?;
        world.append(&entry).map_err(|error| BrokenInvariant::new("the log is dense", &error))?;
        invariants::step(&before, &entry, &world.live)?;
        self.clear_air(world);
        Ok(())
    }

    fn clear_air(&self, world: &mut ExploredState) {
        if world.fired.is_empty() && world.stream.is_none() {
            return;
        }
        let effects = self.eyes.wanted(&world.live).effects;
        let flies = |id: &CallId| effects.iter().any(|effect| is_of(effect, *id));
        world.fired.retain(flies);
        if !effects.iter().any(|effect| matches!(effect, Effect::CallModel(_))) {
            world.stream = None;
        }
    }

    fn of_model(&self, world: &mut ExploredState, step: WorldMove) -> Result<(), BrokenInvariant> {
        let Some(asking) = world.live.run.as_ref().and_then(Run::pending_model_call).cloned()
        else {
            return Ok(());
        };
        let input = match step {
            WorldMove::Say(line) => self.reply_input(&asking, line),
            WorldMove::Block(line) => {
                world.stream = Some(streamed_blocks(world, line));
                self.block_ready(world, &asking, line)
            }
            WorldMove::Fail(fault) => Some(Input::ModelFailed {
                model_call: asking.model_call,
                failure: choices::failure(fault),
            }),
            _ => None,
        };
        if !matches!(step, WorldMove::Block(_)) {
            world.stream = None;
        }
        input.map_or(Ok(()), |input| self.feed(world, input))
    }

    fn reply_input(&self, asking: &PendingModelCall, line: u8) -> Option<Input> {
        let line = self.config.lines.get(usize::from(line))?;
        let reply = match self.config.billing {
            UsageReporting::Little => line.reply.clone(),
            UsageReporting::Honest => Arc::new(with_usage(&line.reply, asking, 1)),
            UsageReporting::Full => Arc::new(with_usage(&line.reply, asking, asking.max_tokens)),
        };
        Some(Input::ModelReplied {
            model_call: asking.model_call,
            reply,
            facts: line.facts.clone(),
        })
    }

    fn block_ready(
        &self,
        world: &ExploredState,
        asking: &PendingModelCall,
        line: u8,
    ) -> Option<Input> {
        let line = self.config.lines.get(usize::from(line))?;
        let place = usize::from(world.stream?.calls.checked_sub(1)?);
        let (index, call) = line.reply.tool_uses().nth(place)?;
        let facts = line.facts.get(place)?.clone();
        Some(Input::BlockReady {
            model_call: asking.model_call,
            index,
            tool_use: call.clone(),
            facts,
        })
    }

    fn of_call(&self, world: &mut ExploredState, step: WorldMove) -> Result<(), BrokenInvariant> {
        let input = match step {
            WorldMove::Return(call, back) => tool_returned_input(world, call, back),
            WorldMove::Hook(call, say) => {
                let context = (say == choices::HookChoice::Tell).then(|| Arc::from("h"));
                let (decision, stop) = (choices::hook_answer(say), say.stop());
                Some(Input::HookResponded { call, decision, context, stop })
            }
            WorldMove::Probe(call, find) => {
                Some(Input::CallProbed { call, result: finding(&world.ledger, call, find) })
            }
            WorldMove::Think(call, think) => {
                let input_tokens = match self.config.billing {
                    UsageReporting::Little | UsageReporting::Honest => 2,
                    UsageReporting::Full => CLASSIFICATION_RESERVED_TOKENS,
                };
                let usage = TokenUsage { input_tokens, ..TokenUsage::default() };
                Some(Input::CallClassified {
                    call,
                    classification: choices::classification_of(think),
                    usage,
                })
            }
            _ => None,
        };
        input.map_or(Ok(()), |input| self.feed(world, input))
    }

    fn return_review(
        &self,
        world: &mut ExploredState,
        says: ReviewChoice,
    ) -> Result<(), BrokenInvariant> {
        let Some(sought) = world.live.run.as_ref().and_then(Run::pending_review) else {
            return Ok(());
        };
        let result = review_choices::review_result(says, &sought.review, self.config.billing);
        self.feed(world, Input::ReviewReturned { id: sought.id, result })
    }

    /// No timer fires: the next input finds that it is late.
    fn lapse(&self, world: &mut ExploredState, lapse: TimeLapse) {
        let wake_at = self.eyes.wanted(&world.live).wake_at.unwrap_or(world.now);
        let over_ms = match lapse {
            TimeLapse::Late => LATE_MS,
            TimeLapse::Asleep => ASLEEP_MS,
        };
        world.now = world.now.max(wake_at).plus_ms(over_ms);
    }

    fn tick(&self, world: &mut ExploredState) -> Result<(), BrokenInvariant> {
        let wake_at = self.eyes.wanted(&world.live).wake_at.unwrap_or_default();
        world.now = UnixMillis(world.now.0.max(wake_at.0));
        self.feed(world, Input::TimerFired {})
    }

    fn configure(&self, world: &mut ExploredState, step: WorldMove) -> Result<(), BrokenInvariant> {
        if let WorldMove::Offer(owner) = step {
            world.owner = owner;
        }
        self.feed(world, self.settings_of(world.owner))
    }

    pub(crate) fn settings_of(&self, owner: OwnerChoice) -> Input {
        Input::Configured { settings: self.config.settings_of(owner).clone() }
    }

    fn post(
        &self,
        world: &mut ExploredState,
        letter: CommandChoice,
    ) -> Result<(), BrokenInvariant> {
        let body = command_bodies::body(world, letter);
        world.mails += 1;
        world.mailbox.push(InboxMessage { id: world.mails, body });
        match self.config.mailing {
            CommandDelivery::AtOnce => self.drain(world),
            CommandDelivery::ThroughInbox => Ok(()),
        }
    }

    /// Reads the inbox. A command leaves the inbox in the transaction that stores its entry, and
    /// only then.
    fn drain(&self, world: &mut ExploredState) -> Result<(), BrokenInvariant> {
        let (mail, head) = (std::mem::take(&mut world.mailbox), world.live.head);
        self.feed(world, Input::CommandsReceived { messages: mail.clone() })?;
        if world.live.head == head {
            world.mailbox = mail;
        }
        Ok(())
    }

    fn die(
        &self,
        world: &mut ExploredState,
        keep: u8,
        owner: OwnerChoice,
    ) -> Result<(), BrokenInvariant> {
        world.lose_memory(usize::from(keep));
        world.owner = owner;
        let epoch = world.live.epoch.saturating_add(1);
        let prompt_hash = self.config.hash_of(owner).clone();
        self.feed(
            world,
            Input::OwnerChanged { epoch, prompt_hash, prompt_fingerprint: None, settings: None },
        )
    }

    /// Servers offer other tools. The list is taken at once, unless a model call is in flight.
    fn offer_tools(
        &self,
        world: &mut ExploredState,
        list: ToolList,
    ) -> Result<(), BrokenInvariant> {
        let tools = list.to_specs();
        self.feed(world, Input::ServerToolsOffered { tools: tools.clone() })?;
        let live = &world.live;
        let is_free = live.run.as_ref().is_some_and(|run| run.pending_model_call().is_none());
        let is_taken = |owner: &Arc<Settings>| owner.server_tools().eq(&tools);
        if is_free && !live.run_owner.as_ref().is_some_and(is_taken) {
            let what = "it was not taken";
            return Err(BrokenInvariant::new(
                "a list of tools is taken between model calls",
                &what,
            ));
        }
        Ok(())
    }

    /// Forks the lane. The copy continues; the ledger of the observer was about the other lane.
    fn fork(&self, world: &mut ExploredState) -> Result<(), BrokenInvariant> {
        let at = world.live.head;
        self.feed(world, Input::Forked { parent: LaneId::from("p"), at })?;
        world.sync();
        world.mailbox.clear();
        world.fired.clear();
        world.ledger = Ledger::default();
        Ok(())
    }
}

fn is_of(effect: &Effect, id: CallId) -> bool {
    matches!(effect, Effect::RunTool { call, .. } if *call == id)
}

fn fire(world: &mut ExploredState, id: CallId) -> Result<(), BrokenInvariant> {
    world.fired.push(id);
    let deed = world.ledger.fire(id);
    let round = world.live.run.as_ref().and_then(Run::round);
    let once = round.and_then(|round| round.call(id)).is_none_or(|c| !c.facts.is_repeatable());
    if once && deed.fired > deed.permits {
        let what = format!("call {id} took effect {} times, allowed {}", deed.fired, deed.permits);
        return Err(BrokenInvariant::new("a once-only call takes effect once", &what));
    }
    Ok(())
}

fn with_usage(reply: &ModelReply, asking: &PendingModelCall, output_tokens: u64) -> ModelReply {
    let usage = TokenUsage {
        input_tokens: asking.reserved_tokens.saturating_sub(asking.max_tokens),
        output_tokens,
        ..TokenUsage::default()
    };
    ModelReply { usage, ..reply.clone() }
}

fn tool_returned_input(
    world: &ExploredState,
    call: CallId,
    back: choices::ToolReturnChoice,
) -> Option<Input> {
    let of = world.live.run.as_ref()?.round()?.call(call)?;
    let started_at = match of.state {
        CallState::Running { since } => since,
        _ => world.now,
    };
    let outcome = choices::outcome(back);
    Some(Input::ToolReturned {
        call,
        attempt: of.attempts,
        started_at,
        outcome,
        context: Vec::new(),
        untrusted: Vec::new(),
    })
}

fn finding(ledger: &Ledger, call: CallId, find: ProbeChoice) -> ProbeResult {
    match find {
        ProbeChoice::Unknown => ProbeResult::Unknown {},
        ProbeChoice::Truth if ledger.stands(call) => {
            ProbeResult::Happened { text: Arc::from("did") }
        }
        ProbeChoice::Truth => ProbeResult::DidNotHappen {},
    }
}

/// Takes from the bounds what the move uses up.
fn charge(left: &mut RemainingChoices, before: &ExploredState, step: WorldMove) {
    let newest = before.disk.len().saturating_sub(1);
    let used = match step {
        WorldMove::Block(_) => &mut left.blocks,
        WorldMove::Fail(_) => &mut left.failures,
        WorldMove::Return(_, choices::ToolReturnChoice::Done | choices::ToolReturnChoice::Big) => {
            return;
        }
        WorldMove::Return(..) => &mut left.mishaps,
        WorldMove::Lapse(_) => &mut left.lapses,
        WorldMove::Post(CommandChoice::Home(call, part)) if is_out(before, call, part) => return,
        WorldMove::Offer(_) => &mut left.offers,
        WorldMove::Post(letter) => of_letter(left, letter),
        WorldMove::Die { owner, .. } if owner != before.owner && spend(&mut left.drifts) => {
            return charge(left, before, with_owner(step, before.owner));
        }
        WorldMove::Die { keep, .. } if usize::from(keep) == newest => &mut left.crashes,
        WorldMove::Die { .. } => &mut left.outages,
        WorldMove::Fork => &mut left.forks,
        WorldMove::OfferTools(_) => &mut left.tool_lists,
        WorldMove::Say(_) | WorldMove::Fire(_) | WorldMove::Hook(..) => return,
        WorldMove::Think(..) | WorldMove::Advise(_) => return,
        WorldMove::Probe(..) | WorldMove::Tick | WorldMove::Configure | WorldMove::Drain => return,
    };
    spend(used);
}

fn is_out(before: &ExploredState, call: CallId, part: u16) -> bool {
    before
        .ledger
        .started_children()
        .iter()
        .any(|kid| (kid.call, kid.part) == (call, part) && kid.is_out())
}

fn with_owner(step: WorldMove, owner: OwnerChoice) -> WorldMove {
    match step {
        WorldMove::Die { keep, .. } => WorldMove::Die { keep, owner },
        step => step,
    }
}

fn of_letter(left: &mut RemainingChoices, letter: CommandChoice) -> &mut u8 {
    match letter {
        CommandChoice::Prompt => &mut left.prompts,
        CommandChoice::Steer => &mut left.steers,
        CommandChoice::Child => &mut left.children,
        CommandChoice::Cancel | CommandChoice::CancelQueued => &mut left.cancels,
        CommandChoice::Abort => &mut left.aborts,
        CommandChoice::Memory => &mut left.memories,
        CommandChoice::Compact | CommandChoice::CompactNow => &mut left.compactions,
        CommandChoice::Task => &mut left.tasks,
        CommandChoice::Home(..) => &mut left.strays,
        CommandChoice::Answer(..) => &mut left.answers,
        CommandChoice::Update(_) => &mut left.updates,
        CommandChoice::Model(_) => &mut left.models,
    }
}
