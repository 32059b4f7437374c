//! Slash commands that are answered here, without a model call.

use std::process::ExitCode;

use anyhow::Context;

use super::compact::CompactionOutcome;
use super::send_command::AfterSend;
use super::{cancel, clear, compact, print};
use crate::args::PrintArgs;
use crate::config::model_selection;
use crate::exit::UsageError;
use crate::inspect::compaction_report::{CompactionReport, report_compaction};
use crate::inspect::history::ConversationHistory;
use crate::prompt::slash_command::{LocalCommand, LocalCommandCall};
use crate::setup::{self, ModelNeed, OpenConversation, RunSetup};
use crate::terminal::OutputStyle;
use crate::{messages, output};

pub(crate) async fn run(command: &LocalCommandCall, print: &PrintArgs) -> anyhow::Result<ExitCode> {
    if command.name == LocalCommand::Clear {
        return clear::run(print).await;
    }
    if command.name != LocalCommand::Help && is_new_conversation(print) {
        return Err(UsageError::wrap(anyhow::anyhow!(
            messages::local_command::needs_conversation(command.name)
        )));
    }
    let old = print::find_named_conversation(print).await?;
    if let (LocalCommand::Cancel, Some(opened)) = (command.name, &old) {
        // A conversation that /clear created has no entry in the store.
        if opened.store.lane_info(opened.lane.clone()).await?.is_none() {
            return cancel::report_no_run(&opened.lane, &print.agent);
        }
        return cancel::run(Some(opened.lane.as_str()), &print.agent, AfterSend::Drive).await;
    }
    let compacted = match (command.name, &old) {
        (LocalCommand::Compact, Some(opened)) => {
            compact_now(opened, &command.arguments, print).await?
        }
        _ => None,
    };
    let mut setup =
        setup::start_for_conversation(old.clone(), &print.agent, ModelNeed::NotNeeded).await?;
    let session = print::open_session(print, &setup, old).await?;
    let lane = session.lane().clone();
    // A conversation created by /clear, or one that is named for the first time, has no log yet.
    let has_begun =
        !is_new_conversation(print) && setup.store.lane_info(lane.clone()).await?.is_some();
    let history = match has_begun {
        false => ConversationHistory::empty(lane),
        true => ConversationHistory::load(setup.store.as_ref(), lane).await?,
    };
    if let Some(recorded) = &history.conversation.settings {
        setup.settings.model = recorded.model.clone();
    }
    let text = match command.name {
        LocalCommand::Cancel | LocalCommand::Clear | LocalCommand::Help => {
            messages::local_command::command_list(&setup.custom_commands)
        }
        LocalCommand::Cost => messages::local_command::conversation_cost(&history),
        LocalCommand::Context => context_report(&history, &command.arguments).await?,
        LocalCommand::Compact => match compacted {
            Some(sentence) => sentence,
            None => request_compaction_if_useful(&history, &setup, &command.arguments).await?,
        },
    };
    output::print_local_answer(
        command.name,
        &text,
        &history.conversation,
        (&session, &setup),
        &print.agent,
    )?;
    Ok(ExitCode::SUCCESS)
}

/// Compacts a conversation at once, and says what came of it; `None` if there is nothing to compact.
async fn compact_now(
    opened: &OpenConversation,
    keep: &str,
    print: &PrintArgs,
) -> anyhow::Result<Option<String>> {
    let (store, lane) = (&opened.store, opened.lane.clone());
    if store.lane_info(lane.clone()).await?.is_none() {
        return Ok(None);
    }
    let history = ConversationHistory::load(store.as_ref(), lane).await?;
    let planned = report_compaction(&history.conversation);
    let Some(planned) = planned.filter(CompactionReport::would_compact) else { return Ok(None) };
    let keep = Some(keep.trim()).filter(|keep| !keep.is_empty());
    let outcome = compact::compact(store, &history, keep, &print.agent).await?;
    match outcome {
        CompactionOutcome::Failed(_) => anyhow::bail!(outcome.sentence(&history, &planned)),
        CompactionOutcome::Done(_) | CompactionOutcome::Queued => {
            Ok(Some(outcome.sentence(&history, &planned)))
        }
    }
}

/// Returns whether no existing conversation is named that the command could be about.
pub(super) fn is_new_conversation(print: &PrintArgs) -> bool {
    print.resume.is_none() && !print.continue_newest && print.conversation.is_none()
}

/// Reports how full the context is; with `--exact`, also the provider's token count.
pub(crate) async fn context_report(
    history: &ConversationHistory,
    rest: &str,
) -> anyhow::Result<String> {
    let planned = report_compaction(&history.conversation);
    let planned = planned.context(messages::action::EMPTY_CONTEXT)?;
    let mut lines = planned.to_lines(OutputStyle::plain());
    match rest.trim() {
        "" => {}
        "--exact" => {
            let tokens = Box::pin(model_selection::count_tokens(&history.conversation)).await?;
            lines.push(messages::action::exact_token_count(tokens));
        }
        other => {
            return Err(UsageError::wrap(anyhow::anyhow!(
                messages::action::unknown_context_option(other)
            )));
        }
    }
    Ok(lines.join("\n"))
}

/// Requests a compaction, if it would free anything.
pub(crate) async fn request_compaction_if_useful(
    history: &ConversationHistory,
    setup: &RunSetup,
    instructions: &str,
) -> anyhow::Result<String> {
    let planned = report_compaction(&history.conversation);
    let planned = planned.context(messages::action::EMPTY_CONVERSATION)?;
    if !planned.would_compact() {
        return Ok(planned.nothing_done_message());
    }
    let keep = (!instructions.is_empty()).then_some(instructions);
    compact::request_compaction(setup.store.as_ref(), history, keep).await?;
    Ok(messages::action::compaction_queued(&history.lane))
}
