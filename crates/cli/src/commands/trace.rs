//! `windlass trace`: the column of iterations.

use std::path::Path;
use std::process::ExitCode;

use crate::look::args::LookArgs;
use crate::look::find;
use crate::look::paper::{Ink, Paper};
use crate::look::story::Story;
use crate::look::trace;
use crate::look::whole;
use crate::{setup, show};

pub(crate) async fn trace(args: &LookArgs) -> anyhow::Result<ExitCode> {
    let store = setup::existing_store(&args.store).await?;
    let found = find::find(store.as_ref(), args.id.as_deref(), Path::new(".")).await?;
    let story = Story::read(store.as_ref(), found.lane).await?;
    let paper = Paper::stdout();
    for trace in trace::traces(&story, found.run.as_ref()) {
        if args.json {
            for row in trace.json()? {
                show::line(&row.to_string());
            }
        } else {
            show::line(&paper.ink(Ink::Strong, &format!("run {}", trace.run)));
            trace.table(paper).iter().for_each(|line| show::line(line));
        }
    }
    Ok(whole::told(&story))
}
