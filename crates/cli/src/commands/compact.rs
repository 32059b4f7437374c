//! `windlass compact`: compacts the context of a conversation, or previews that.
//!
//! It happens at once, in a run of its own. If another process works on the conversation, or no model
//! can be called here, it happens before the next model call instead.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use windlass::RunOutcome;
use windlass::core::context::can_compact_now;
use windlass::core::log::inbox::InboxCommand;
use windlass::ports::{OutboxMessage, SessionEndReason, Store};
use windlass_runtime::worker_identity;

use crate::args::AgentArgs;
use crate::args::inspect_args::CompactArgs;
use crate::exit::ExitReason;
use crate::inspect::compaction_report::{CompactionReport, report_compaction};
use crate::inspect::history::ConversationHistory;
use crate::inspect::{damage_report, id_lookup};
use crate::messages;
use crate::output::{SignalAction, SignalListener};
use crate::setup::{self, ModelNeed, OpenConversation};
use crate::terminal::{self, OutputStyle};

#[derive(serde::Serialize)]
struct CompactJson<'a> {
    conversation: &'a str,
    /// Whether the conversation was compacted, or will be.
    sent: bool,
    before: &'a CompactionReport,
    /// Absent unless it was compacted now.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<CompactionReport>,
}

/// What became of a request.
pub(crate) enum CompactionOutcome {
    /// The context was compacted, and is like this now.
    Done(CompactionReport),
    /// It will be compacted before the next model call.
    Queued,
    /// It was not compacted, for this reason.
    Failed(String),
}

pub(crate) async fn run(args: &CompactArgs) -> anyhow::Result<ExitCode> {
    let agent = &args.agent;
    let store = setup::open_existing_store(&agent.store).await?;
    let folder = &agent.permissions.workspace;
    let found = id_lookup::find_target(store.as_ref(), args.id.as_deref(), folder).await?;
    let history = ConversationHistory::load(store.as_ref(), found.lane).await?;
    let planned =
        report_compaction(&history.conversation).context(messages::action::EMPTY_CONVERSATION)?;
    let outcome = match (args.dry_run || !planned.would_compact(), args.detach) {
        (true, _) => None,
        (false, true) => {
            request_compaction(store.as_ref(), &history, args.keep.as_deref()).await?;
            Some(CompactionOutcome::Queued)
        }
        (false, false) => Some(compact(&store, &history, args.keep.as_deref(), agent).await?),
    };
    if agent.output.is_for_programs() {
        let conversation = history.lane.as_str();
        let after = match &outcome {
            Some(CompactionOutcome::Done(after)) => Some(after.clone()),
            Some(CompactionOutcome::Queued | CompactionOutcome::Failed(_)) | None => None,
        };
        let sent = after.is_some() || matches!(outcome, Some(CompactionOutcome::Queued));
        terminal::print_line(&serde_json::to_string(&CompactJson {
            conversation,
            sent,
            before: &planned,
            after,
        })?);
    } else {
        match &outcome {
            Some(outcome) => terminal::print_line(&outcome.sentence(&history, &planned)),
            None if args.dry_run => {
                let lines = planned.to_lines(OutputStyle::stdout());
                lines.iter().for_each(|line| terminal::print_line(line));
            }
            None => terminal::print_line(&planned.nothing_done_message()),
        }
    }
    match outcome {
        Some(CompactionOutcome::Failed(_)) => Ok(ExitReason::Failure.to_exit_code()),
        Some(CompactionOutcome::Done(_) | CompactionOutcome::Queued) | None => {
            Ok(damage_report::report_damage(&history))
        }
    }
}

impl CompactionOutcome {
    /// Says what became of the request.
    pub(crate) fn sentence(
        &self,
        history: &ConversationHistory,
        before: &CompactionReport,
    ) -> String {
        let lane = &history.lane;
        match self {
            Self::Done(after) => messages::action::compacted(lane, before.tokens, after.tokens),
            Self::Queued => messages::action::compaction_queued(lane),
            Self::Failed(why) => messages::action::not_compacted(lane, why),
        }
    }
}

/// Compacts the conversation now if nothing is in its way, else before its next model call; `keep`
/// says what a summary must retain.
pub(crate) async fn compact(
    store: &Arc<dyn Store>,
    history: &ConversationHistory,
    keep: Option<&str>,
    agent: &AgentArgs,
) -> anyhow::Result<CompactionOutcome> {
    let is_busy =
        history.conversation.run.is_some() || has_live_owner(store.as_ref(), history).await?;
    if is_busy || !can_compact_now(&history.conversation) {
        request_compaction(store.as_ref(), history, keep).await?;
        return Ok(CompactionOutcome::Queued);
    }
    let opened = OpenConversation { store: Arc::clone(store), lane: history.lane.clone() };
    let started =
        Box::pin(setup::start_for_conversation(Some(opened), agent, ModelNeed::Required)).await;
    let setup = match started {
        Ok(setup) => setup,
        Err(error) if agent.model.model.is_none() && agent.model.script.is_none() => {
            let reason = terminal::sanitize_line(&format!("{error:#}"));
            terminal::print_note(&messages::action::compaction_waits(&reason));
            request_compaction(store.as_ref(), history, keep).await?;
            return Ok(CompactionOutcome::Queued);
        }
        Err(error) => return Err(error),
    };
    let mut signals = SignalListener::new()?;
    let session = setup.windlass.session(history.lane.clone());
    let run = session.compact_now(keep).await?;
    let ended = {
        let end = run.wait_for_end();
        tokio::pin!(end);
        loop {
            tokio::select! {
                biased;
                ended = &mut end => break ended?,
                signal = signals.next() => match signal {
                    SignalAction::Cancel | SignalAction::Terminate => session.abort(None).await?,
                    // The run is finished by whoever resumes it.
                    SignalAction::Abort | SignalAction::HangUp => {
                        anyhow::bail!(messages::action::compaction_queued(&history.lane))
                    }
                },
            }
        }
    };
    session.close(SessionEndReason::Other).await;
    let after = ConversationHistory::load(store.as_ref(), history.lane.clone()).await?;
    let report = report_compaction(&after.conversation);
    Ok(match (ended, report) {
        (RunOutcome::Finished(end), Some(report)) if end.cause == windlass::StopCause::EndTurn => {
            CompactionOutcome::Done(report)
        }
        (RunOutcome::Finished(end), _) => CompactionOutcome::Failed(end.cause.as_str().to_owned()),
        (RunOutcome::Rejected(reason), _) => {
            CompactionOutcome::Failed(messages::command_rejection(&reason))
        }
        (RunOutcome::Parked(_) | RunOutcome::HandedOver, _) => CompactionOutcome::Queued,
    })
}

/// Returns whether a process of this machine works on the conversation.
async fn has_live_owner(store: &dyn Store, history: &ConversationHistory) -> anyhow::Result<bool> {
    let owner = store.lane_info(history.lane.clone()).await?.and_then(|lane| lane.owner);
    Ok(owner.is_some_and(|owner| worker_identity::is_process_running(&owner)))
}

/// Requests a compaction before the next model call; `keep` says what a summary must retain.
pub(super) async fn request_compaction(
    store: &dyn Store,
    history: &ConversationHistory,
    keep: Option<&str>,
) -> anyhow::Result<()> {
    let body = InboxCommand::Compact { instructions: keep.map(Arc::from), run: None };
    let message = OutboxMessage { idempotency_key: Arc::from(setup::new_id()), body };
    Ok(store.enqueue_message(history.lane.clone(), message).await.map(drop)?)
}
