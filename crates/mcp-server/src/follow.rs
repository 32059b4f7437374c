//! The tool that waits for a run.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;
use windlass::core::stop::RunState;
use windlass::messages::{ContentBlock, LogItem, LogPosition, Message, MessageLog, MessageOptions};
use windlass::ports::RunInfo;

use crate::run_tools::read_arguments;
use crate::service::{McpService, Progress};
use crate::tool_list::{DEFAULT_WAIT_SECONDS, MAX_WAIT_SECONDS};

/// How often the state of a run is looked up that no item tells about.
const POLL: Duration = Duration::from_secs(1);

/// Characters of a progress message.
const MAX_PROGRESS_CHARS: usize = 200;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FollowRun {
    run_id: String,
    wait_seconds: Option<u64>,
}

impl McpService {
    pub(crate) async fn follow_run(
        &self,
        arguments: Value,
        mut progress: Progress<'_>,
    ) -> Result<Value, String> {
        let FollowRun { run_id, wait_seconds } = read_arguments(arguments)?;
        let wait = wait_seconds.unwrap_or(DEFAULT_WAIT_SECONDS);
        if wait > MAX_WAIT_SECONDS {
            return Err(format!("`wait_seconds` takes 0 to {MAX_WAIT_SECONDS}"));
        }
        let until = Instant::now() + Duration::from_secs(wait);
        let mut run = self.find_run(&run_id).await?;
        let mut log = None;
        while !self.rests(&run).await? && Instant::now() < until {
            if log.is_none() {
                log = self.open_log(&run).await;
            }
            let next_look = until.min(Instant::now() + POLL);
            match log.as_mut() {
                // What was recorded between the look and the subscription is in the log, too.
                Some(open) => match tokio::time::timeout_at(next_look, open.next()).await {
                    Ok(Ok(item)) => {
                        if let Some(text) = progress_text(&item) {
                            progress.report(&text);
                        }
                        if !changes_state(&item) {
                            continue;
                        }
                    }
                    Ok(Err(_)) => log = None,
                    Err(_) => progress.report("still running"),
                },
                None => {
                    tokio::time::sleep_until(next_look).await;
                    progress.report("waiting to be started");
                }
            }
            run = self.find_run(&run_id).await?;
        }
        self.run_view(&run).await
    }

    /// Returns whether there is nothing to wait for: the run has ended, or has a question without an
    /// answer.
    async fn rests(&self, run: &RunInfo) -> Result<bool, String> {
        if run.cause.is_some() {
            return Ok(true);
        }
        Ok(run.state == RunState::WaitingOnHuman && !self.questions(run).await?.is_empty())
    }

    /// Opens the log of the conversation at its end. A run that no process has begun has none.
    async fn open_log(&self, run: &RunInfo) -> Option<MessageLog> {
        let lane = self.windlass.find_conversation(&run.lane).await.ok()??;
        let session = self.windlass.session(run.lane.clone());
        let end = LogPosition::end_of_entry(lane.head);
        MessageLog::open(&session, end, MessageOptions::default()).await.ok()
    }

    async fn run_view(&self, run: &RunInfo) -> Result<Value, String> {
        let questions = match run.state {
            RunState::WaitingOnHuman => self.questions(run).await?,
            _ => Vec::new(),
        };
        Ok(json!({
            "run_id": run.run.as_str(),
            "conversation_id": run.lane.session_id(),
            "state": run.state,
            "stop_cause": run.cause.map(|cause| cause.as_str()),
            "answer": run.text.as_deref(),
            "questions": questions,
        }))
    }
}

fn changes_state(item: &LogItem) -> bool {
    match item {
        LogItem::State { .. } => true,
        LogItem::Message { message, .. } => message.as_result().is_some(),
        LogItem::Live(_) => false,
    }
}

/// What a client is told about an item: text of the model, or the tool that it calls.
fn progress_text(item: &LogItem) -> Option<String> {
    let LogItem::Message { message, .. } = item else { return None };
    let Message::Assistant(reply) = message.as_ref() else { return None };
    let text = match reply.message.content.first()? {
        ContentBlock::Text(block) => block.text.lines().next().unwrap_or_default().to_owned(),
        ContentBlock::ToolUse(call) => format!("calls {}", call.name),
        _ => return None,
    };
    let text: String = text.chars().take(MAX_PROGRESS_CHARS).collect();
    (!text.is_empty()).then_some(text)
}
