//! The questions that a conversation waits for: those of its active run, and those of the
//! sub-agents for whose results the run waits.

use std::sync::Arc;

use windlass::core::call::call_state::Call;
use windlass::core::log::ids::LaneId;
use windlass::core::run::active_run::Run;
use windlass::core::run::child_runs::child_lane;
use windlass::core::run::conversation::Conversation;
use windlass::core::run::question::Question;
use windlass::ports::{Store, StoreError};

use super::history::ConversationHistory;
use crate::messages;

/// Conversations of sub-agents that are read at most.
const MAX_CONVERSATIONS: usize = 64;

/// An open question, with the conversation that asks it and takes the answer.
#[derive(Debug, Clone)]
pub(crate) struct OpenQuestion {
    pub(crate) lane: LaneId,
    pub(crate) question: Question,
    pub(crate) conversation: Arc<Conversation>,
}

impl OpenQuestion {
    /// The question with its details and how it is answered.
    pub(crate) fn with_answers(&self) -> String {
        messages::question_with_answers(&self.question, &self.conversation, &self.lane)
    }

    /// How the question is answered.
    pub(crate) fn how_to_answer(&self) -> String {
        messages::how_to_answer(&self.question, &self.lane)
    }
}

/// Finds what a person has to answer before the active run of the conversation can end, and what
/// its sub-agents in the background ask.
pub(crate) async fn find_open_questions(
    store: &dyn Store,
    lane: &LaneId,
) -> Result<Vec<OpenQuestion>, StoreError> {
    let mut unread = vec![lane.clone()];
    let mut found = Vec::new();
    for _ in 0..MAX_CONVERSATIONS {
        let Some(lane) = unread.pop() else { break };
        let now = ConversationHistory::load(store, lane.clone()).await?.conversation;
        unread.extend(pending_sub_agents(&lane, &now));
        found.extend(questions_of(&lane, &Arc::new(now)));
    }
    Ok(found)
}

/// The open questions of a conversation itself.
pub(crate) fn questions_of(lane: &LaneId, now: &Arc<Conversation>) -> Vec<OpenQuestion> {
    let open = now.run.iter().flat_map(Run::open_questions);
    let found = open.map(|question| OpenQuestion {
        lane: lane.clone(),
        question: question.clone(),
        conversation: Arc::clone(now),
    });
    found.collect()
}

/// The conversations of the sub-agents for whose results the active run waits, and of those in the
/// background.
pub(crate) fn pending_sub_agents(lane: &LaneId, now: &Conversation) -> Vec<LaneId> {
    let round = now.run.as_ref().and_then(Run::round);
    let calls = round.into_iter().flat_map(|round| &round.calls);
    let background = now.background_children();
    let background = background.map(|child| child_lane(lane, child.call, child.part));
    calls.flat_map(|call| sub_agents_of_call(lane, call)).chain(background).collect()
}

fn sub_agents_of_call(lane: &LaneId, call: &Call) -> Vec<LaneId> {
    let parts = call.pending_children().into_iter().flat_map(|pending| pending.running_parts());
    parts.map(|part| child_lane(lane, call.id, part)).collect()
}
