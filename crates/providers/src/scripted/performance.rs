//! Performing an answer: its steps in order, at their pace, as a stream and then as a reply.

use std::sync::Arc;

use serde::Serialize;

use windlass_core::block::Block;
use windlass_core::input::{Failure, FailureClass};
use windlass_core::raw::{Raw, sha256_hex};
use windlass_core::reply::{self, CutBlock, Reply, StopReason};
use windlass_runtime::ports::{Clock, Stream};

use super::answer::{Answer, Fault, Step, Usage};
use crate::{faults, retry_after};

/// Performs `answer`.
pub(super) async fn of(
    answer: Answer,
    clock: &dyn Clock,
    stream: &dyn Stream,
) -> Result<Reply, Failure> {
    let mut performance = Performance::new(clock, stream);
    let mut steps = answer.steps.iter().peekable();
    while let Some(step) = steps.next() {
        match steps.peek() {
            Some(Step::CutInside) => return Err(performance.half(step).await),
            Some(_) | None => performance.step(step).await?,
        }
    }
    Ok(Reply {
        blocks: performance.blocks,
        cut: performance.cut,
        stop_reason: StopReason::from(answer.stop.reason.as_str()),
        stop_sequence: answer.stop.sequence.map(Arc::from),
        usage: usage(answer.usage),
        envelope: None,
    })
}

struct Performance<'a> {
    clock: &'a dyn Clock,
    stream: &'a dyn Stream,
    pace_ms: u64,
    progress: Progress,
    blocks: Vec<Block>,
    cut: Option<CutBlock>,
}

/// Whether anything of the answer has been sent: from then on it is billed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Silent,
    Begun,
}

/// Where the pieces of a block are shown. Arguments of calls are not, but take their time.
#[derive(Clone, Copy)]
enum Shown {
    Text,
    Thinking,
    Nowhere,
}

impl<'a> Performance<'a> {
    fn new(clock: &'a dyn Clock, stream: &'a dyn Stream) -> Self {
        let (blocks, cut) = (Vec::new(), None);
        Self { clock, stream, pace_ms: 0, progress: Progress::Silent, blocks, cut }
    }

    async fn step(&mut self, step: &Step) -> Result<(), Failure> {
        match step {
            Step::Delay(ms) => self.clock.sleep(*ms).await,
            Step::Pace(ms) => self.pace_ms = *ms,
            Step::Cut | Step::CutInside => return Err(dropped()),
            Step::Fail(fault) => return Err(self.failure(fault)),
            Step::Say(_) | Step::Think(_) | Step::Call { .. } | Step::Raw(_) => {
                self.whole(step).await;
            }
            Step::TruncatedCall { name, partial_json, .. } => {
                self.truncated(name, partial_json).await;
            }
        }
        Ok(())
    }

    async fn whole(&mut self, step: &Step) {
        let (shown, text) = streamed(step);
        self.pieces(shown, text).await;
        if let Some(block) = block(step) {
            let index = u16::try_from(self.blocks.len()).unwrap_or(u16::MAX);
            self.progress = Progress::Begun;
            self.stream.block(index, &block);
            self.blocks.push(block);
        }
    }

    async fn half(&mut self, step: &Step) -> Failure {
        let (shown, text) = streamed(step);
        let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
        self.pieces(shown, text.get(..middle).unwrap_or_default()).await;
        dropped()
    }

    async fn truncated(&mut self, name: &str, partial: &str) {
        self.pieces(Shown::Nowhere, partial).await;
        self.progress = Progress::Begun;
        self.cut = Some(CutBlock { name: Arc::from(name), partial: Arc::from(partial) });
    }

    /// Streams a text word by word.
    async fn pieces(&mut self, shown: Shown, text: &str) {
        for piece in text.split_inclusive(char::is_whitespace) {
            self.pause().await;
            match shown {
                Shown::Text => self.stream.text(piece),
                Shown::Thinking => self.stream.thinking(piece),
                Shown::Nowhere => {}
            }
        }
    }

    /// The pace is kept between pieces, so the first one comes at once.
    async fn pause(&mut self) {
        if self.progress == Progress::Begun && self.pace_ms > 0 {
            self.clock.sleep(self.pace_ms).await;
        }
        self.progress = Progress::Begun;
    }

    fn failure(&self, fault: &Fault) -> Failure {
        let refused = refused(fault, self.clock);
        match self.progress {
            Progress::Silent => refused,
            Progress::Begun => Failure { class: faults::once_begun(refused.class), ..refused },
        }
    }
}

fn refused(fault: &Fault, clock: &dyn Clock) -> Failure {
    match fault {
        Fault::Status { code, retry_after, message } => Failure {
            class: faults::class(*code, message),
            message: Arc::from(format!("{code}: {message}")),
            retry_after_ms: retry_after
                .as_deref()
                .and_then(|header| retry_after::wait_ms(header, clock.now())),
            raw: None,
        },
        Fault::Timeout => failure(FailureClass::Passing, "the provider stopped answering"),
        Fault::Connect => failure(FailureClass::Passing, "the provider cannot be reached"),
    }
}

fn dropped() -> Failure {
    failure(FailureClass::Cut, "the connection dropped before the reply was complete")
}

fn failure(class: FailureClass, message: &str) -> Failure {
    Failure { class, message: Arc::from(message), retry_after_ms: None, raw: None }
}

fn streamed(step: &Step) -> (Shown, &str) {
    match step {
        Step::Say(text) => (Shown::Text, text),
        Step::Think(text) => (Shown::Thinking, text),
        Step::Raw(json) | Step::Call { input_json: json, .. } => (Shown::Nowhere, json),
        Step::TruncatedCall { partial_json, .. } => (Shown::Nowhere, partial_json),
        Step::Delay(_) | Step::Pace(_) | Step::Cut | Step::CutInside | Step::Fail(_) => {
            (Shown::Nowhere, "")
        }
    }
}

fn block(step: &Step) -> Option<Block> {
    match step {
        Step::Say(text) => Some(Block::text(text)),
        Step::Think(text) => Some(thinking(text)),
        Step::Call { id, name, input_json } => Some(Block::tool_use(id, name, &json(input_json))),
        Step::Raw(block) => Some(Block::new(json(block))),
        Step::TruncatedCall { .. } | Step::Delay(_) | Step::Pace(_) => None,
        Step::Cut | Step::CutInside | Step::Fail(_) => None,
    }
}

/// A thinking block with a signature, as a provider would give it: the same thought, the same
/// signature.
fn thinking(thought: &str) -> Block {
    #[derive(Serialize)]
    struct Thinking<'a> {
        r#type: &'a str,
        thinking: &'a str,
        signature: &'a str,
    }
    let signature = sha256_hex(thought.as_bytes());
    let thinking = Thinking { r#type: "thinking", thinking: thought, signature: &signature };
    Block::new(Raw::encode(&thinking))
}

/// The script's reader let nothing but JSON through, so the text is never what is left.
fn json(text: &str) -> Raw {
    Raw::parse(text).unwrap_or_else(|_| Raw::string(text))
}

fn usage(usage: Usage) -> reply::Usage {
    reply::Usage {
        input_tokens: usage.input,
        output_tokens: usage.output,
        cache_read_tokens: usage.cache_read,
        cache_write_tokens: usage.cache_write,
    }
}
