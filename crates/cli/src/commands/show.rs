//! `windlass show`: a conversation as a person reads it.

use std::path::Path;
use std::process::ExitCode;

use windlass::core::ids::RunId;

use crate::look::args::LookArgs;
use crate::look::explain;
use crate::look::find;
use crate::look::paper::Paper;
use crate::look::pending;
use crate::look::scenes::{self, page};
use crate::look::story::Story;
use crate::look::whole;
use crate::{setup, show};

pub(crate) async fn show(args: &LookArgs) -> anyhow::Result<ExitCode> {
    let store = setup::existing_store(&args.store).await?;
    let found = find::find(store.as_ref(), args.id.as_deref(), Path::new(".")).await?;
    let story = Story::read(store.as_ref(), found.lane.clone()).await?;
    if let Some(queued) = pending::find(store.as_ref(), &found, &story).await? {
        return queued.print(args.json);
    }
    let scenes = scenes::scenes(&story, found.run.as_ref());
    if args.json {
        for scene in &scenes {
            show::line(&serde_json::to_string(scene)?);
        }
    } else {
        let paper = Paper::stdout();
        page(&story, &scenes, paper).iter().for_each(|line| show::line(line));
        if let Some(run) = found.run.or_else(|| newest(&story)) {
            let standing = explain::standing(&story, &run);
            standing.iter().for_each(|line| show::line(&paper.wrap(line, 0)));
        }
    }
    Ok(whole::told(&story))
}

/// The run that tells how the conversation stands.
fn newest(story: &Story) -> Option<RunId> {
    let active = story.now.run.as_ref().map(|run| run.id.clone());
    active.or_else(|| story.runs().pop())
}
