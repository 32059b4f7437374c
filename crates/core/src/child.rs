//! Children: conversations of their own that answer a call. Each has its own lane, so that it may
//! run anywhere; what it found comes back as mail, and the call waits for it without holding
//! anything.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::budget::{Caps, Spent};
use crate::cut;
use crate::ids::{CallId, LaneId};
use crate::settings::Effort;

/// What a child is told to do.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Task {
    /// Which registered agent does it; empty means one like the parent.
    #[serde(default)]
    pub agent: Arc<str>,
    /// What it is to do.
    pub prompt: Arc<str>,
    /// How hard the child is to try; as its agent does if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
}

impl Task {
    /// A task for this agent, or for one like the parent if its name is empty.
    #[must_use]
    pub fn new(agent: &str, prompt: &str) -> Self {
        Self { agent: Arc::from(agent), prompt: Arc::from(prompt), effort: None }
    }
}

/// Whom a child works for, and what it may spend.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Parent {
    /// The lane of the parent.
    pub lane: LaneId,
    /// The call that waits.
    pub call: CallId,
    /// Which task of the call.
    pub part: u16,
    /// What it may spend.
    pub caps: Caps,
    /// How deep it stands: a child of a conversation that is nobody's child is at 1.
    pub depth: u8,
}

/// A child that was given up: what it may spend counts until it comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stray {
    /// The call that waited.
    pub call: CallId,
    /// Which task of it.
    pub part: u16,
    /// What it may spend.
    pub granted: Caps,
}

impl Stray {
    /// Whether it is this one.
    #[must_use]
    pub fn is(&self, call: CallId, part: u16) -> bool {
        (self.call, self.part) == (call, part)
    }
}

/// A call that waits for its children.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Away {
    /// What each may spend.
    pub granted: Caps,
    /// What each brought back, once it did.
    pub back: Vec<Option<Back>>,
    /// How many were sent out; the others wait for room.
    pub sent: usize,
    /// Whether they were told to stop.
    pub recalled: Recalled,
}

/// What a child brought back, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Back {
    /// Its words.
    pub text: Arc<str>,
    /// How it ended.
    pub ending: Ending,
}

/// Whether children were told to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Recalled {
    /// They were not.
    No,
    /// They were.
    Yes,
}

/// What a child brought back.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Homecoming {
    /// The call that waits.
    pub call: CallId,
    /// Which task of it.
    pub part: u16,
    /// What it spent.
    pub spent: Spent,
    /// Whether it ended well.
    pub ending: Ending,
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// With an answer.
    Answered,
    /// Without one.
    Failed,
}

impl Away {
    /// Children at the beginning.
    #[must_use]
    pub fn new(tasks: usize, granted: Caps) -> Self {
        Self { granted, back: vec![None; tasks], sent: 0, recalled: Recalled::No }
    }

    /// How many are at work.
    #[must_use]
    pub fn at_work(&self) -> usize {
        self.at_work_parts().count()
    }

    /// Which are at work: sent out, and not back.
    pub fn at_work_parts(&self) -> impl Iterator<Item = u16> {
        let sent = (0u16..).zip(self.back.iter().take(self.sent));
        sent.filter(|(_, back)| back.is_none()).map(|(part, _)| part)
    }

    /// How many are not back, sent out or not.
    #[must_use]
    pub fn out(&self) -> usize {
        self.back.iter().filter(|back| back.is_none()).count()
    }

    /// Whether nobody is waited for any more: all are back, or those who are not were never begun
    /// and will not be.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.out() == 0 || (self.recalled == Recalled::Yes && self.at_work() == 0)
    }

    /// What they brought back, as one text, each cut to its share of `limit_chars`.
    #[must_use]
    pub fn text(&self, limit_chars: u64) -> String {
        let share = limit_chars / (self.back.len() as u64).max(1);
        let said = |nth: usize, back: &Option<Back>| match back {
            Some(Back { text, ending: Ending::Answered }) => cut::text(text, share).into_owned(),
            Some(Back { text, ending: Ending::Failed }) => {
                format!("failed: {}", cut::text(text, share))
            }
            None if nth < self.sent => String::from("did not come back"),
            None => String::from("was not begun"),
        };
        match self.back.as_slice() {
            [one] => said(0, one),
            many => {
                let part = |(nth, back)| format!("[{}] {}", nth + 1, said(nth, back));
                many.iter().enumerate().map(part).collect::<Vec<_>>().join("\n\n")
            }
        }
    }

    /// Whether none of them had an answer.
    #[must_use]
    pub fn failed(&self) -> bool {
        let answered = |back: &Back| back.ending == Ending::Answered;
        !self.back.iter().flatten().any(answered)
    }
}

/// Whether `lane` is that of a child of `parent`, or of a child's child, by its name. A name that a
/// person chose may begin like another one: only the form that [`lane_of`] gives counts.
#[must_use]
pub fn is_descendant(parent: &LaneId, lane: &LaneId) -> bool {
    let rest = lane.as_str().strip_prefix(parent.as_str()).and_then(|rest| rest.strip_prefix('/'));
    rest.is_some_and(|rest| rest.split('/').all(is_part))
}

/// The lane of the conversation that a child works for in the end, by the child's name.
#[must_use]
pub fn root_of(child: &LaneId) -> LaneId {
    let mut root = child.as_str();
    while let Some((above, _)) = root.rsplit_once('/').filter(|(_, last)| is_part(last)) {
        root = above;
    }
    LaneId::from(root)
}

/// `ASK.CALL-PART`, three numbers.
fn is_part(text: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let parts = text.split_once('.').and_then(|(ask, rest)| Some((ask, rest.split_once('-')?)));
    parts.is_some_and(|(ask, (call, part))| [ask, call, part].into_iter().all(is_number))
}

/// The lane of a child, given its parent's.
#[must_use]
pub fn lane_of(parent: &LaneId, call: CallId, part: u16) -> LaneId {
    LaneId::from(format!("{parent}/{call}-{part}"))
}
