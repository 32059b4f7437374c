//! What a script is once it is read: rules, their conditions and their steps.
//!
//! Not here: how the text is read (`parse`) and how a rule is chosen (`matching`).

use super::answer::{Fault, Stop};
use super::error::Error;
use super::template::Template;

/// A read script: an ordered list of rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    /// The rules in the order of the file; earlier ones win.
    pub rules: Vec<Rule>,
}

impl Script {
    /// Reads a script. The [module documentation](super) teaches the language.
    pub fn parse(text: &str) -> Result<Self, Error> {
        super::parse::script(text)
    }
}

/// One `when` block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub(super) line: usize,
    pub(super) conditions: Vec<Condition>,
    pub(super) actions: Vec<Action>,
    pub(super) stop: Option<Stop>,
    pub(super) usage: Option<GivenUsage>,
    pub(super) limit: Option<u32>,
}

impl Rule {
    /// The line of its `when`, counted from 1.
    pub fn line(&self) -> usize {
        self.line
    }
}

/// One condition of a rule, as written or after `not`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Condition {
    Holds(Test),
    Fails(Test),
}

/// A question about what the model sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Test {
    Any,
    User(TextTest),
    Results(Count),
    Result(ResultTest),
    Ask(Count),
    Offers(String),
}

/// A question about a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TextTest {
    Is(String),
    Contains(String),
    Matches(String),
}

/// A question some tool result must answer with yes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ResultTest {
    pub(super) outcome: Outcome,
    pub(super) tool: Option<String>,
    pub(super) text: Option<TextTest>,
}

/// Which results a [`ResultTest`] looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Whatever,
    Error,
}

/// `3` or `3+`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    Exactly(u32),
    AtLeast(u32),
}

/// One step as written: an answer's step with its slots still open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    Say(Template),
    Think(Template),
    Call(CallAction),
    TruncatedCall(CallAction),
    Raw(String),
    Delay(u64),
    Pace(u64),
    Cut,
    CutInside,
    Fail(Fault),
}

/// A call as written; without an id one is minted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CallAction {
    pub(super) id: Option<String>,
    pub(super) name: String,
    pub(super) input: Template,
}

/// The figures of a `usage` line; what it leaves out is derived.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct GivenUsage {
    pub(super) input: Option<u64>,
    pub(super) output: Option<u64>,
    pub(super) cache_read: Option<u64>,
    pub(super) cache_write: Option<u64>,
}
