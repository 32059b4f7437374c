//! Chooses the rule that answers a request, and fills its answer.

use std::collections::BTreeMap;

use super::limits::{CHARS_PER_TOKEN, MAX_QUOTED_CHARS};
use super::script::{
    CallAction, Condition, ConditionTest, CountTest, GivenUsage, ResultFilter, ResultTest, Rule,
    RuleAction, Script, TextTest,
};
use super::scripted_answer::{
    AnswerStep, RequestView, ScriptedAnswer, ScriptedStop, ScriptedUsage, ToolResultView,
};
use super::template::{SlotEscaping, to_json_string, truncate_with_note};
use super::wildcard;

/// How often each rule of one script has answered.
///
/// It lives as long as the process: a conversation resumed in another process starts with fresh
/// uses, so `once` and `times` start over there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleUses(BTreeMap<usize, u32>);

impl RuleUses {
    fn has_uses_left(&self, index: usize, rule: &Rule) -> bool {
        let used = self.0.get(&index).copied().unwrap_or(0);
        rule.limit.is_none_or(|limit| used < limit)
    }

    fn record_use(&mut self, index: usize) {
        let used = self.0.entry(index).or_default();
        *used = used.saturating_add(1);
    }
}

impl Script {
    /// Returns the answer of the first rule whose conditions all hold and that has uses left. A
    /// script without such a rule says so in a text.
    pub fn answer(&self, uses: &mut RuleUses, view: &RequestView<'_>) -> ScriptedAnswer {
        let fit = |(index, rule): &(usize, &Rule)| {
            uses.has_uses_left(*index, rule) && rule_matches(rule, view)
        };
        match self.rules.iter().enumerate().find(fit) {
            Some((index, rule)) => {
                uses.record_use(index);
                answer_from_rule(rule, view)
            }
            None => no_matching_rule(view),
        }
    }
}

fn rule_matches(rule: &Rule, view: &RequestView<'_>) -> bool {
    rule.conditions.iter().all(|condition| match condition {
        Condition::Holds(test) => test_passes(test, view),
        Condition::Fails(test) => !test_passes(test, view),
    })
}

fn test_passes(test: &ConditionTest, view: &RequestView<'_>) -> bool {
    match test {
        ConditionTest::Any => true,
        ConditionTest::User(test) => text_passes(test, view.last_user_text),
        ConditionTest::Results(count) => count_passes(*count, view.results.len()),
        ConditionTest::Result(test) => {
            view.results.iter().any(|result| result_passes(test, result))
        }
        ConditionTest::Ask(count) => count_passes(*count, view.ask as usize),
        ConditionTest::Offers(tool) => view.tools.contains(&tool.as_str()),
    }
}

fn text_passes(test: &TextTest, text: &str) -> bool {
    match test {
        TextTest::Is(wanted) => text == wanted,
        TextTest::Contains(part) => text.contains(part),
        TextTest::Matches(pattern) => wildcard::matches_pattern(pattern, text),
    }
}

fn count_passes(count: CountTest, found: usize) -> bool {
    match count {
        CountTest::Exactly(wanted) => found == wanted as usize,
        CountTest::AtLeast(least) => found >= least as usize,
    }
}

fn result_passes(test: &ResultTest, result: &ToolResultView<'_>) -> bool {
    let outcome = match test.outcome {
        ResultFilter::AnyResult => true,
        ResultFilter::Error => result.is_error,
    };
    outcome
        && test.tool.as_ref().is_none_or(|tool| tool == result.tool)
        && test.text.as_ref().is_none_or(|test| text_passes(test, result.text))
}

fn answer_from_rule(rule: &Rule, view: &RequestView<'_>) -> ScriptedAnswer {
    let mut ids = CallIds { ask: view.ask, minted: 0 };
    let steps: Vec<AnswerStep> =
        rule.actions.iter().map(|a| to_answer_step(a, view, &mut ids)).collect();
    let stop = rule.stop.clone().unwrap_or_else(|| default_stop(&steps));
    let usage = usage_of(rule.usage.unwrap_or_default(), view, &steps);
    ScriptedAnswer { steps, stop, usage }
}

fn no_matching_rule(view: &RequestView<'_>) -> ScriptedAnswer {
    let user = to_json_string(&truncate_with_note(view.last_user_text, MAX_QUOTED_CHARS));
    let model_call = view.ask;
    let text = format!("scripted model: no rule matches (ask {model_call}, last user text {user})");
    let steps = vec![AnswerStep::Say(text)];
    let usage = usage_of(GivenUsage::default(), view, &steps);
    ScriptedAnswer { steps, stop: ScriptedStop::with_reason("end_turn"), usage }
}

fn to_answer_step(action: &RuleAction, view: &RequestView<'_>, ids: &mut CallIds) -> AnswerStep {
    match action {
        RuleAction::Say(text) => AnswerStep::Say(text.fill(view, SlotEscaping::Plain)),
        RuleAction::Think(text) => AnswerStep::Think(text.fill(view, SlotEscaping::Plain)),
        RuleAction::Call(call) => complete_call(call, view, ids),
        RuleAction::TruncatedCall(call) => truncated_call(call, view, ids),
        RuleAction::Raw(json) => AnswerStep::Raw(json.clone()),
        RuleAction::Delay(ms) => AnswerStep::Delay(*ms),
        RuleAction::Pace(ms) => AnswerStep::Pace(*ms),
        RuleAction::Cut => AnswerStep::Cut,
        RuleAction::CutInside => AnswerStep::CutInside,
        RuleAction::Fail(fault) => AnswerStep::Fail(fault.clone()),
    }
}

fn complete_call(call: &CallAction, view: &RequestView<'_>, ids: &mut CallIds) -> AnswerStep {
    AnswerStep::Call {
        id: ids.next_id(call),
        name: call.name.clone(),
        input_json: call.input.fill(view, SlotEscaping::Json),
    }
}

fn truncated_call(call: &CallAction, view: &RequestView<'_>, ids: &mut CallIds) -> AnswerStep {
    AnswerStep::TruncatedCall {
        id: ids.next_id(call),
        name: call.name.clone(),
        partial_json: call.input.fill(view, SlotEscaping::Json),
    }
}

/// Ids for the calls of one answer: the same request gets the same ids in every process.
struct CallIds {
    ask: u32,
    minted: u32,
}

impl CallIds {
    fn next_id(&mut self, call: &CallAction) -> String {
        self.minted = self.minted.saturating_add(1);
        match &call.id {
            Some(id) => id.clone(),
            None => format!("toolu_{}_{}", self.ask, self.minted),
        }
    }
}

fn default_stop(steps: &[AnswerStep]) -> ScriptedStop {
    let truncated = |step: &AnswerStep| matches!(step, AnswerStep::TruncatedCall { .. });
    let call = |step: &AnswerStep| matches!(step, AnswerStep::Call { .. });
    if steps.iter().any(truncated) {
        ScriptedStop::with_reason("max_tokens")
    } else if steps.iter().any(call) {
        ScriptedStop::with_reason("tool_use")
    } else {
        ScriptedStop::with_reason("end_turn")
    }
}

fn usage_of(given: GivenUsage, view: &RequestView<'_>, steps: &[AnswerStep]) -> ScriptedUsage {
    let results = view.results.iter().map(|result| result.text);
    let input = std::iter::once(view.last_user_text).chain(results);
    // Earlier messages are read from the cache, as with a provider that has one.
    let older = view.older_bytes / CHARS_PER_TOKEN as u64;
    ScriptedUsage {
        input: given.input.unwrap_or_else(|| estimate_tokens(input)),
        output: given.output.unwrap_or_else(|| estimate_tokens(steps.iter().map(written_text))),
        cache_read: given.cache_read.unwrap_or(if given.input.is_none() { older } else { 0 }),
        cache_write: given.cache_write.unwrap_or(0),
    }
}

/// Estimates the tokens of texts: at least one.
fn estimate_tokens<'a>(texts: impl Iterator<Item = &'a str>) -> u64 {
    let chars: usize = texts.map(|text| text.chars().count()).sum();
    (chars / CHARS_PER_TOKEN + 1) as u64
}

/// The text that the model wrote in a step.
fn written_text(step: &AnswerStep) -> &str {
    match step {
        AnswerStep::Say(text) | AnswerStep::Think(text) | AnswerStep::Raw(text) => text,
        AnswerStep::Call { input_json, .. } => input_json,
        AnswerStep::TruncatedCall { partial_json, .. } => partial_json,
        AnswerStep::Delay(_)
        | AnswerStep::Pace(_)
        | AnswerStep::Cut
        | AnswerStep::CutInside
        | AnswerStep::Fail(_) => "",
    }
}
