//! Performing a move: what the driver and the world around it do.

use std::sync::Arc;

use windlass_core::aside::OPINION_RESERVED_TOKENS;
use windlass_core::block::Block;
use windlass_core::budget::Caps;
use windlass_core::call::CallState;
use windlass_core::child::{Ending, Homecoming, Parent, Task};
use windlass_core::ids::{CallId, LaneId, Millis, QuestionId, RunId};
use windlass_core::input::{Finding, Input};
use windlass_core::mail::{Answer, Mail, MailBody};
use windlass_core::permission::Rule;
use windlass_core::reply::{Reply, Usage};
use windlass_core::run::{Asking, Run};
use windlass_core::wanted::Effect;

use super::advice::{self, Advise};
use super::bounds::{Bounds, spend};
use super::config::{Billing, Config, Mailing, Owner};
use super::eyes::Eyes;
use super::invariants::{self, Broken};
use super::ledger::Ledger;
use super::menu;
use super::moves::{Choice, Find, Lapse, Letter, Move, streamed};
use super::world::World;

/// How much too late somebody notices the time.
const LATE_MS: u64 = 1_000;

/// How long nobody is there: longer than any driver takes to notice.
const ASLEEP_MS: u64 = 1_000_000;

/// Tokens a parent lets its child spend.
pub(crate) const TASK_TOKENS: u64 = 60;

/// A configuration, seen with honest or with planted eyes.
#[derive(Clone, Copy)]
pub(crate) struct Sim<'a> {
    pub(crate) config: &'a Config,
    pub(crate) eyes: Eyes<'a>,
}

impl Sim<'_> {
    /// The first state: an empty lane with its settings recorded.
    pub(crate) fn start(&self) -> Result<World, Broken> {
        let mut world = World::new(self.config);
        self.feed(&mut world, self.settings_of(Owner::First))?;
        world.sync();
        Ok(world)
    }

    /// The state after `step`.
    pub(crate) fn act(&self, before: &World, step: Move) -> Result<World, Broken> {
        let mut world = before.clone();
        charge(&mut world.left, before, step);
        match step {
            Move::Fire(call) => fire(&mut world, call)?,
            Move::Post(letter) => self.post(&mut world, letter)?,
            Move::Drain => self.drain(&mut world)?,
            Move::Die { keep, owner } => self.die(&mut world, keep, owner)?,
            Move::Fork => self.fork(&mut world)?,
            Move::Tick => self.tick(&mut world)?,
            Move::Configure | Move::Offer(_) => self.configure(&mut world, step)?,
            Move::Lapse(lapse) => self.lapse(&mut world, lapse),
            Move::Advise(says) => self.advise(&mut world, says)?,
            Move::Say(_) | Move::Block(_) | Move::Fail(_) => self.of_model(&mut world, step)?,
            Move::Return(..) | Move::Hook(..) | Move::Probe(..) | Move::Think(..) => {
                self.of_call(&mut world, step)?;
            }
        }
        Ok(world)
    }

    /// Tells the core, stores and applies what it settles, and lets fall what it no longer wants.
    pub(crate) fn feed(&self, world: &mut World, input: Input) -> Result<(), Broken> {
        let Some(entry) = self.eyes.decide(&world.live, world.now, input) else { return Ok(()) };
        let before = world.live.clone();
        invariants::facts(world, &entry)?;
        world.append(&entry).map_err(|error| Broken::new("the log is dense", &error))?;
        invariants::step(&before, &entry, &world.live)?;
        self.clear_air(world);
        Ok(())
    }

    fn clear_air(&self, world: &mut World) {
        if world.fired.is_empty() && world.stream.is_none() {
            return;
        }
        let effects = self.eyes.wanted(&world.live).effects;
        let flies = |id: &CallId| effects.iter().any(|effect| is_of(effect, *id));
        world.fired.retain(flies);
        if !effects.iter().any(|effect| matches!(effect, Effect::Ask(_))) {
            world.stream = None;
        }
    }

    fn of_model(&self, world: &mut World, step: Move) -> Result<(), Broken> {
        let Some(asking) = world.live.run.as_ref().and_then(Run::asking).cloned() else {
            return Ok(());
        };
        let input = match step {
            Move::Say(line) => self.replied(&asking, line),
            Move::Block(line) => {
                world.stream = Some(streamed(world, line));
                self.block_ready(world, &asking, line)
            }
            Move::Fail(fault) => {
                Some(Input::ModelFailed { ask: asking.ask, failure: menu::failure(fault) })
            }
            _ => None,
        };
        if !matches!(step, Move::Block(_)) {
            world.stream = None;
        }
        input.map_or(Ok(()), |input| self.feed(world, input))
    }

    fn replied(&self, asking: &Asking, line: u8) -> Option<Input> {
        let line = self.config.lines.get(usize::from(line))?;
        let reply = match self.config.billing {
            Billing::Little => line.reply.clone(),
            Billing::Honest => Arc::new(billed(&line.reply, asking, 1)),
            Billing::Full => Arc::new(billed(&line.reply, asking, asking.max_tokens)),
        };
        Some(Input::Replied { ask: asking.ask, reply, facts: line.facts.clone() })
    }

    fn block_ready(&self, world: &World, asking: &Asking, line: u8) -> Option<Input> {
        let line = self.config.lines.get(usize::from(line))?;
        let place = usize::from(world.stream?.calls.checked_sub(1)?);
        let (index, call) = line.reply.tool_uses().nth(place)?;
        let facts = line.facts.get(place)?.clone();
        Some(Input::BlockReady { ask: asking.ask, index, tool_use: call.clone(), facts })
    }

    fn of_call(&self, world: &mut World, step: Move) -> Result<(), Broken> {
        let input = match step {
            Move::Return(call, back) => returned(world, call, back),
            Move::Hook(call, say) => {
                let context = (say == menu::Say::Tell).then(|| Arc::from("h"));
                Some(Input::HookAnswered { call, answer: menu::hook_answer(say), context })
            }
            Move::Probe(call, find) => {
                Some(Input::Probed { call, finding: finding(&world.ledger, call, find) })
            }
            Move::Think(call, think) => {
                let input_tokens = match self.config.billing {
                    Billing::Little | Billing::Honest => 2,
                    Billing::Full => OPINION_RESERVED_TOKENS,
                };
                let usage = Usage { input_tokens, ..Usage::default() };
                Some(Input::Classified { call, opinion: menu::opinion(think), usage })
            }
            _ => None,
        };
        input.map_or(Ok(()), |input| self.feed(world, input))
    }

    fn advise(&self, world: &mut World, says: Advise) -> Result<(), Broken> {
        let Some(sought) = world.live.run.as_ref().and_then(Run::consulting) else {
            return Ok(());
        };
        let advice = advice::advice(says, &sought.about, self.config.billing);
        self.feed(world, Input::Counselled { counsel: sought.id, advice })
    }

    /// Nobody is told: the next input finds that it is late.
    fn lapse(&self, world: &mut World, lapse: Lapse) {
        let wake_at = self.eyes.wanted(&world.live).wake_at.unwrap_or(world.now);
        let over_ms = match lapse {
            Lapse::Late => LATE_MS,
            Lapse::Asleep => ASLEEP_MS,
        };
        world.now = world.now.max(wake_at).plus(over_ms);
    }

    fn tick(&self, world: &mut World) -> Result<(), Broken> {
        let wake_at = self.eyes.wanted(&world.live).wake_at.unwrap_or_default();
        world.now = Millis(world.now.0.max(wake_at.0));
        self.feed(world, Input::Ticked {})
    }

    fn configure(&self, world: &mut World, step: Move) -> Result<(), Broken> {
        if let Move::Offer(owner) = step {
            world.owner = owner;
        }
        self.feed(world, self.settings_of(world.owner))
    }

    pub(crate) fn settings_of(&self, owner: Owner) -> Input {
        Input::Configured { settings: self.config.settings_of(owner).clone() }
    }

    fn post(&self, world: &mut World, letter: Letter) -> Result<(), Broken> {
        let body = body(world, letter);
        world.mails += 1;
        world.mailbox.push(Mail { id: world.mails, body });
        match self.config.mailing {
            Mailing::AtOnce => self.drain(world),
            Mailing::Boxed => Ok(()),
        }
    }

    /// Mail leaves the box in the transaction that stores its entry, and only then.
    fn drain(&self, world: &mut World) -> Result<(), Broken> {
        let (mail, head) = (std::mem::take(&mut world.mailbox), world.live.head);
        self.feed(world, Input::Received { mail: mail.clone() })?;
        if world.live.head == head {
            world.mailbox = mail;
        }
        Ok(())
    }

    fn die(&self, world: &mut World, keep: u8, owner: Owner) -> Result<(), Broken> {
        world.lose_memory(usize::from(keep));
        world.owner = owner;
        let epoch = world.live.epoch.saturating_add(1);
        let prompt_hash = self.config.hash_of(owner).clone();
        self.feed(world, Input::Adopted { epoch, prompt_hash, offer: None, settings: None })
    }

    /// The copy goes on; what the onlooker knew was about the other lane.
    fn fork(&self, world: &mut World) -> Result<(), Broken> {
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

fn fire(world: &mut World, id: CallId) -> Result<(), Broken> {
    world.fired.push(id);
    let deed = world.ledger.fire(id);
    let round = world.live.run.as_ref().and_then(Run::round);
    let once = round.and_then(|round| round.call(id)).is_none_or(|c| !c.facts.is_repeatable());
    if once && deed.fired > deed.permits {
        let what = format!("call {id} took effect {} times, allowed {}", deed.fired, deed.permits);
        return Err(Broken::new("a once-only call takes effect once", &what));
    }
    Ok(())
}

fn billed(reply: &Reply, asking: &Asking, output_tokens: u64) -> Reply {
    let usage = Usage {
        input_tokens: asking.reserved_tokens.saturating_sub(asking.max_tokens),
        output_tokens,
        ..Usage::default()
    };
    Reply { usage, ..reply.clone() }
}

fn returned(world: &World, call: CallId, back: menu::Back) -> Option<Input> {
    let of = world.live.run.as_ref()?.round()?.call(call)?;
    let started_at = match of.state {
        CallState::Running { since } => since,
        _ => world.now,
    };
    let outcome = menu::outcome(back);
    Some(Input::ToolReturned { call, attempt: of.attempts, started_at, outcome })
}

fn finding(ledger: &Ledger, call: CallId, find: Find) -> Finding {
    match find {
        Find::Unknown => Finding::Unknown {},
        Find::Truth if ledger.stands(call) => Finding::Happened { text: Arc::from("did") },
        Find::Truth => Finding::DidNotHappen {},
    }
}

fn body(world: &mut World, letter: Letter) -> MailBody {
    match letter {
        Letter::Prompt => MailBody::prompt(next_run(world), vec![Block::text("p")]),
        Letter::Steer => MailBody::Steer { run: next_run(world), blocks: vec![Block::text("s")] },
        Letter::Child => {
            MailBody::ChildFinished { child: LaneId::from("k"), text: Arc::from("c"), home: None }
        }
        Letter::Cancel => MailBody::Cancel { run: None },
        Letter::Abort => MailBody::Abort { run: None },
        Letter::CancelQueued => {
            MailBody::Cancel { run: world.live.queue.back().map(|queued| queued.run.clone()) }
        }
        Letter::Memory => MailBody::Memory { text: Arc::from("m") },
        Letter::Compact => MailBody::Compact { wishes: None },
        Letter::Task => task(world),
        Letter::Home(call, part) => homecoming(world, call, part),
        Letter::Answer(question, choice) => {
            MailBody::Answer { question, answer: answer(world, question, choice) }
        }
    }
}

fn next_run(world: &mut World) -> RunId {
    world.runs += 1;
    RunId::from(format!("r{}", world.runs))
}

fn task(world: &mut World) -> MailBody {
    let caps = Caps { tokens: Some(TASK_TOKENS), usd_micros: None };
    let call = CallId { ask: 1, index: 0 };
    let parent = Parent { lane: LaneId::from("p"), call, part: 0, caps, depth: 1 };
    let task = Task::new("", "t");
    MailBody::Task { run: next_run(world), task, parent }
}

fn homecoming(world: &mut World, call: CallId, part: u16) -> MailBody {
    let spent = world.ledger.send_home(call, part);
    let home = Some(Homecoming { call, part, spent, ending: Ending::Answered });
    MailBody::ChildFinished { child: LaneId::from("k"), text: Arc::from("c"), home }
}

/// The rule that is shown with the question: calls of this tool.
fn granted(world: &World, question: QuestionId) -> Option<Rule> {
    let run = world.live.run.as_ref()?;
    let id = run.questions().find(|open| open.id == question)?.about.call()?;
    Rule::parse(&run.round()?.call(id)?.tool_use.name).ok()
}

fn answer(world: &World, question: QuestionId, choice: Choice) -> Answer {
    match choice {
        Choice::Grant => granted(world, question).map_or_else(Answer::allow, Answer::granting),
        Choice::Allow => Answer::allow(),
        Choice::Deny => Answer::Deny { reason: Arc::from("n") },
        Choice::Retry => Answer::Retry {},
        Choice::MarkDone => Answer::MarkDone { text: Arc::from("d") },
        Choice::Abandon => Answer::Abandon {},
        Choice::Continue => Answer::Continue {},
        Choice::Text => Answer::Text { text: Arc::from("w") },
    }
}

/// Takes from the bounds what the move uses up.
fn charge(left: &mut Bounds, before: &World, step: Move) {
    let newest = before.disk.len().saturating_sub(1);
    let used = match step {
        Move::Block(_) => &mut left.blocks,
        Move::Fail(_) => &mut left.failures,
        Move::Return(_, menu::Back::Done | menu::Back::Big) => return,
        Move::Return(..) => &mut left.mishaps,
        Move::Lapse(_) => &mut left.lapses,
        Move::Post(Letter::Home(call, part)) if is_out(before, call, part) => return,
        Move::Offer(_) => &mut left.offers,
        Move::Post(letter) => of_letter(left, letter),
        Move::Die { owner, .. } if owner != before.owner && spend(&mut left.drifts) => {
            return charge(left, before, undrifted(step, before.owner));
        }
        Move::Die { keep, .. } if usize::from(keep) == newest => &mut left.crashes,
        Move::Die { .. } => &mut left.outages,
        Move::Fork => &mut left.forks,
        Move::Say(_) | Move::Fire(_) | Move::Hook(..) => return,
        Move::Think(..) | Move::Advise(_) => return,
        Move::Probe(..) | Move::Tick | Move::Configure | Move::Drain => return,
    };
    spend(used);
}

fn is_out(before: &World, call: CallId, part: u16) -> bool {
    before.ledger.kids().iter().any(|kid| (kid.call, kid.part) == (call, part) && kid.is_out())
}

fn undrifted(step: Move, owner: Owner) -> Move {
    match step {
        Move::Die { keep, .. } => Move::Die { keep, owner },
        step => step,
    }
}

fn of_letter(left: &mut Bounds, letter: Letter) -> &mut u8 {
    match letter {
        Letter::Prompt => &mut left.prompts,
        Letter::Steer => &mut left.steers,
        Letter::Child => &mut left.children,
        Letter::Cancel | Letter::CancelQueued => &mut left.cancels,
        Letter::Abort => &mut left.aborts,
        Letter::Memory => &mut left.memories,
        Letter::Compact => &mut left.compactions,
        Letter::Task => &mut left.tasks,
        Letter::Home(..) => &mut left.strays,
        Letter::Answer(..) => &mut left.answers,
    }
}
