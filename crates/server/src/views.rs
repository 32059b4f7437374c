//! Conversations and runs, as the API shows them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windlass::core::log::ids::UnixMillis;
use windlass::core::stop::RunState;
use windlass::messages::format_iso_time;
use windlass::ports::{DocumentFilter, LaneInfo, RunInfo, Store, StoreError};

use crate::caller::Caller;
use crate::documents::{self, DocumentBody, Stored};
use crate::problem::Problem;
use crate::run_labels::{self, RunLabels};
use crate::runs::check_limit;

/// A run.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunView {
    /// The id of the run.
    run_id: String,
    /// The conversation of the run.
    conversation_id: String,
    /// The tenant that it belongs to.
    tenant: String,
    /// What the run does now: `queued`, `running`, `waiting_on_human`, `waiting_on_provider`,
    /// `completed`, `failed`, `cancelled` or `timed_out`. A run that is `timed_out` without a stop
    /// cause was interrupted: its process is gone.
    state: String,
    /// Why the run ended; `null` while it has not.
    stop_cause: Option<&'static str>,
    /// The first line of the prompt, at most 200 characters.
    prompt: Option<String>,
    /// The text of the answer.
    answer: Option<String>,
    /// The model that the run calls.
    model: Option<String>,
    /// The agent that drives the run.
    agent: Option<String>,
    /// The profile of the run.
    profile: Option<String>,
    /// The folder in which its tools work.
    folder: Option<String>,
    /// Whether the run can be resumed.
    is_resumable: bool,
    /// Whether a cancel was requested.
    is_cancel_requested: bool,
    /// What the run has cost so far, in millionths of a US dollar; `null` for a model without a
    /// known price.
    cost_usd_micros: Option<u64>,
    /// When the run reached its state, in ISO 8601.
    updated_at: String,
    /// When its prompt is delivered, in ISO 8601, if that was put off.
    deliver_at: Option<String>,
    /// Tags that were given with its prompt.
    tags: Vec<String>,
    /// Fields that were given with its prompt.
    metadata: BTreeMap<String, String>,
}

impl RunView {
    pub(crate) fn new(run: &RunInfo, labels: RunLabels) -> Self {
        let about = &run.description;
        let text = |text: &Option<std::sync::Arc<str>>| text.as_deref().map(str::to_owned);
        Self {
            run_id: run.run.as_str().to_owned(),
            conversation_id: run.lane.session_id().to_owned(),
            tenant: run.tenant.to_string(),
            state: state_name(run.state),
            stop_cause: run.cause.map(|cause| cause.as_str()),
            prompt: text(&about.prompt),
            answer: text(&run.text),
            model: text(&about.model),
            agent: text(&about.agent),
            profile: text(&about.profile),
            folder: text(&about.folder),
            is_resumable: run.resume_available || run.cause.is_some_and(|it| it.is_resumable()),
            is_cancel_requested: run.cancel_requested,
            cost_usd_micros: run.usd_micros,
            updated_at: format_iso_time(run.at),
            deliver_at: None,
            tags: labels.tags,
            metadata: labels.metadata,
        }
    }

    /// The run as one whose prompt is delivered later.
    pub(crate) fn deliver_at(self, at: Option<UnixMillis>) -> Self {
        Self { deliver_at: at.map(format_iso_time), ..self }
    }
}

/// Returns runs with their labels.
pub(crate) async fn run_views(
    store: &dyn Store,
    runs: &[RunInfo],
) -> Result<Vec<RunView>, StoreError> {
    let mut labels = run_labels::labels_of(store, runs.iter().map(|run| run.run.as_str())).await?;
    let views = runs.iter().map(|run| {
        let labels = labels.remove(run.run.as_str()).unwrap_or_default();
        RunView::new(run, labels)
    });
    Ok(views.collect())
}

/// Which part of a list is wanted.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ListParameters {
    /// Items at most, 1 to 500 (50 if not given).
    limit: Option<usize>,
    /// Continues a list after the part that gave this cursor.
    cursor: Option<String>,
}

/// Lists the documents of a kind that the caller sees.
pub(crate) async fn document_page<T: DocumentBody, V>(
    store: &dyn Store,
    caller: &Caller,
    given: &ListParameters,
    filter: DocumentFilter,
    view: impl Fn(&Stored<T>) -> V,
) -> Result<Page<V>, Problem> {
    let limit = check_limit(given.limit)?;
    let after = given.cursor.as_deref().unwrap_or_default();
    if after.contains('\0') {
        return Err(Problem::invalid("`cursor` is not one that a list gave"));
    }
    let mut found: Vec<Stored<T>> =
        documents::list_page(store, caller.tenant(), filter, after, limit + 1).await?;
    let has_more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| has_more).map(|last| last.key.to_string());
    Ok(Page { data: found.iter().map(view).collect(), next_cursor: last })
}

/// The name of a state, as logs and tables have it.
pub(crate) fn state_name(state: RunState) -> String {
    let name = serde_json::to_value(state).unwrap_or_default();
    name.as_str().unwrap_or_default().to_owned()
}

/// The state with a name.
pub(crate) fn parse_state(name: &str) -> Option<RunState> {
    serde_json::from_value(serde_json::Value::from(name)).ok()
}

/// A conversation.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ConversationView {
    /// The id of the conversation.
    conversation_id: String,
    /// The end of its log; a stream continues after it.
    position: String,
    /// The run that is active.
    active_run_id: Option<String>,
    /// The folder in which it was started.
    folder: Option<String>,
    /// The tenant that it belongs to.
    tenant: String,
    /// The agent that drives it.
    agent: Option<String>,
    /// The worker that drives it at this moment.
    worker_id: Option<String>,
}

impl ConversationView {
    pub(crate) fn new(lane: &LaneInfo) -> Self {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Self {
            conversation_id: lane.lane.session_id().to_owned(),
            position: lane.head.to_string(),
            active_run_id: lane.active_run.as_ref().map(|run| run.as_str().to_owned()),
            folder: given(&lane.affinity.folder),
            tenant: lane.affinity.tenant.to_string(),
            agent: given(&lane.affinity.agent),
            worker_id: lane.owner.as_deref().map(str::to_owned),
        }
    }
}

/// A part of a list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "{T}Page")]
pub(crate) struct Page<T> {
    /// The items of this part.
    pub(crate) data: Vec<T>,
    /// Gets the next part when it is given as the parameter `cursor`; `null` at the end.
    pub(crate) next_cursor: Option<String>,
}
