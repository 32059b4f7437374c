//! A real conversation as the driver would append it: one prompt, rounds with a Read call, an end.

use std::sync::Arc;

use anyhow::{Context, Result};
use windlass_core::call::call_facts::{CallFacts, Interruptibility, Repeatability};
use windlass_core::call::call_order::TouchedResources;
use windlass_core::call::outcome::ToolOutcome;
use windlass_core::log::entry::Entry;
use windlass_core::log::ids::{Epoch, LaneId, RunId, Seq, UnixMillis};
use windlass_core::log::inbox::{InboxCommand, InboxMessage};
use windlass_core::log::input::Input;
use windlass_core::log::record::{Durability, entry_durability};
use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::reply::{ModelReply, StopReason, TokenUsage};
use windlass_core::permission::PermissionRule;
use windlass_core::projection::{Row, project_rows};
use windlass_core::run::active_run::Run;
use windlass_core::run::conversation::Conversation;
use windlass_core::run::wanted::wanted;
use windlass_core::settings::conversation_settings::{
    DurabilityMode, ModelSpec, Settings, ToolSpec,
};
use windlass_runtime::ports::{AppendRequest, EncodedEntry};

use crate::WORKER;

/// One append, without its position in a log.
#[derive(Clone)]
pub(crate) struct RecordedStep {
    at: UnixMillis,
    line: Arc<str>,
    rows: Vec<Row>,
    wake_at: Option<UnixMillis>,
    is_active: bool,
    pub(crate) durability: Durability,
    pub(crate) reads_mail: bool,
}

pub(crate) struct RecordedConversation {
    pub(crate) prompt: InboxCommand,
    pub(crate) steps: Vec<RecordedStep>,
    /// Bytes of the last request's history.
    pub(crate) history_bytes: u64,
}

impl RecordedStep {
    /// The append of this step at a position in a log. Rows go to another run if one is named:
    /// recorded conversations are repeated.
    pub(crate) fn to_append(
        &self,
        lane: &LaneId,
        epoch: Epoch,
        head: Seq,
        run: &RunId,
    ) -> AppendRequest {
        AppendRequest {
            lane: lane.clone(),
            owner: Arc::from(WORKER),
            epoch,
            head,
            entries: vec![EncodedEntry { seq: head + 1, at: self.at, line: self.line.clone() }],
            messages_read: Vec::new(),
            outbox: Vec::new(),
            rows: self.rows.iter().map(|row| place_row(row, run, head + 1)).collect(),
            wake_at: self.wake_at,
            active_run: self.is_active.then(|| run.clone()),
            durability: self.durability,
            spending: None,
        }
    }
}

fn place_row(row: &Row, run: &RunId, seq: Seq) -> Row {
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

struct ConversationRecorder {
    live: Conversation,
    now: UnixMillis,
    steps: Vec<RecordedStep>,
}

/// A conversation of `rounds` rounds whose history is about `bytes` long.
pub(crate) fn record_conversation(rounds: usize, bytes: usize) -> Result<RecordedConversation> {
    let mut telling = ConversationRecorder {
        live: Conversation::default(),
        now: UnixMillis(1_790_000_000_000),
        steps: Vec::new(),
    };
    telling.record_input(Input::Configured { settings: Arc::new(bench_settings()) })?;
    let run = RunId::from("0199d1c0-7a4e-7c30-9f00-000000000001");
    let prompt = InboxCommand::prompt(run, vec![ContentBlock::text("Why does the build fail?")]);
    telling.record_input(Input::CommandsReceived {
        messages: vec![InboxMessage { id: 1, body: prompt.clone() }],
    })?;
    // A round also has the JSON of its call.
    let file = (bytes / rounds).saturating_sub(330);
    for round in 0..rounds {
        telling.record_round(round, file)?;
    }
    telling
        .record_reply(vec![ContentBlock::text("The linker is missing.")], StopReason::EndTurn)?;
    let history_bytes = telling.live.transcript.byte_count();
    Ok(RecordedConversation { prompt, steps: telling.steps, history_bytes })
}

impl ConversationRecorder {
    fn record_round(&mut self, round: usize, bytes: usize) -> Result<()> {
        let input =
            RawJson::encode(&serde_json::json!({ "file_path": format!("src/part{round}.rs") }));
        let id = format!("toolu_01A09q90qw90lq917{round:06}");
        let call = ContentBlock::tool_use(&id, "Read", &input);
        self.record_reply(
            vec![ContentBlock::text("I look at the next file."), call],
            StopReason::ToolUse,
        )?;
        let open = self.live.run.as_ref().and_then(Run::round).context("no round is open")?;
        let call = open.calls.first().context("the round has no call")?;
        let returned = Input::ToolReturned {
            call: call.id,
            attempt: call.attempts,
            started_at: self.now,
            // Files differ, so that loop detection does not stop the run.
            outcome: ToolOutcome::Done(RawJson::string(&format!(
                "// {round}\n{}",
                source_text(bytes)
            ))),
            context: Vec::new(),
            untrusted: Vec::new(),
        };
        self.record_input(returned)
    }

    fn record_reply(&mut self, blocks: Vec<ContentBlock>, stop_reason: StopReason) -> Result<()> {
        let usage = TokenUsage {
            input_tokens: 12,
            output_tokens: 90,
            cache_read_tokens: 8_000,
            cache_write_tokens: 400,
        };
        let reply = ModelReply {
            blocks,
            truncated_block: None,
            stop_reason,
            stop_sequence: None,
            usage,
            envelope: None,
        };
        let facts = reply.tool_uses().map(|_| read_facts()).collect();
        let model_call = self.live.model_call_count;
        self.record_input(Input::ModelReplied { model_call, reply: Arc::new(reply), facts })
    }

    fn record_input(&mut self, input: Input) -> Result<()> {
        self.now = self.now.plus_ms(40);
        let reads_mail = matches!(input, Input::CommandsReceived { .. });
        let entry = Entry::decide(&self.live, self.now, input).context("nothing was decided")?;
        let durable = entry.to_durable().context("nothing is to be stored")?;
        let rows = project_rows(&self.live, &durable);
        self.live.fold(&entry)?;
        self.steps.push(RecordedStep {
            at: durable.at,
            line: Arc::from(durable.encode()),
            rows,
            wake_at: wanted(&self.live).wake_at,
            is_active: self.live.run.is_some(),
            durability: entry_durability(&durable.records, DurabilityMode::Scheduled),
            reads_mail,
        });
        Ok(())
    }
}

fn bench_settings() -> Settings {
    let mut settings = Settings::new(ModelSpec::with_defaults("scripted"));
    settings.system = Arc::from("You are a careful engineer.");
    settings.tools = vec![ToolSpec {
        name: Arc::from("Read"),
        description: Arc::from("Reads a file."),
        input_schema: RawJson::encode(&serde_json::json!({ "type": "object" })),
    }];
    settings.rules.allow.extend(PermissionRule::parse("Read"));
    settings
}

fn read_facts() -> CallFacts {
    CallFacts {
        touches: TouchedResources::Reads(vec![Arc::from("file:src/part.rs")]),
        repeat: Repeatability::Repeatable,
        interrupt: Interruptibility::Interruptible,
        problem: None,
        timeout_ms: 120_000,
        ..CallFacts::for_unknown_tool("Read")
    }
}

/// Text that resembles a source file.
fn source_text(bytes: usize) -> String {
    "    let answer = question.ask(42)?;\n".chars().cycle().take(bytes).collect()
}
