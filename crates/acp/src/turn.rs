//! One turn: the run of a prompt, followed to its stop reason.

use std::collections::BTreeSet;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    Cost, PromptResponse, SessionUpdate, StopReason, UsageUpdate,
};
use tokio::sync::watch;
use windlass::messages::{Message, ResultMessage, TokenCounts};
use windlass::{MessageStream, StopCause};

use crate::editor::Editor;
use crate::update_projection::{UpdateProjection, text_chunk};

/// Tells a turn that it is cancelled: the number of cancellations of the session changes.
#[derive(Debug, Clone)]
pub(crate) struct Cancellation {
    count: watch::Receiver<u64>,
    seen: u64,
}

impl Cancellation {
    pub(crate) fn new(count: watch::Receiver<u64>) -> Self {
        let seen = *count.borrow();
        Self { count, seen }
    }

    /// Returns whether the turn is cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        *self.count.borrow() != self.seen
    }

    /// Waits until the turn is cancelled.
    pub(crate) async fn cancelled(&mut self) {
        let seen = self.seen;
        if self.count.wait_for(|count| *count != seen).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// A turn that is in progress.
pub(crate) struct Turn<'a> {
    pub(crate) editor: &'a Editor,
    pub(crate) session: &'a str,
    pub(crate) projection: UpdateProjection,
    pub(crate) cancellation: Cancellation,
    /// The calls that the editor knows.
    pub(crate) shown_calls: watch::Sender<BTreeSet<String>>,
    /// Tokens of the context after the last reply.
    pub(crate) context_tokens: u64,
}

impl Turn<'_> {
    /// Shows the messages of a run until its result.
    pub(crate) async fn follow(
        mut self,
        mut stream: MessageStream,
    ) -> Result<PromptResponse, Error> {
        let interrupter = stream.interrupter();
        let mut is_interrupted = false;
        loop {
            let message = tokio::select! {
                biased;
                () = self.cancellation.cancelled(), if !is_interrupted => {
                    is_interrupted = true;
                    interrupter.interrupt().await.map_err(failed)?;
                    continue;
                }
                message = stream.try_next() => message.map_err(failed)?,
            };
            match message {
                Some(Message::Result(result)) => return self.finish(&result).await,
                Some(message) => self.show(&message).await?,
                None => return Err(internal("the run ended without a result")),
            }
        }
    }

    async fn show(&mut self, message: &Message) -> Result<(), Error> {
        if let Message::Assistant(reply) = message
            && reply.parent_tool_use_id.is_none()
        {
            self.context_tokens = total_tokens(&reply.message.usage);
        }
        if self.cancellation.is_cancelled() && matches!(message, Message::Tombstone(_)) {
            // The user has stopped the reply and knows.
            self.projection.forget_reply();
        }
        let updates = self.projection.updates(message);
        self.send(updates).await
    }

    async fn send(&self, updates: Vec<SessionUpdate>) -> Result<(), Error> {
        for update in updates {
            let call = match &update {
                SessionUpdate::ToolCall(call) => Some(call.tool_call_id.to_string()),
                _ => None,
            };
            self.editor.update(self.session, update).await?;
            if let Some(call) = call {
                self.shown_calls.send_modify(|shown| _ = shown.insert(call));
            }
        }
        Ok(())
    }

    async fn finish(mut self, result: &ResultMessage) -> Result<PromptResponse, Error> {
        let updates = self.projection.close_calls();
        self.send(updates).await?;
        self.send(self.usage_update(result).into_iter().collect()).await?;
        let is_cancelled = self.cancellation.is_cancelled();
        let response = PromptResponse::new;
        let problem = result.errors.iter().flatten().cloned().collect::<Vec<_>>().join("; ");
        match Ending::of(result) {
            _ if is_cancelled => Ok(response(StopReason::Cancelled)),
            Ending::Plain(reason) => Ok(response(reason)),
            Ending::Explained(reason) => {
                self.send(vec![explanation(&problem, result)]).await?;
                Ok(response(reason))
            }
            Ending::Failed if problem.is_empty() => Err(internal(&result.terminal_reason)),
            Ending::Failed => Err(internal(&problem)),
        }
    }

    /// How much of the context window is used.
    fn usage_update(&self, result: &ResultMessage) -> Option<SessionUpdate> {
        let window = result.model_usage.values().map(|model| model.context_window).max();
        let window = window.filter(|window| *window > 0 && self.context_tokens > 0)?;
        let cost = Cost::new(result.total_cost_usd, "USD");
        let update = UsageUpdate::new(self.context_tokens, window).cost(cost);
        Some(SessionUpdate::UsageUpdate(update))
    }
}

/// How a turn ends.
enum Ending {
    /// The stop reason says it all.
    Plain(StopReason),
    /// The user is told why.
    Explained(StopReason),
    /// The prompt failed.
    Failed,
}

impl Ending {
    fn of(result: &ResultMessage) -> Self {
        let cause = result.stop_cause.clone();
        let cause = cause.and_then(|cause| serde_json::from_value(cause.into()).ok());
        match cause {
            None if result.ok => Self::Plain(StopReason::EndTurn),
            // The run waits: for another process, or for an answer that is given elsewhere.
            None => Self::Explained(StopReason::EndTurn),
            Some(cause) => Self::of_cause(cause),
        }
    }

    fn of_cause(cause: StopCause) -> Self {
        match cause {
            StopCause::EndTurn | StopCause::StopSequence => Self::Plain(StopReason::EndTurn),
            StopCause::Refusal => Self::Explained(StopReason::Refusal),
            StopCause::UserCancel => Self::Plain(StopReason::Cancelled),
            StopCause::TruncationExhausted | StopCause::BlockingLimit => {
                Self::Explained(StopReason::MaxTokens)
            }
            StopCause::BudgetUsd
            | StopCause::BudgetTokens
            | StopCause::PriceUnknown
            | StopCause::SoftTime
            | StopCause::HardTime
            | StopCause::MaxToolRounds
            | StopCause::MaxModelCalls
            | StopCause::MaxModelReplies => Self::Explained(StopReason::MaxTurnRequests),
            StopCause::HookStopped | StopCause::ToolDeferred | StopCause::AskedHuman => {
                Self::Explained(StopReason::EndTurn)
            }
            StopCause::Unexpected
            | StopCause::ToolFatal
            | StopCause::StructuredOutputRetries
            | StopCause::ProviderFailed
            | StopCause::ResumeUnsafe => Self::Failed,
        }
    }
}

fn explanation(problem: &str, result: &ResultMessage) -> SessionUpdate {
    let reason = if problem.is_empty() { result.terminal_reason.as_str() } else { problem };
    SessionUpdate::AgentMessageChunk(text_chunk(&format!("\n\n*Stopped: {reason}*")))
}

fn total_tokens(tokens: &TokenCounts) -> u64 {
    tokens
        .input_tokens
        .saturating_add(tokens.cache_read_input_tokens)
        .saturating_add(tokens.cache_creation_input_tokens)
        .saturating_add(tokens.output_tokens)
}

fn failed(error: windlass::QueryError) -> Error {
    internal(&error.to_string())
}

/// Returns an error with a message that an editor shows.
pub(crate) fn internal(reason: &str) -> Error {
    let mut error = Error::internal_error();
    error.message = reason.to_owned();
    error
}
