//! `windlass logs`: events and retries, newest last.

use std::path::Path;
use std::process::ExitCode;

use windlass::SystemClock;
use windlass::core::ids::RunId;
use windlass::ports::{Clock, Store};

use crate::look::args::LogsArgs;
use crate::look::find;
use crate::look::logs::{Event, NEWEST_RUNS, Reader};
use crate::look::paper::Paper;
use crate::{setup, show};

/// Between two looks.
const POLL_MS: u64 = 300;

pub(crate) async fn logs(args: &LogsArgs) -> anyhow::Result<ExitCode> {
    let store = setup::existing_store(&args.store).await?;
    let clock = SystemClock::start();
    let mut reader = Reader::default();
    let mut run = None;
    if let Some(id) = &args.id {
        let found = find::find(store.as_ref(), Some(id), Path::new(".")).await?;
        reader.add(found.lane);
        run = found.run;
    }
    let mut most = args.last;
    loop {
        add_newest(&mut reader, store.as_ref(), args).await?;
        let events = reader.read(store.as_ref()).await?;
        print(&events, run.as_ref(), most, args)?;
        if !args.follow {
            if events.is_empty() && !args.json {
                show::note(&setup::no_runs(&args.store));
            }
            break;
        }
        most = usize::MAX;
        clock.sleep(POLL_MS).await;
    }
    let damages = reader.damages();
    damages.iter().for_each(|damage| show::note(&format!("windlass: {damage}")));
    Ok(if damages.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Without a conversation, the ones of the newest runs.
async fn add_newest(reader: &mut Reader, store: &dyn Store, args: &LogsArgs) -> anyhow::Result<()> {
    if args.id.is_none() {
        for run in store.runs(None, NEWEST_RUNS).await? {
            reader.add(run.lane);
        }
    }
    Ok(())
}

fn print(
    events: &[Event],
    run: Option<&RunId>,
    most: usize,
    args: &LogsArgs,
) -> anyhow::Result<()> {
    let paper = Paper::stdout();
    let mine = |event: &&Event| run.is_none_or(|run| event.is_of(run));
    let mine: Vec<&Event> = events.iter().filter(mine).collect();
    for event in mine.iter().skip(mine.len().saturating_sub(most)) {
        show::line(&if args.json { event.json()? } else { event.line(paper) });
    }
    Ok(())
}
