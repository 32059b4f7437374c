//! Mail to other lanes that an entry brings with it: tasks to children, the word to stop, and what a
//! child brings home. It leaves in the entry's own transaction, and its keys are derived from what it
//! is about, so that sending it twice is one letter.

use std::ops::Range;
use std::sync::Arc;

use windlass_core::call::Call;
use windlass_core::child::{self, Away, Ending, Homecoming, Parent};
use windlass_core::conversation::{Conversation, Ended};
use windlass_core::cut;
use windlass_core::ids::{CallId, LaneId, MailId, RunId};
use windlass_core::input::Input;
use windlass_core::log::Entry;
use windlass_core::mail::MailBody;
use windlass_core::record::Record;
use windlass_core::run::Run;
use windlass_core::stop::RunState;

use crate::ports::Letter;

/// Characters of what a child brings home.
const HOME_CHARS: u64 = 100_000;

/// An entry that was applied.
pub(super) struct Applied<'a> {
    pub(super) lane: &'a LaneId,
    pub(super) after: &'a Conversation,
    pub(super) ends: &'a [Ended],
}

/// The one run of a child. It follows from the child's lane, which names the parent's call: whoever
/// sends the task again sends the same run.
pub(crate) fn run_of(child: &LaneId) -> RunId {
    RunId::derived(&format!("run:{child}"))
}

/// The children a conversation waits for.
pub(crate) fn still_out(lane: &LaneId, conversation: &Conversation) -> Vec<LaneId> {
    let round = conversation.run.as_ref().and_then(Run::round);
    let calls = round.into_iter().flat_map(|round| &round.calls);
    calls.flat_map(|call| children_of(lane, call)).collect()
}

fn children_of(lane: &LaneId, call: &Call) -> Vec<LaneId> {
    let out = call.away().into_iter().flat_map(Away::at_work_parts);
    out.map(|part| child::lane_of(lane, call.id, part)).collect()
}

/// The word to stop, to the children of a call. `before` has the entry not yet applied: it may give
/// the call up, and then nobody knows who was out.
pub(super) fn recalls(
    lane: &LaneId,
    before: &Conversation,
    entry: &Entry,
) -> Vec<(LaneId, Letter)> {
    let recalled = entry.records.iter().filter_map(|record| match record {
        Record::ChildrenRecalled { call: id } => call(before, *id),
        _ => None,
    });
    let letter = |to: LaneId| {
        let key = Arc::from(format!("recall:{to}"));
        let body = MailBody::Cancel { run: Some(run_of(&to)) };
        (to, Letter { key, body })
    };
    recalled.flat_map(|call| children_of(lane, call)).map(letter).collect()
}

impl Applied<'_> {
    /// The other letters of the entry.
    pub(super) fn letters(&self, entry: &Entry) -> Vec<(LaneId, Letter)> {
        let of_records = entry.records.iter().flat_map(|record| match record {
            Record::Spawned { call, from, to, .. } => self.tasks(*call, *from..*to),
            Record::MailRefused { mail, why } => self.unemployed(entry, *mail, why),
            _ => Vec::new(),
        });
        of_records.chain(self.ends.iter().filter_map(|ended| self.home(ended))).collect()
    }

    fn tasks(&self, id: CallId, parts: Range<u16>) -> Vec<(LaneId, Letter)> {
        let Some(settings) = &self.after.settings else { return Vec::new() };
        let Some(call) = call(self.after, id) else { return Vec::new() };
        let Some(caps) = call.away().map(|away| away.granted) else { return Vec::new() };
        let depth = settings.depth.saturating_add(1);
        let letter = |(part, task): (u16, &child::Task)| {
            let to = child::lane_of(self.lane, id, part);
            let parent = Parent { lane: self.lane.clone(), call: id, part, caps, depth };
            let body = MailBody::Task { run: run_of(&to), task: task.clone(), parent };
            let key = Arc::from(format!("task:{to}"));
            (to, Letter { key, body })
        };
        let tasks = (0_u16..).zip(&call.facts.children);
        tasks.filter(|(part, _)| parts.contains(part)).map(letter).collect()
    }

    /// The end of the one run a child was begun for.
    fn home(&self, ended: &Ended) -> Option<(LaneId, Letter)> {
        let parent = self.after.parent.as_ref()?;
        if ended.run != run_of(self.lane) {
            return None;
        }
        let ending = match ended.cause.state(ended.has_text()) {
            RunState::Completed => Ending::Answered,
            _ => Ending::Failed,
        };
        let home = Homecoming { call: parent.call, part: parent.part, spent: ended.spent, ending };
        Some(self.to_parent(parent, brought(ended), home))
    }

    /// A task that was not taken: whoever waits for it must hear so.
    fn unemployed(&self, entry: &Entry, id: MailId, why: &str) -> Vec<(LaneId, Letter)> {
        let Input::Received { mail } = &entry.input else { return Vec::new() };
        let refused = mail.iter().find(|mail| mail.id == id).map(|mail| &mail.body);
        let Some(MailBody::Task { parent, .. }) = refused else { return Vec::new() };
        if self.after.parent.is_some() {
            return Vec::new();
        }
        let (call, part) = (parent.call, parent.part);
        let home = Homecoming { call, part, spent: Default::default(), ending: Ending::Failed };
        vec![self.to_parent(parent, Arc::from(why), home)]
    }

    fn to_parent(&self, parent: &Parent, text: Arc<str>, home: Homecoming) -> (LaneId, Letter) {
        let key = Arc::from(format!("home:{}", self.lane));
        let body = MailBody::ChildFinished { child: self.lane.clone(), text, home: Some(home) };
        (parent.lane.clone(), Letter { key, body })
    }
}

fn call(conversation: &Conversation, id: CallId) -> Option<&Call> {
    conversation.run.as_ref().and_then(Run::round)?.call(id)
}

/// What the parent reads: the answer, or why there is none.
fn brought(ended: &Ended) -> Arc<str> {
    if ended.text.trim().is_empty() {
        let reason = ended.cause.name();
        return Arc::from(format!("the child ended without an answer: {reason}"));
    }
    Arc::from(cut::text(&ended.text, HOME_CHARS).as_ref())
}
