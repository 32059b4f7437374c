//! The commands of the explored world: what each choice sends to the inbox.

use std::sync::Arc;

use windlass_core::budget::spending::SpendingCaps;
use windlass_core::log::ids::{CallId, LaneId, QuestionId, RunId};
use windlass_core::log::inbox::{HumanAnswer, InboxCommand};
use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::raw_json::RawJson;
use windlass_core::permission::{PermissionRule, PermissionUpdate, RuleBehavior};
use windlass_core::run::child_runs::{ChildOutcome, ChildResult, ChildTask, ParentLink};
use windlass_core::settings::conversation_settings::ModelSpec;
use windlass_core::settings::run_settings::RunModels;

use super::config::rules_of;
use super::moves::{AnswerChoice, CommandChoice, ModelChoice, UpdateChoice};
use super::tools;
use super::world::ExploredState;

/// Tokens that a parent lets its child spend.
const TASK_TOKENS: u64 = 60;

/// Returns the command of a choice.
pub(crate) fn body(world: &mut ExploredState, letter: CommandChoice) -> InboxCommand {
    match letter {
        CommandChoice::Prompt => {
            InboxCommand::prompt(next_run(world), vec![ContentBlock::text("p")])
        }
        CommandChoice::Steer => {
            InboxCommand::Steer { run: next_run(world), blocks: vec![ContentBlock::text("s")] }
        }
        CommandChoice::Child => InboxCommand::ChildFinished {
            child: LaneId::from("k"),
            text: Arc::from("c"),
            result: None,
        },
        CommandChoice::Cancel => InboxCommand::Cancel { run: None },
        CommandChoice::Abort => InboxCommand::Abort { run: None, partial_reply: None },
        CommandChoice::CancelQueued => InboxCommand::Cancel {
            run: world.live.prompt_queue.back().map(|queued| queued.run.clone()),
        },
        CommandChoice::Memory => InboxCommand::Memory { text: Arc::from("m") },
        CommandChoice::Compact => InboxCommand::Compact { instructions: None, run: None },
        CommandChoice::CompactNow => {
            InboxCommand::Compact { instructions: None, run: Some(next_run(world)) }
        }
        CommandChoice::Task => task(world),
        CommandChoice::Home(call, part) => child_result(world, call, part),
        CommandChoice::Answer(question, choice) => {
            InboxCommand::answer(question, answer(world, question, choice))
        }
        CommandChoice::Update(choice) => {
            InboxCommand::UpdatePermissions { updates: vec![update(choice)] }
        }
        CommandChoice::Model(choice) => {
            InboxCommand::SetModel { change: Arc::new(models(choice).into()) }
        }
    }
}

fn update(choice: UpdateChoice) -> PermissionUpdate {
    let rules = rules_of(&["send"]);
    match choice {
        UpdateChoice::Mode(mode) => PermissionUpdate::SetMode { mode },
        UpdateChoice::Rule(behavior) => PermissionUpdate::AddRules { behavior, rules },
        UpdateChoice::NoRule(behavior) => PermissionUpdate::RemoveRules { behavior, rules },
    }
}

fn models(choice: ModelChoice) -> RunModels {
    let mut model = ModelSpec::with_defaults("m");
    (model.max_tokens, model.max_output_tokens) = (10, 20);
    if choice == ModelChoice::Small {
        model.name = Arc::from("n");
        (model.max_tokens, model.max_output_tokens) = (5, 5);
    }
    RunModels {
        model,
        fallback: None,
        further_fallbacks: Vec::new(),
        temperature: None,
        cache: None,
    }
}

fn next_run(world: &mut ExploredState) -> RunId {
    world.runs += 1;
    RunId::from(format!("r{}", world.runs))
}

fn task(world: &mut ExploredState) -> InboxCommand {
    let caps = SpendingCaps { tokens: Some(TASK_TOKENS), usd_micros: None };
    let call = CallId { model_call: 1, index: 0 };
    let parent =
        ParentLink { lane: LaneId::from("p"), call, part: 0, caps, depth: 1, untrusted: false };
    let task = ChildTask::new("", "t");
    InboxCommand::Task { run: next_run(world), task, parent }
}

fn child_result(world: &mut ExploredState, call: CallId, part: u16) -> InboxCommand {
    let spent = world.ledger.send_home(call, part);
    let result =
        Some(ChildResult { call, part, spent, ending: ChildOutcome::Answered, untrusted: false });
    InboxCommand::ChildFinished { child: LaneId::from("k"), text: Arc::from("c"), result }
}

/// Returns the rule that is shown with the question: calls of this tool.
fn suggested_rule(world: &ExploredState, question: QuestionId) -> Option<PermissionRule> {
    let run = world.live.run.as_ref()?;
    let id = run.open_questions().find(|open| open.id == question)?.kind.call()?;
    PermissionRule::parse(&run.round()?.call(id)?.tool_use.name).ok()
}

fn answer(world: &ExploredState, question: QuestionId, choice: AnswerChoice) -> HumanAnswer {
    match choice {
        AnswerChoice::Grant => suggested_rule(world, question)
            .map_or_else(HumanAnswer::allow, HumanAnswer::allow_with_rule),
        AnswerChoice::Allow => HumanAnswer::allow(),
        AnswerChoice::Change => with_input(r#"{"v":2}"#, "pay"),
        AnswerChoice::Worsen => with_input("3", "pay"),
        AnswerChoice::Forbid => {
            let rules = suggested_rule(world, question).into_iter().collect();
            let deny = PermissionUpdate::AddRules { behavior: RuleBehavior::Deny, rules };
            HumanAnswer::allow().with_permission_updates(vec![deny])
        }
        AnswerChoice::Interrupt => HumanAnswer::deny_and_interrupt("n"),
        AnswerChoice::Deny => HumanAnswer::deny("n"),
        AnswerChoice::Retry => HumanAnswer::Retry {},
        AnswerChoice::MarkDone => HumanAnswer::MarkDone { text: Arc::from("d") },
        AnswerChoice::Abandon => HumanAnswer::Abandon {},
        AnswerChoice::Continue => HumanAnswer::Continue {},
        AnswerChoice::Text => HumanAnswer::Text { text: Arc::from("w") },
    }
}

/// Approves with other arguments, assessed as a call of `tool`.
fn with_input(json: &str, tool: &str) -> HumanAnswer {
    let input = RawJson::parse(json).unwrap_or_else(|_| RawJson::string(""));
    let mut answer = HumanAnswer::allow().with_changed_input(input);
    if let HumanAnswer::Allow { changed_input: Some(changed), .. } = &mut answer {
        changed.facts = Some(Box::new(tools::facts(tool)));
    }
    answer
}
