//! Stale inputs: late, repeated or foreign ones are sent to the core in every state. They yield no
//! record; commands that change nothing are rejected, by name.

use std::sync::Arc;

use windlass_core::budget::spending::{Spending, SpendingCaps};
use windlass_core::call::call_state::{Call, CallState};
use windlass_core::log::entry::Entry;
use windlass_core::log::ids::{CallId, LaneId, QuestionId, RunId};
use windlass_core::log::inbox::{HumanAnswer, InboxCommand, InboxMessage};
use windlass_core::log::input::{Classification, HookDecision, Input, ProbeResult};
use windlass_core::log::record::Record;
use windlass_core::message::content_block::{ContentBlock, ToolUse};
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::reply::TokenUsage;
use windlass_core::run::active_run::{Approval, Run};
use windlass_core::run::child_runs::{ChildOutcome, ChildResult, ChildTask, ParentLink};
use windlass_core::run::review::ReviewResult;

use super::choices::{self, ModelFaultChoice, ToolReturnChoice};
use super::config::OwnerChoice;
use super::coverage::{Coverage, kind, phases};
use super::invariants::BrokenInvariant;
use super::transitions::ExplorerSim;
use super::world::ExploredState;

const NOWHERE: CallId = CallId { model_call: 999, index: 9 };

/// Sends every kind of stale input to the core.
pub(crate) fn check_stale_inputs(
    sim: &ExplorerSim<'_>,
    world: &ExploredState,
    seen: &mut Coverage,
) -> Result<(), BrokenInvariant> {
    let place = phases(&world.live);
    for input in tickets(sim, world) {
        seen.note(place, kind(&input));
        let entry = sim.eyes.decide(&world.live, world.now, input);
        if let Some(entry) = entry.filter(|entry| !significant_records(entry).is_empty()) {
            return Err(broken("a stale ticket settles nothing", entry));
        }
    }
    let owner = world.live.run_owner.iter();
    let tools = owner.flat_map(|owner| owner.server_tools().cloned()).collect();
    let input = Input::ServerToolsOffered { tools };
    seen.note(place, kind(&input));
    if let Some(entry) = sim.eyes.decide(&world.live, world.now, input) {
        return Err(broken("a list of tools that is known changes nothing", entry));
    }
    for body in stale_commands(world) {
        let input = Input::CommandsReceived { messages: vec![InboxMessage { id: 999, body }] };
        seen.note(place, kind(&input));
        let entry = sim.eyes.decide(&world.live, world.now, input);
        if let Some(entry) = entry.filter(|entry| !is_refusal(entry)) {
            return Err(broken("a message for an unknown run is rejected", entry));
        }
    }
    spending_before_a_run(sim, world, seen)
}

/// Before a run starts, only its prompt knows whether its profile has a cap: the spending of others
/// is recorded, and nothing else happens.
fn spending_before_a_run(
    sim: &ExplorerSim<'_>,
    world: &ExploredState,
    seen: &mut Coverage,
) -> Result<(), BrokenInvariant> {
    if world.live.run.is_some() {
        return Ok(());
    }
    let total = Spending { tokens: 7, usd_micros: 7 };
    let input = Input::SharedSpendingUpdated { total };
    seen.note(phases(&world.live), kind(&input));
    let entry = sim.eyes.decide(&world.live, world.now, input);
    let noted =
        |entry: &Entry| significant_records(entry) == [&Record::SharedSpendingUpdated { total }];
    match entry.filter(|entry| !noted(entry)) {
        Some(entry) => Err(broken("what others spend is only noted before a run", entry)),
        None => Ok(()),
    }
}

fn broken(invariant: &'static str, entry: Entry) -> BrokenInvariant {
    let what = format!("{:?} settled {:?}", entry.input, entry.records);
    BrokenInvariant { invariant, what, entry: Some(Box::new(entry)) }
}

fn is_refusal(entry: &Entry) -> bool {
    matches!(significant_records(entry).as_slice(), [Record::CommandRejected { message: 999, .. }])
}

/// Returns the records of an entry except a detected sleep, which may lead any entry.
fn significant_records(entry: &Entry) -> Vec<&Record> {
    entry.records.iter().filter(|record| **record != Record::SleepDetected {}).collect()
}

fn tickets(sim: &ExplorerSim<'_>, world: &ExploredState) -> Vec<Input> {
    let mut inputs = of_model(sim, world);
    inputs.extend(of_calls(world));
    inputs.extend(of_counsels(world));
    inputs.extend(early_tick(sim, world));
    inputs.extend(unwanted_settings(sim, world));
    inputs.extend(fork_in_a_round(world));
    inputs.extend(spending_without_cap(world));
    inputs
}

/// Returns replies, blocks and failures of a model call that is not in flight.
fn of_model(sim: &ExplorerSim<'_>, world: &ExploredState) -> Vec<Input> {
    let asking = world.live.run.as_ref().and_then(Run::pending_model_call).is_some();
    let last = world.live.model_call_count;
    let asks = if asking { [last.saturating_sub(1), last + 7] } else { [last, last + 1] };
    let line = sim.config.lines.iter().find(|line| !line.facts.is_empty());
    let line = line.or(sim.config.lines.first());
    let Some(line) = line else { return Vec::new() };
    asks.into_iter().flat_map(|ask| of_ask(ask, line)).collect()
}

fn of_ask(model_call: u32, line: &choices::ReplyChoice) -> [Input; 3] {
    let facts = super::tools::facts("read");
    [
        Input::ModelReplied { model_call, reply: line.reply.clone(), facts: line.facts.clone() },
        Input::BlockReady { model_call, index: 7, tool_use: read_use(), facts },
        Input::ModelFailed { model_call, failure: choices::failure(ModelFaultChoice::Lasting) },
    ]
}

fn read_use() -> ToolUse {
    ToolUse { id: Arc::from("x"), name: Arc::from("read"), input: RawJson::encode(&()) }
}

/// Returns results, hooks and probes of calls in another state or of no call.
fn of_calls(world: &ExploredState) -> Vec<Input> {
    let mut inputs = vec![
        stale_tool_returns(NOWHERE, 1),
        stale_hook_responses(NOWHERE),
        stale_probes(NOWHERE),
        stale_classifications(NOWHERE),
    ];
    let round = world.live.run.as_ref().and_then(Run::round);
    for call in round.into_iter().flat_map(|round| &round.calls) {
        inputs.extend(of_call(call));
    }
    inputs
}

fn of_call(call: &Call) -> Vec<Input> {
    let mut inputs = vec![stale_tool_returns(call.id, call.attempts + 1)];
    inputs.extend(call.attempts.checked_sub(1).map(|attempt| stale_tool_returns(call.id, attempt)));
    if !matches!(call.state, CallState::Running { .. }) {
        inputs.push(stale_tool_returns(call.id, call.attempts));
    }
    if !matches!(call.state, CallState::AwaitingPreHook | CallState::AwaitingPostHook(_)) {
        inputs.push(stale_hook_responses(call.id));
    }
    if call.state != CallState::AwaitingClassifier {
        inputs.push(stale_classifications(call.id));
    }
    if call.state != CallState::Lost {
        inputs.push(stale_probes(call.id));
    }
    inputs
}

fn stale_tool_returns(call: CallId, attempt: u32) -> Input {
    let outcome = choices::outcome(ToolReturnChoice::Done);
    Input::ToolReturned {
        call,
        attempt,
        started_at: Default::default(),
        outcome,
        context: Vec::new(),
        untrusted: Vec::new(),
    }
}

fn stale_hook_responses(call: CallId) -> Input {
    Input::HookResponded {
        call,
        decision: HookDecision::Pass {},
        context: None,
        stop: Some(Arc::from("e")),
    }
}

fn stale_probes(call: CallId) -> Input {
    Input::CallProbed { call, result: ProbeResult::DidNotHappen {} }
}

fn stale_classifications(call: CallId) -> Input {
    Input::CallClassified {
        call,
        classification: Classification::Allow {},
        usage: TokenUsage::default(),
    }
}

/// Returns results of reviews that the run no longer waits for, or never did.
fn of_counsels(world: &ExploredState) -> Vec<Input> {
    let open = world.live.run.as_ref().and_then(Run::pending_review).is_some();
    let last = world.live.review_count;
    let ids = if open { [last.saturating_sub(1), last + 7] } else { [last, last + 1] };
    let advice = ReviewResult::Stop { reason: Arc::from("late") };
    ids.map(|id| Input::ReviewReturned { id, result: advice.clone() }).into()
}

fn early_tick(sim: &ExplorerSim<'_>, world: &ExploredState) -> Option<Input> {
    let due = sim.eyes.wanted(&world.live).wake_at;
    due.is_none_or(|due| world.now < due).then_some(Input::TimerFired {})
}

fn unwanted_settings(sim: &ExplorerSim<'_>, world: &ExploredState) -> Option<Input> {
    let leave = world.live.run.as_ref().and_then(Run::human_pause).map(|halt| halt.approval);
    let owner = match (&world.live.run, leave) {
        (_, Some(Approval::Given)) => return None,
        (None, _) if world.left.tool_lists < sim.config.bounds.tool_lists => {
            // Those that hold have the tools that servers offered last.
            let settings = world.live.owner_settings.clone()?;
            return Some(Input::Configured { settings });
        }
        (Some(_), _) => OwnerChoice::Other,
        (None, _)
            if world.live.settings.as_ref() == Some(sim.config.settings_of(OwnerChoice::Other)) =>
        {
            OwnerChoice::Other
        }
        (None, _) => OwnerChoice::First,
    };
    Some(sim.settings_of(owner))
}

/// Returns the spending of others for a run whose profile has no cap, which ignores it.
fn spending_without_cap(world: &ExploredState) -> Option<Input> {
    let settings = world.live.settings.as_ref();
    let capped = settings.is_some_and(|it| it.budget.profile.caps != SpendingCaps::default());
    let total = Spending { tokens: 7, usd_micros: 7 };
    (!capped && world.live.run.is_some()).then_some(Input::SharedSpendingUpdated { total })
}

fn fork_in_a_round(world: &ExploredState) -> Option<Input> {
    let open = !world.live.has_no_open_round();
    open.then(|| Input::Forked { parent: LaneId::from("p"), at: 1 })
}

/// Returns commands that must change nothing, whatever the state.
fn stale_commands(world: &ExploredState) -> Vec<InboxCommand> {
    let known = world.live.run.as_ref().map(|run| run.id.clone());
    let known = known.or(world.live.last_run_end.as_ref().map(|end| end.run.clone()));
    let mut letters = vec![
        InboxCommand::answer(999, HumanAnswer::allow()),
        InboxCommand::UpdatePermissions { updates: Vec::new() },
        InboxCommand::SetModel { change: Arc::default() },
        InboxCommand::Cancel { run: Some(RunId::from("nobody")) },
        InboxCommand::Abort { run: Some(RunId::from("nobody")), partial_reply: None },
        InboxCommand::prompt(RunId::from("empty"), vec![ContentBlock::text(" ")]),
    ];
    letters.extend(known.map(|run| InboxCommand::prompt(run, vec![ContentBlock::text("again")])));
    letters.extend([
        InboxCommand::Memory { text: Arc::from(" ") },
        InboxCommand::ChildFinished {
            child: LaneId::from("k"),
            text: Arc::from("c"),
            result: nobody(),
        },
        InboxCommand::Task { run: RunId::from("empty"), task: blank_task(), parent: parent() },
    ]);
    letters.extend(unfit_answers(world));
    letters.extend(second_answer(world));
    letters
}

/// Returns the result of a child of a call that was never made.
fn nobody() -> Option<ChildResult> {
    let spent = Spending { tokens: 7, usd_micros: 7 };
    Some(ChildResult {
        call: NOWHERE,
        part: 0,
        spent,
        ending: ChildOutcome::Answered,
        untrusted: false,
    })
}

fn blank_task() -> ChildTask {
    ChildTask::new("", " ")
}

fn parent() -> ParentLink {
    let caps = SpendingCaps::default();
    ParentLink { lane: LaneId::from("p"), call: NOWHERE, part: 0, caps, depth: 1, untrusted: false }
}

/// Returns another answer to the last question that is no longer open.
fn second_answer(world: &ExploredState) -> Option<InboxCommand> {
    let is_open = |id: &QuestionId| {
        world.live.run.iter().flat_map(Run::open_questions).any(|question| question.id == *id)
    };
    let question = (1..=world.live.question_count).rev().find(|id| !is_open(id))?;
    Some(InboxCommand::answer(question, HumanAnswer::deny("n")))
}

/// Returns an answer that each open question does not accept.
fn unfit_answers(world: &ExploredState) -> Vec<InboxCommand> {
    let questions = world.live.run.iter().flat_map(Run::open_questions);
    let all = [HumanAnswer::allow(), HumanAnswer::Retry {}, HumanAnswer::Continue {}];
    // An approval for another input than the call has is no approval.
    let other = HumanAnswer::allow().for_input_hash("another");
    questions
        .flat_map(|question| {
            let unfit = all.iter().filter(|answer| !question.kind.accepts(answer)).cloned();
            let unfit = unfit.chain([other.clone()]);
            unfit.map(|answer| InboxCommand::answer(question.id, answer))
        })
        .collect()
}
