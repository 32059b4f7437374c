//! A rule while its lines are read: what may follow what.

use super::answer::{Fault, Stop};
use super::error::Problem;
use super::limits::{MAX_SLOTS, MAX_STEPS};
use super::script::{Action, Condition, GivenUsage, Rule};
use super::template::Template;

/// A rule that is not finished.
#[derive(Debug)]
pub(super) struct Draft {
    rule: Rule,
    state: State,
    slots: usize,
}

/// What the answer can still take.
#[derive(Debug, Clone, Copy)]
enum State {
    Open,
    /// A call broke off: only an ending may follow.
    Truncated,
    Ended(&'static str),
}

impl Draft {
    pub(super) fn new(line: usize, conditions: Vec<Condition>) -> Self {
        let (actions, stop, usage, limit) = (Vec::new(), None, None, None);
        let rule = Rule { line, conditions, actions, stop, usage, limit };
        Self { rule, state: State::Open, slots: 0 }
    }

    /// Takes in a text with slots.
    pub(super) fn template(&mut self, text: &str) -> Result<Template, Problem> {
        let template = Template::parse(text)?;
        self.slots = self.slots.saturating_add(template.slots());
        if self.slots > MAX_SLOTS {
            return Err(Problem::TooManySlots);
        }
        Ok(template)
    }

    /// A step after which the answer goes on.
    pub(super) fn go_on(&mut self, word: &'static str, action: Action) -> Result<(), Problem> {
        match self.state {
            State::Open => self.push(action),
            State::Truncated => Err(Problem::AfterEnd { word, end: "truncate" }),
            State::Ended(end) => Err(Problem::AfterEnd { word, end }),
        }
    }

    /// A call that breaks off.
    pub(super) fn truncate(&mut self, action: Action) -> Result<(), Problem> {
        self.go_on("truncate", action)?;
        self.state = State::Truncated;
        Ok(())
    }

    /// The reason the answer stops for.
    pub(super) fn stop(&mut self, stop: Stop) -> Result<(), Problem> {
        self.end("stop")?;
        self.rule.stop = Some(stop);
        Ok(())
    }

    /// The connection drops.
    pub(super) fn cut(&mut self) -> Result<(), Problem> {
        self.end("cut")?;
        self.push(Action::Cut)
    }

    /// The connection drops inside the block above.
    pub(super) fn cut_inside(&mut self) -> Result<(), Problem> {
        self.end("cut")?;
        match self.rule.actions.last() {
            Some(last) if is_whole_block(last) => self.push(Action::CutInside),
            Some(_) | None => Err(Problem::NothingToCut),
        }
    }

    /// The request fails.
    pub(super) fn fail(&mut self, fault: Fault) -> Result<(), Problem> {
        self.end("fail")?;
        if fault == Fault::Connect && self.rule.actions.iter().any(streams) {
            return Err(Problem::LateConnect);
        }
        self.push(Action::Fail(fault))
    }

    /// What the answer costs.
    pub(super) fn usage(&mut self, usage: GivenUsage) -> Result<(), Problem> {
        match self.rule.usage.replace(usage) {
            Some(_) => Err(Problem::Twice { word: "usage" }),
            None => Ok(()),
        }
    }

    /// How often the rule may answer.
    pub(super) fn limit(&mut self, word: &'static str, times: u32) -> Result<(), Problem> {
        match self.rule.limit.replace(times) {
            Some(_) => Err(Problem::Twice { word }),
            None => Ok(()),
        }
    }

    /// The finished rule.
    pub(super) fn finish(self) -> Result<Rule, Problem> {
        if self.rule.actions.is_empty() && self.rule.stop.is_none() {
            return Err(Problem::EmptyRule);
        }
        Ok(self.rule)
    }

    fn end(&mut self, word: &'static str) -> Result<(), Problem> {
        if let State::Ended(end) = self.state {
            return Err(Problem::AfterEnd { word, end });
        }
        self.state = State::Ended(word);
        Ok(())
    }

    fn push(&mut self, action: Action) -> Result<(), Problem> {
        if self.rule.actions.len() >= MAX_STEPS {
            return Err(Problem::TooLarge { what: "steps in a rule", limit: MAX_STEPS });
        }
        self.rule.actions.push(action);
        Ok(())
    }
}

fn is_whole_block(action: &Action) -> bool {
    matches!(action, Action::Say(_) | Action::Think(_) | Action::Call(_) | Action::Raw(_))
}

fn streams(action: &Action) -> bool {
    is_whole_block(action) || matches!(action, Action::TruncatedCall(_))
}
