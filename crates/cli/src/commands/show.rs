//! `windlass show`: prints the timeline of a conversation.

use std::path::Path;
use std::process::ExitCode;

use crate::args::inspect_args::InspectArgs;
use crate::inspect::explain::{self, Driver};
use crate::inspect::history::ConversationHistory;
use crate::inspect::run_activity::RunActivity;
use crate::inspect::timeline::{self, render_timeline};
use crate::inspect::{damage_report, id_lookup, pending_run};
use crate::setup;
use crate::terminal::{self, OutputStyle};

pub(crate) async fn run(args: &InspectArgs) -> anyhow::Result<ExitCode> {
    let store = setup::open_existing_store(&args.store).await?;
    let found = id_lookup::find_target(store.as_ref(), args.id.as_deref(), Path::new(".")).await?;
    let history = ConversationHistory::load(store.as_ref(), found.lane.clone()).await?;
    if let Some(queued) = pending_run::find_pending_run(store.as_ref(), &found, &history).await? {
        return queued.print(args.json);
    }
    let scenes = timeline::build_timeline(&history, found.run.as_ref());
    if args.json {
        for scene in &scenes {
            terminal::print_line(&serde_json::to_string(scene)?);
        }
    } else {
        let style = OutputStyle::stdout();
        render_timeline(&history, &scenes, style)
            .iter()
            .for_each(|line| terminal::print_line(line));
        if let Some(run) = found.run.or_else(|| history.newest_run_id()) {
            let owner = store.lane_info(history.lane.clone()).await?;
            let activity = RunActivity::read_of(store.as_ref(), &history.lane, &run).await?;
            let driver = Driver { lane: owner.as_ref(), need: activity.need.as_ref() };
            let summary = explain::state_summary(&history, &run, driver);
            summary.iter().for_each(|line| terminal::print_line(&style.wrap(line, 0)));
        }
    }
    Ok(damage_report::report_damage(&history))
}
