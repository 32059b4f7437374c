//! Plays an answer: its steps in order, at their pace, as a stream and then as a reply.

use std::sync::Arc;

use serde::Serialize;

use windlass_core::log::input::{FailureClass, ModelFailure};
use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::raw_json::{RawJson, sha256_hex};
use windlass_core::message::reply::{self, ModelReply, StopReason, TruncatedBlock};
use windlass_providers::{class_once_started, classify_status, parse_retry_after_ms};
use windlass_runtime::ports::{Clock, ReplyObserver};

use crate::scripted_answer::{AnswerStep, ScriptedAnswer, ScriptedFault, ScriptedUsage};
use crate::server::{ReplyEvents, pieces};

/// Plays `answer` and returns the reply.
pub(super) async fn play_answer(
    answer: ScriptedAnswer,
    clock: &dyn Clock,
    stream: &dyn ReplyObserver,
    events: ReplyEvents<'_>,
) -> Result<ModelReply, ModelFailure> {
    let mut performance = AnswerPlayer::new(clock, stream, events);
    let mut steps = answer.steps.iter().peekable();
    while let Some(step) = steps.next() {
        match steps.peek() {
            Some(AnswerStep::CutInside) => return Err(performance.play_half_block(step).await),
            Some(_) | None => performance.play_step(step).await?,
        }
    }
    performance.events.end_message(&answer.stop);
    Ok(ModelReply {
        blocks: performance.blocks,
        truncated_block: performance.cut,
        stop_reason: StopReason::from(answer.stop.reason.as_str()),
        stop_sequence: answer.stop.sequence.map(Arc::from),
        usage: to_reply_usage(answer.usage),
        envelope: None,
    })
}

struct AnswerPlayer<'a> {
    clock: &'a dyn Clock,
    stream: &'a dyn ReplyObserver,
    events: ReplyEvents<'a>,
    pace_ms: u64,
    /// Whether anything of the answer has been sent: from then on it is billed.
    has_sent: bool,
    blocks: Vec<ContentBlock>,
    cut: Option<TruncatedBlock>,
}

/// The channel on which the pieces of a block are shown. Arguments of calls are not shown, but take
/// their time.
#[derive(Clone, Copy)]
enum StreamChannel {
    Text,
    Thinking,
    Hidden,
}

impl<'a> AnswerPlayer<'a> {
    fn new(clock: &'a dyn Clock, stream: &'a dyn ReplyObserver, events: ReplyEvents<'a>) -> Self {
        let (blocks, cut) = (Vec::new(), None);
        Self { clock, stream, events, pace_ms: 0, has_sent: false, blocks, cut }
    }

    async fn play_step(&mut self, step: &AnswerStep) -> Result<(), ModelFailure> {
        match step {
            AnswerStep::Delay(ms) => self.clock.sleep(*ms).await,
            AnswerStep::Pace(ms) => self.pace_ms = *ms,
            AnswerStep::Cut | AnswerStep::CutInside => return Err(connection_dropped()),
            AnswerStep::Fail(fault) => return Err(self.fault_to_failure(fault)),
            AnswerStep::Say(_)
            | AnswerStep::Think(_)
            | AnswerStep::Call { .. }
            | AnswerStep::Raw(_) => {
                self.play_block(step).await;
            }
            AnswerStep::TruncatedCall { name, partial_json, .. } => {
                self.play_truncated_call(step, name, partial_json).await;
            }
        }
        Ok(())
    }

    async fn play_block(&mut self, step: &AnswerStep) {
        self.events.open_block(step);
        self.stream_pieces(step, streamed_text(step).1).await;
        self.events.close_block(step);
        if let Some(block) = step_block(step) {
            let index = u16::try_from(self.blocks.len()).unwrap_or(u16::MAX);
            self.has_sent = true;
            self.stream.on_block(index, &block);
            self.blocks.push(block);
        }
    }

    async fn play_half_block(&mut self, step: &AnswerStep) -> ModelFailure {
        self.events.open_block(step);
        self.stream_pieces(step, pieces::first_half(streamed_text(step).1)).await;
        connection_dropped()
    }

    async fn play_truncated_call(&mut self, step: &AnswerStep, name: &str, partial: &str) {
        self.events.open_block(step);
        self.stream_pieces(step, partial).await;
        self.events.close_block(step);
        self.has_sent = true;
        self.cut = Some(TruncatedBlock { name: Arc::from(name), partial: Arc::from(partial) });
    }

    /// Streams the text of a step, or its beginning, word by word.
    async fn stream_pieces(&mut self, step: &AnswerStep, text: &str) {
        for chunk in pieces::split_pieces(text) {
            self.wait_pace().await;
            self.events.write_piece(step, chunk);
            match streamed_text(step).0 {
                StreamChannel::Text => self.stream.on_text(chunk),
                StreamChannel::Thinking => self.stream.on_thinking(chunk),
                StreamChannel::Hidden => {}
            }
        }
    }

    /// Waits between two pieces; the first one is sent at once.
    async fn wait_pace(&mut self) {
        if self.has_sent && self.pace_ms > 0 {
            self.clock.sleep(self.pace_ms).await;
        }
        self.has_sent = true;
    }

    fn fault_to_failure(&self, fault: &ScriptedFault) -> ModelFailure {
        let refused = rejection_failure(fault, self.clock);
        if self.has_sent {
            ModelFailure { class: class_once_started(refused.class), ..refused }
        } else {
            refused
        }
    }
}

fn rejection_failure(fault: &ScriptedFault, clock: &dyn Clock) -> ModelFailure {
    match fault {
        ScriptedFault::Status { code, retry_after, message } => ModelFailure {
            class: classify_status(*code, message),
            message: Arc::from(format!("{code}: {message}")),
            retry_after_ms: retry_after
                .as_deref()
                .and_then(|header| parse_retry_after_ms(header, clock.now())),
            raw: None,
        },
        ScriptedFault::Timeout => {
            new_failure(FailureClass::Transient, "the provider stopped responding")
        }
        ScriptedFault::Connect => {
            new_failure(FailureClass::Transient, "the provider is unreachable")
        }
    }
}

fn connection_dropped() -> ModelFailure {
    new_failure(FailureClass::StreamCut, "the connection dropped before the reply was complete")
}

fn new_failure(class: FailureClass, message: &str) -> ModelFailure {
    ModelFailure { class, message: Arc::from(message), retry_after_ms: None, raw: None }
}

fn streamed_text(step: &AnswerStep) -> (StreamChannel, &str) {
    match step {
        AnswerStep::Say(text) => (StreamChannel::Text, text),
        AnswerStep::Think(text) => (StreamChannel::Thinking, text),
        AnswerStep::Raw(json) | AnswerStep::Call { input_json: json, .. } => {
            (StreamChannel::Hidden, json)
        }
        AnswerStep::TruncatedCall { partial_json, .. } => (StreamChannel::Hidden, partial_json),
        AnswerStep::Delay(_)
        | AnswerStep::Pace(_)
        | AnswerStep::Cut
        | AnswerStep::CutInside
        | AnswerStep::Fail(_) => (StreamChannel::Hidden, ""),
    }
}

fn step_block(step: &AnswerStep) -> Option<ContentBlock> {
    match step {
        AnswerStep::Say(text) => Some(ContentBlock::text(text)),
        AnswerStep::Think(text) => Some(thinking_block(text)),
        AnswerStep::Call { id, name, input_json } => {
            Some(ContentBlock::tool_use(id, name, &to_raw_json(input_json)))
        }
        AnswerStep::Raw(block) => Some(ContentBlock::new(to_raw_json(block))),
        AnswerStep::TruncatedCall { .. } | AnswerStep::Delay(_) | AnswerStep::Pace(_) => None,
        AnswerStep::Cut | AnswerStep::CutInside | AnswerStep::Fail(_) => None,
    }
}

/// Creates a thinking block with a signature, as a provider would: equal thinking has an equal
/// signature.
fn thinking_block(thought: &str) -> ContentBlock {
    #[derive(Serialize)]
    struct ThinkingBlockJson<'a> {
        r#type: &'a str,
        thinking: &'a str,
        signature: &'a str,
    }
    let signature = sha256_hex(thought.as_bytes());
    let thinking =
        ThinkingBlockJson { r#type: "thinking", thinking: thought, signature: &signature };
    ContentBlock::new(RawJson::encode(&thinking))
}

/// Parses JSON of the script. The script's parser accepts nothing but JSON, so the fallback to a
/// text is never used.
fn to_raw_json(text: &str) -> RawJson {
    RawJson::parse(text).unwrap_or_else(|_| RawJson::string(text))
}

fn to_reply_usage(usage: ScriptedUsage) -> reply::TokenUsage {
    reply::TokenUsage {
        input_tokens: usage.input,
        output_tokens: usage.output,
        cache_read_tokens: usage.cache_read,
        cache_write_tokens: usage.cache_write,
    }
}
