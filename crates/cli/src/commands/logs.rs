//! `windlass logs`: prints events and retries, newest last.

use std::path::Path;
use std::process::ExitCode;

use windlass::SystemClock;
use windlass::core::log::ids::RunId;
use windlass::ports::{Clock, Store};

use crate::args::inspect_args::LogsArgs;
use crate::inspect::event_log::{EventReader, LoggedEvent, NEWEST_RUNS};
use crate::inspect::id_lookup;
use crate::setup;
use crate::terminal::{self, OutputStyle};

/// Milliseconds between two polls of the store.
const POLL_MS: u64 = 300;

pub(crate) async fn run(args: &LogsArgs) -> anyhow::Result<ExitCode> {
    let store = setup::open_existing_store(&args.store).await?;
    let clock = SystemClock::start();
    let mut reader = EventReader::default();
    let mut run = None;
    if let Some(id) = &args.id {
        let found = id_lookup::find_target(store.as_ref(), Some(id), Path::new(".")).await?;
        reader.add_lane(found.lane);
        run = found.run;
    }
    let mut limit = args.last;
    loop {
        add_newest_lanes(&mut reader, store.as_ref(), args).await?;
        let events = reader.read_new(store.as_ref()).await?;
        print_events(&events, run.as_ref(), limit, args)?;
        if !args.follow {
            if events.is_empty() && !args.json {
                terminal::print_note(&setup::no_runs_message(&args.store));
            }
            break;
        }
        limit = usize::MAX;
        clock.sleep(POLL_MS).await;
    }
    let damages = reader.damage_reports();
    damages.iter().for_each(|damage| terminal::print_note(&format!("windlass: {damage}")));
    Ok(if damages.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Adds the conversations of the newest runs, if none was named.
async fn add_newest_lanes(
    reader: &mut EventReader,
    store: &dyn Store,
    args: &LogsArgs,
) -> anyhow::Result<()> {
    if args.id.is_none() {
        for run in store.list_runs(None, NEWEST_RUNS).await? {
            reader.add_lane(run.lane);
        }
    }
    Ok(())
}

fn print_events(
    events: &[LoggedEvent],
    run: Option<&RunId>,
    limit: usize,
    args: &LogsArgs,
) -> anyhow::Result<()> {
    let style = OutputStyle::stdout();
    let mine = |event: &&LoggedEvent| run.is_none_or(|run| event.belongs_to(run));
    let mine: Vec<&LoggedEvent> = events.iter().filter(mine).collect();
    for event in mine.iter().skip(mine.len().saturating_sub(limit)) {
        terminal::print_line(&if args.json { event.to_json()? } else { event.to_line(style) });
    }
    Ok(())
}
