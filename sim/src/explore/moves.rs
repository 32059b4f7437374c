//! The moves: every choice the world has in a state. Not here: an append that fails is the state
//! before it, and an append that succeeds unseen is a crash right after it, so both are covered by
//! `Die`.

use std::sync::Arc;

use windlass_core::call::call_state::Call;
use windlass_core::log::ids::{CallId, ModelCallId, QuestionId};
use windlass_core::message::raw_json::RawJson;
use windlass_core::permission::{DefaultDecision, PermissionMode, RuleBehavior};
use windlass_core::run::active_run::Run;
use windlass_core::run::question::QuestionKind;
use windlass_core::run::wanted::{Effect, Wanted};
use windlass_core::settings::conversation_settings::ToolSpec;

use super::choices::{ClassifierChoice, HookChoice, ModelFaultChoice, ToolReturnChoice};
use super::config::{CommandDelivery, ExplorerConfig, OwnerChoice};
use super::review_choices::ReviewChoice;
use super::world::{ExploredState, StreamProgress};

/// A choice of the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorldMove {
    /// The model gives this reply of the choices.
    Say(u8),
    /// The next call of this reply has streamed.
    Block(u8),
    /// The model call fails.
    Fail(ModelFaultChoice),
    /// The effect of a call that changes something takes place.
    Fire(CallId),
    /// A tool returns.
    Return(CallId, ToolReturnChoice),
    /// A hook responds.
    Hook(CallId, HookChoice),
    /// A tool is probed for a lost call.
    Probe(CallId, ProbeChoice),
    /// A classifier reviewed a call.
    Think(CallId, ClassifierChoice),
    /// The pending review returns.
    Advise(ReviewChoice),
    /// Time passes and no timer fires.
    Lapse(TimeLapse),
    /// The timer fires.
    Tick,
    /// The owner records its settings, as wanted.
    Configure,
    /// The owner offers settings between runs.
    Offer(OwnerChoice),
    /// A command is sent.
    Post(CommandChoice),
    /// The owner reads the inbox.
    Drain,
    /// The process or the machine dies; a new owner claims the lane with what is left of the log.
    Die { keep: u8, owner: OwnerChoice },
    /// A copy of the lane continues.
    Fork,
    /// Servers offer other tools: one is connected, dies, or changes what it says about them.
    OfferTools(ToolList),
}

/// What servers offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolList {
    /// Nothing: they are gone.
    Nothing,
    /// One tool.
    One,
    /// The tool, described differently, and another one.
    Changed,
}

impl ToolList {
    pub(crate) const ALL: [Self; 3] = [Self::Nothing, Self::One, Self::Changed];

    /// Returns the tools.
    pub(crate) fn to_specs(self) -> Vec<ToolSpec> {
        let tool = |name: &str, description: &str| ToolSpec {
            name: Arc::from(name),
            description: Arc::from(description),
            input_schema: RawJson::string(""),
        };
        match self {
            Self::Nothing => Vec::new(),
            Self::One => vec![tool("mcp__s__a", "")],
            Self::Changed => vec![tool("mcp__s__a", "other"), tool("mcp__s__b", "")],
        }
    }
}

/// What a probe finds. Probes do not lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProbeChoice {
    Truth,
    Unknown,
}

/// How time passes unnoticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeLapse {
    /// Beyond the time of the timer.
    Late,
    /// So long that the process must have been asleep.
    Asleep,
}

/// A command to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandChoice {
    Prompt,
    Steer,
    Child,
    Cancel,
    Abort,
    CancelQueued,
    Memory,
    Compact,
    /// A run that only compacts.
    CompactNow,
    Task,
    /// The child with this task of a call returns.
    Home(CallId, u16),
    Answer(QuestionId, AnswerChoice),
    /// The permissions change.
    Update(UpdateChoice),
    /// Another model is to be called.
    Model(ModelChoice),
}

/// A change of the permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UpdateChoice {
    Mode(PermissionMode),
    /// Add a rule about `send`.
    Rule(RuleBehavior),
    /// Take the rules about `send` back.
    NoRule(RuleBehavior),
}

/// Another model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelChoice {
    /// One with a smaller output cap.
    Small,
    /// The one that the settings name.
    Own,
}

/// An answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerChoice {
    Allow,
    /// Approve, and grant a rule for calls of this tool.
    Grant,
    /// Approve with other arguments, which make the call a once-only one.
    Change,
    /// Approve with arguments that make no sense.
    Worsen,
    /// Approve, and deny calls of this tool by a rule.
    Forbid,
    Deny,
    /// Deny, and end the run.
    Interrupt,
    Retry,
    MarkDone,
    Abandon,
    Continue,
    Text,
}

/// Returns all moves of `world`.
pub(crate) fn moves(
    config: &ExplorerConfig,
    world: &ExploredState,
    wanted: &Wanted,
) -> Vec<WorldMove> {
    let mut moves = Vec::new();
    for effect in &wanted.effects {
        of_effect(config, world, *effect, &mut moves);
    }
    if wanted.wake_at.is_some() {
        moves.push(WorldMove::Tick);
    }
    command_moves(config, world, &mut moves);
    lapses(world, wanted, &mut moves);
    deaths(world, &mut moves);
    between_runs(world, &mut moves);
    if world.left.tool_lists > 0 {
        moves.extend(ToolList::ALL.map(WorldMove::OfferTools));
    }
    moves
}

fn of_effect(
    config: &ExplorerConfig,
    world: &ExploredState,
    effect: Effect,
    moves: &mut Vec<WorldMove>,
) {
    match effect {
        Effect::CallModel(ask) => of_model(config, world, ask, moves),
        Effect::RunTool { call, .. } => of_tool(config, world, call, moves),
        Effect::RunPreHook(call) | Effect::RunPostHook(call) => {
            moves.extend(config.says.iter().map(|say| WorldMove::Hook(call, *say)));
        }
        Effect::ProbeCall(call) => {
            moves.extend(
                [ProbeChoice::Truth, ProbeChoice::Unknown].map(|find| WorldMove::Probe(call, find)),
            );
        }
        Effect::ClassifyCall(call) => {
            moves.extend(config.thoughts.iter().map(|think| WorldMove::Think(call, *think)));
        }
        Effect::RequestReview(_) => moves.extend(review_moves(config, world)),
        Effect::RecordSettings => moves.push(WorldMove::Configure),
    }
}

fn review_moves<'a>(
    config: &'a ExplorerConfig,
    world: &'a ExploredState,
) -> impl Iterator<Item = WorldMove> + 'a {
    let about = world.live.run.as_ref().and_then(Run::pending_review).map(|sought| &sought.review);
    let fits = move |says: &&ReviewChoice| about.is_some_and(|about| says.applies_to(about));
    config.advices.iter().filter(fits).map(|says| WorldMove::Advise(*says))
}

/// Time that passes unnoticed matters only where a timer is set.
fn lapses(world: &ExploredState, wanted: &Wanted, moves: &mut Vec<WorldMove>) {
    if world.left.lapses > 0 && wanted.wake_at.is_some_and(|wake| world.now < wake) {
        moves.extend([TimeLapse::Late, TimeLapse::Asleep].map(WorldMove::Lapse));
    }
}

fn of_model(
    config: &ExplorerConfig,
    world: &ExploredState,
    ask: ModelCallId,
    moves: &mut Vec<WorldMove>,
) {
    if world
        .live
        .run
        .as_ref()
        .and_then(Run::pending_model_call)
        .is_none_or(|asking| asking.model_call != ask)
    {
        return;
    }
    for (line, scripted) in (0u8..).zip(&config.lines) {
        if world.stream.is_some_and(|stream| stream.line != line) {
            continue;
        }
        moves.push(WorldMove::Say(line));
        let seen = world.stream.map_or(0, |stream| stream.calls);
        if world.left.blocks > 0 && usize::from(seen) < scripted.facts.len() {
            moves.push(WorldMove::Block(line));
        }
    }
    if world.left.failures > 0 {
        moves.extend(config.faults.iter().map(|fault| WorldMove::Fail(*fault)));
    }
}

fn of_tool(config: &ExplorerConfig, world: &ExploredState, id: CallId, moves: &mut Vec<WorldMove>) {
    let Some(call) = world.live.run.as_ref().and_then(Run::round).and_then(|r| r.call(id)) else {
        return;
    };
    let fired = world.fired.contains(&id);
    if !call.facts.touches.is_read() && !fired {
        moves.push(WorldMove::Fire(id));
    }
    let returns = config.backs.iter().filter(|back| may_return(world, call, fired, **back));
    moves.extend(returns.map(|back| WorldMove::Return(id, *back)));
}

fn may_return(world: &ExploredState, call: &Call, fired: bool, back: ToolReturnChoice) -> bool {
    match back {
        ToolReturnChoice::Done | ToolReturnChoice::Big => fired || call.facts.touches.is_read(),
        _ => world.left.mishaps > 0,
    }
}

fn command_moves(config: &ExplorerConfig, world: &ExploredState, moves: &mut Vec<WorldMove>) {
    if !world.mailbox.is_empty() {
        moves.push(WorldMove::Drain);
    }
    let room = match config.mailing {
        CommandDelivery::AtOnce => world.mailbox.is_empty(),
        CommandDelivery::ThroughInbox => world.mailbox.len() < 2,
    };
    if room {
        plain_letters(world, moves);
        session_letters(config, world, moves);
        child_result_moves(world, moves);
        answers(config, world, moves);
    }
}

fn plain_letters(world: &ExploredState, moves: &mut Vec<WorldMove>) {
    let left = &world.left;
    let letters = [
        (left.prompts, CommandChoice::Prompt),
        (left.steers, CommandChoice::Steer),
        (left.children, CommandChoice::Child),
        (left.cancels, CommandChoice::Cancel),
        (left.aborts, CommandChoice::Abort),
        (left.memories, CommandChoice::Memory),
        (left.compactions, CommandChoice::Compact),
        (left.compactions, CommandChoice::CompactNow),
        (left.tasks, CommandChoice::Task),
    ];
    moves.extend(letters.iter().filter(|(left, _)| *left > 0).map(|(_, l)| WorldMove::Post(*l)));
    if left.cancels > 0 && !world.live.prompt_queue.is_empty() {
        moves.push(WorldMove::Post(CommandChoice::CancelQueued));
    }
}

/// Returns the commands that change permissions and the model.
fn session_letters(config: &ExplorerConfig, world: &ExploredState, moves: &mut Vec<WorldMove>) {
    if world.left.updates > 0 {
        let updates = config.updates.iter().map(|update| CommandChoice::Update(*update));
        moves.extend(updates.map(WorldMove::Post));
    }
    if world.left.models > 0 {
        let models = [ModelChoice::Small, ModelChoice::Own].map(CommandChoice::Model);
        moves.extend(models.map(WorldMove::Post));
    }
}

/// Returns the moves with which a child returns; a result that was sent already, or that no call
/// waits for, arrives as a stray.
fn child_result_moves(world: &ExploredState, moves: &mut Vec<WorldMove>) {
    for kid in world.ledger.started_children() {
        if kid.is_out() || world.left.strays > 0 {
            moves.push(WorldMove::Post(CommandChoice::Home(kid.call, kid.part)));
        }
    }
}

fn answers(config: &ExplorerConfig, world: &ExploredState, moves: &mut Vec<WorldMove>) {
    if world.left.answers == 0 {
        return;
    }
    for question in world.live.run.iter().flat_map(Run::open_questions) {
        let choices = choices(config, world, &question.kind);
        let letters = choices.iter().map(|choice| CommandChoice::Answer(question.id, *choice));
        moves.extend(letters.map(WorldMove::Post));
    }
}

fn choices(
    config: &ExplorerConfig,
    world: &ExploredState,
    about: &QuestionKind,
) -> &'static [AnswerChoice] {
    let grants = world
        .live
        .settings
        .as_ref()
        .is_some_and(|s| s.rules.default_decision == DefaultDecision::Ask);
    match about {
        QuestionKind::Approval { .. } if config.has_rich_answers => &[
            AnswerChoice::Allow,
            AnswerChoice::Change,
            AnswerChoice::Worsen,
            AnswerChoice::Forbid,
            AnswerChoice::Deny,
            AnswerChoice::Interrupt,
        ],
        QuestionKind::Approval { .. } if grants => {
            &[AnswerChoice::Allow, AnswerChoice::Grant, AnswerChoice::Deny]
        }
        QuestionKind::Approval { .. } => &[AnswerChoice::Allow, AnswerChoice::Deny],
        QuestionKind::Guidance { .. } => {
            &[AnswerChoice::Text, AnswerChoice::Continue, AnswerChoice::Abandon]
        }
        QuestionKind::Budget { .. } => &[AnswerChoice::Continue, AnswerChoice::Abandon],
        QuestionKind::Uncertain { .. } if config.has_rich_answers => {
            &[AnswerChoice::Retry, AnswerChoice::Change, AnswerChoice::Abandon]
        }
        QuestionKind::Uncertain { .. } => {
            &[AnswerChoice::Retry, AnswerChoice::MarkDone, AnswerChoice::Abandon]
        }
        QuestionKind::ModelQuestion { .. } => &[AnswerChoice::Text, AnswerChoice::Deny],
        QuestionKind::ToolRequest { .. } => &[AnswerChoice::Continue, AnswerChoice::Deny],
        QuestionKind::Plan { .. } => {
            &[AnswerChoice::Allow, AnswerChoice::Continue, AnswerChoice::Deny]
        }
        QuestionKind::PromptChanged { .. } => &[AnswerChoice::Continue, AnswerChoice::Abandon],
    }
}

fn deaths(world: &ExploredState, moves: &mut Vec<WorldMove>) {
    let newest = world.disk.len().saturating_sub(1);
    for (keep, _) in (0u8..).zip(&world.disk) {
        let allowed = match usize::from(keep) == newest {
            true => world.left.crashes,
            false => world.left.outages,
        };
        if allowed > 0 {
            moves.push(WorldMove::Die { keep, owner: world.owner });
            if world.left.drifts > 0 {
                moves.push(WorldMove::Die { keep, owner: other(world.owner) });
            }
        }
    }
}

pub(crate) fn other(owner: OwnerChoice) -> OwnerChoice {
    match owner {
        OwnerChoice::First => OwnerChoice::Other,
        OwnerChoice::Other => OwnerChoice::First,
    }
}

fn between_runs(world: &ExploredState, moves: &mut Vec<WorldMove>) {
    if world.left.offers > 0 && world.live.run.is_none() {
        moves.extend([OwnerChoice::First, OwnerChoice::Other].map(WorldMove::Offer));
    }
    if world.left.forks > 0 && world.live.has_no_open_round() {
        moves.push(WorldMove::Fork);
    }
}

/// Returns the stream after one more call of `line` was seen.
pub(crate) fn streamed_blocks(world: &ExploredState, line: u8) -> StreamProgress {
    let calls = world.stream.map_or(0, |stream| stream.calls).saturating_add(1);
    StreamProgress { line, calls }
}
