//! One step of the core (decide, fold, next request) at 10 to 10,000 rounds; must be flat
//!
//! A step is one tool round with everything switched on: the model replies with a call and a note
//! for the journal, hooks check them, the tool returns, hooks check its result, the next request is
//! built. Each step is measured from the same state, so the history has exactly the stated size.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use windlass_bench::time_stats::current_time;
use windlass_core::budget::spending::ModelPrice;
use windlass_core::call::call_facts::{AnsweredBy, CallFacts, Repeatability};
use windlass_core::call::call_order::TouchedResources;
use windlass_core::call::outcome::ToolOutcome;
use windlass_core::log::ids::{CallId, RunId, UnixMillis};
use windlass_core::log::inbox::{InboxCommand, InboxMessage};
use windlass_core::log::input::{HookDecision, Input};
use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::reply::{ModelReply, StopReason, TokenUsage};
use windlass_core::message::request::ModelRequest;
use windlass_core::permission::PermissionRule;
use windlass_core::run::journal::{JournalChange, JournalField, JournalRequest};
use windlass_core::settings::conversation_settings::{HookPresence, ModelSpec, Settings};
use windlass_core::{Conversation, Entry};

#[global_allocator]
static COUNTING_ALLOCATOR: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

const ROUNDS: [u32; 4] = [10, 100, 1_000, 10_000];
const STEPS: usize = 4_000;
const WARM_UP: usize = 200;

/// Number of rules in each list.
const RULES_PER_LIST: usize = 20;

/// Maximum ratio of the cost with the longest history to that with the shortest.
const MAX_RATIO: f64 = 1.5;

fn main() -> Result<ExitCode> {
    let histories = ROUNDS.map(build_history);
    let mut lines = Vec::new();
    for history in histories {
        lines.push(measure_step(&history?)?);
    }
    println!(
        "{:>8} {:>12} {:>14} {:>12} {:>8}",
        "rounds", "µs per step", "allocations", "bytes", "ratio"
    );
    let first = lines.first().map_or(1.0, |line| line.micros);
    let mut worst = 0.0_f64;
    for (rounds, line) in ROUNDS.iter().zip(&lines) {
        let ratio = line.micros / first;
        worst = worst.max(ratio);
        let StepCost { micros, allocations, bytes } = line;
        println!("{rounds:>8} {micros:>12.2} {allocations:>14} {bytes:>12} {ratio:>8.2}");
    }
    let flat = worst <= MAX_RATIO;
    let verdict = if flat { "flat" } else { "NOT flat" };
    println!("core: {verdict}, worst ratio {worst:.2} (at most {MAX_RATIO})");
    Ok(if flat { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The cost of one step.
struct StepCost {
    micros: f64,
    allocations: usize,
    bytes: usize,
}

fn measure_step(base: &Conversation) -> Result<StepCost> {
    let inputs = step_inputs(base.model_call_count);
    let mut times: Vec<Duration> = Vec::with_capacity(STEPS);
    for step_number in 0..STEPS + WARM_UP {
        let mut now = base.clone();
        let inputs = inputs.clone();
        let began = current_time();
        let request = run_step(&mut now, inputs)?;
        let took = began.elapsed();
        drop(std::hint::black_box(request));
        if step_number >= WARM_UP {
            times.push(took);
        }
    }
    times.sort_unstable();
    let median = times.get(STEPS / 2).context("no step was measured")?;
    let (allocations, bytes) = count_allocations(base, inputs)?;
    Ok(StepCost { micros: median.as_secs_f64() * 1e6, allocations, bytes })
}

fn count_allocations(base: &Conversation, inputs: Vec<Input>) -> Result<(usize, usize)> {
    let mut now = base.clone();
    let before = COUNTING_ALLOCATOR.stats();
    let request = run_step(&mut now, inputs)?;
    let used = COUNTING_ALLOCATOR.stats() - before;
    drop(request);
    Ok((used.allocations, used.bytes_allocated))
}

/// Decides and folds the inputs and builds the next request.
fn run_step(now: &mut Conversation, inputs: Vec<Input>) -> Result<ModelRequest> {
    for input in inputs {
        let at = now.at.plus_ms(1);
        let entry = Entry::decide(now, at, input).context("the input settled nothing")?;
        now.fold(&entry)?;
    }
    now.model_request().context("the model is not asked")
}

/// Builds a conversation with this many rounds and a model call in flight.
fn build_history(rounds: u32) -> Result<Conversation> {
    let settings = full_settings();
    let blocks = vec![ContentBlock::text("read everything")];
    let body = InboxCommand::prompt(RunId::from("bench"), blocks);
    let mut now = Conversation::default();
    for input in [
        Input::Configured { settings: Arc::new(settings) },
        Input::CommandsReceived { messages: vec![InboxMessage { id: 1, body }] },
    ] {
        let entry = Entry::decide(&now, UnixMillis(1), input).context("not configured")?;
        now.fold(&entry)?;
    }
    for _ in 0..rounds {
        let inputs = step_inputs(now.model_call_count);
        run_step(&mut now, inputs)?;
    }
    ensure!(!now.journal.is_empty() || rounds == 0, "nothing was written down");
    let run = now.run.as_ref().context("the run ended")?;
    ensure!(run.counters.tool_rounds == rounds, "built {} rounds", run.counters.tool_rounds);
    Ok(now)
}

/// Settings with everything that a run can have: rules, hooks, stages, guards, budgets, time
/// limits.
fn full_settings() -> Settings {
    let price = ModelPrice {
        input_usd_micros: 3_000_000,
        output_usd_micros: 15_000_000,
        cache_read_usd_micros: 300_000,
        cache_write_usd_micros: 3_750_000,
        above: None,
    };
    let mut settings = Settings::new(ModelSpec {
        price: Some(price),
        window_tokens: 100_000_000,
        ..ModelSpec::with_defaults("bench")
    });
    let rules = |name: &str| {
        (0..RULES_PER_LIST).flat_map(|n| PermissionRule::parse(&format!("{name}{n}"))).collect()
    };
    settings.rules.deny = rules("never");
    settings.rules.ask = rules("perhaps");
    settings.rules.allow = rules("always");
    settings.rules.allow.extend(PermissionRule::parse("read"));
    settings.limits = settings.limits.with_tool_rounds(u32::MAX);
    settings.limits.run_tokens = Some(u64::MAX / 4);
    settings.limits.approval_ms = Some(60_000);
    settings.budget.run.usd_micros = Some(u64::MAX / 4);
    settings.budget.conversation.tokens = Some(u64::MAX / 4);
    settings.thinking.task_tokens = Some(u64::MAX / 4);
    settings.guards.lookup_tool = Some(Arc::from("search"));
    let listening = HookPresence::Present;
    settings.hooks.before_tool = listening;
    settings.hooks.after_tool = listening;
    settings.hooks.compaction = listening;
    settings
}

/// A note for the journal, which the model writes now and then.
fn journal_note() -> (ContentBlock, CallFacts) {
    let change =
        JournalChange::Set { field: JournalField::CurrentState, text: Arc::from("reading") };
    let facts = CallFacts {
        answered_by: AnsweredBy::Journal,
        journal: Some(JournalRequest::Change(vec![change])),
        touches: TouchedResources::Reads(Vec::new()),
        repeat: Repeatability::Repeatable,
        problem: None,
        ..CallFacts::for_unknown_tool("update_run_journal")
    };
    let input = RawJson::encode(&std::collections::BTreeMap::from([("current_state", "reading")]));
    (ContentBlock::tool_use("toolu_2", "update_run_journal", &input), facts)
}

/// The inputs of one step: a reply with a call and a note for the journal, the responses of hooks,
/// and the result of the tool. Each step reads another file, so that loop detection does not stop
/// the run.
fn step_inputs(model_call: u32) -> Vec<Input> {
    let path = format!("src/{model_call}.rs");
    let arguments = RawJson::encode(&std::collections::BTreeMap::from([("path", &path)]));
    let facts = CallFacts {
        touches: TouchedResources::Reads(vec![Arc::from(path.as_str())]),
        repeat: Repeatability::Repeatable,
        timeout_ms: 120_000,
        problem: None,
        ..CallFacts::for_unknown_tool("read")
    };
    let (note, noting) = journal_note();
    let reply = ModelReply {
        blocks: vec![
            ContentBlock::text("Let me look."),
            ContentBlock::tool_use("toolu_1", "read", &arguments),
            note,
        ],
        truncated_block: None,
        stop_reason: StopReason::ToolUse,
        stop_sequence: None,
        usage: TokenUsage { input_tokens: 900, output_tokens: 60, ..TokenUsage::default() },
        envelope: None,
    };
    let call = CallId { model_call, index: 1 };
    let outcome = ToolOutcome::Done(RawJson::string(&format!("a line of {path}\n").repeat(100)));
    let passes = |index| Input::HookResponded {
        call: CallId { model_call, index },
        decision: HookDecision::Pass {},
        context: None,
        stop: None,
    };
    vec![
        Input::ModelReplied { model_call, reply: Arc::new(reply), facts: vec![facts, noting] },
        passes(1),
        passes(2),
        Input::ToolReturned {
            call,
            attempt: 1,
            started_at: UnixMillis(1),
            outcome,
            context: Vec::new(),
            untrusted: Vec::new(),
        },
        passes(1),
    ]
}
