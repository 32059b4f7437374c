//! Liveness: from every state, a fair world brings the lane to rest in a bounded number of steps.

use windlass_core::run::active_run::Run;
use windlass_core::run::question::QuestionKind;
use windlass_core::run::wanted::Effect;

use super::choices::{ClassifierChoice, HookChoice, ToolReturnChoice};
use super::invariants::BrokenInvariant;
use super::moves::{AnswerChoice, CommandChoice, ProbeChoice, WorldMove};
use super::review_choices::ReviewChoice;
use super::transitions::ExplorerSim;
use super::world::ExploredState;

const MOST_STEPS: usize = 80;
const NAME: &str = "a fair world brings the lane to rest";

/// How the humans of the fair world behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HumanBehaviour {
    /// They answer and decline.
    Decline,
    /// They answer and let the run continue.
    GoOn,
    /// They answer only when nothing else happens.
    Slow,
}

/// Plays on from `world` and requires that the lane comes to rest.
pub(crate) fn check(
    sim: &ExplorerSim<'_>,
    world: &ExploredState,
    humans: HumanBehaviour,
) -> Result<(), BrokenInvariant> {
    let mut world = world.clone();
    for _ in 0..MOST_STEPS {
        match fair_move(sim, &world, humans) {
            Some(step) => world = sim.act(&world, step)?,
            None if world.live.run.is_none() => return Ok(()),
            None => return Err(BrokenInvariant::new(NAME, &"nothing more can happen")),
        }
    }
    Err(BrokenInvariant::new(
        NAME,
        &format!("still {} after {MOST_STEPS} steps", world.live.phase_name()),
    ))
}

fn fair_move(
    sim: &ExplorerSim<'_>,
    world: &ExploredState,
    humans: HumanBehaviour,
) -> Option<WorldMove> {
    let wanted = sim.eyes.wanted(&world.live);
    if !world.mailbox.is_empty() {
        return Some(WorldMove::Drain);
    }
    let effect = wanted.effects.iter().find_map(|effect| of_effect(world, *effect));
    let effect = effect.or_else(|| child_result_move(world));
    let tick = || wanted.wake_at.map(|_| WorldMove::Tick);
    match humans {
        HumanBehaviour::Slow => effect.or_else(tick).or_else(|| answer(world, humans)),
        HumanBehaviour::Decline | HumanBehaviour::GoOn => {
            answer(world, humans).or(effect).or_else(tick)
        }
    }
}

fn of_effect(world: &ExploredState, effect: Effect) -> Option<WorldMove> {
    match effect {
        Effect::CallModel(_) => Some(WorldMove::Say(closing_line(world))),
        Effect::RunTool { call, .. } => {
            let round = world.live.run.as_ref().and_then(Run::round)?;
            let changes = !round.call(call)?.facts.touches.is_read();
            let due = changes && !world.fired.contains(&call);
            Some(if due {
                WorldMove::Fire(call)
            } else {
                WorldMove::Return(call, ToolReturnChoice::Done)
            })
        }
        Effect::RunPreHook(call) | Effect::RunPostHook(call) => {
            Some(WorldMove::Hook(call, HookChoice::Pass))
        }
        Effect::ProbeCall(call) => Some(WorldMove::Probe(call, ProbeChoice::Unknown)),
        Effect::ClassifyCall(call) => Some(WorldMove::Think(call, ClassifierChoice::Unsure)),
        Effect::RequestReview(_) => Some(WorldMove::Advise(fair_advice(world)?)),
        Effect::RecordSettings => Some(WorldMove::Configure),
    }
}

fn fair_advice(world: &ExploredState) -> Option<ReviewChoice> {
    let about = &world.live.run.as_ref().and_then(Run::pending_review)?.review;
    [ReviewChoice::Pass, ReviewChoice::Summary].into_iter().find(|says| says.applies_to(about))
}

/// Returns the move with which a working child returns.
fn child_result_move(world: &ExploredState) -> Option<WorldMove> {
    let out = world.ledger.started_children().iter().find(|kid| kid.is_out())?;
    Some(WorldMove::Post(CommandChoice::Home(out.call, out.part)))
}

/// Returns the reply that is already streaming, or the first choice: an answer in every
/// configuration.
fn closing_line(world: &ExploredState) -> u8 {
    world.stream.map_or(0, |stream| stream.line)
}

fn answer(world: &ExploredState, humans: HumanBehaviour) -> Option<WorldMove> {
    // An expired question is not answered any more: its timer fires.
    let mut open = world.live.run.as_ref()?.open_questions();
    let question = open.find(|question| !question.is_expired(world.now))?;
    let choice = match (&question.kind, humans) {
        (QuestionKind::Approval { .. } | QuestionKind::Plan { .. }, HumanBehaviour::GoOn) => {
            AnswerChoice::Allow
        }
        (
            QuestionKind::Approval { .. }
            | QuestionKind::ModelQuestion { .. }
            | QuestionKind::Plan { .. },
            _,
        ) => AnswerChoice::Deny,
        (QuestionKind::ToolRequest { .. }, HumanBehaviour::GoOn) => AnswerChoice::Continue,
        (QuestionKind::ToolRequest { .. }, _) => AnswerChoice::Deny,
        (QuestionKind::Uncertain { .. }, HumanBehaviour::GoOn) => AnswerChoice::Retry,
        (
            QuestionKind::PromptChanged { .. } | QuestionKind::Guidance { .. },
            HumanBehaviour::GoOn,
        ) => AnswerChoice::Continue,
        (QuestionKind::Budget { .. }, HumanBehaviour::GoOn) => AnswerChoice::Continue,
        (QuestionKind::Uncertain { .. } | QuestionKind::PromptChanged { .. }, _) => {
            AnswerChoice::Abandon
        }
        (QuestionKind::Guidance { .. } | QuestionKind::Budget { .. }, _) => AnswerChoice::Abandon,
    };
    Some(WorldMove::Post(CommandChoice::Answer(question.id, choice)))
}
