//! `windlass compact`: compacts the context before the next model call, or previews that.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use windlass::core::log::inbox::InboxCommand;
use windlass::ports::{OutboxMessage, Store};

use crate::args::inspect_args::CompactArgs;
use crate::inspect::compaction_report::{CompactionReport, report_compaction};
use crate::inspect::history::ConversationHistory;
use crate::inspect::{damage_report, id_lookup};
use crate::terminal::{self, OutputStyle};
use crate::{messages, setup};

#[derive(serde::Serialize)]
struct CompactJson<'a> {
    conversation: &'a str,
    sent: bool,
    before: &'a CompactionReport,
}

pub(crate) async fn run(args: &CompactArgs) -> anyhow::Result<ExitCode> {
    let store = setup::open_existing_store(&args.store).await?;
    let found = id_lookup::find_target(store.as_ref(), args.id.as_deref(), Path::new(".")).await?;
    let history = ConversationHistory::load(store.as_ref(), found.lane).await?;
    let planned =
        report_compaction(&history.conversation).context(messages::action::EMPTY_CONVERSATION)?;
    let sent = !args.dry_run && planned.would_compact();
    if sent {
        request_compaction(store.as_ref(), &history, args.keep.as_deref()).await?;
    }
    if args.json {
        let conversation = history.lane.as_str();
        terminal::print_line(&serde_json::to_string(&CompactJson {
            conversation,
            sent,
            before: &planned,
        })?);
    } else if !sent && !args.dry_run {
        terminal::print_line(&planned.nothing_done_message());
    } else if !sent {
        planned.to_lines(OutputStyle::stdout()).iter().for_each(|line| terminal::print_line(line));
    } else {
        terminal::print_line(&messages::action::compaction_queued(&history.lane));
    }
    Ok(damage_report::report_damage(&history))
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
