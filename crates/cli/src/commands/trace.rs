//! `windlass trace`: prints the table of iterations.

use std::path::Path;
use std::process::ExitCode;

use crate::args::inspect_args::InspectArgs;
use crate::inspect::history::ConversationHistory;
use crate::inspect::{damage_report, id_lookup, iteration_trace};
use crate::setup;
use crate::terminal::{self, Color, OutputStyle};

pub(crate) async fn run(args: &InspectArgs) -> anyhow::Result<ExitCode> {
    let store = setup::open_existing_store(&args.store).await?;
    let found = id_lookup::find_target(store.as_ref(), args.id.as_deref(), Path::new(".")).await?;
    let history = ConversationHistory::load(store.as_ref(), found.lane).await?;
    let style = OutputStyle::stdout();
    for trace in iteration_trace::build_traces(&history, found.run.as_ref()) {
        if args.json {
            for row in trace.to_json()? {
                terminal::print_line(&row.to_string());
            }
        } else {
            terminal::print_line(&style.paint(Color::Bold, &format!("run {}", trace.run)));
            trace.to_table(style).iter().for_each(|line| terminal::print_line(line));
        }
    }
    Ok(damage_report::report_damage(&history))
}
