//! Whether a process drives a run, and what the run waits for otherwise. A run that waits for
//! sub-agents has no driver of its own: what they do counts.

use std::sync::Arc;

use windlass::core::log::ids::{LaneId, RunId};
use windlass::core::run::wanted::{is_parked, is_waiting_for_children};
use windlass::core::stop::RunState;
use windlass::ports::{LaneInfo, RunInfo, Store, StoreError};
use windlass_runtime::worker_identity::has_process_ended;

use super::history::ConversationHistory;
use super::open_questions::{OpenQuestion, find_open_questions, pending_sub_agents, questions_of};
use super::worker_status::{Need, WorkerList};

/// Conversations of sub-agents that are read at most.
const MAX_CONVERSATIONS: usize = 64;

/// Whether a process drives a run, and what it waits for.
#[derive(Debug, Default)]
pub(crate) struct RunActivity {
    /// Whether a process drives the run; `None` if no process has to.
    pub(crate) driven: Option<bool>,
    /// What the run waits for before a process can drive it.
    pub(crate) need: Option<Need>,
}

/// What the sub-agents do for whose results a run waits.
enum SubAgentActivity {
    /// The run waits for none.
    NotAwaited,
    /// A process drives at least one of them.
    Driven,
    /// Nothing else happens before these questions are answered.
    Asking(Vec<OpenQuestion>),
    /// No process drives one that could continue.
    NotDriven,
}

impl RunActivity {
    /// Reads what happens to a run.
    pub(crate) async fn read(
        store: &dyn Store,
        workers: &WorkerList,
        run: &RunInfo,
    ) -> Result<Self, StoreError> {
        let lane = store.lane_info(run.lane.clone()).await?;
        let driven = is_driven(run, lane.as_ref());
        if driven == Some(false) {
            match read_sub_agents(store, &run.lane).await? {
                SubAgentActivity::Driven => return Ok(Self { driven: Some(true), need: None }),
                SubAgentActivity::Asking(questions) => {
                    return Ok(Self { driven: None, need: Some(Need::Answer(questions)) });
                }
                SubAgentActivity::NotAwaited | SubAgentActivity::NotDriven => {}
            }
        }
        let need = match is_behind_another(run, lane.as_ref()) {
            true => need_behind_another(store, workers, run, lane.as_ref()).await?,
            false => workers.waiting_reason(run, lane.as_ref()),
        };
        Ok(Self { driven, need })
    }

    /// Reads what happens to a run of a conversation; nothing is known of a run without a row.
    pub(crate) async fn read_of(
        store: &dyn Store,
        lane: &LaneId,
        run: &RunId,
    ) -> Result<Self, StoreError> {
        let runs = store.list_runs(Some(lane.clone()), usize::MAX).await?;
        match runs.iter().find(|known| known.run == *run) {
            Some(run) => Ok(Self::read(store, &WorkerList::read(store).await?, run).await?),
            None => Ok(Self::default()),
        }
    }
}

/// Returns whether a process drives a run that the store has as running.
fn is_driven(run: &RunInfo, lane: Option<&LaneInfo>) -> Option<bool> {
    if !matches!(run.state, RunState::Running | RunState::WaitingOnProvider) {
        return None;
    }
    Some(lane.is_some_and(has_live_owner))
}

fn has_live_owner(lane: &LaneInfo) -> bool {
    lane.owner.as_ref().is_some_and(|owner| !has_process_ended(owner))
}

/// Returns whether the run is queued while another one is active in its conversation.
pub(crate) fn is_behind_another(run: &RunInfo, lane: Option<&LaneInfo>) -> bool {
    let active = lane.and_then(|lane| lane.active_run.as_ref());
    run.state == RunState::Queued && active.is_some_and(|active| *active != run.run)
}

/// What a queued run waits for, in a conversation with an active run: the answers that the active
/// run needs; that run itself if no process drives it; otherwise nothing that a person has to do.
async fn need_behind_another(
    store: &dyn Store,
    workers: &WorkerList,
    run: &RunInfo,
    lane: Option<&LaneInfo>,
) -> Result<Option<Need>, StoreError> {
    let questions = find_open_questions(store, &run.lane).await?;
    if !questions.is_empty() {
        return Ok(Some(Need::AnswerToEarlierRun(questions)));
    }
    let is_stuck = workers.waiting_reason(run, lane).is_some()
        && !matches!(read_sub_agents(store, &run.lane).await?, SubAgentActivity::Driven);
    Ok(is_stuck.then(|| Need::EarlierRun(run.lane.clone())))
}

/// Reads what the sub-agents do for whose results the active run of a conversation waits.
async fn read_sub_agents(store: &dyn Store, lane: &LaneId) -> Result<SubAgentActivity, StoreError> {
    let now = ConversationHistory::load(store, lane.clone()).await?.conversation;
    if !is_waiting_for_children(&now) {
        return Ok(SubAgentActivity::NotAwaited);
    }
    let mut questions = questions_of(lane, &Arc::new(now.clone()));
    let mut unread = pending_sub_agents(lane, &now);
    let mut is_stuck = false;
    for _ in 0..MAX_CONVERSATIONS {
        let Some(lane) = unread.pop() else { break };
        if store.lane_info(lane.clone()).await?.as_ref().is_some_and(has_live_owner) {
            return Ok(SubAgentActivity::Driven);
        }
        let now = ConversationHistory::load(store, lane.clone()).await?.conversation;
        is_stuck |= !is_parked(&now) && !is_waiting_for_children(&now);
        unread.extend(pending_sub_agents(&lane, &now));
        questions.extend(questions_of(&lane, &Arc::new(now)));
    }
    match is_stuck || questions.is_empty() {
        true => Ok(SubAgentActivity::NotDriven),
        false => Ok(SubAgentActivity::Asking(questions)),
    }
}
