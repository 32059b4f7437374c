//! Conversations and runs, as the API shows them.

use schemars::JsonSchema;
use serde::Serialize;
use windlass::core::stop::RunState;
use windlass::messages::format_iso_time;
use windlass::ports::{LaneInfo, RunInfo};

/// A run.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunView {
    /// The id of the run.
    run_id: String,
    /// The conversation of the run.
    conversation_id: String,
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
}

impl RunView {
    pub(crate) fn new(run: &RunInfo) -> Self {
        let about = &run.description;
        let text = |text: &Option<std::sync::Arc<str>>| text.as_deref().map(str::to_owned);
        Self {
            run_id: run.run.as_str().to_owned(),
            conversation_id: run.lane.session_id().to_owned(),
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
        }
    }
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
