//! What an onlooker outside the runtime knows: which effects took place, what humans allowed, which
//! runs ended. Nothing of it is told to the core.

use windlass_core::Conversation;
use windlass_core::ids::{CallId, MailId, RunId};
use windlass_core::input::{Finding, Input};
use windlass_core::log::Entry;
use windlass_core::mail::{Answer, Mail, MailBody};
use windlass_core::question::Question;
use windlass_core::record::Record;

/// The onlooker's notes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Ledger {
    deeds: Vec<Deed>,
    approved: Vec<CallId>,
    ended: Vec<RunId>,
}

/// What became of one call that changes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Deed {
    call: CallId,
    /// How often its effect took place.
    pub(crate) fired: u8,
    /// How often it may, if it is once-only.
    pub(crate) permits: u8,
    /// Whether it took place since somebody last said that it had not.
    pub(crate) stands: bool,
}

impl Ledger {
    /// The effect of `call` takes place.
    pub(crate) fn fire(&mut self, call: CallId) -> Deed {
        let deed = self.deed_mut(call);
        deed.fired = deed.fired.saturating_add(1);
        deed.stands = true;
        *deed
    }

    pub(crate) fn deed(&self, call: CallId) -> Option<&Deed> {
        self.deeds.iter().find(|deed| deed.call == call)
    }

    pub(crate) fn stands(&self, call: CallId) -> bool {
        self.deed(call).is_some_and(|deed| deed.stands)
    }

    pub(crate) fn is_approved(&self, call: CallId) -> bool {
        self.approved.contains(&call)
    }

    pub(crate) fn has_ended(&self, run: &RunId) -> bool {
        self.ended.contains(run)
    }

    /// Notes what a record says about humans, probes and ends.
    pub(crate) fn witness(&mut self, now: &Conversation, entry: &Entry, record: &Record) {
        match record {
            Record::Answered { mail } => self.answered(now, &entry.input, *mail),
            Record::CallCleared { call } if is_cleared_by_probe(&entry.input) => self.clear(*call),
            Record::Finished { run, .. } => self.ended.push(run.clone()),
            _ => {}
        }
    }

    fn answered(&mut self, now: &Conversation, input: &Input, mail: MailId) {
        let Some((question, answer)) = answer_in(now, input, mail) else { return };
        match (question.about.call(), answer) {
            (Some(call), Answer::Allow { rule: None }) => self.approved.push(call),
            (Some(call), Answer::Retry {}) => self.clear(call),
            _ => {}
        }
    }

    fn clear(&mut self, call: CallId) {
        let deed = self.deed_mut(call);
        deed.permits = deed.fired.saturating_add(1);
        deed.stands = false;
    }

    fn deed_mut(&mut self, call: CallId) -> &mut Deed {
        let place = self.deeds.iter().position(|deed| deed.call == call);
        let place = place.unwrap_or(self.deeds.len());
        if place == self.deeds.len() {
            self.deeds.push(Deed { call, fired: 0, permits: 1, stands: false });
        }
        #[expect(clippy::indexing_slicing, reason = "the place was found or made just above")]
        &mut self.deeds[place]
    }
}

fn is_cleared_by_probe(input: &Input) -> bool {
    matches!(input, Input::Probed { finding: Finding::DidNotHappen {}, .. })
}

/// The open question that mail `id` answers, and its answer.
pub(crate) fn answer_in<'a>(
    now: &'a Conversation,
    input: &'a Input,
    id: MailId,
) -> Option<(&'a Question, &'a Answer)> {
    let Input::Received { mail } = input else { return None };
    let Mail { body, .. } = mail.iter().find(|mail| mail.id == id)?;
    let MailBody::Answer { question, answer } = body else { return None };
    let open = now.run.as_ref()?.questions().find(|open| open.id == *question)?;
    Some((open, answer))
}
