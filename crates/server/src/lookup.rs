//! Finds what an id in an address means.

use windlass::core::log::ids::{LaneId, RunId};
use windlass::ports::{LaneInfo, RunInfo};

use crate::problem::Problem;
use crate::router::ApiState;

/// The most characters of an id.
const MAX_ID_CHARS: usize = 512;

/// The conversation with this id: the name of its lane, with or without the prefix.
pub(crate) async fn find_conversation(state: &ApiState, id: &str) -> Result<LaneInfo, Problem> {
    if is_id(id) {
        for lane in [format!("conversation:{id}"), id.to_owned()] {
            if let Some(found) = state.windlass.find_conversation(&LaneId::from(lane)).await? {
                return Ok(found);
            }
        }
    }
    Err(Problem::not_found("conversation"))
}

/// The run with this id.
pub(crate) async fn find_run(state: &ApiState, id: &str) -> Result<RunInfo, Problem> {
    let run = RunId::from(id);
    let found = match run.is_uuid() {
        true => state.windlass.find_run(&run).await?,
        false => None,
    };
    found.ok_or_else(|| Problem::not_found("run"))
}

fn is_id(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_ID_CHARS && !text.chars().any(char::is_control)
}
