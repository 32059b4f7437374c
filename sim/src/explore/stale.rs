//! What comes too late, twice, or from elsewhere, told to the core in every state. Stale tickets
//! settle nothing; mail that changes nothing is refused, by name.

use std::sync::Arc;

use windlass_core::block::{Block, ToolUse};
use windlass_core::budget::{Caps, Spent};
use windlass_core::call::{Call, CallState};
use windlass_core::child::{Ending, Homecoming, Parent, Task};
use windlass_core::counsel::Advice;
use windlass_core::ids::{CallId, LaneId, QuestionId, RunId};
use windlass_core::input::{Finding, HookAnswer, Input, Opinion};
use windlass_core::log::Entry;
use windlass_core::mail::{Answer, Mail, MailBody};
use windlass_core::raw::Raw;
use windlass_core::record::Record;
use windlass_core::reply::Usage;
use windlass_core::run::{Leave, Run};

use super::act::Sim;
use super::config::Owner;
use super::coverage::{Coverage, kind, phases};
use super::invariants::Broken;
use super::menu::{self, Back, Fault};
use super::world::World;

const NOWHERE: CallId = CallId { ask: 999, index: 9 };

/// Tells the core every kind of stale input.
pub(crate) fn provoke(sim: &Sim<'_>, world: &World, seen: &mut Coverage) -> Result<(), Broken> {
    let place = phases(&world.live);
    for input in tickets(sim, world) {
        seen.note(place, kind(&input));
        let entry = sim.eyes.decide(&world.live, world.now, input);
        if let Some(entry) = entry.filter(|entry| !awake(entry).is_empty()) {
            return Err(broken("a stale ticket settles nothing", entry));
        }
    }
    for body in letters(world) {
        let input = Input::Received { mail: vec![Mail { id: 999, body }] };
        seen.note(place, kind(&input));
        let entry = sim.eyes.decide(&world.live, world.now, input);
        if let Some(entry) = entry.filter(|entry| !is_refusal(entry)) {
            return Err(broken("mail for nobody is refused", entry));
        }
    }
    spending_before_a_run(sim, world, seen)
}

/// Before a run begins, only its prompt knows whether its profile has a cap: what others spent is
/// noted, and nothing else happens.
fn spending_before_a_run(sim: &Sim<'_>, world: &World, seen: &mut Coverage) -> Result<(), Broken> {
    if world.live.run.is_some() {
        return Ok(());
    }
    let total = Spent { tokens: 7, usd_micros: 7 };
    let input = Input::SpendingSeen { total };
    seen.note(phases(&world.live), kind(&input));
    let entry = sim.eyes.decide(&world.live, world.now, input);
    let noted = |entry: &Entry| awake(entry) == [&Record::SpendingSeen { total }];
    match entry.filter(|entry| !noted(entry)) {
        Some(entry) => Err(broken("what others spend is only noted before a run", entry)),
        None => Ok(()),
    }
}

fn broken(invariant: &'static str, entry: Entry) -> Broken {
    let what = format!("{:?} settled {:?}", entry.input, entry.records);
    Broken { invariant, what, entry: Some(Box::new(entry)) }
}

fn is_refusal(entry: &Entry) -> bool {
    matches!(awake(entry).as_slice(), [Record::MailRefused { mail: 999, .. }])
}

/// What an entry settles beside that nobody was there when a time limit came: that may lead any.
fn awake(entry: &Entry) -> Vec<&Record> {
    entry.records.iter().filter(|record| **record != Record::Slept {}).collect()
}

fn tickets(sim: &Sim<'_>, world: &World) -> Vec<Input> {
    let mut inputs = of_model(sim, world);
    inputs.extend(of_calls(world));
    inputs.extend(of_counsels(world));
    inputs.extend(early_tick(sim, world));
    inputs.extend(unwanted_settings(sim, world));
    inputs.extend(fork_in_a_round(world));
    inputs.extend(spending_without_cap(world));
    inputs
}

/// Replies, blocks and failures of a model call that is not in the air.
fn of_model(sim: &Sim<'_>, world: &World) -> Vec<Input> {
    let asking = world.live.run.as_ref().and_then(Run::asking).is_some();
    let last = world.live.asks;
    let asks = if asking { [last.saturating_sub(1), last + 7] } else { [last, last + 1] };
    let line = sim.config.lines.iter().find(|line| !line.facts.is_empty());
    let line = line.or(sim.config.lines.first());
    let Some(line) = line else { return Vec::new() };
    asks.into_iter().flat_map(|ask| of_ask(ask, line)).collect()
}

fn of_ask(ask: u32, line: &menu::Line) -> [Input; 3] {
    let facts = super::tools::facts("read");
    [
        Input::Replied { ask, reply: line.reply.clone(), facts: line.facts.clone() },
        Input::BlockReady { ask, index: 7, tool_use: read_use(), facts },
        Input::ModelFailed { ask, failure: menu::failure(Fault::Lasting) },
    ]
}

fn read_use() -> ToolUse {
    ToolUse { id: Arc::from("x"), name: Arc::from("read"), input: Raw::encode(&()) }
}

/// Results, hooks and probes of calls that are elsewhere or nowhere.
fn of_calls(world: &World) -> Vec<Input> {
    let mut inputs =
        vec![returned(NOWHERE, 1), hooked(NOWHERE), probed(NOWHERE), classified(NOWHERE)];
    let round = world.live.run.as_ref().and_then(Run::round);
    for call in round.into_iter().flat_map(|round| &round.calls) {
        inputs.extend(of_call(call));
    }
    inputs
}

fn of_call(call: &Call) -> Vec<Input> {
    let mut inputs = vec![returned(call.id, call.attempts + 1)];
    inputs.extend(call.attempts.checked_sub(1).map(|attempt| returned(call.id, attempt)));
    if !matches!(call.state, CallState::Running { .. }) {
        inputs.push(returned(call.id, call.attempts));
    }
    if !matches!(call.state, CallState::BeforeHook | CallState::AfterHook(_)) {
        inputs.push(hooked(call.id));
    }
    if call.state != CallState::Referred {
        inputs.push(classified(call.id));
    }
    if call.state != CallState::Lost {
        inputs.push(probed(call.id));
    }
    inputs
}

fn returned(call: CallId, attempt: u32) -> Input {
    let outcome = menu::outcome(Back::Done);
    Input::ToolReturned { call, attempt, started_at: Default::default(), outcome }
}

fn hooked(call: CallId) -> Input {
    Input::HookAnswered { call, answer: HookAnswer::Pass {}, context: None }
}

fn probed(call: CallId) -> Input {
    Input::Probed { call, finding: Finding::DidNotHappen {} }
}

fn classified(call: CallId) -> Input {
    Input::Classified { call, opinion: Opinion::Allow {}, usage: Usage::default() }
}

/// What somebody says whom the run does not wait for any more, or never did.
fn of_counsels(world: &World) -> Vec<Input> {
    let open = world.live.run.as_ref().and_then(Run::consulting).is_some();
    let last = world.live.counsels;
    let ids = if open { [last.saturating_sub(1), last + 7] } else { [last, last + 1] };
    let advice = Advice::Stop { reason: Arc::from("late") };
    ids.map(|counsel| Input::Counselled { counsel, advice: advice.clone() }).into()
}

fn early_tick(sim: &Sim<'_>, world: &World) -> Option<Input> {
    let due = sim.eyes.wanted(&world.live).wake_at;
    due.is_none_or(|due| world.now < due).then_some(Input::Ticked {})
}

fn unwanted_settings(sim: &Sim<'_>, world: &World) -> Option<Input> {
    let leave = world.live.run.as_ref().and_then(Run::halt).map(|halt| halt.leave);
    let owner = match (&world.live.run, leave) {
        (_, Some(Leave::Given)) => return None,
        (Some(_), _) => Owner::Other,
        (None, _) if world.live.settings.as_ref() == Some(sim.config.settings_of(Owner::Other)) => {
            Owner::Other
        }
        (None, _) => Owner::First,
    };
    Some(sim.settings_of(owner))
}

/// What others spent is nothing to a run whose profile has no cap.
fn spending_without_cap(world: &World) -> Option<Input> {
    let settings = world.live.settings.as_ref();
    let capped = settings.is_some_and(|it| it.budget.profile.caps != Caps::default());
    let total = Spent { tokens: 7, usd_micros: 7 };
    (!capped && world.live.run.is_some()).then_some(Input::SpendingSeen { total })
}

fn fork_in_a_round(world: &World) -> Option<Input> {
    let open = !world.live.is_at_rest();
    open.then(|| Input::Forked { parent: LaneId::from("p"), at: 1 })
}

/// Mail that must change nothing, whatever the state.
fn letters(world: &World) -> Vec<MailBody> {
    let known = world.live.run.as_ref().map(|run| run.id.clone());
    let known = known.or(world.live.last_end.as_ref().map(|end| end.run.clone()));
    let mut letters = vec![
        MailBody::Answer { question: 999, answer: Answer::allow() },
        MailBody::Cancel { run: Some(RunId::from("nobody")) },
        MailBody::Abort { run: Some(RunId::from("nobody")) },
        MailBody::prompt(RunId::from("empty"), vec![Block::text(" ")]),
    ];
    letters.extend(known.map(|run| MailBody::prompt(run, vec![Block::text("again")])));
    letters.extend([
        MailBody::Memory { text: Arc::from(" ") },
        MailBody::ChildFinished { child: LaneId::from("k"), text: Arc::from("c"), home: nobody() },
        MailBody::Task { run: RunId::from("empty"), task: blank_task(), parent: parent() },
    ]);
    letters.extend(unfit_answers(world));
    letters.extend(second_answer(world));
    letters
}

/// A child of a call that nobody made.
fn nobody() -> Option<Homecoming> {
    let spent = Spent { tokens: 7, usd_micros: 7 };
    Some(Homecoming { call: NOWHERE, part: 0, spent, ending: Ending::Answered })
}

fn blank_task() -> Task {
    Task::new("", " ")
}

fn parent() -> Parent {
    let caps = Caps::default();
    Parent { lane: LaneId::from("p"), call: NOWHERE, part: 0, caps, depth: 1 }
}

/// Another answer to the last question that is not open any more.
fn second_answer(world: &World) -> Option<MailBody> {
    let is_open = |id: &QuestionId| {
        world.live.run.iter().flat_map(Run::questions).any(|question| question.id == *id)
    };
    let question = (1..=world.live.questions).rev().find(|id| !is_open(id))?;
    Some(MailBody::Answer { question, answer: Answer::Deny { reason: Arc::from("n") } })
}

/// An answer that each open question does not take.
fn unfit_answers(world: &World) -> Vec<MailBody> {
    let questions = world.live.run.iter().flat_map(Run::questions);
    let all = [Answer::allow(), Answer::Retry {}, Answer::Continue {}];
    // Leave for another input than the call has is no leave.
    let other = Answer::allow().for_input("another");
    questions
        .flat_map(|question| {
            let unfit = all.iter().filter(|answer| !question.about.takes(answer)).cloned();
            let unfit = unfit.chain([other.clone()]);
            unfit.map(|answer| MailBody::Answer { question: question.id, answer })
        })
        .collect()
}
