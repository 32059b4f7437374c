//! The calls of a run: which failed and were not made good, and which was repeated.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use windlass_core::call::call_state::{Call, CallState};
use windlass_core::call::outcome::{CallResult, OutcomeKind};
use windlass_core::log::ids::{Seq, UnixMillis};
use windlass_core::message::raw_json::fingerprint;

use super::context_use::main_argument;
use super::excerpt::TextExcerpt;

/// Failed calls that are kept with all they say; the rest is only counted.
const MAX_FAILED_CALLS: usize = 100;

/// Different calls whose repetitions are counted.
const MAX_COUNTED_CALLS: usize = 1_000;

/// How often a call must be repeated to be mentioned.
const MIN_REPETITIONS: u32 = 3;

/// The code of a time-out that a tool reports by itself.
const TIMED_OUT: &str = "timed_out";

/// What tools print in place of no output.
const NO_OUTPUT: &str = "(no output)";

/// A limit below this many milliseconds was probably meant in seconds.
const SECONDS_BELOW_MS: u64 = 1_000;

/// A call that failed, was denied or did not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FailedCall {
    /// The tool.
    pub tool: String,
    /// The arguments, as JSON.
    pub input: TextExcerpt,
    /// What went wrong.
    pub problem: CallProblem,
    /// The first line of the error.
    pub error: TextExcerpt,
    /// The time limit that ended the call, in milliseconds.
    pub limit_ms: Option<u64>,
    /// What the model seems to have meant, if it mistook something.
    pub hint: Option<String>,
    /// What denied the call.
    pub denied_by: Option<CallDenial>,
    /// The parts of a compound command that no rule covers.
    pub uncovered_parts: Vec<String>,
    /// Whether a later call did what this one was to do.
    pub is_made_good: bool,
    /// The entries with the results; several if the same call failed in the same way again.
    pub entries: Vec<u64>,
}

/// What denied a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CallDenial {
    /// `rule`, `mode`, `no_rule`, `protected`, `no_approver`, `expired`, `hook`, `classifier` or
    /// `human`.
    pub by: String,
    /// The deny rule.
    pub rule: Option<String>,
    /// Where the rule or the hook stands now, and the command of the hook. Only a reader that can
    /// see the configuration knows it.
    pub source: Option<String>,
}

/// What the permissions said about a call before it had a result.
#[derive(Debug, Default)]
pub(super) struct CallVerdict {
    pub(super) denied_by: Option<CallDenial>,
    pub(super) uncovered_parts: Vec<String>,
}

/// What went wrong with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallProblem {
    /// It ran and failed.
    Failed,
    /// Its arguments fit no tool: it did not run.
    Invalid,
    /// It ran out of time.
    TimedOut,
    /// Rules, a hook or a person denied it: it did not run.
    Denied,
    /// It was stopped while it ran: it may have taken effect.
    Interrupted,
    /// It did not run because the run ended.
    Skipped,
}

/// A call that was made again and again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RepeatedCall {
    /// The tool.
    pub tool: String,
    /// The arguments, as JSON.
    pub input: TextExcerpt,
    /// How often it was made.
    pub times: u32,
    /// The time from the first to the last result.
    pub over_ms: u64,
    /// Whether the result was the same every time.
    pub has_same_result: bool,
    /// The first line of the last result.
    pub result: TextExcerpt,
    /// The entries of the first and the last result.
    pub entries: Vec<u64>,
}

#[derive(Debug)]
struct Repetition {
    call: RepeatedCall,
    result_fingerprint: u64,
    first_at: UnixMillis,
}

/// Collects the calls of a run.
#[derive(Debug, Default)]
pub(super) struct CallLog {
    failed: Vec<(String, FailedCall)>,
    repetitions: BTreeMap<u64, Repetition>,
}

impl CallLog {
    /// Adds the final result of a call.
    pub(super) fn add_result(
        &mut self,
        call: &Call,
        entry: Seq,
        at: UnixMillis,
        verdict: CallVerdict,
    ) {
        let CallState::Finished(result) = &call.state else { return };
        let text = result_text(result);
        if result.kind != OutcomeKind::Skipped {
            self.count_repetition(call, &text, entry, at);
        }
        let purpose = purpose_of(call);
        match problem_of(call, result.kind, &text) {
            None => self.make_good(&purpose),
            Some(problem) => {
                let failed = failed_call(call, problem, &text, entry, verdict);
                self.add_failed(purpose, failed);
            }
        }
    }

    fn make_good(&mut self, purpose: &str) {
        for (of, failed) in &mut self.failed {
            failed.is_made_good |= of == purpose;
        }
    }

    fn add_failed(&mut self, purpose: String, failed: FailedCall) {
        let is_same = |other: &FailedCall| {
            (&other.tool, &other.input, other.problem, &other.error)
                == (&failed.tool, &failed.input, failed.problem, &failed.error)
        };
        let has_room = self.failed.len() < MAX_FAILED_CALLS;
        if let Some((_, other)) = self.failed.iter_mut().find(|(_, other)| is_same(other)) {
            other.entries.extend(failed.entries);
            other.is_made_good = false;
        } else if has_room {
            self.failed.push((purpose, failed));
        }
    }

    fn count_repetition(&mut self, call: &Call, text: &str, entry: Seq, at: UnixMillis) {
        let key = fingerprint(&format!("{} {}", call.tool_use.name, call.tool_use.input.text()));
        let result = fingerprint(text);
        if let Some(known) = self.repetitions.get_mut(&key) {
            known.call.times = known.call.times.saturating_add(1);
            known.call.over_ms = at.ms_since(known.first_at);
            known.call.has_same_result &= known.result_fingerprint == result;
            known.call.result = error_line(text);
            known.call.entries.truncate(1);
            known.call.entries.push(entry);
        } else if self.repetitions.len() < MAX_COUNTED_CALLS {
            let call = RepeatedCall {
                tool: call.tool_use.name.to_string(),
                input: TextExcerpt::new(call.tool_use.input.text()),
                times: 1,
                over_ms: 0,
                has_same_result: true,
                result: error_line(text),
                entries: vec![entry],
            };
            let new = Repetition { call, result_fingerprint: result, first_at: at };
            self.repetitions.insert(key, new);
        }
    }

    /// The failed calls, and the call that was repeated most.
    pub(super) fn finish(self) -> (Vec<FailedCall>, Option<RepeatedCall>) {
        let most = self.repetitions.into_values().map(|it| it.call).max_by_key(|it| it.times);
        let repeated = most.filter(|call| call.times >= MIN_REPETITIONS);
        (self.failed.into_iter().map(|(_, call)| call).collect(), repeated)
    }
}

fn failed_call(
    call: &Call,
    problem: CallProblem,
    text: &str,
    entry: Seq,
    verdict: CallVerdict,
) -> FailedCall {
    let limit_ms = (problem == CallProblem::TimedOut).then(|| given_limit(call));
    FailedCall {
        tool: call.tool_use.name.to_string(),
        input: TextExcerpt::new(call.tool_use.input.text()),
        problem,
        error: error_line(text),
        limit_ms,
        hint: limit_ms.and_then(seconds_hint),
        denied_by: verdict.denied_by,
        uncovered_parts: verdict.uncovered_parts,
        is_made_good: false,
        entries: vec![entry],
    }
}

/// The time limit of a call: the one in its arguments, else that of its tool.
fn given_limit(call: &Call) -> u64 {
    let input: Option<Value> = call.tool_use.input.read().ok();
    let given = |name: &str| input.as_ref()?.get(name)?.as_u64();
    given("timeout").or_else(|| given("timeout_ms")).unwrap_or(call.facts.timeout_ms)
}

fn seconds_hint(limit_ms: u64) -> Option<String> {
    (limit_ms > 0 && limit_ms < SECONDS_BELOW_MS).then(|| {
        format!("the limit is in milliseconds; the model probably meant {limit_ms} seconds")
    })
}

fn problem_of(call: &Call, kind: OutcomeKind, text: &str) -> Option<CallProblem> {
    match kind {
        OutcomeKind::Failed if error_code(text).as_deref() == Some(TIMED_OUT) => {
            Some(CallProblem::TimedOut)
        }
        OutcomeKind::Failed if call.attempts == 0 && call.facts.problem.is_some() => {
            Some(CallProblem::Invalid)
        }
        OutcomeKind::Failed => Some(CallProblem::Failed),
        OutcomeKind::Denied => Some(CallProblem::Denied),
        OutcomeKind::Skipped => Some(CallProblem::Skipped),
        OutcomeKind::Interrupted => Some(CallProblem::Interrupted),
        OutcomeKind::TimedOut => Some(CallProblem::TimedOut),
        OutcomeKind::Done | OutcomeKind::Answered | OutcomeKind::Deferred => None,
    }
}

/// What a call is to achieve: calls with the same purpose make each other good. For a command this
/// is the program with its first argument, for other tools the file, address or pattern.
fn purpose_of(call: &Call) -> String {
    let (tool, input) = (&call.tool_use.name, call.tool_use.input.text());
    let Some(main) = main_argument(input) else { return format!("{tool} {input}") };
    match &**tool {
        "Bash" => {
            let words: Vec<&str> = main.split_whitespace().take(2).collect();
            format!("{tool} {}", words.join(" "))
        }
        "Write" | "Edit" | "MultiEdit" => format!("change {main}"),
        _ => format!("{tool} {main}"),
    }
}

/// What the model sees of a result, as text.
fn result_text(result: &CallResult) -> String {
    if let Ok(text) = result.content.read::<String>() {
        return text;
    }
    let blocks: Vec<Value> = result.content.read().unwrap_or_default();
    let texts = blocks.iter().filter_map(|block| block.get("text")?.as_str());
    texts.collect::<Vec<_>>().join("\n")
}

/// The code of an error, if the text is one.
fn error_code(text: &str) -> Option<String> {
    let fields: Value = serde_json::from_str(text).ok()?;
    fields.get("code")?.as_str().map(str::to_owned)
}

/// The first line of an error: its message, and the first line of what was printed.
fn error_line(text: &str) -> TextExcerpt {
    let Ok(Value::Object(fields)) = serde_json::from_str(text) else {
        return TextExcerpt::first_line(text);
    };
    let part = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
    let message = TextExcerpt::first_line(part("message")).text;
    let output = TextExcerpt::first_line(part("output"));
    match (message.is_empty(), output.is_empty() || output.text == NO_OUTPUT) {
        (true, _) => TextExcerpt::first_line(text),
        (false, true) => TextExcerpt::first_line(&message),
        (false, false) => TextExcerpt { text: format!("{message}: {}", output.text), ..output },
    }
}
