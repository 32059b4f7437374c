//! A real conversation as the driver would append it: one prompt, rounds with a Read call, an end.

use std::sync::Arc;

use anyhow::{Context, Result};
use windlass_core::block::Block;
use windlass_core::conversation::Conversation;
use windlass_core::facts::{Facts, Interrupt, Repeat};
use windlass_core::ids::{Epoch, LaneId, Millis, RunId, Seq};
use windlass_core::input::Input;
use windlass_core::log::Entry;
use windlass_core::mail::{Mail, MailBody};
use windlass_core::order::Touches;
use windlass_core::outcome::Outcome;
use windlass_core::permission::Rule;
use windlass_core::project::{Row, project};
use windlass_core::raw::Raw;
use windlass_core::record::{Durability, durability};
use windlass_core::reply::{Reply, StopReason, Usage};
use windlass_core::run::Run;
use windlass_core::settings::{DurabilityMode, Model, Settings, ToolSpec};
use windlass_core::wanted::wanted;
use windlass_runtime::ports::{Append, EncodedEntry};

use crate::WORKER;

/// One append, without its place.
#[derive(Clone)]
pub(crate) struct Step {
    at: Millis,
    line: Arc<str>,
    rows: Vec<Row>,
    wake_at: Option<Millis>,
    is_active: bool,
    pub(crate) durability: Durability,
    pub(crate) reads_mail: bool,
}

pub(crate) struct Story {
    pub(crate) prompt: MailBody,
    pub(crate) steps: Vec<Step>,
    /// Bytes of what the model was sent in the end.
    pub(crate) history_bytes: u64,
}

impl Step {
    /// This step at a place in a log. Rows go to another run where one is named: stories repeat.
    pub(crate) fn append(&self, lane: &LaneId, epoch: Epoch, head: Seq, run: &RunId) -> Append {
        Append {
            lane: lane.clone(),
            owner: Arc::from(WORKER),
            epoch,
            head,
            entries: vec![EncodedEntry { seq: head + 1, at: self.at, line: self.line.clone() }],
            mail_read: Vec::new(),
            mail_out: Vec::new(),
            rows: self.rows.iter().map(|row| placed(row, run, head + 1)).collect(),
            wake_at: self.wake_at,
            active_run: self.is_active.then(|| run.clone()),
            durability: self.durability,
            spending: None,
        }
    }
}

fn placed(row: &Row, run: &RunId, seq: Seq) -> Row {
    let mut row = row.clone();
    match &mut row {
        Row::Run(row) => row.run = run.clone(),
        Row::Trace(row) => row.run = run.clone(),
        Row::ToolResult(row) => row.run = run.clone(),
        Row::Checkpoint(row) => {
            row.run = run.clone();
            row.seq = seq;
        }
        Row::Event(row) => {
            row.run = Some(run.clone());
            row.seq = seq;
        }
        Row::Raw(row) => {
            row.run = Some(run.clone());
            row.seq = seq;
        }
    }
    row
}

struct Telling {
    live: Conversation,
    now: Millis,
    steps: Vec<Step>,
}

/// A conversation of `rounds` rounds whose history is about `bytes` long.
pub(crate) fn tell(rounds: usize, bytes: usize) -> Result<Story> {
    let mut telling = Telling {
        live: Conversation::default(),
        now: Millis(1_790_000_000_000),
        steps: Vec::new(),
    };
    telling.input(Input::Configured { settings: Arc::new(settings()) })?;
    let run = RunId::from("0199d1c0-7a4e-7c30-9f00-000000000001");
    let prompt = MailBody::prompt(run, vec![Block::text("Why does the build fail?")]);
    telling.input(Input::Received { mail: vec![Mail { id: 1, body: prompt.clone() }] })?;
    // What the call's own JSON takes of a round.
    let file = (bytes / rounds).saturating_sub(330);
    for round in 0..rounds {
        telling.round(round, file)?;
    }
    telling.replied(vec![Block::text("The linker is missing.")], StopReason::EndTurn)?;
    let history_bytes = telling.live.transcript.bytes();
    Ok(Story { prompt, steps: telling.steps, history_bytes })
}

impl Telling {
    fn round(&mut self, round: usize, bytes: usize) -> Result<()> {
        let input = Raw::encode(&serde_json::json!({ "file_path": format!("src/part{round}.rs") }));
        let id = format!("toolu_01A09q90qw90lq917{round:06}");
        let call = Block::tool_use(&id, "Read", &input);
        self.replied(vec![Block::text("I look at the next file."), call], StopReason::ToolUse)?;
        let open = self.live.run.as_ref().and_then(Run::round).context("no round is open")?;
        let call = open.calls.first().context("the round has no call")?;
        let returned = Input::ToolReturned {
            call: call.id,
            attempt: call.attempts,
            started_at: self.now,
            // No two files are the same: a guard would rightly stop whoever reads one again and again.
            outcome: Outcome::Done(Raw::string(&format!("// {round}\n{}", source(bytes)))),
        };
        self.input(returned)
    }

    fn replied(&mut self, blocks: Vec<Block>, stop_reason: StopReason) -> Result<()> {
        let usage = Usage {
            input_tokens: 12,
            output_tokens: 90,
            cache_read_tokens: 8_000,
            cache_write_tokens: 400,
        };
        let reply =
            Reply { blocks, cut: None, stop_reason, stop_sequence: None, usage, envelope: None };
        let facts = reply.tool_uses().map(|_| reading()).collect();
        let ask = self.live.asks;
        self.input(Input::Replied { ask, reply: Arc::new(reply), facts })
    }

    fn input(&mut self, input: Input) -> Result<()> {
        self.now = self.now.plus(40);
        let reads_mail = matches!(input, Input::Received { .. });
        let entry = Entry::decide(&self.live, self.now, input).context("nothing was decided")?;
        let durable = entry.durable().context("nothing is to be stored")?;
        let rows = project(&self.live, &durable);
        self.live.fold(&entry)?;
        self.steps.push(Step {
            at: durable.at,
            line: Arc::from(durable.encode()),
            rows,
            wake_at: wanted(&self.live).wake_at,
            is_active: self.live.run.is_some(),
            durability: durability(&durable.records, DurabilityMode::Scheduled),
            reads_mail,
        });
        Ok(())
    }
}

fn settings() -> Settings {
    let mut settings = Settings::new(Model::named("scripted"));
    settings.system = Arc::from("You are a careful engineer.");
    settings.tools = vec![ToolSpec {
        name: Arc::from("Read"),
        description: Arc::from("Reads a file."),
        input_schema: Raw::encode(&serde_json::json!({ "type": "object" })),
    }];
    settings.rules.allow.extend(Rule::parse("Read"));
    settings
}

fn reading() -> Facts {
    Facts {
        touches: Touches::Reads(vec![Arc::from("file:src/part.rs")]),
        repeat: Repeat::Repeatable,
        interrupt: Interrupt::Interruptible,
        problem: None,
        timeout_ms: 120_000,
        ..Facts::unknown("Read")
    }
}

/// Text of a source file's looks.
fn source(bytes: usize) -> String {
    "    let answer = question.ask(42)?;\n".chars().cycle().take(bytes).collect()
}
