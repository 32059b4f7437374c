//! Continues runs that stopped, without driving them here.

use std::sync::Arc;

use windlass_core::log::ids::{LaneId, RunId};
use windlass_core::log::inbox::InboxCommand;
use windlass_core::message::content_block::ContentBlock;

use crate::Windlass;
use crate::ports::{RunInfo, Store, StoreError};

/// The prompt with which a run that stopped at a limit continues.
const CONTINUE_PROMPT: &str = "Continue where you stopped.";

/// What continues a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResumeRequest {
    /// Its run has not ended: whoever drives the conversation continues it.
    ActiveRun,
    /// Its last run stopped at a limit: this prompt continues it as the next run.
    NextRun(RunId, Box<InboxCommand>),
    /// Its last run ended for a reason that cannot be resumed.
    NotResumable(Box<RunInfo>),
    /// No prompt was sent yet: a sender creates the conversation first and may die before it sends.
    NoPrompt,
}

/// What became of a request to resume a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResumeOutcome {
    /// The run continues as soon as a worker takes it.
    Woken,
    /// The run had stopped at a limit, and continues as this run.
    NextRun(RunId),
    /// The run ended for a reason that cannot be resumed.
    NotResumable,
    /// The conversation has a later run.
    Superseded,
}

impl Windlass {
    /// Asks for a run to be resumed, without driving it here.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the store fails.
    pub async fn resume_run(&self, run: &RunInfo) -> Result<ResumeOutcome, StoreError> {
        let store = self.host.store();
        let newest = store.list_runs(Some(run.lane.clone()), 1).await?.pop();
        let is_newest = newest.is_none_or(|newest| newest.run == run.run);
        match request_resume(store, &run.lane).await? {
            ResumeRequest::ActiveRun if run.cause.is_none() => {
                store.wake_lane(run.lane.clone()).await?;
                Ok(ResumeOutcome::Woken)
            }
            ResumeRequest::NextRun(next, command) if is_newest => {
                let key = Arc::from(format!("prompt:{next}"));
                self.session(run.lane.clone()).enqueue_command_with_key(key, *command).await?;
                Ok(ResumeOutcome::NextRun(next))
            }
            ResumeRequest::ActiveRun | ResumeRequest::NextRun(..) => Ok(ResumeOutcome::Superseded),
            ResumeRequest::NotResumable(_) | ResumeRequest::NoPrompt if is_newest => {
                Ok(ResumeOutcome::NotResumable)
            }
            ResumeRequest::NotResumable(_) | ResumeRequest::NoPrompt => {
                Ok(ResumeOutcome::Superseded)
            }
        }
    }
}

/// Returns what continues a conversation. Sends nothing.
///
/// # Errors
///
/// Returns a [`StoreError`] if the store fails.
///
/// # Examples
///
/// ```
/// use windlass::memory::MemoryStore;
/// use windlass::{ResumeRequest, request_resume};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = MemoryStore::new();
/// let asked = request_resume(&store, &"conversation:1".into()).await?;
/// assert_eq!(asked, ResumeRequest::NoPrompt);
/// # Ok(())
/// # }
/// ```
pub async fn request_resume(store: &dyn Store, lane: &LaneId) -> Result<ResumeRequest, StoreError> {
    let Some(info) = store.lane_info(lane.clone()).await? else {
        return Ok(ResumeRequest::NoPrompt);
    };
    if info.head == 0 && store.read_inbox(lane.clone(), 1).await?.is_empty() {
        return Ok(ResumeRequest::NoPrompt);
    }
    let last = store.list_runs(Some(lane.clone()), 1).await?.pop();
    let Some(last) = last.filter(|_| info.active_run.is_none()) else {
        return Ok(ResumeRequest::ActiveRun);
    };
    Ok(match last.cause {
        None => ResumeRequest::ActiveRun,
        Some(cause) if cause.is_resumable() => {
            // Resuming a run twice is one request.
            let run = RunId::from_name(&format!("resume {}", last.run));
            let prompt = vec![ContentBlock::text(CONTINUE_PROMPT)];
            ResumeRequest::NextRun(run.clone(), Box::new(InboxCommand::prompt(run, prompt)))
        }
        Some(_) => ResumeRequest::NotResumable(Box::new(last)),
    })
}
