//! `windlass raw`: what providers answered, as it came.

use std::path::Path;
use std::process::ExitCode;

use crate::look::args::RawArgs;
use crate::look::paper::{Ink, Paper};
use crate::look::story::Story;
use crate::look::{acts, find, raw};
use crate::{setup, show};

/// Answers read at once.
const PAGE: usize = 64;

pub(crate) async fn raw(args: &RawArgs) -> anyhow::Result<ExitCode> {
    let store = setup::existing_store(&args.store).await?;
    let found = find::find(store.as_ref(), args.id.as_deref(), Path::new(".")).await?;
    let story = Story::read(store.as_ref(), found.lane.clone()).await?;
    let attempts = raw::attempts(&story, found.run.as_ref(), args.iter);
    let paper = Paper::stdout();
    let (mut after, mut shown) = (0, 0_usize);
    loop {
        let page = store.raw_responses(found.lane.clone(), after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        for row in &page {
            let Some(attempt) = attempts.get(&row.seq) else { continue };
            shown += 1;
            if args.json {
                show::line(&attempt.json(row)?);
            } else {
                show::line(&paper.ink(Ink::Strong, &attempt.heading(row)));
                show::line(&raw::text(row));
            }
        }
    }
    if shown == 0 {
        show::note(acts::NO_RAW);
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}
