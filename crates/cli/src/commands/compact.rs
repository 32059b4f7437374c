//! `windlass compact`: makes room before the next model call, or says what that would do.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use windlass::core::mail::MailBody;
use windlass::ports::{Letter, Store};

use crate::look::args::CompactArgs;
use crate::look::paper::Paper;
use crate::look::room::{Preview, preview};
use crate::look::story::Story;
use crate::look::{acts, find, whole};
use crate::{setup, show};

#[derive(serde::Serialize)]
struct Sent<'a> {
    conversation: &'a str,
    sent: bool,
    before: &'a Preview,
}

pub(crate) async fn compact(args: &CompactArgs) -> anyhow::Result<ExitCode> {
    let store = setup::existing_store(&args.store).await?;
    let found = find::find(store.as_ref(), args.id.as_deref(), Path::new(".")).await?;
    let story = Story::read(store.as_ref(), found.lane).await?;
    let planned = preview(&story.now).context(acts::NOTHING_SAID)?;
    let sent = !args.dry_run && planned.makes_room();
    if sent {
        ask(store.as_ref(), &story, args.keep.as_deref()).await?;
    }
    if args.json {
        let conversation = story.lane.as_str();
        show::line(&serde_json::to_string(&Sent { conversation, sent, before: &planned })?);
    } else if !sent && !args.dry_run {
        show::line(&planned.nothing_done());
    } else if !sent {
        planned.lines(Paper::stdout()).iter().for_each(|line| show::line(line));
    } else {
        show::line(&acts::room_asked(&story.lane));
    }
    Ok(whole::told(&story))
}

/// Asks for room before the next model call; `keep` says what a summary must not lose.
pub(super) async fn ask(
    store: &dyn Store,
    story: &Story,
    keep: Option<&str>,
) -> anyhow::Result<()> {
    let body = MailBody::Compact { wishes: keep.map(Arc::from) };
    let letter = Letter { key: Arc::from(setup::new_id()), body };
    Ok(store.deliver(story.lane.clone(), letter).await.map(drop)?)
}
