//! `windlass journal`: the working memory of a conversation, whole.

use std::path::Path;
use std::process::ExitCode;

use crate::look::args::LookArgs;
use crate::look::find;
use crate::look::journal;
use crate::look::paper::Paper;
use crate::look::story::Story;
use crate::look::whole;
use crate::{setup, show};

pub(crate) async fn journal(args: &LookArgs) -> anyhow::Result<ExitCode> {
    let store = setup::existing_store(&args.store).await?;
    let found = find::find(store.as_ref(), args.id.as_deref(), Path::new(".")).await?;
    let story = Story::read(store.as_ref(), found.lane).await?;
    if args.json {
        show::line(&journal::json(&story)?);
    } else {
        journal::lines(&story, Paper::stdout()).iter().for_each(|line| show::line(line));
    }
    Ok(whole::told(&story))
}
