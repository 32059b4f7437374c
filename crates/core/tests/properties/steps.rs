//! Steps of a random story. They aim at what the lane is doing, and sometimes miss on purpose.

use std::sync::Arc;

use proptest::prelude::*;
use windlass_core::budget::spending::SpendingCaps;
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::log::ids::{CallId, LaneId, RunId, UnixMillis};
use windlass_core::log::inbox::{HistorySource, HumanAnswer, InboxCommand};
use windlass_core::log::input::{
    Classification, ContextNote, FailureClass, HookDecision, Input, ModelFailure, ProbeResult,
};
use windlass_core::message::content_block::{ContentBlock, ToolUse};
use windlass_core::message::history_message::HistoryMessage;
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::reply::{ModelReply, TokenUsage};
use windlass_core::message::transcript::{Role, SegmentKind};
use windlass_core::permission::{
    ContentSource, HookPreference, PermissionMode, PermissionUpdate, RuleBehavior,
};
use windlass_core::run::active_run::Run;
use windlass_core::run::child_runs::{ChildOutcome, ChildTask, ParentLink};
use windlass_core::run::question::{Question, QuestionKind};
use windlass_core::run::review::ReviewResult;
use windlass_core::run::wanted::{Effect, wanted};
use windlass_core::settings::conversation_settings::{ModelSpec, Settings};
use windlass_core::settings::run_settings::RunModels;

use super::matter::{block, blocks, json, reply, text};
use super::narrow::narrow;
use crate::kit::{Lane, child_result, facts_for, page, settings};

/// One step of a story.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// A wanted effect is done, or a question is answered, or the timer fires.
    Go(usize, Box<World>),
    Mail(Vec<InboxCommand>),
    Answer(u32, HumanAnswer),
    Reply(Aim, ModelReply),
    Fails(Aim, ModelFailure),
    Returns(Aim, ToolOutcome),
    Hook(Aim, HookDecision),
    Advice(ReviewResult),
    Opinion(Aim, Classification),
    Home(Aim, u16, ChildOutcome),
    Probe(Aim, ProbeResult),
    Streams(u16, ContentBlock),
    Tick(u64),
    Adopt(Prompt),
    Configure(Box<Settings>),
    Fork,
}

/// The results that effects return.
#[derive(Debug, Clone)]
pub(crate) struct World {
    reply: ModelReply,
    outcome: ToolOutcome,
    hook: HookDecision,
    finding: ProbeResult,
    advice: ReviewResult,
    opinion: Classification,
    text: String,
}

/// The target of a step: something that exists, or something that does not.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Aim {
    At(usize),
    Past(u32, u16),
}

/// The prompt of a new owner.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Prompt {
    Same,
    Other,
}

fn aim() -> BoxedStrategy<Aim> {
    prop_oneof![9 => (0..6_usize).prop_map(Aim::At), 1 => (any::<u32>(), any::<u16>()).prop_map(|(a, b)| Aim::Past(a, b))]
    .boxed()
}

fn arc(text: String) -> Arc<str> {
    Arc::from(text)
}

fn run_id() -> BoxedStrategy<RunId> {
    "r[0-9]{1,2}".prop_map(RunId::from).boxed()
}

fn mail() -> BoxedStrategy<InboxCommand> {
    let words =
        || prop_oneof![3 => text().prop_map(|text| vec![ContentBlock::text(&text)]), 1 => blocks()];
    prop_oneof![
        6 => (run_id(), words()).prop_map(|(run, blocks)| InboxCommand::prompt(run, blocks)),
        3 => (run_id(), words()).prop_map(|(run, blocks)| InboxCommand::Steer { run, blocks }),
        1 => prop::option::of(run_id()).prop_map(|run| InboxCommand::Cancel { run }),
        1 => prop::option::of(run_id()).prop_map(|run| InboxCommand::Abort { run, partial_reply: None }),
        1 => text().prop_map(|text| InboxCommand::ChildFinished { child: LaneId::from("c"), text: arc(text), result: None }),
        1 => Just(InboxCommand::Compact { instructions: None, run: None }),
        1 => text().prop_map(|text| InboxCommand::Memory { text: arc(text) }),
        1 => (run_id(), text()).prop_map(|(run, prompt)| task(run, arc(prompt))),
        1 => updates().prop_map(|updates| InboxCommand::UpdatePermissions { updates }),
        1 => set_model(),
        1 => words().prop_map(replace_history),
    ]
    .boxed()
}

/// Messages of which some are those that a request can be made of.
fn replace_history(blocks: Vec<ContentBlock>) -> InboxCommand {
    let prompt = (Role::User, SegmentKind::Prompt);
    let parts =
        [prompt, (Role::Assistant, SegmentKind::Reply), (Role::User, SegmentKind::Results), prompt];
    let message = |(role, kind)| HistoryMessage { role, kind, blocks: blocks.clone() };
    let messages = parts.into_iter().map(message).collect();
    InboxCommand::ReplaceHistory {
        messages,
        source: HistorySource::Imported { last_message: Arc::from("m1") },
    }
}

fn updates() -> BoxedStrategy<Vec<PermissionUpdate>> {
    let behavior =
        prop::sample::select(vec![RuleBehavior::Allow, RuleBehavior::Deny, RuleBehavior::Ask]);
    let rules = || prop::sample::subsequence(vec!["read", "write", "deploy", "bash"], 0..3);
    let modes = vec![
        PermissionMode::Default,
        PermissionMode::AcceptEdits,
        PermissionMode::Plan,
        PermissionMode::DontAsk,
        PermissionMode::Auto,
        PermissionMode::BypassPermissions,
    ];
    let update = (behavior, rules(), 0..5_u8, prop::sample::select(modes), text()).prop_map(
        |(behavior, rules, kind, mode, folder)| {
            let rules = rules.into_iter().map(crate::kit::rule).collect();
            let folders = vec![Arc::from(format!("/{folder}"))];
            match kind {
                0 => PermissionUpdate::SetMode { mode },
                1 => PermissionUpdate::ReplaceRules { behavior, rules },
                2 => PermissionUpdate::RemoveRules { behavior, rules },
                3 => PermissionUpdate::AddFolders { folders },
                _ => PermissionUpdate::AddRules { behavior, rules },
            }
        },
    );
    prop::collection::vec(update, 0..3).boxed()
}

fn set_model() -> BoxedStrategy<InboxCommand> {
    let name = prop::sample::select(vec!["scripted", "other", "small"]);
    name.prop_map(|name| {
        let mut model = ModelSpec::with_defaults(name);
        if name == "small" {
            model.window_tokens = 8_000;
            model.max_output_tokens = 500;
        }
        let models = RunModels {
            model,
            fallback: None,
            further_fallbacks: Vec::new(),
            temperature: None,
            cache: None,
        };
        InboxCommand::SetModel { change: Arc::new(models.into()) }
    })
    .boxed()
}

fn task(run: RunId, prompt: Arc<str>) -> InboxCommand {
    let caps = SpendingCaps { tokens: Some(50_000), usd_micros: None };
    let call = CallId { model_call: 1, index: 0 };
    let parent =
        ParentLink { lane: LaneId::from("p"), call, part: 0, caps, depth: 1, untrusted: false };
    InboxCommand::Task { run, task: ChildTask::new("", &prompt), parent }
}

fn usage() -> BoxedStrategy<TokenUsage> {
    let tokens = prop_oneof![4 => 0..500_u64, 1 => any::<u64>()];
    (tokens.clone(), tokens)
        .prop_map(|(input_tokens, output_tokens)| TokenUsage {
            input_tokens,
            output_tokens,
            ..TokenUsage::default()
        })
        .boxed()
}

fn advice() -> BoxedStrategy<ReviewResult> {
    prop_oneof![
        3 => prop::option::of(text()).prop_map(|output| ReviewResult::Pass { context: output.map(arc) }),
        2 => text().prop_map(|reason| ReviewResult::Block { reason: arc(reason) }),
        1 => text().prop_map(|reason| ReviewResult::Stop { reason: arc(reason) }),
        3 => (text(), usage()).prop_map(|(output, usage)| ReviewResult::ModelText { text: arc(output), usage }),
        2 => (text(), usage()).prop_map(|(why, usage)| ReviewResult::Failed { why: arc(why), usage }),
    ]
    .boxed()
}

fn opinion() -> BoxedStrategy<Classification> {
    prop_oneof![
        Just(Classification::Allow {}),
        text().prop_map(|reason| Classification::Deny { reason: arc(reason) }),
        text().prop_map(|why| Classification::Unsure { why: arc(why) }),
    ]
    .boxed()
}

fn answer() -> BoxedStrategy<HumanAnswer> {
    prop_oneof![
        3 => Just(HumanAnswer::allow()),
        1 => Just(HumanAnswer::allow_with_rule(crate::kit::rule("deploy"))),
        1 => updates().prop_map(|more| HumanAnswer::allow().with_permission_updates(more)),
        1 => json().prop_map(changed),
        1 => text().prop_map(HumanAnswer::deny),
        1 => text().prop_map(HumanAnswer::deny_and_interrupt),
        2 => Just(HumanAnswer::Retry {}),
        1 => text().prop_map(|text| HumanAnswer::MarkDone { text: arc(text) }),
        1 => Just(HumanAnswer::Abandon {}),
        2 => Just(HumanAnswer::Continue {}),
        1 => text().prop_map(|text| HumanAnswer::Text { text: arc(text) }),
    ]
    .boxed()
}

/// Approves with changed arguments, as the owner assessed them.
fn changed(json: String) -> HumanAnswer {
    let input = RawJson::parse(json).expect("json() makes JSON");
    let call = ToolUse { id: "t".into(), name: "deploy".into(), input: input.clone() };
    let mut answer = HumanAnswer::allow().with_changed_input(input);
    if let HumanAnswer::Allow { changed_input: Some(changed), .. } = &mut answer {
        changed.facts = Some(Box::new(facts_for(&call)));
    }
    answer
}

fn outcome() -> BoxedStrategy<ToolOutcome> {
    let error = (text(), text(), 0..6_u8).prop_map(|(code, message, kind)| {
        let error = ToolError::new(&code, &message, "hint");
        match kind {
            0 => error.into_fatal(),
            1..4 => error.into_transient(),
            _ => error,
        }
    });
    prop_oneof![
        4 => text().prop_map(|text| ToolOutcome::Done(RawJson::string(&text))),
        3 => (0..9_usize).prop_map(|nth| ToolOutcome::Done(RawJson::string(&page(nth, 2_500)))),
        2 => json().prop_map(|json| ToolOutcome::Done(RawJson::parse(json).expect("json() makes JSON"))),
        3 => error.prop_map(ToolOutcome::Failed),
        1 => any::<u64>().prop_map(|after_ms| ToolOutcome::TimedOut { after_ms }),
        1 => any::<u64>().prop_map(|after_ms| ToolOutcome::Interrupted { after_ms }),
    ]
    .boxed()
}

fn hook() -> BoxedStrategy<HookDecision> {
    let change = |json: String| {
        let input = RawJson::parse(json).expect("json() makes JSON");
        let call = ToolUse { id: "t".into(), name: "read".into(), input: input.clone() };
        HookDecision::Change {
            input,
            facts: Box::new(facts_for(&call)),
            preference: HookPreference::Neutral,
            reason: None,
        }
    };
    prop_oneof![
        4 => Just(HookDecision::Pass {}),
        1 => Just(HookDecision::Allow {}),
        1 => prop::option::of(text()).prop_map(|reason| HookDecision::Ask { reason: reason.map(arc) }),
        1 => Just(HookDecision::Defer {}),
        1 => text().prop_map(|reason| HookDecision::Deny { reason: arc(reason) }),
        1 => json().prop_map(change),
    ]
    .boxed()
}

fn failure() -> BoxedStrategy<ModelFailure> {
    use FailureClass::{ContextTooLong, Permanent, StreamCut, Transient};
    let class =
        prop::sample::select(vec![Transient, Transient, StreamCut, ContextTooLong, Permanent]);
    (class, text(), prop::option::of(any::<u64>()))
        .prop_map(|(class, message, retry_after_ms)| ModelFailure {
            class,
            message: arc(message),
            retry_after_ms,
            raw: None,
        })
        .boxed()
}

fn finding() -> BoxedStrategy<ProbeResult> {
    prop_oneof![
        text().prop_map(|text| ProbeResult::Happened { text: arc(text) }),
        Just(ProbeResult::DidNotHappen {}),
        Just(ProbeResult::Unknown {}),
    ]
    .boxed()
}

fn world() -> BoxedStrategy<World> {
    (reply(), outcome(), hook(), finding(), (advice(), opinion()), text())
        .prop_map(|(reply, outcome, hook, result, (advice, classification), text)| World {
            reply,
            outcome,
            hook,
            finding: result,
            advice,
            opinion: classification,
            text,
        })
        .boxed()
}

pub(crate) fn step() -> BoxedStrategy<Step> {
    prop_oneof![
        24 => (any::<usize>(), world()).prop_map(|(pick, world)| Step::Go(pick, Box::new(world))),
        3 => from_outside(),
        1 => astray(),
    ]
    .boxed()
}

fn from_outside() -> BoxedStrategy<Step> {
    let ticks = prop_oneof![4 => 0..20_000_u64, 2 => Just(200_000), 1 => Just(9_000_000), 1 => Just(u64::MAX)];
    let prompts = prop::sample::select(vec![Prompt::Same, Prompt::Same, Prompt::Other]);
    prop_oneof![
        4 => prop::collection::vec(mail(), 1..3).prop_map(Step::Mail),
        2 => (aim(), failure()).prop_map(|(aim, failure)| Step::Fails(aim, failure)),
        1 => (0..4_u16, block()).prop_map(|(index, block)| Step::Streams(index, block)),
        1 => ticks.prop_map(Step::Tick),
        3 => prompts.prop_map(Step::Adopt),
    ]
    .boxed()
}

fn astray() -> BoxedStrategy<Step> {
    prop_oneof![
        2 => (0..3_u32, answer()).prop_map(|(back, answer)| Step::Answer(back, answer)),
        2 => (aim(), reply()).prop_map(|(aim, reply)| Step::Reply(aim, reply)),
        2 => (aim(), outcome()).prop_map(|(aim, outcome)| Step::Returns(aim, outcome)),
        1 => (aim(), hook()).prop_map(|(aim, answer)| Step::Hook(aim, answer)),
        1 => advice().prop_map(Step::Advice),
        1 => (aim(), opinion()).prop_map(|(aim, classification)| Step::Opinion(aim, classification)),
        2 => (aim(), 0..5_u16).prop_map(|(aim, part)| Step::Home(aim, part, ChildOutcome::Answered)),
        1 => (aim(), finding()).prop_map(|(aim, result)| Step::Probe(aim, result)),
        1 => narrow().prop_map(|settings| Step::Configure(Box::new(settings))),
        1 => Just(Step::Fork),
    ]
    .boxed()
}

/// Returns the targeted call, with its attempt.
fn target(lane: &Lane, aim: Aim) -> (CallId, u32) {
    let calls = lane.live.run.as_ref().and_then(Run::round).map_or(&[][..], |round| &round.calls);
    match aim {
        Aim::At(place) if !calls.is_empty() => {
            let call = &calls[place % calls.len()];
            (call.id, call.attempts)
        }
        Aim::At(_) => (CallId { model_call: lane.live.model_call_count, index: 0 }, 1),
        Aim::Past(model_call, index) => (CallId { model_call, index }, model_call),
    }
}

fn ask(lane: &Lane, aim: Aim) -> u32 {
    match aim {
        Aim::At(_) => lane.live.model_call_count,
        Aim::Past(model_call, _) => model_call,
    }
}

/// Everything that could happen next by itself.
enum Next {
    Effect(Effect),
    Child(CallId, u16),
    Question(Question),
    Wake(UnixMillis),
    Prompt,
}

fn nexts(lane: &Lane) -> Vec<Next> {
    let wanted = wanted(&lane.live);
    let questions = lane.live.run.iter().flat_map(|run| run.open_questions().cloned());
    let mut nexts: Vec<Next> = wanted.effects.into_iter().map(Next::Effect).collect();
    nexts.extend(questions.map(Next::Question));
    let calls = lane.live.run.as_ref().and_then(Run::round).map_or(&[][..], |round| &round.calls);
    for call in calls {
        let parts = call.pending_children().into_iter().flat_map(|away| away.running_parts());
        nexts.extend(parts.map(|part| Next::Child(call.id, part)));
    }
    nexts.extend(wanted.wake_at.map(Next::Wake));
    if nexts.is_empty() {
        nexts.push(Next::Prompt);
    }
    nexts
}

fn go(mut lane: Lane, pick: usize, world: World) -> Lane {
    let mut nexts = nexts(&lane);
    let index = pick % nexts.len();
    match nexts.swap_remove(index) {
        Next::Effect(effect) => perform(lane, effect, world),
        Next::Child(call, part) => {
            let ending =
                if pick.is_multiple_of(3) { ChildOutcome::Failed } else { ChildOutcome::Answered };
            lane.deliver_child_result(child_result(call, part, ending), &world.text)
        }
        Next::Question(question) => {
            let answer = fitting(&question.kind, pick / 7, &world.text);
            lane.answer_to(question.id, answer)
        }
        Next::Wake(due) => {
            lane.now = UnixMillis(due.0.saturating_sub(1)).max(lane.now);
            lane.input(Input::TimerFired {})
        }
        Next::Prompt => {
            let blocks = vec![ContentBlock::text("go on"), ContentBlock::text(&world.text)];
            let run = RunId::from(format!("run at {}", lane.now.0));
            lane.send_command(InboxCommand::prompt(run, blocks))
        }
    }
}

/// Context that a call finds: often none, and often from a source that is known already.
fn found_context(text: &str) -> Vec<ContextNote> {
    let source = |at: usize| Arc::from(format!("memory:{}", text.len() % 5 + at));
    let note =
        |at| ContextNote { source: source(at), text: arc(text.to_owned()), allows: Vec::new() };
    (0..text.len() % 3).map(note).collect()
}

fn found_sources(text: &str) -> Vec<ContentSource> {
    let source = match text.len() % 7 {
        0 => ContentSource::Web(Arc::from("a.org")),
        1 => ContentSource::File(Arc::from("/outside")),
        _ => return Vec::new(),
    };
    vec![source]
}

fn perform(lane: Lane, effect: Effect, world: World) -> Lane {
    let started_at = lane.now;
    let input = match effect {
        Effect::CallModel(model_call) => {
            let facts = world.reply.tool_uses().map(|(_, call)| facts_for(call)).collect();
            Input::ModelReplied { model_call, reply: Arc::new(world.reply), facts }
        }
        Effect::RunTool { call, attempt } => Input::ToolReturned {
            call,
            attempt,
            started_at,
            outcome: world.outcome,
            context: found_context(&world.text),
            untrusted: found_sources(&world.text),
        },
        Effect::RunPreHook(call) | Effect::RunPostHook(call) => {
            let stop = (world.text.len() % 7 == 2).then(|| arc(world.text.clone()));
            let context = (world.text.len() % 3 == 1).then(|| arc(world.text));
            Input::HookResponded { call, decision: world.hook, context, stop }
        }
        Effect::ProbeCall(call) => Input::CallProbed { call, result: world.finding },
        Effect::ClassifyCall(call) => Input::CallClassified {
            call,
            classification: world.opinion,
            usage: TokenUsage::default(),
        },
        Effect::RequestReview(id) => Input::ReviewReturned { id, result: world.advice },
        Effect::RecordSettings => Input::Configured { settings: Arc::new(settings()) },
    };
    lane.input(input)
}

fn fitting(kind: &QuestionKind, pick: usize, text: &str) -> HumanAnswer {
    let text: Arc<str> = Arc::from(text);
    let (a, b, c) = match kind {
        QuestionKind::Approval { .. } => {
            let changed = changed(format!("{{\"on\":\"{}\"}}", text.len()));
            (HumanAnswer::allow(), changed, HumanAnswer::deny(text))
        }
        QuestionKind::Uncertain { .. } => {
            (HumanAnswer::Retry {}, HumanAnswer::MarkDone { text }, HumanAnswer::Abandon {})
        }
        QuestionKind::ModelQuestion { .. } => (
            HumanAnswer::Text { text: text.clone() },
            HumanAnswer::Text { text: text.clone() },
            HumanAnswer::deny(text),
        ),
        QuestionKind::ToolRequest { .. } => (
            HumanAnswer::Text { text: text.clone() },
            HumanAnswer::Continue {},
            HumanAnswer::deny(text),
        ),
        QuestionKind::Plan { .. } => {
            (HumanAnswer::allow(), HumanAnswer::Continue {}, HumanAnswer::deny(text))
        }
        QuestionKind::Guidance { .. } => {
            (HumanAnswer::Text { text }, HumanAnswer::Continue {}, HumanAnswer::Abandon {})
        }
        QuestionKind::Budget { .. } | QuestionKind::PromptChanged { .. } => {
            (HumanAnswer::Continue {}, HumanAnswer::Continue {}, HumanAnswer::Abandon {})
        }
    };
    match pick % 3 {
        0 => a,
        1 => b,
        _ => c,
    }
}

/// Performs a step.
pub(crate) fn happen(mut lane: Lane, step: Step) -> Lane {
    match step {
        Step::Go(pick, world) => go(lane, pick, *world),
        Step::Mail(bodies) => lane.send_commands(bodies),
        Step::Answer(back, answer) => {
            let question = lane.live.question_count.saturating_sub(back);
            lane.answer_to(question, answer)
        }
        Step::Reply(aim, reply) => {
            let model_call = ask(&lane, aim);
            let facts = reply.tool_uses().map(|(_, call)| facts_for(call)).collect();
            lane.input(Input::ModelReplied { model_call, reply: Arc::new(reply), facts })
        }
        Step::Fails(aim, failure) => {
            let model_call = ask(&lane, aim);
            lane.input(Input::ModelFailed { model_call, failure })
        }
        Step::Returns(aim, outcome) => {
            let (call, attempt) = target(&lane, aim);
            let started_at = lane.now;
            lane.input(Input::ToolReturned {
                call,
                attempt,
                started_at,
                outcome,
                context: Vec::new(),
                untrusted: Vec::new(),
            })
        }
        Step::Hook(aim, decision) => {
            let (call, _) = target(&lane, aim);
            lane.input(Input::HookResponded { call, decision, context: None, stop: None })
        }
        Step::Advice(advice) => lane.review_returned(advice),
        Step::Opinion(aim, classification) => {
            let (call, _) = target(&lane, aim);
            lane.input(Input::CallClassified { call, classification, usage: TokenUsage::default() })
        }
        Step::Home(aim, part, ending) => {
            let (call, _) = target(&lane, aim);
            lane.deliver_child_result(child_result(call, part, ending), "home")
        }
        Step::Probe(aim, result) => {
            let (call, _) = target(&lane, aim);
            lane.input(Input::CallProbed { call, result })
        }
        Step::Streams(index, block) if block.as_tool_use().is_some() => lane.streams(index, &block),
        Step::Streams(..) => lane,
        Step::Tick(u64::MAX) => {
            lane.now = UnixMillis(u64::MAX);
            lane.input(Input::TimerFired {})
        }
        Step::Tick(ms) => lane.wait(ms),
        Step::Adopt(Prompt::Same) => {
            let hash = lane.live.prompt_hash.clone().unwrap_or_else(|| Arc::from(""));
            lane.owner_changes_with_hash(&hash)
        }
        Step::Adopt(Prompt::Other) => lane.owner_changes_with_hash("another prompt"),
        Step::Configure(settings) => lane.configure(*settings),
        Step::Fork => lane.fork("parent"),
    }
}
