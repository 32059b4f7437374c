//! Builds a rule while its lines are parsed, and checks which line may follow which.

use super::limits::{MAX_SLOTS, MAX_STEPS};
use super::script::{Condition, GivenUsage, Rule, RuleAction};
use super::script_error::ScriptProblem;
use super::scripted_answer::{ScriptedFault, ScriptedStop};
use super::template::TextTemplate;

/// A rule that is not finished.
#[derive(Debug)]
pub(super) struct RuleBuilder {
    rule: Rule,
    state: RuleState,
    slots: usize,
}

/// What may still be added to the answer.
#[derive(Debug, Clone, Copy)]
enum RuleState {
    Open,
    /// A call was truncated: only an ending may follow.
    Truncated,
    Ended(&'static str),
}

impl RuleBuilder {
    pub(super) fn new(line: usize, conditions: Vec<Condition>) -> Self {
        let (actions, stop, usage, limit) = (Vec::new(), None, None, None);
        let rule = Rule { line, conditions, actions, stop, usage, limit };
        Self { rule, state: RuleState::Open, slots: 0 }
    }

    /// Parses a text with slots.
    pub(super) fn parse_template(&mut self, text: &str) -> Result<TextTemplate, ScriptProblem> {
        let template = TextTemplate::parse(text)?;
        self.slots = self.slots.saturating_add(template.slot_count());
        if self.slots > MAX_SLOTS {
            return Err(ScriptProblem::TooManySlots);
        }
        Ok(template)
    }

    /// Adds a step after which the answer continues.
    pub(super) fn push_step(
        &mut self,
        word: &'static str,
        action: RuleAction,
    ) -> Result<(), ScriptProblem> {
        match self.state {
            RuleState::Open => self.push_action(action),
            RuleState::Truncated => Err(ScriptProblem::AfterEnd { word, end: "truncate" }),
            RuleState::Ended(end) => Err(ScriptProblem::AfterEnd { word, end }),
        }
    }

    /// Adds a truncated call.
    pub(super) fn push_truncated_call(&mut self, action: RuleAction) -> Result<(), ScriptProblem> {
        self.push_step("truncate", action)?;
        self.state = RuleState::Truncated;
        Ok(())
    }

    /// Sets the stop reason of the answer.
    pub(super) fn set_stop(&mut self, stop: ScriptedStop) -> Result<(), ScriptProblem> {
        self.end_answer("stop")?;
        self.rule.stop = Some(stop);
        Ok(())
    }

    /// Adds a cut: the connection drops.
    pub(super) fn push_cut(&mut self) -> Result<(), ScriptProblem> {
        self.end_answer("cut")?;
        self.push_action(RuleAction::Cut)
    }

    /// Adds a cut inside the block above: the connection drops there.
    pub(super) fn push_cut_inside(&mut self) -> Result<(), ScriptProblem> {
        self.end_answer("cut")?;
        match self.rule.actions.last() {
            Some(last) if is_whole_block(last) => self.push_action(RuleAction::CutInside),
            Some(_) | None => Err(ScriptProblem::NothingToCut),
        }
    }

    /// Adds a fault: the request fails.
    pub(super) fn push_fault(&mut self, fault: ScriptedFault) -> Result<(), ScriptProblem> {
        self.end_answer("fail")?;
        if fault == ScriptedFault::Connect && self.rule.actions.iter().any(streams_content) {
            return Err(ScriptProblem::ConnectAfterContent);
        }
        self.push_action(RuleAction::Fail(fault))
    }

    /// Sets the usage of the answer.
    pub(super) fn set_usage(&mut self, usage: GivenUsage) -> Result<(), ScriptProblem> {
        match self.rule.usage.replace(usage) {
            Some(_) => Err(ScriptProblem::GivenTwice { word: "usage" }),
            None => Ok(()),
        }
    }

    /// Sets how often the rule may answer.
    pub(super) fn set_limit(
        &mut self,
        word: &'static str,
        times: u32,
    ) -> Result<(), ScriptProblem> {
        match self.rule.limit.replace(times) {
            Some(_) => Err(ScriptProblem::GivenTwice { word }),
            None => Ok(()),
        }
    }

    /// Returns the finished rule.
    pub(super) fn finish(self) -> Result<Rule, ScriptProblem> {
        if self.rule.actions.is_empty() && self.rule.stop.is_none() {
            return Err(ScriptProblem::EmptyRule);
        }
        Ok(self.rule)
    }

    fn end_answer(&mut self, word: &'static str) -> Result<(), ScriptProblem> {
        if let RuleState::Ended(end) = self.state {
            return Err(ScriptProblem::AfterEnd { word, end });
        }
        self.state = RuleState::Ended(word);
        Ok(())
    }

    fn push_action(&mut self, action: RuleAction) -> Result<(), ScriptProblem> {
        if self.rule.actions.len() >= MAX_STEPS {
            return Err(ScriptProblem::TooLarge { what: "steps in a rule", limit: MAX_STEPS });
        }
        self.rule.actions.push(action);
        Ok(())
    }
}

fn is_whole_block(action: &RuleAction) -> bool {
    matches!(
        action,
        RuleAction::Say(_) | RuleAction::Think(_) | RuleAction::Call(_) | RuleAction::Raw(_)
    )
}

fn streams_content(action: &RuleAction) -> bool {
    is_whole_block(action) || matches!(action, RuleAction::TruncatedCall(_))
}
