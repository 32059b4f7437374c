//! `windlass fork`: a new conversation that shares the history of another.

use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;
use serde::Serialize;
use windlass::core::conversation::Conversation;
use windlass::core::ids::{LaneId, Seq};

use crate::look::args::ForkArgs;
use crate::look::story::Story;
use crate::look::{acts, find};
use crate::{setup, show};

#[derive(Serialize)]
struct Forked<'a> {
    conversation: &'a str,
    forked_from: &'a str,
    at: Seq,
}

pub(crate) async fn fork(args: &ForkArgs) -> anyhow::Result<ExitCode> {
    let store = setup::existing_store(&args.store).await?;
    let found = find::find(store.as_ref(), args.id.as_deref(), Path::new(".")).await?;
    let story = Story::read(store.as_ref(), found.lane).await?;
    let wanted = args.at.unwrap_or(story.now.head);
    if wanted > story.now.head {
        bail!(acts::beyond(&story.lane, story.now.head));
    }
    let at = last_rest(&story, wanted);
    if at == 0 {
        bail!(acts::no_rest(wanted));
    }
    let child = LaneId::from(format!("conversation:{}", setup::new_id()));
    store.fork(story.lane.clone(), at, child.clone()).await?;
    if args.json {
        let (conversation, forked_from) = (child.as_str(), story.lane.as_str());
        show::line(&serde_json::to_string(&Forked { conversation, forked_from, at })?);
    } else {
        if at != wanted {
            show::note(&acts::inside(wanted, at));
        }
        show::line(child.as_str());
        show::note(&acts::forked(&child, at));
    }
    Ok(ExitCode::SUCCESS)
}

/// The last entry up to `most` after which no round is open.
fn last_rest(story: &Story, most: Seq) -> Seq {
    let mut now = Conversation::default();
    let mut rest = 0;
    for entry in story.entries.iter().take_while(|entry| entry.seq <= most) {
        if now.fold(entry).is_err() {
            break;
        }
        if now.is_at_rest() {
            rest = entry.seq;
        }
    }
    rest
}
