//! Errors of a script: what is wrong, where, and what to write instead.

use super::limits::{MAX_RULES, MAX_SCRIPT_BYTES, MAX_SLOTS};

/// Why a text is not a script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// The text is longer than [`MAX_SCRIPT_BYTES`].
    #[error("the script has {bytes} bytes; the limit is {MAX_SCRIPT_BYTES}; split it")]
    ScriptTooLong {
        /// The length of the text.
        bytes: usize,
    },
    /// One line cannot be parsed.
    #[error("line {line}: {problem}")]
    AtLine {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong there.
        problem: ScriptProblem,
    },
}

/// What is wrong with one line of a script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptProblem {
    /// More rules than [`MAX_RULES`].
    #[error("more than {MAX_RULES} rules; split the script")]
    TooManyRules,
    /// A list or text of one rule exceeds its limit.
    #[error("{what}: at most {limit} fit; shorten it")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// More slots than [`MAX_SLOTS`].
    #[error("more than {MAX_SLOTS} slots in one rule; write `$${{` where a plain `${{` is meant")]
    TooManySlots,
    /// A step that belongs to no rule.
    #[error("`{word}` stands before the first rule; write `when any` above it")]
    OutsideRule {
        /// The first word of the line.
        word: String,
    },
    /// A rule without a single step.
    #[error(
        "this rule has no answer; write `say \"…\"` below it, or `stop end_turn` for an empty reply"
    )]
    EmptyRule,
    /// A line that starts with an unknown word.
    #[error(
        "unknown step `{word}`; write one of say, think, call, truncate, raw, delay, pace, stop, cut, \
         fail, usage, once, times, or start a rule with when"
    )]
    UnknownStep {
        /// The word that was found.
        word: String,
    },
    /// A condition that starts with an unknown word.
    #[error(
        "unknown condition `{word}`; write one of any, user, results, result, error, ask, tools, or \
         not before one of them"
    )]
    UnknownCondition {
        /// The word that was found.
        word: String,
    },
    /// Something else was expected here.
    #[error("found {found}; write {wanted}")]
    Expected {
        /// What to write.
        wanted: &'static str,
        /// What was found.
        found: String,
    },
    /// A `"""` text that never ends.
    #[error("this text is never closed; write `\"\"\"` on a line of its own below it")]
    UnclosedText,
    /// A line of a `"""` text that starts left of its closing quotes.
    #[error("this line starts left of the closing `\"\"\"`; indent it, or move the closing quotes")]
    Outdented,
    /// A quoted text that is not valid.
    #[error("bad text ({detail}); write \"…\" on one line with JSON escapes, or a `\"\"\"` block")]
    BadText {
        /// The message of the JSON parser.
        detail: String,
    },
    /// A JSON value that is not valid.
    #[error("bad JSON ({detail}); write one complete value, or `truncate call` for a partial one")]
    BadJson {
        /// The message of the JSON parser.
        detail: String,
    },
    /// An unknown slot.
    #[error(
        "unknown slot `${{{slot}`; write `${{user}}`, `${{result}}` or `${{ask}}`, or `$${{` for a plain `${{`"
    )]
    UnknownSlot {
        /// The text after the `${`.
        slot: String,
    },
    /// A step after the answer has ended.
    #[error("`{word}` comes after `{end}`, which ends the answer; move it up or remove it")]
    AfterEnd {
        /// The late step.
        word: &'static str,
        /// The step that ended the answer.
        end: &'static str,
    },
    /// A setting that is given twice.
    #[error("`{word}` is given twice in this rule; keep one")]
    GivenTwice {
        /// The repeated setting.
        word: &'static str,
    },
    /// `cut inside` with nothing to cut.
    #[error(
        "`cut inside` cuts the block above it; write a say, think, call or raw directly above, or plain `cut`"
    )]
    NothingToCut,
    /// `fail connect` after something was streamed.
    #[error("a connection that has streamed cannot fail to connect; write `cut`")]
    ConnectAfterContent,
}
