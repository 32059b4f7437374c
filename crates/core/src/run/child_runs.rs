//! Child runs (sub-agents): conversations of their own that answer a call. Each has its own lane
//! and may run on any worker; the sub-agent result returns as an inbox command, and the call waits
//! for it without holding any resources.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::budget::spending::{Spending, SpendingCaps};
use crate::log::ids::{CallId, LaneId, RunId};
use crate::message::raw_json::sha256_hex;
use crate::message::truncate;
use crate::settings::conversation_settings::Effort;

/// Characters of a sub-agent's id.
const AGENT_ID_CHARS: usize = 17;

/// The task of a child run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ChildTask {
    /// The registered agent for the task; empty means one like the parent.
    #[serde(default)]
    pub agent: Arc<str>,
    /// The prompt of the task.
    pub prompt: Arc<str>,
    /// Effort of the child's model; that of its agent if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
}

impl ChildTask {
    /// Creates a task for this agent, or for one like the parent if its name is empty.
    #[must_use]
    pub fn new(agent: &str, prompt: &str) -> Self {
        Self { agent: Arc::from(agent), prompt: Arc::from(prompt), effort: None }
    }
}

/// The parent of a child run, and what the child may spend.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ParentLink {
    /// The lane of the parent.
    pub lane: LaneId,
    /// The call that waits for the child.
    pub call: CallId,
    /// Index of the task in the call.
    pub part: u16,
    /// What the child may spend.
    pub caps: SpendingCaps,
    /// Nesting depth: 1 for a child of a top-level conversation.
    pub depth: u8,
    /// Whether the parent contains untrusted content.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untrusted: bool,
}

/// A child that no call waits for: what it may spend counts until it returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OrphanedChild {
    /// The call that waited for the child.
    pub call: CallId,
    /// Index of the task in the call.
    pub part: u16,
    /// What the child may spend.
    pub granted: SpendingCaps,
    /// Whether it works in the background, so that its result starts a run. Otherwise its call was
    /// given up, and the result is only charged.
    pub is_background: bool,
}

impl OrphanedChild {
    /// Returns whether the orphan is this task.
    #[must_use]
    pub fn matches(&self, call: CallId, part: u16) -> bool {
        (self.call, self.part) == (call, part)
    }
}

/// The child runs that a call waits for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PendingChildren {
    /// What each child may spend.
    pub granted: SpendingCaps,
    /// The reply of each child, once it returned.
    pub replies: Vec<Option<ChildReply>>,
    /// How many were started; the others wait for a free slot.
    pub started: usize,
    /// Whether the children were cancelled.
    pub cancellation: ChildCancellation,
}

/// The reply of a child, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ChildReply {
    /// Text of the reply.
    pub text: Arc<str>,
    /// How the child ended.
    pub ending: ChildOutcome,
}

/// Whether the child runs were cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChildCancellation {
    /// The child runs were not cancelled.
    NotRequested,
    /// The child runs were cancelled.
    Requested,
}

/// A sub-agent result: what a child returned.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ChildResult {
    /// The call that waits for the child.
    pub call: CallId,
    /// Index of the task in the call.
    pub part: u16,
    /// What the child spent.
    pub spent: Spending,
    /// Whether the child succeeded.
    pub ending: ChildOutcome,
    /// Whether the child contains untrusted content.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untrusted: bool,
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChildOutcome {
    /// The child returned an answer.
    Answered,
    /// The child returned no answer.
    Failed,
}

impl PendingChildren {
    /// Creates the state of child runs before any was started.
    #[must_use]
    pub fn new(tasks: usize, granted: SpendingCaps) -> Self {
        Self {
            granted,
            replies: vec![None; tasks],
            started: 0,
            cancellation: ChildCancellation::NotRequested,
        }
    }

    /// Returns how many child runs are working.
    #[must_use]
    pub fn running_count(&self) -> usize {
        self.running_parts().count()
    }

    /// Returns the tasks that are running: started, and not returned.
    pub fn running_parts(&self) -> impl Iterator<Item = u16> {
        let sent = (0u16..).zip(self.replies.iter().take(self.started));
        sent.filter(|(_, back)| back.is_none()).map(|(part, _)| part)
    }

    /// Returns how many have not returned, started or not.
    #[must_use]
    pub fn outstanding_count(&self) -> usize {
        self.replies.iter().filter(|back| back.is_none()).count()
    }

    /// Returns whether nothing is outstanding: all have returned, or the rest was cancelled before
    /// it started.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.outstanding_count() == 0
            || (self.cancellation == ChildCancellation::Requested && self.running_count() == 0)
    }

    /// Returns all replies as one text, each truncated to its share of `limit_chars`.
    #[must_use]
    pub fn combined_text(&self, limit_chars: u64) -> String {
        let share = limit_chars / (self.replies.len() as u64).max(1);
        let said = |nth: usize, back: &Option<ChildReply>| match back {
            Some(ChildReply { text, ending: ChildOutcome::Answered }) => {
                truncate::truncate_text(text, share).into_owned()
            }
            Some(ChildReply { text, ending: ChildOutcome::Failed }) => {
                format!("failed: {}", truncate::truncate_text(text, share))
            }
            None if nth < self.started => String::from("did not return"),
            None => String::from("was not started"),
        };
        match self.replies.as_slice() {
            [one] => said(0, one),
            many => {
                let part = |(nth, back)| format!("[{}] {}", nth + 1, said(nth, back));
                many.iter().enumerate().map(part).collect::<Vec<_>>().join("\n\n")
            }
        }
    }

    /// Returns whether no child returned an answer.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        let answered = |back: &ChildReply| back.ending == ChildOutcome::Answered;
        !self.replies.iter().flatten().any(answered)
    }
}

/// Returns whether `lane` is a child of `parent`, or a child of a child, by its name. A name that a
/// user chose may start like another one: only the form of [`child_lane`] counts.
#[must_use]
pub fn is_descendant(parent: &LaneId, lane: &LaneId) -> bool {
    let rest = lane.as_str().strip_prefix(parent.as_str()).and_then(|rest| rest.strip_prefix('/'));
    rest.is_some_and(|rest| rest.split('/').all(is_child_suffix))
}

/// Returns the lane of the top-level conversation that a child works for, by the child's name.
#[must_use]
pub fn root_lane(child: &LaneId) -> LaneId {
    let mut root = child.as_str();
    while let Some((above, _)) = root.rsplit_once('/').filter(|(_, last)| is_child_suffix(last)) {
        root = above;
    }
    LaneId::from(root)
}

/// Returns whether the text is a child suffix: `MODEL_CALL.INDEX-PART`, three numbers.
fn is_child_suffix(text: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let parts =
        text.split_once('.').and_then(|(prompt, rest)| Some((prompt, rest.split_once('-')?)));
    parts.is_some_and(|(prompt, (call, part))| [prompt, call, part].into_iter().all(is_number))
}

/// Returns the id by which programs know the sub-agent on a lane.
#[must_use]
pub fn sub_agent_id(lane: &LaneId) -> String {
    let hash = sha256_hex(lane.as_str().as_bytes());
    format!("a{}", hash.get(..AGENT_ID_CHARS - 1).unwrap_or(&hash))
}

/// Returns the git branch of the worktree in which the sub-agent on a lane works.
#[must_use]
pub fn worktree_branch(lane: &LaneId) -> String {
    format!("windlass/{}", sub_agent_id(lane))
}

/// Returns whether a workspace is the worktree of the sub-agent on this lane: a folder on its path has
/// the id of the sub-agent. A child of the sub-agent works in the same worktree, which is not its own.
#[must_use]
pub fn is_own_worktree(lane: &LaneId, workspace: &str) -> bool {
    let id = sub_agent_id(lane);
    workspace.split('/').any(|part| part == id)
}

/// Returns the id of the run that the result of a background child starts in its parent's
/// conversation. It is derived from the child's lane: a result that arrives twice is one run.
#[must_use]
pub fn notification_run_id(child: &LaneId) -> RunId {
    RunId::from_name(&format!("notify:{child}"))
}

/// Returns the lane of a child, given its parent's.
#[must_use]
pub fn child_lane(parent: &LaneId, call: CallId, part: u16) -> LaneId {
    LaneId::from(format!("{parent}/{call}-{part}"))
}
