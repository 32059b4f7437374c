//! `windlass journal`: prints the run journal of a conversation.

use std::path::Path;
use std::process::ExitCode;

use crate::inspect::args::InspectArgs;
use crate::inspect::damage_report;
use crate::inspect::history::ConversationHistory;
use crate::inspect::id_lookup;
use crate::inspect::journal_view;
use crate::inspect::style::OutputStyle;
use crate::{output, setup};

pub(crate) async fn run(args: &InspectArgs) -> anyhow::Result<ExitCode> {
    let store = setup::open_existing_store(&args.store).await?;
    let found = id_lookup::find_target(store.as_ref(), args.id.as_deref(), Path::new(".")).await?;
    let story = ConversationHistory::load(store.as_ref(), found.lane).await?;
    if args.json {
        output::print_line(&journal_view::journal_json(&story)?);
    } else {
        journal_view::journal_lines(&story, OutputStyle::stdout())
            .iter()
            .for_each(|line| output::print_line(line));
    }
    Ok(damage_report::report_damage(&story))
}
