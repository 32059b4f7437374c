//! One step of the core (decide, fold, next request) at 10 to 10,000 rounds of history: must be flat.
//!
//! A step is one tool round with everything switched on: the model replies with a call and a note for
//! the journal, hooks look at them, the tool comes back, hooks look again, the next request is built.
//! Each is measured from the same state, so the history has exactly the size it says.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use windlass_core::block::Block;
use windlass_core::budget::Price;
use windlass_core::facts::{AnsweredBy, Facts, Repeat};
use windlass_core::ids::{CallId, Millis, RunId};
use windlass_core::input::{HookAnswer, Input};
use windlass_core::journal::{Change, Field, Wish};
use windlass_core::mail::{Mail, MailBody};
use windlass_core::order::Touches;
use windlass_core::outcome::Outcome;
use windlass_core::permission::Rule;
use windlass_core::raw::Raw;
use windlass_core::reply::{Reply, StopReason, Usage};
use windlass_core::request::Request;
use windlass_core::settings::{Listening, Model, Settings};
use windlass_core::{Conversation, Entry};

#[global_allocator]
static COUNTING: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

const ROUNDS: [u32; 4] = [10, 100, 1_000, 10_000];
const STEPS: usize = 4_000;
const WARM_UP: usize = 200;

/// Rules of each list.
const RULES: usize = 20;

/// How much dearer the longest history may be than the shortest.
const FLAT: f64 = 1.5;

fn main() -> Result<ExitCode> {
    let histories = ROUNDS.map(history);
    let mut lines = Vec::new();
    for history in histories {
        lines.push(measure(&history?)?);
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
        let Line { micros, allocations, bytes } = line;
        println!("{rounds:>8} {micros:>12.2} {allocations:>14} {bytes:>12} {ratio:>8.2}");
    }
    let flat = worst <= FLAT;
    let verdict = if flat { "flat" } else { "NOT flat" };
    println!("core: {verdict}, worst ratio {worst:.2} (at most {FLAT})");
    Ok(if flat { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What one step costs.
struct Line {
    micros: f64,
    allocations: usize,
    bytes: usize,
}

fn measure(base: &Conversation) -> Result<Line> {
    let inputs = inputs(base.asks);
    let mut times: Vec<Duration> = Vec::with_capacity(STEPS);
    for step_number in 0..STEPS + WARM_UP {
        let mut now = base.clone();
        let inputs = inputs.clone();
        let began = clock();
        let request = step(&mut now, inputs)?;
        let took = began.elapsed();
        drop(std::hint::black_box(request));
        if step_number >= WARM_UP {
            times.push(took);
        }
    }
    times.sort_unstable();
    let median = times.get(STEPS / 2).context("no step was measured")?;
    let (allocations, bytes) = allocations(base, inputs)?;
    Ok(Line { micros: median.as_secs_f64() * 1e6, allocations, bytes })
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures the real clock")]
fn clock() -> Instant {
    Instant::now()
}

fn allocations(base: &Conversation, inputs: Vec<Input>) -> Result<(usize, usize)> {
    let mut now = base.clone();
    let before = COUNTING.stats();
    let request = step(&mut now, inputs)?;
    let used = COUNTING.stats() - before;
    drop(request);
    Ok((used.allocations, used.bytes_allocated))
}

/// Decides and folds the inputs and builds the next request.
fn step(now: &mut Conversation, inputs: Vec<Input>) -> Result<Request> {
    for input in inputs {
        let at = now.at.plus(1);
        let entry = Entry::decide(now, at, input).context("the input settled nothing")?;
        now.fold(&entry)?;
    }
    now.request().context("the model is not asked")
}

/// A conversation with so many rounds, whose model is asked once more.
fn history(rounds: u32) -> Result<Conversation> {
    let settings = everything_on();
    let blocks = vec![Block::text("read everything")];
    let body = MailBody::prompt(RunId::from("bench"), blocks);
    let mut now = Conversation::default();
    for input in [
        Input::Configured { settings: Arc::new(settings) },
        Input::Received { mail: vec![Mail { id: 1, body }] },
    ] {
        let entry = Entry::decide(&now, Millis(1), input).context("not configured")?;
        now.fold(&entry)?;
    }
    for _ in 0..rounds {
        let inputs = inputs(now.asks);
        step(&mut now, inputs)?;
    }
    ensure!(!now.journal.is_empty() || rounds == 0, "nothing was written down");
    let run = now.run.as_ref().context("the run ended")?;
    ensure!(run.counters.tool_rounds == rounds, "built {} rounds", run.counters.tool_rounds);
    Ok(now)
}

/// Everything a run can have switched on: rules, hooks, stages, guards, budgets, times.
fn everything_on() -> Settings {
    let price = Price {
        input_usd_micros: 3_000_000,
        output_usd_micros: 15_000_000,
        cache_read_usd_micros: 300_000,
        cache_write_usd_micros: 3_750_000,
        above: None,
    };
    let mut settings = Settings::new(Model {
        price: Some(price),
        window_tokens: 100_000_000,
        ..Model::named("bench")
    });
    let rules = |name: &str| (0..RULES).flat_map(|n| Rule::parse(&format!("{name}{n}"))).collect();
    settings.rules.deny = rules("never");
    settings.rules.ask = rules("perhaps");
    settings.rules.allow = rules("always");
    settings.rules.allow.extend(Rule::parse("read"));
    settings.limits = settings.limits.with_tool_rounds(u32::MAX);
    settings.limits.run_tokens = Some(u64::MAX / 4);
    settings.limits.approval_ms = Some(60_000);
    settings.budget.run.usd_micros = Some(u64::MAX / 4);
    settings.budget.conversation.tokens = Some(u64::MAX / 4);
    settings.thinking.task_tokens = Some(u64::MAX / 4);
    settings.guards.lookup_tool = Some(Arc::from("search"));
    let listening = Listening::Hooked;
    settings.hooks.before_tool = listening;
    settings.hooks.after_tool = listening;
    settings.hooks.compaction = listening;
    settings
}

/// What the journal is told now and then.
fn note() -> (Block, Facts) {
    let change = Change::Set { field: Field::CurrentState, text: Arc::from("reading") };
    let facts = Facts {
        answered_by: AnsweredBy::Journal,
        journal: Some(Wish::Change(vec![change])),
        touches: Touches::Reads(Vec::new()),
        repeat: Repeat::Repeatable,
        problem: None,
        ..Facts::unknown("update_run_journal")
    };
    let input = Raw::encode(&std::collections::BTreeMap::from([("current_state", "reading")]));
    (Block::tool_use("toolu_2", "update_run_journal", &input), facts)
}

/// A reply with a call and a note for the journal, what hooks say of them, and what the tool brings.
/// Each reads another file, as work that gets on does.
fn inputs(ask: u32) -> Vec<Input> {
    let path = format!("src/{ask}.rs");
    let arguments = Raw::encode(&std::collections::BTreeMap::from([("path", &path)]));
    let facts = Facts {
        touches: Touches::Reads(vec![Arc::from(path.as_str())]),
        repeat: Repeat::Repeatable,
        timeout_ms: 120_000,
        problem: None,
        ..Facts::unknown("read")
    };
    let (note, noting) = note();
    let reply = Reply {
        blocks: vec![
            Block::text("Let me look."),
            Block::tool_use("toolu_1", "read", &arguments),
            note,
        ],
        cut: None,
        stop_reason: StopReason::ToolUse,
        stop_sequence: None,
        usage: Usage { input_tokens: 900, output_tokens: 60, ..Usage::default() },
        envelope: None,
    };
    let call = CallId { ask, index: 1 };
    let outcome = Outcome::Done(Raw::string(&format!("a line of {path}\n").repeat(100)));
    let passes = |index| Input::HookAnswered {
        call: CallId { ask, index },
        answer: HookAnswer::Pass {},
        context: None,
    };
    vec![
        Input::Replied { ask, reply: Arc::new(reply), facts: vec![facts, noting] },
        passes(1),
        passes(2),
        Input::ToolReturned { call, attempt: 1, started_at: Millis(1), outcome },
        passes(1),
    ]
}
