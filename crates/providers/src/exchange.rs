//! One attempt at a model call: in line, out, and back.

use bytes::Bytes;
use windlass_core::raw::Raw;
use windlass_runtime::ports::Stream;

use crate::asked::Asked;
use crate::fault::{Begun, Fault};
use crate::http::{Answer, Chunks, Client, Post};
use crate::limiter::{Gate, Outcome, Pass, Said};
use crate::limits::{ERROR_BODY_BYTES, REPLY_BYTES};
use crate::notice::Notice;
use crate::options::{Deadlines, Delivery};
use crate::received::Received;
use crate::refusal;
use crate::watch::Watch;
use crate::wire::{Closed, Decoding, Progress, Wire};

/// What an attempt needs.
pub(crate) struct Exchange<'a> {
    pub(crate) wire: &'a dyn Wire,
    pub(crate) client: &'a Client,
    pub(crate) gate: &'a std::sync::Arc<Gate>,
    pub(crate) clock: &'a dyn windlass_runtime::ports::Clock,
    pub(crate) target: &'a crate::http::Target,
    pub(crate) headers: &'a http::HeaderMap,
    pub(crate) path: &'a http::Uri,
    pub(crate) deadlines: Deadlines,
}

/// An attempt that failed.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) fault: Fault,
    pub(crate) begun: Begun,
    /// What came before it failed.
    pub(crate) received: Received,
}

/// An attempt that was answered.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) closed: Closed,
    /// The answer as it came.
    pub(crate) received: Received,
}

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Self {
        Self { fault, begun: Begun::No, received: Received::default() }
    }
}

impl Exchange<'_> {
    /// Asks, and waits for the whole reply.
    pub(crate) async fn ask(
        &self,
        body: Vec<Bytes>,
        asked: Asked,
        delivery: Delivery,
        stream: &dyn Stream,
    ) -> Result<Answered, Failed> {
        let pass = self.gate.enter(asked.estimate(0).input_tokens).await?;
        let mut watch = Watch::new(self.clock, self.deadlines);
        let mut received = Received::default();
        let reading = Reading { watch: &mut watch, received: &mut received };
        let closed = self.answered(body, asked, delivery, (&pass, reading), stream).await;
        pass.outcome(outcome(&closed));
        match closed {
            Ok(closed) => Ok(Answered { closed, received }),
            Err((fault, begun)) => Err(Failed { fault, begun, received }),
        }
    }

    /// Asks for something that is no reply.
    pub(crate) async fn text(&self, body: Vec<Bytes>) -> Result<String, Failed> {
        let pass = self.gate.enter(0).await?;
        let mut watch = Watch::new(self.clock, self.deadlines);
        let mut received = Received::default();
        let mut reading = Reading { watch: &mut watch, received: &mut received };
        let answer = self.post(body, &pass, &mut reading).await?;
        Ok(reading.whole(answer, REPLY_BYTES).await?)
    }

    async fn post(
        &self,
        body: Vec<Bytes>,
        pass: &Pass,
        reading: &mut Reading<'_, '_>,
    ) -> Result<Answer<'_>, Fault> {
        let (target, path, headers) = (self.target, self.path, self.headers);
        let connect_ms = self.deadlines.connect_ms;
        let post = Post { target, path, headers, body: Chunks::new(body), connect_ms };
        let answer = reading.watch.wait(self.client.post(post)).await??;
        pass.heard(&Said::read(&answer.headers, self.clock.now()));
        if !(200..300).contains(&answer.status) {
            let (status, headers) = (answer.status, answer.headers.clone());
            let body = reading.whole(answer, ERROR_BODY_BYTES).await.unwrap_or_default();
            return Err(refusal::refused(status, &headers, &body, self.clock.now()));
        }
        Ok(answer)
    }

    async fn answered(
        &self,
        body: Vec<Bytes>,
        asked: Asked,
        delivery: Delivery,
        (pass, mut reading): (&Pass, Reading<'_, '_>),
        stream: &dyn Stream,
    ) -> Result<Closed, (Fault, Begun)> {
        let not_begun = |fault| (fault, Begun::No);
        let answer = self.post(body, pass, &mut reading).await.map_err(not_begun)?;
        let request_id = request_id(&answer);
        let mut closed = if delivery == Delivery::Streamed && !says_json(&answer) {
            self.streamed(answer, asked, reading, stream).await?
        } else {
            self.whole(answer, asked, reading, stream).await.map_err(not_begun)?
        };
        if let Some(id) = request_id {
            closed.envelope.keep("request_id", id);
        }
        Ok(closed)
    }

    async fn streamed(
        &self,
        mut answer: Answer<'_>,
        asked: Asked,
        reading: Reading<'_, '_>,
        stream: &dyn Stream,
    ) -> Result<Closed, (Fault, Begun)> {
        let mut decoding = Decoding::new(self.wire.decoder(asked));
        let mut first = true;
        let mut progress = Progress::Quiet;
        while !matches!(progress, Progress::Done | Progress::Enough) {
            let failed = |fault, decoding: &Decoding| (fault, decoding.begun());
            let piece =
                reading.watch.wait(answer.piece()).await.map_err(|f| failed(f, &decoding))?;
            let Some(piece) = piece else { break };
            let piece = piece.map_err(|fault| failed(fault, &decoding))?;
            reading.received.push(&piece);
            if std::mem::take(&mut first) && refusal::is_page(&piece) {
                return Err((refusal::not_a_model(&text(&piece)), Begun::No));
            }
            progress = decoding.push(&piece, stream).map_err(|fault| failed(fault, &decoding))?;
            if progress == Progress::Content {
                reading.watch.content();
            }
        }
        if progress != Progress::Enough {
            answer.finish().await;
        }
        let begun = decoding.begun();
        decoding.close(stream).map_err(|fault| (fault, begun))
    }

    async fn whole(
        &self,
        answer: Answer<'_>,
        asked: Asked,
        mut reading: Reading<'_, '_>,
        stream: &dyn Stream,
    ) -> Result<Closed, Fault> {
        let body = reading.whole(answer, REPLY_BYTES).await?;
        if body.trim_start().starts_with('<') {
            return Err(refusal::not_a_model(&body));
        }
        let mut closed = self.wire.whole(&body, asked, stream)?;
        closed.envelope.notice(Notice::NotStreamed);
        Ok(closed)
    }
}

/// A body being read: by when it must have come, and what came of it.
struct Reading<'r, 'c> {
    watch: &'r mut Watch<'c>,
    received: &'r mut Received,
}

impl Reading<'_, '_> {
    /// A body as text, up to a bound: of an error, what is beyond it does not matter.
    async fn whole(&mut self, mut answer: Answer<'_>, most_bytes: usize) -> Result<String, Fault> {
        let mut body = Vec::new();
        while let Some(piece) = self.watch.wait(answer.piece()).await? {
            let piece = piece?;
            self.received.push(&piece);
            body.extend_from_slice(&piece);
            self.watch.content();
            if body.len() > most_bytes {
                let is_error = !(200..300).contains(&answer.status);
                return if is_error { Ok(text(&body)) } else { Err(Fault::ReplyTooLarge) };
            }
        }
        answer.finish().await;
        Ok(text(&body))
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn says_json(answer: &Answer<'_>) -> bool {
    let kind = answer.headers.get(http::header::CONTENT_TYPE);
    kind.and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| kind.starts_with("application/json"))
}

/// The server's name for the call, as JSON.
fn request_id(answer: &Answer<'_>) -> Option<String> {
    let names = ["request-id", "x-request-id"];
    let id = names.iter().find_map(|name| answer.headers.get(*name)?.to_str().ok())?;
    Some(Raw::string(id).text().to_owned())
}

fn outcome(closed: &Result<Closed, (Fault, Begun)>) -> Outcome {
    let Err((fault, _)) = closed else { return Outcome::Answered };
    match fault {
        Fault::Refused { status: 429, retry_after_ms, .. } => {
            Outcome::Throttled { retry_after_ms: *retry_after_ms }
        }
        Fault::Refused { status: 500.., retry_after_ms, .. } => {
            Outcome::Overloaded { retry_after_ms: *retry_after_ms }
        }
        Fault::Reported { status: 429, .. } => Outcome::Throttled { retry_after_ms: None },
        Fault::Reported { status: 500.., .. }
        | Fault::Unreachable(_)
        | Fault::Absent(_)
        | Fault::SlowConnect(_)
        | Fault::Silent(_) => Outcome::Overloaded { retry_after_ms: None },
        _ => Outcome::Answered,
    }
}
