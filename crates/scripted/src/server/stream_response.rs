//! Plays an answer as a stream of events.

use hyper::Response;
use tokio::sync::mpsc::{self, Sender};
use windlass_runtime::ports::Clock;

use super::answer_block::AnswerBlock;
use super::answer_start::StreamPace;
use super::event_encoder::EventEncoder;
use super::limits::{MAX_QUEUED_EVENTS, PING_MS, SILENCE_MS};
use super::pieces;
use super::rejection::RequestRejection;
use super::request_handler::RequestContext;
use super::request_observer::ServedOutcome;
use super::respond;
use super::response_body::{ResponseBody, StreamPiece};
use crate::scripted_answer::{AnswerStep, ScriptedFault, ScriptedStop};

/// An answer whose stream starts now.
pub(super) struct StartedAnswer {
    pub(super) steps: Vec<AnswerStep>,
    pub(super) pace: StreamPace,
    pub(super) stop: ScriptedStop,
}

/// Starts the stream and a task that continues it.
pub(super) fn start_stream(
    errand: RequestContext,
    begun: StartedAnswer,
    encoder: Box<dyn EventEncoder>,
) -> Response<ResponseBody> {
    let (sender, receiver) = mpsc::channel(MAX_QUEUED_EVENTS);
    let RequestContext { state, ticket, .. } = errand;
    tokio::spawn(async move {
        let clock = state.clock.as_ref();
        let pace = begun.pace;
        let mut stage = StreamPlayer { clock, sender, encoder, pace, has_sent: false };
        if let Ok(outcome) = stage.play(&begun).await {
            ticket.finish(outcome);
        }
    });
    respond::event_stream_response(ResponseBody::stream(receiver))
}

/// The client left, so the answer is not played further.
struct ClientLeft;

struct StreamPlayer<'a> {
    clock: &'a dyn Clock,
    sender: Sender<StreamPiece>,
    encoder: Box<dyn EventEncoder>,
    pace: StreamPace,
    /// Whether a piece was sent: the first one is sent at once.
    has_sent: bool,
}

impl StreamPlayer<'_> {
    async fn play(&mut self, begun: &StartedAnswer) -> Result<ServedOutcome, ClientLeft> {
        self.write_events(|encoder, out| encoder.begin_answer(out)).await?;
        let mut steps = begun.steps.iter().peekable();
        while let Some(step) = steps.next() {
            if let Some(block) = AnswerBlock::from_step(step) {
                match steps.peek() {
                    Some(AnswerStep::CutInside) => self.play_half_block(&block).await?,
                    Some(_) | None => self.play_block(&block).await?,
                }
            } else if let Some(outcome) = self.play_control_step(step).await? {
                return Ok(outcome);
            }
        }
        self.write_events(|encoder, out| encoder.end_answer(out, &begun.stop)).await?;
        Ok(ServedOutcome::Answered { status: 200, reason: begun.stop.reason.clone() })
    }

    /// Plays a step without content, and returns the outcome if it is the last one.
    async fn play_control_step(
        &mut self,
        step: &AnswerStep,
    ) -> Result<Option<ServedOutcome>, ClientLeft> {
        match step {
            AnswerStep::Delay(ms) => self.delay_with_pings(*ms).await?,
            AnswerStep::Pace(ms) => self.pace = StreamPace(*ms),
            AnswerStep::Cut | AnswerStep::CutInside => {
                return self.cut_connection(ServedOutcome::Cut).await.map(Some);
            }
            AnswerStep::Fail(fault) => return self.end_with_fault(fault).await.map(Some),
            AnswerStep::Say(_) | AnswerStep::Think(_) | AnswerStep::Raw(_) => {}
            AnswerStep::Call { .. } | AnswerStep::TruncatedCall { .. } => {}
        }
        Ok(None)
    }

    async fn play_block(&mut self, block: &AnswerBlock<'_>) -> Result<(), ClientLeft> {
        self.write_events(|encoder, out| encoder.open_block(out, block)).await?;
        self.stream_pieces(block, block.streamed_text()).await?;
        self.write_events(|encoder, out| encoder.close_block(out, block)).await
    }

    async fn play_half_block(&mut self, block: &AnswerBlock<'_>) -> Result<(), ClientLeft> {
        self.write_events(|encoder, out| encoder.open_block(out, block)).await?;
        self.stream_pieces(block, pieces::first_half(block.streamed_text())).await
    }

    async fn stream_pieces(
        &mut self,
        block: &AnswerBlock<'_>,
        text: &str,
    ) -> Result<(), ClientLeft> {
        for chunk in pieces::split_pieces(text) {
            self.wait_pace().await?;
            self.write_events(|encoder, out| encoder.write_piece(out, block, chunk)).await?;
        }
        Ok(())
    }

    async fn wait_pace(&mut self) -> Result<(), ClientLeft> {
        let StreamPace(ms) = self.pace;
        if ms > 0 && self.has_sent {
            self.sleep_while_connected(ms).await?;
        }
        self.has_sent = true;
        Ok(())
    }

    /// Waits and sends pings meanwhile.
    async fn delay_with_pings(&mut self, ms: u64) -> Result<(), ClientLeft> {
        let mut remaining = ms;
        while remaining > PING_MS {
            self.sleep_while_connected(PING_MS).await?;
            self.write_events(|encoder, out| encoder.write_ping(out)).await?;
            remaining = remaining.saturating_sub(PING_MS);
        }
        self.sleep_while_connected(remaining).await
    }

    async fn end_with_fault(&mut self, fault: &ScriptedFault) -> Result<ServedOutcome, ClientLeft> {
        match fault {
            ScriptedFault::Status { code, message, .. } => {
                let refusal = RequestRejection::new(*code, message.as_str());
                self.write_events(|encoder, out| encoder.end_with_error(out, &refusal)).await?;
                Ok(ServedOutcome::Failed { status: *code })
            }
            ScriptedFault::Timeout => {
                self.sleep_while_connected(SILENCE_MS).await?;
                self.cut_connection(ServedOutcome::Closed).await
            }
            ScriptedFault::Connect => self.cut_connection(ServedOutcome::Closed).await,
        }
    }

    async fn cut_connection(
        &mut self,
        outcome: ServedOutcome,
    ) -> Result<ServedOutcome, ClientLeft> {
        self.sender.send(StreamPiece::Cut).await.map_err(|_| ClientLeft)?;
        Ok(outcome)
    }

    async fn sleep_while_connected(&self, ms: u64) -> Result<(), ClientLeft> {
        tokio::select! {
            () = self.clock.sleep(ms) => Ok(()),
            () = self.sender.closed() => Err(ClientLeft),
        }
    }

    async fn write_events(
        &mut self,
        events: impl FnOnce(&mut dyn EventEncoder, &mut String),
    ) -> Result<(), ClientLeft> {
        let mut out = String::new();
        events(self.encoder.as_mut(), &mut out);
        if out.is_empty() {
            return Ok(());
        }
        self.sender.send(StreamPiece::Events(out.into())).await.map_err(|_| ClientLeft)
    }
}
