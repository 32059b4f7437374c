//! What an onlooker outside the runtime knows: which effects took place, what humans allowed, which
//! runs ended. Nothing of it is told to the core.

use std::ops::Range;

use windlass_core::Conversation;
use windlass_core::budget::{Caps, Spent};
use windlass_core::call::CallState;
use windlass_core::child::Homecoming;
use windlass_core::ids::{CallId, MailId, RunId};
use windlass_core::input::{Finding, HookAnswer, Input, Opinion};
use windlass_core::log::Entry;
use windlass_core::mail::{Answer, Mail, MailBody};
use windlass_core::permission::{Lean, Rule};
use windlass_core::question::Question;
use windlass_core::record::{Record, Transition};
use windlass_core::run::Run;

/// The onlooker's notes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Ledger {
    deeds: Vec<Deed>,
    approved: Vec<CallId>,
    ended: Vec<RunId>,
    leans: Vec<(CallId, Lean)>,
    vouched: Vec<CallId>,
    grants: Vec<Rule>,
    kids: Vec<Kid>,
    summed_up: Vec<RunId>,
}

/// A child somebody sent out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Kid {
    pub(crate) call: CallId,
    pub(crate) part: u16,
    /// What it may spend.
    pub(crate) granted: Caps,
    pub(crate) recalled: bool,
    /// How often it was sent home.
    pub(crate) sent: u8,
}

impl Kid {
    /// Whether it is still at work.
    pub(crate) fn is_out(&self) -> bool {
        self.sent == 0
    }

    /// What it spent: all that it may, or a little.
    pub(crate) fn spent(&self) -> Spent {
        let granted = self.granted.as_spent();
        let little = |cap: Option<u64>, most: u64| if cap.is_some() { most } else { 2 };
        Spent {
            tokens: little(self.granted.tokens, granted.tokens),
            usd_micros: little(self.granted.usd_micros, granted.usd_micros),
        }
    }
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

    pub(crate) fn lean_of(&self, call: CallId) -> Lean {
        let known = self.leans.iter().find(|(id, _)| *id == call);
        known.map_or(Lean::Neutral, |(_, lean)| *lean)
    }

    pub(crate) fn is_vouched_for(&self, call: CallId) -> bool {
        self.vouched.contains(&call)
    }

    /// What humans allowed for the rest of the conversation.
    pub(crate) fn grants(&self) -> &[Rule] {
        &self.grants
    }

    pub(crate) fn kids(&self) -> &[Kid] {
        &self.kids
    }

    /// A child sets out for home.
    pub(crate) fn send_home(&mut self, call: CallId, part: u16) -> Spent {
        let kid = self.kids.iter_mut().find(|kid| (kid.call, kid.part) == (call, part));
        kid.map_or_else(Spent::default, |kid| {
            kid.sent = kid.sent.saturating_add(1);
            kid.spent()
        })
    }

    pub(crate) fn has_summed_up(&self, run: &RunId) -> bool {
        self.summed_up.contains(run)
    }

    /// Notes what hooks and classifiers say, before anything is settled by it.
    pub(crate) fn hear(&mut self, now: &Conversation, input: &Input) {
        let round = now.run.as_ref().and_then(Run::round);
        let state = |call: &CallId| round.and_then(|r| r.call(*call)).map(|call| &call.state);
        match input {
            Input::HookAnswered { call, answer, .. }
                if state(call) == Some(&CallState::BeforeHook) =>
            {
                self.leans.retain(|(id, _)| id != call);
                self.leans.extend(lean(answer).map(|lean| (*call, lean)));
            }
            Input::Classified { call, opinion, .. }
                if state(call) == Some(&CallState::Referred) =>
            {
                self.vouched.retain(|id| id != call);
                self.vouched.extend((*opinion == Opinion::Allow {}).then_some(*call));
            }
            _ => {}
        }
    }

    /// Notes what a record says about humans, probes, children and ends.
    pub(crate) fn witness(&mut self, now: &Conversation, entry: &Entry, record: &Record) {
        match record {
            Record::Spawned { call, from, to, granted } => {
                self.spawned(*call, *from..*to, *granted);
            }
            Record::ChildrenRecalled { call } => {
                let told = self.kids.iter_mut().filter(|kid| kid.call == *call);
                told.for_each(|kid| kid.recalled = true);
            }
            Record::Asked { transition: Transition::SumUp, .. } => {
                self.summed_up.extend(now.run.as_ref().map(|run| run.id.clone()));
            }
            // A last turn whose process died is taken again, perhaps after room was made for it.
            Record::AttemptAbandoned { .. } if matches!(entry.input, Input::Adopted { .. }) => {
                let run = now.run.as_ref().map(|run| &run.id);
                self.summed_up.retain(|summed_up| Some(summed_up) != run);
            }
            Record::Answered { mail } => self.answered(now, &entry.input, *mail),
            Record::CallCleared { call } if is_cleared_by_probe(&entry.input) => self.clear(*call),
            Record::Finished { run, .. } => self.ended.push(run.clone()),
            _ => {}
        }
    }

    fn answered(&mut self, now: &Conversation, input: &Input, mail: MailId) {
        let Some((question, answer)) = answer_in(now, input, mail) else { return };
        match (question.about.call(), answer) {
            (Some(call), Answer::Allow { rule, .. }) => {
                self.approved.push(call);
                self.grants.extend(rule.clone());
            }
            (Some(call), Answer::Retry {}) => self.clear(call),
            _ => {}
        }
    }

    fn spawned(&mut self, call: CallId, parts: Range<u16>, granted: Caps) {
        for part in parts {
            self.kids.push(Kid { call, part, granted, recalled: false, sent: 0 });
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

fn lean(answer: &HookAnswer) -> Option<Lean> {
    match answer {
        HookAnswer::Allow {} => Some(Lean::Allow),
        HookAnswer::Ask {} => Some(Lean::Ask),
        HookAnswer::Change { lean, .. } => Some(*lean),
        HookAnswer::Pass {} | HookAnswer::Deny { .. } => None,
    }
}

/// Which child comes home with mail `id`.
pub(crate) fn home_in(input: &Input, id: MailId) -> Option<&Homecoming> {
    let Input::Received { mail } = input else { return None };
    match &mail.iter().find(|mail| mail.id == id)?.body {
        MailBody::ChildFinished { home, .. } => home.as_ref(),
        _ => None,
    }
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
