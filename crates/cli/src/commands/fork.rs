//! `windlass fork`: a new conversation that shares the history of another.

use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;
use serde::Serialize;
use windlass::core::log::ids::{LaneId, Seq};
use windlass::core::run::conversation::Conversation;

use crate::args::inspect_args::ForkArgs;
use crate::inspect::history::ConversationHistory;
use crate::inspect::id_lookup;
use crate::{messages, setup, terminal};

#[derive(Serialize)]
struct ForkJson<'a> {
    conversation: &'a str,
    forked_from: &'a str,
    at: Seq,
}

pub(crate) async fn run(args: &ForkArgs) -> anyhow::Result<ExitCode> {
    let store = setup::open_existing_store(&args.store).await?;
    let found = id_lookup::find_target(store.as_ref(), args.id.as_deref(), Path::new(".")).await?;
    let history = ConversationHistory::load(store.as_ref(), found.lane).await?;
    let wanted = args.at.unwrap_or(history.conversation.head);
    if wanted > history.conversation.head {
        bail!(messages::action::fork_past_end(&history.lane, history.conversation.head));
    }
    let at = last_closed_round(&history, wanted);
    if at == 0 {
        bail!(messages::action::no_closed_round(wanted));
    }
    let child = LaneId::from(format!("conversation:{}", setup::new_id()));
    store.fork_lane(history.lane.clone(), at, child.clone()).await?;
    if args.json {
        let (conversation, forked_from) = (child.as_str(), history.lane.as_str());
        terminal::print_line(&serde_json::to_string(&ForkJson { conversation, forked_from, at })?);
    } else {
        if at != wanted {
            terminal::print_note(&messages::action::fork_moved_back(wanted, at));
        }
        terminal::print_line(child.as_str());
        terminal::print_note(&messages::action::fork_created(&child, at));
    }
    Ok(ExitCode::SUCCESS)
}

/// The last entry up to `most` after which no round is open.
fn last_closed_round(history: &ConversationHistory, last: Seq) -> Seq {
    let mut now = Conversation::default();
    let mut rest = 0;
    for entry in history.entries.iter().take_while(|entry| entry.seq <= last) {
        if now.fold(entry).is_err() {
            break;
        }
        if now.has_no_open_round() {
            rest = entry.seq;
        }
    }
    rest
}
