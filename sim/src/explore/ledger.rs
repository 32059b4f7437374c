//! The ledger of an outside observer: which effects took place, what humans allowed, which runs
//! ended. None of it is known to the core.

use std::ops::Range;

use windlass_core::Conversation;
use windlass_core::budget::spending::{Spending, SpendingCaps};
use windlass_core::call::call_state::CallState;
use windlass_core::log::entry::Entry;
use windlass_core::log::ids::{CallId, InboxMessageId, RunId};
use windlass_core::log::inbox::{HumanAnswer, InboxCommand, InboxMessage};
use windlass_core::log::input::{Classification, HookDecision, Input, ProbeResult};
use windlass_core::log::record::{Record, Transition};
use windlass_core::permission::{HookPreference, PermissionRule, PermissionUpdate, RuleBehavior};
use windlass_core::run::active_run::Run;
use windlass_core::run::child_runs::ChildResult;
use windlass_core::run::question::{Question, QuestionKind};

/// The notes of the observer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Ledger {
    deeds: Vec<EffectHistory>,
    approved: Vec<CallId>,
    ended: Vec<RunId>,
    leans: Vec<(CallId, HookPreference)>,
    vouched: Vec<CallId>,
    grants: Vec<PermissionRule>,
    /// Whether a rule was granted with an approval: other open questions stay open then.
    has_granted_with_approval: bool,
    /// Calls that were allowed before the permissions changed last.
    settled: Vec<CallId>,
    /// Calls that had started by then: they are not stopped.
    under_way: Vec<CallId>,
    /// Calls that were in flight when a human changed an earlier one.
    overtakers: Vec<CallId>,
    kids: Vec<StartedChild>,
    summed_up: Vec<RunId>,
}

/// A child run that was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct StartedChild {
    pub(crate) call: CallId,
    pub(crate) part: u16,
    /// What the child may spend.
    pub(crate) granted: SpendingCaps,
    pub(crate) recalled: bool,
    /// How often its result was sent.
    pub(crate) sent: u8,
}

impl StartedChild {
    /// Whether the child is still working.
    pub(crate) fn is_out(&self) -> bool {
        self.sent == 0
    }

    /// Returns what the child spent: all that it may, or a little.
    pub(crate) fn spent(&self) -> Spending {
        let granted = self.granted.as_spending();
        let little = |cap: Option<u64>, most: u64| if cap.is_some() { most } else { 2 };
        Spending {
            tokens: little(self.granted.tokens, granted.tokens),
            usd_micros: little(self.granted.usd_micros, granted.usd_micros),
        }
    }
}

/// The effects of one call that changes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct EffectHistory {
    call: CallId,
    /// How often the effect took place.
    pub(crate) fired: u8,
    /// How often the effect may take place, if the call is once-only.
    pub(crate) permits: u8,
    /// Whether the effect took place since it was last reported that it had not.
    pub(crate) stands: bool,
}

impl Ledger {
    /// Records that the effect of `call` takes place.
    pub(crate) fn fire(&mut self, call: CallId) -> EffectHistory {
        let deed = self.deed_mut(call);
        deed.fired = deed.fired.saturating_add(1);
        deed.stands = true;
        *deed
    }

    pub(crate) fn effect_history(&self, call: CallId) -> Option<&EffectHistory> {
        self.deeds.iter().find(|deed| deed.call == call)
    }

    pub(crate) fn stands(&self, call: CallId) -> bool {
        self.effect_history(call).is_some_and(|deed| deed.stands)
    }

    pub(crate) fn is_approved(&self, call: CallId) -> bool {
        self.approved.contains(&call)
    }

    pub(crate) fn has_ended(&self, run: &RunId) -> bool {
        self.ended.contains(run)
    }

    pub(crate) fn preference_of(&self, call: CallId) -> HookPreference {
        let known = self.leans.iter().find(|(id, _)| *id == call);
        known.map_or(HookPreference::Neutral, |(_, lean)| *lean)
    }

    pub(crate) fn is_vouched_for(&self, call: CallId) -> bool {
        self.vouched.contains(&call)
    }

    /// Returns the rules that humans granted for the rest of the conversation.
    pub(crate) fn grants(&self) -> &[PermissionRule] {
        &self.grants
    }

    pub(crate) fn started_children(&self) -> &[StartedChild] {
        &self.kids
    }

    /// Records that a child sends its result.
    pub(crate) fn send_home(&mut self, call: CallId, part: u16) -> Spending {
        let kid = self.kids.iter_mut().find(|kid| (kid.call, kid.part) == (call, part));
        kid.map_or_else(Spending::default, |kid| {
            kid.sent = kid.sent.saturating_add(1);
            kid.spent()
        })
    }

    pub(crate) fn has_summed_up(&self, run: &RunId) -> bool {
        self.summed_up.contains(run)
    }

    /// Notes the responses of hooks and classifiers, before anything is decided by them.
    pub(crate) fn observe_input(&mut self, now: &Conversation, input: &Input) {
        let round = now.run.as_ref().and_then(Run::round);
        let state = |call: &CallId| round.and_then(|r| r.call(*call)).map(|call| &call.state);
        match input {
            Input::HookResponded { call, decision, .. }
                if state(call) == Some(&CallState::AwaitingPreHook) =>
            {
                self.leans.retain(|(id, _)| id != call);
                self.leans.extend(preference_in(decision).map(|lean| (*call, lean)));
            }
            Input::CallClassified { call, classification, .. }
                if state(call) == Some(&CallState::AwaitingClassifier) =>
            {
                self.vouched.retain(|id| id != call);
                self.vouched.extend((*classification == Classification::Allow {}).then_some(*call));
            }
            _ => {}
        }
    }

    /// Notes what a record says about humans, probes, children and ends.
    pub(crate) fn observations(&mut self, now: &Conversation, entry: &Entry, record: &Record) {
        match record {
            Record::ChildrenSpawned { call, from, to, granted } => {
                self.record_children(*call, *from..*to, *granted);
            }
            Record::ChildrenCancelled { call } => {
                let told = self.kids.iter_mut().filter(|kid| kid.call == *call);
                told.for_each(|kid| kid.recalled = true);
            }
            Record::ModelCallStarted { transition: Transition::WrapUp, .. } => {
                self.summed_up.extend(now.run.as_ref().map(|run| run.id.clone()));
            }
            // A wrap-up turn whose process died is repeated, possibly after a compaction.
            Record::ModelCallAbandoned { .. }
                if matches!(entry.input, Input::OwnerChanged { .. }) =>
            {
                let run = now.run.as_ref().map(|run| &run.id);
                self.summed_up.retain(|summed_up| Some(summed_up) != run);
            }
            Record::QuestionAnswered { message } => {
                self.record_answer(now, &entry.input, *message);
            }
            Record::CallInputChanged { message: Some(_), .. } => {
                let round = now.run.as_ref().and_then(Run::round);
                let calls = round.into_iter().flat_map(|round| &round.calls);
                let running = calls.filter(|call| call.is_running());
                self.overtakers.extend(running.map(|call| call.id));
            }
            Record::PermissionsUpdated { update, .. } => self.record_update(now, update),
            Record::CallRequeued { call } if is_cleared_by_probe(&entry.input) => self.clear(*call),
            Record::RunFinished { run, .. } => self.ended.push(run.clone()),
            _ => {}
        }
    }

    fn record_answer(&mut self, now: &Conversation, input: &Input, mail: InboxMessageId) {
        let Some((question, answer)) = answer_in(now, input, mail) else { return };
        match (question.kind.call(), answer) {
            (Some(call), HumanAnswer::Allow { rule, .. }) => {
                if matches!(question.kind, QuestionKind::Uncertain { .. }) {
                    self.clear(call);
                }
                self.approved.push(call);
                self.has_granted_with_approval |= rule.is_some();
                self.grants.extend(rule.clone());
            }
            (Some(call), HumanAnswer::Retry {}) => self.clear(call),
            // The question says that its answer starts the call again.
            (Some(call), _) if matches!(question.kind, QuestionKind::ToolRequest { .. }) => {
                self.clear(call);
            }
            _ => {}
        }
    }

    /// Notes a change of the permissions: rules that humans added, and the calls that were decided
    /// before it.
    fn record_update(&mut self, now: &Conversation, update: &PermissionUpdate) {
        match update {
            PermissionUpdate::AddRules { behavior: RuleBehavior::Allow, rules } => {
                self.grants.extend(rules.iter().cloned());
            }
            PermissionUpdate::ReplaceRules { behavior: RuleBehavior::Allow, rules } => {
                self.grants.clone_from(rules);
            }
            PermissionUpdate::RemoveRules { behavior: RuleBehavior::Allow, rules } => {
                self.grants.retain(|rule| !rules.contains(rule));
            }
            _ => {}
        }
        let calls =
            now.run.as_ref().and_then(Run::round).into_iter().flat_map(|round| &round.calls);
        for call in calls {
            match &call.state {
                CallState::Ready => self.settled.push(call.id),
                CallState::Running { .. }
                | CallState::AwaitingRetry { .. }
                | CallState::AwaitingChildren(_)
                | CallState::AwaitingHuman(Question {
                    kind: QuestionKind::Uncertain { .. } | QuestionKind::ToolRequest { .. },
                    ..
                })
                | CallState::Lost => {
                    self.settled.push(call.id);
                    self.under_way.push(call.id);
                }
                _ => {}
            }
        }
    }

    /// Whether the call was allowed before the permissions changed last.
    pub(crate) fn is_settled(&self, call: CallId) -> bool {
        self.settled.contains(&call)
    }

    /// Whether the call had started before the permissions changed last.
    pub(crate) fn was_under_way(&self, call: CallId) -> bool {
        self.under_way.contains(&call)
    }

    /// Whether the call was in flight when a human changed an earlier one.
    pub(crate) fn is_overtaker(&self, call: CallId) -> bool {
        self.overtakers.contains(&call)
    }

    /// Whether a rule was granted with an approval.
    pub(crate) fn has_granted_with_approval(&self) -> bool {
        self.has_granted_with_approval
    }

    fn record_children(&mut self, call: CallId, parts: Range<u16>, granted: SpendingCaps) {
        for part in parts {
            self.kids.push(StartedChild { call, part, granted, recalled: false, sent: 0 });
        }
    }

    fn clear(&mut self, call: CallId) {
        let deed = self.deed_mut(call);
        deed.permits = deed.fired.saturating_add(1);
        deed.stands = false;
    }

    fn deed_mut(&mut self, call: CallId) -> &mut EffectHistory {
        let place = self.deeds.iter().position(|deed| deed.call == call);
        let place = place.unwrap_or(self.deeds.len());
        if place == self.deeds.len() {
            self.deeds.push(EffectHistory { call, fired: 0, permits: 1, stands: false });
        }
        #[expect(clippy::indexing_slicing, reason = "the place was found or made just above")]
        &mut self.deeds[place]
    }
}

fn is_cleared_by_probe(input: &Input) -> bool {
    matches!(input, Input::CallProbed { result: ProbeResult::DidNotHappen {}, .. })
}

fn preference_in(answer: &HookDecision) -> Option<HookPreference> {
    match answer {
        HookDecision::Allow {} => Some(HookPreference::Allow),
        HookDecision::Ask { .. } => Some(HookPreference::Ask),
        HookDecision::Change { preference, .. } => Some(*preference),
        HookDecision::Pass {} | HookDecision::Deny { .. } | HookDecision::Defer {} => None,
    }
}

/// Returns the sub-agent result in the inbox message `id`.
pub(crate) fn home_in(input: &Input, id: InboxMessageId) -> Option<&ChildResult> {
    let Input::CommandsReceived { messages } = input else { return None };
    match &messages.iter().find(|mail| mail.id == id)?.body {
        InboxCommand::ChildFinished { result, .. } => result.as_ref(),
        _ => None,
    }
}

/// Returns the open question that the inbox message `id` answers, and its answer.
pub(crate) fn answer_in<'a>(
    now: &'a Conversation,
    input: &'a Input,
    id: InboxMessageId,
) -> Option<(&'a Question, &'a HumanAnswer)> {
    let Input::CommandsReceived { messages } = input else { return None };
    let InboxMessage { body, .. } = messages.iter().find(|mail| mail.id == id)?;
    let InboxCommand::Answer { question, answer, .. } = body else { return None };
    let open = now.run.as_ref()?.open_questions().find(|open| open.id == *question)?;
    Some((open, answer))
}
