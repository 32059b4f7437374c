//! Finds what an id in an address means. What belongs to another tenant does not exist.

use windlass::core::log::ids::{LaneId, RunId};
use windlass::ports::{LaneInfo, RunInfo};

use crate::caller::Caller;
use crate::deferred_prompts::{self, DeferredPrompt};
use crate::problem::Problem;
use crate::router::ApiState;

/// The most characters of an id.
const MAX_ID_CHARS: usize = 512;

/// The conversation with this id: the name of its lane, with or without the prefix.
pub(crate) async fn find_conversation(
    state: &ApiState,
    caller: &Caller,
    id: &str,
) -> Result<LaneInfo, Problem> {
    if is_id(id) {
        for lane in [format!("conversation:{id}"), id.to_owned()] {
            let found = state.windlass.find_conversation(&LaneId::from(lane)).await?;
            if let Some(found) = found.filter(|found| caller.sees(&found.affinity.tenant)) {
                return Ok(found);
            }
        }
    }
    Err(Problem::not_found("conversation"))
}

/// The run with this id.
pub(crate) async fn find_run(
    state: &ApiState,
    caller: &Caller,
    id: &str,
) -> Result<RunInfo, Problem> {
    let run = RunId::from(id);
    let mut found = None;
    if run.is_uuid() {
        found = state.windlass.find_run(&run).await?;
        if found.is_none() {
            let deferred = deferred_prompts::find_deferred(&state.windlass, id).await?;
            found = deferred.as_ref().map(DeferredPrompt::run_info);
        }
    }
    found.filter(|run| caller.sees(&run.tenant)).ok_or_else(|| Problem::not_found("run"))
}

fn is_id(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_ID_CHARS && !text.chars().any(char::is_control)
}
