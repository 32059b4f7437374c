//! The conversations of a store, to choose one from: prompt, age, state, cost and folder.

use std::collections::BTreeMap;
use std::path::Path;

use windlass::SystemClock;
use windlass::core::log::ids::LaneId;
use windlass::ports::{Clock, RunInfo, Store};

use super::opening::short_folder;
use super::picker::{PickerChoice, PickerItem};
use crate::inspect::id_lookup;
use crate::inspect::run_activity::RunActivity;
use crate::inspect::run_list::ListedRun;
use crate::inspect::worker_status::WorkerList;
use crate::terminal::age::format_age;
use crate::terminal::number_format::format_dollars;

/// Maximum runs that are read for the list.
const MAX_RUNS: usize = 500;

/// Maximum conversations that are listed.
const MAX_CONVERSATIONS: usize = 100;

/// Lists the conversations, newest first, those of this folder before others.
pub(super) async fn list_conversations(
    store: &dyn Store,
    workspace: &Path,
) -> anyhow::Result<Vec<PickerItem>> {
    let is_own = |run: &RunInfo| id_lookup::parent_lane(run.lane.as_str()).is_none();
    let runs = id_lookup::newest_runs(store, MAX_RUNS, is_own).await?;
    let mut costs: BTreeMap<LaneId, u64> = BTreeMap::new();
    let mut newest: Vec<RunInfo> = Vec::new();
    for run in runs {
        *costs.entry(run.lane.clone()).or_default() += run.usd_micros.unwrap_or(0);
        if newest.iter().all(|known| known.lane != run.lane) {
            newest.push(run);
        }
    }
    newest.sort_by_key(|run| !id_lookup::is_in_folder(run, workspace));
    newest.truncate(MAX_CONVERSATIONS);
    let workers = WorkerList::read(store).await?;
    let now = SystemClock::start().now();
    let mut items = Vec::new();
    for run in newest {
        let RunActivity { driven, need: waits_for } =
            RunActivity::read(store, &workers, &run).await?;
        let listed = ListedRun { run, driven, waits_for };
        let cost = costs.get(&listed.run.lane).copied().unwrap_or(0);
        items.push(to_item(&listed, format_age(now.ms_since(listed.run.at)), (cost, workspace)));
    }
    Ok(items)
}

fn to_item(listed: &ListedRun, age: String, (cost, workspace): (u64, &Path)) -> PickerItem {
    let run = &listed.run;
    let prompt = run.description.prompt.as_deref().or(run.text.as_deref()).unwrap_or("(no prompt)");
    let mut about = vec![age, listed.state_label().0];
    if cost > 0 {
        about.push(format_dollars(cost));
    }
    if let Some(folder) = run.description.folder.as_deref()
        && Path::new(folder) != workspace
    {
        about.push(short_folder(Path::new(folder)));
    }
    PickerItem {
        label: prompt.to_owned(),
        about: about.join(" · "),
        choice: PickerChoice::Conversation(run.lane.clone()),
    }
}

/// The folder of a conversation, if it is another one than this.
pub(super) async fn foreign_folder(
    store: &dyn Store,
    lane: &LaneId,
    workspace: &Path,
) -> anyhow::Result<Option<String>> {
    let runs = store.list_runs(Some(lane.clone()), 1).await?;
    let folder = runs.first().and_then(|run| run.description.folder.clone());
    Ok(folder.map(|folder| folder.to_string()).filter(|folder| Path::new(folder) != workspace))
}
