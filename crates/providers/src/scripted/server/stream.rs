//! Performing an answer as a stream of events.

use hyper::Response;
use tokio::sync::mpsc::{self, Sender};
use windlass_runtime::ports::Clock;

use super::super::answer::{Fault, Step, Stop};
use super::block::Block;
use super::encoder::Encoder;
use super::handler::Errand;
use super::limits::{MAX_QUEUED_EVENTS, PING_MS, SILENCE_MS};
use super::opening::Pace;
use super::outgoing::{Outgoing, Piece};
use super::pieces;
use super::refusal::Refusal;
use super::respond;
use super::watch::Outcome;

/// An answer whose stream begins now.
pub(super) struct Begun {
    pub(super) steps: Vec<Step>,
    pub(super) pace: Pace,
    pub(super) stop: Stop,
}

/// Starts the stream and leaves a task behind that goes on with it.
pub(super) fn start(errand: Errand, begun: Begun, encoder: Box<dyn Encoder>) -> Response<Outgoing> {
    let (sender, receiver) = mpsc::channel(MAX_QUEUED_EVENTS);
    let Errand { state, ticket, .. } = errand;
    tokio::spawn(async move {
        let clock = state.clock.as_ref();
        let pace = begun.pace;
        let mut stage = Stage { clock, sender, encoder, pace, sent: Sent::Nothing };
        if let Ok(outcome) = stage.perform(&begun).await {
            ticket.done(outcome);
        }
    });
    respond::events(Outgoing::stream(receiver))
}

/// The client left; there is nobody to perform for.
struct Left;

/// Whether a piece of a block has been sent: the pace is kept between pieces.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sent {
    Nothing,
    Pieces,
}

struct Stage<'a> {
    clock: &'a dyn Clock,
    sender: Sender<Piece>,
    encoder: Box<dyn Encoder>,
    pace: Pace,
    sent: Sent,
}

impl Stage<'_> {
    async fn perform(&mut self, begun: &Begun) -> Result<Outcome, Left> {
        self.write(|encoder, out| encoder.begin(out)).await?;
        let mut steps = begun.steps.iter().peekable();
        while let Some(step) = steps.next() {
            if let Some(block) = Block::of(step) {
                match steps.peek() {
                    Some(Step::CutInside) => self.half(&block).await?,
                    Some(_) | None => self.block(&block).await?,
                }
            } else if let Some(outcome) = self.other(step).await? {
                return Ok(outcome);
            }
        }
        self.write(|encoder, out| encoder.end(out, &begun.stop)).await?;
        Ok(Outcome::Answered { status: 200, because: begun.stop.reason.clone() })
    }

    /// A step without content, and the outcome if it is the last one.
    async fn other(&mut self, step: &Step) -> Result<Option<Outcome>, Left> {
        match step {
            Step::Delay(ms) => self.delay(*ms).await?,
            Step::Pace(ms) => self.pace = Pace(*ms),
            Step::Cut | Step::CutInside => return self.cut(Outcome::Cut).await.map(Some),
            Step::Fail(fault) => return self.fail(fault).await.map(Some),
            Step::Say(_) | Step::Think(_) | Step::Raw(_) => {}
            Step::Call { .. } | Step::TruncatedCall { .. } => {}
        }
        Ok(None)
    }

    async fn block(&mut self, block: &Block<'_>) -> Result<(), Left> {
        self.write(|encoder, out| encoder.open(out, block)).await?;
        self.pieces(block, block.streamed()).await?;
        self.write(|encoder, out| encoder.close(out, block)).await
    }

    async fn half(&mut self, block: &Block<'_>) -> Result<(), Left> {
        self.write(|encoder, out| encoder.open(out, block)).await?;
        self.pieces(block, pieces::half(block.streamed())).await
    }

    async fn pieces(&mut self, block: &Block<'_>, text: &str) -> Result<(), Left> {
        for piece in pieces::of(text) {
            self.keep_pace().await?;
            self.write(|encoder, out| encoder.piece(out, block, piece)).await?;
        }
        Ok(())
    }

    async fn keep_pace(&mut self) -> Result<(), Left> {
        let Pace(ms) = self.pace;
        if ms > 0 && self.sent == Sent::Pieces {
            self.sleep(ms).await?;
        }
        self.sent = Sent::Pieces;
        Ok(())
    }

    /// Waits and shows signs of life.
    async fn delay(&mut self, ms: u64) -> Result<(), Left> {
        let mut left = ms;
        while left > PING_MS {
            self.sleep(PING_MS).await?;
            self.write(|encoder, out| encoder.ping(out)).await?;
            left = left.saturating_sub(PING_MS);
        }
        self.sleep(left).await
    }

    async fn fail(&mut self, fault: &Fault) -> Result<Outcome, Left> {
        match fault {
            Fault::Status { code, message, .. } => {
                let refusal = Refusal::new(*code, message.as_str());
                self.write(|encoder, out| encoder.fail(out, &refusal)).await?;
                Ok(Outcome::Failed { status: *code })
            }
            Fault::Timeout => {
                self.sleep(SILENCE_MS).await?;
                self.cut(Outcome::Closed).await
            }
            Fault::Connect => self.cut(Outcome::Closed).await,
        }
    }

    async fn cut(&mut self, outcome: Outcome) -> Result<Outcome, Left> {
        self.sender.send(Piece::Cut).await.map_err(|_| Left)?;
        Ok(outcome)
    }

    async fn sleep(&self, ms: u64) -> Result<(), Left> {
        tokio::select! {
            () = self.clock.sleep(ms) => Ok(()),
            () = self.sender.closed() => Err(Left),
        }
    }

    async fn write(
        &mut self,
        events: impl FnOnce(&mut dyn Encoder, &mut String),
    ) -> Result<(), Left> {
        let mut out = String::new();
        events(self.encoder.as_mut(), &mut out);
        if out.is_empty() {
            return Ok(());
        }
        self.sender.send(Piece::Events(out.into())).await.map_err(|_| Left)
    }
}
