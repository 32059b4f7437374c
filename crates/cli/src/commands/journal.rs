//! `windlass journal`: prints the run journal of a conversation.

use std::path::Path;
use std::process::ExitCode;

use crate::args::inspect_args::InspectArgs;
use crate::inspect::history::ConversationHistory;
use crate::inspect::{damage_report, id_lookup, journal_view};
use crate::setup;
use crate::terminal::{self, OutputStyle};

pub(crate) async fn run(args: &InspectArgs) -> anyhow::Result<ExitCode> {
    let store = setup::open_existing_store(&args.store).await?;
    let found = id_lookup::find_target(store.as_ref(), args.id.as_deref(), Path::new(".")).await?;
    let history = ConversationHistory::load(store.as_ref(), found.lane).await?;
    if args.json {
        terminal::print_line(&journal_view::journal_json(&history)?);
    } else {
        journal_view::journal_lines(&history, OutputStyle::stdout())
            .iter()
            .for_each(|line| terminal::print_line(line));
    }
    Ok(damage_report::report_damage(&history))
}
