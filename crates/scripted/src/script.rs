//! A parsed script: rules, their conditions and their steps.
//!
//! Not here: how the text is parsed (`script_parser`) and how a rule is chosen (`rule_matching`).

use super::script_error::ScriptError;
use super::scripted_answer::{ScriptedFault, ScriptedStop};
use super::template::TextTemplate;

/// A parsed script: an ordered list of rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    /// The rules in the order of the file; earlier ones win.
    pub rules: Vec<Rule>,
}

impl Script {
    /// Parses a script. The [module documentation](super) describes the language.
    ///
    /// # Errors
    ///
    /// Returns a [`ScriptError`] that names the line and what to write instead.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        super::script_parser::parse_script(text)
    }
}

/// One `when` block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub(super) line: usize,
    pub(super) conditions: Vec<Condition>,
    pub(super) actions: Vec<RuleAction>,
    pub(super) stop: Option<ScriptedStop>,
    pub(super) usage: Option<GivenUsage>,
    pub(super) limit: Option<u32>,
}

impl Rule {
    /// Returns the line of its `when`, counted from 1.
    pub fn line(&self) -> usize {
        self.line
    }
}

/// One condition of a rule, as written or after `not`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Condition {
    Holds(ConditionTest),
    Fails(ConditionTest),
}

/// A test of what the model sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ConditionTest {
    Any,
    User(TextTest),
    Results(CountTest),
    Result(ResultTest),
    Ask(CountTest),
    Offers(String),
}

/// A test of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TextTest {
    Is(String),
    Contains(String),
    Matches(String),
}

/// A test that at least one tool result must pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ResultTest {
    pub(super) outcome: ResultFilter,
    pub(super) tool: Option<String>,
    pub(super) text: Option<TextTest>,
}

/// Which results a [`ResultTest`] applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResultFilter {
    AnyResult,
    Error,
}

/// A number: `3` or `3+`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CountTest {
    Exactly(u32),
    AtLeast(u32),
}

/// One step as written: an answer's step with its slots not filled yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RuleAction {
    Say(TextTemplate),
    Think(TextTemplate),
    Call(CallAction),
    TruncatedCall(CallAction),
    Raw(String),
    Delay(u64),
    Pace(u64),
    Cut,
    CutInside,
    Fail(ScriptedFault),
}

/// A call as written; without an id one is generated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CallAction {
    pub(super) id: Option<String>,
    pub(super) name: String,
    pub(super) input: TextTemplate,
}

/// The figures of a `usage` line; those it leaves out are derived.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct GivenUsage {
    pub(super) input: Option<u64>,
    pub(super) output: Option<u64>,
    pub(super) cache_read: Option<u64>,
    pub(super) cache_write: Option<u64>,
}
