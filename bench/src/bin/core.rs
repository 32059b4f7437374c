//! One step of the core (decide, fold, next request) at 10 to 10,000 rounds of history: must be flat.
//!
//! A step is one tool round: the model replies with a call, the tool comes back, the next request
//! is built. Each is measured from the same state, so the history has exactly the size it says.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use windlass_core::block::Block;
use windlass_core::facts::{Facts, Repeat};
use windlass_core::ids::{CallId, Millis, RunId};
use windlass_core::input::Input;
use windlass_core::mail::{Mail, MailBody};
use windlass_core::order::Touches;
use windlass_core::outcome::Outcome;
use windlass_core::permission::Rule;
use windlass_core::raw::Raw;
use windlass_core::reply::{Reply, StopReason, Usage};
use windlass_core::request::Request;
use windlass_core::settings::{Model, Settings};
use windlass_core::{Conversation, Entry};

#[global_allocator]
static COUNTING: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

const ROUNDS: [u32; 4] = [10, 100, 1_000, 10_000];
const STEPS: usize = 4_000;
const WARM_UP: usize = 200;

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

fn allocations(base: &Conversation, inputs: [Input; 2]) -> Result<(usize, usize)> {
    let mut now = base.clone();
    let before = COUNTING.stats();
    let request = step(&mut now, inputs)?;
    let used = COUNTING.stats() - before;
    drop(request);
    Ok((used.allocations, used.bytes_allocated))
}

/// Decides and folds both inputs and builds the next request.
fn step(now: &mut Conversation, inputs: [Input; 2]) -> Result<Request> {
    for input in inputs {
        let at = now.at.plus(1);
        let entry = Entry::decide(now, at, input).context("the input settled nothing")?;
        now.fold(&entry)?;
    }
    now.request().context("the model is not asked")
}

/// A conversation with so many rounds, whose model is asked once more.
fn history(rounds: u32) -> Result<Conversation> {
    let mut settings = Settings::new(Model::named("bench"));
    settings.rules.allow.extend(Rule::parse("read"));
    settings.limits = settings.limits.with_tool_rounds(u32::MAX);
    let blocks = vec![Block::text("read everything")];
    let body = MailBody::Prompt { run: RunId::from("bench"), blocks };
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
    let run = now.run.as_ref().context("the run ended")?;
    ensure!(run.counters.tool_rounds == rounds, "built {} rounds", run.counters.tool_rounds);
    Ok(now)
}

/// A reply with one call, and what its tool brings.
fn inputs(ask: u32) -> [Input; 2] {
    let arguments = Raw::encode(&std::collections::BTreeMap::from([("path", "src/lib.rs")]));
    let facts = Facts {
        touches: Touches::Reads(vec![Arc::from("/src/lib.rs")]),
        repeat: Repeat::Repeatable,
        timeout_ms: 120_000,
        problem: None,
        ..Facts::unknown("read")
    };
    let reply = Reply {
        blocks: vec![Block::text("Let me look."), Block::tool_use("toolu_1", "read", &arguments)],
        cut: None,
        stop_reason: StopReason::ToolUse,
        stop_sequence: None,
        usage: Usage { input_tokens: 900, output_tokens: 60, ..Usage::default() },
        envelope: None,
    };
    let call = CallId { ask, index: 1 };
    let outcome = Outcome::Done(Raw::string(&"a line of a file\n".repeat(100)));
    [
        Input::Replied { ask, reply: Arc::new(reply), facts: vec![facts] },
        Input::ToolReturned { call, attempt: 1, started_at: Millis(1), outcome },
    ]
}
