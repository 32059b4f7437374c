//! Sentences of `windlass explain` about the facts of a run: failed calls, repeated calls,
//! sub-agents, the prompt cache, and what fills the context.

use windlass::messages::{
    CacheBreak, CallProblem, ContextUse, CutCall, FailedCall, LostAttempts, ModelCallUse,
    RepeatedCall, RunFacts, SubAgentFact, SubAgentState, TextExcerpt,
};

use crate::terminal::number_format::{count_noun, format_dollars, group_digits};
use crate::terminal::time_format::format_duration;
use crate::terminal::{escape_invisible, sanitize_line};

/// From this share of the window on, its largest pieces are named.
const CROWDED_PERCENT: u64 = 50;

/// Model calls whose cache use is named one by one.
const MAX_NAMED_CALLS: usize = 12;

/// The headline of a run that completed although something was not done.
pub(crate) fn unfinished_calls(facts: &RunFacts) -> Option<String> {
    let open = facts.failed_calls.iter().filter(|call| !call.is_made_good);
    let (denied, failed): (Vec<&FailedCall>, Vec<&FailedCall>) =
        open.partition(|call| call.problem == CallProblem::Denied);
    let agents = facts.sub_agents.iter().filter(|agent| agent.state == SubAgentState::Failed);
    let parts = [
        (failed.len(), "call", "failed and was not repeated", "failed and were not repeated"),
        (denied.len(), "call", "was denied", "were denied"),
        (agents.count(), "sub-agent", "failed", "failed"),
    ];
    let said: Vec<String> = parts
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, noun, one, many)| {
            let what = if count == 1 { one } else { many };
            format!("{} {what}", count_noun(count as u64, noun))
        })
        .collect();
    (!said.is_empty()).then(|| format!("{}; check the answer", said.join(", and ")))
}

/// A call with its arguments, on one line.
pub(crate) fn call_with_input(tool: &str, input: &TextExcerpt) -> String {
    let text = format!("{tool} {input}");
    escape_invisible(&text).replace('\n', "\\n")
}

/// What went wrong with a call. A denied call is told by its decision; here is what that leaves out.
pub(crate) fn failed_call(call: &FailedCall) -> Vec<String> {
    let name = call_with_input(&call.tool, &call.input);
    let error = sanitize_line(&call.error.to_string());
    let repaired = if call.is_made_good { " A later call did it." } else { "" };
    let mut sentences = Vec::new();
    match call.problem {
        CallProblem::Failed => sentences.push(format!("{name} failed: {error}.{repaired}")),
        CallProblem::TimedOut => {
            let limit = call.limit_ms.map(limit_phrase).unwrap_or_default();
            let hint = call.hint.as_ref().map(|hint| format!(" {}.", capitalized(hint)));
            let hint = hint.unwrap_or_default();
            sentences.push(format!("{name} ran out of time{limit}.{hint}{repaired}"));
        }
        CallProblem::Interrupted => sentences.push(format!(
            "{name} was stopped while it ran; it may have taken effect, check first.{repaired}"
        )),
        // Their own records say these.
        CallProblem::Denied | CallProblem::Invalid | CallProblem::Skipped => {}
    }
    if let Some(source) = call.denied_by.as_ref().and_then(|denial| denial.source.as_ref()) {
        sentences.push(format!("{}.", capitalized(source)));
    }
    if !call.uncovered_parts.is_empty() {
        let parts: Vec<String> =
            call.uncovered_parts.iter().map(|part| format!("`{}`", sanitize_line(part))).collect();
        sentences.push(format!("No rule covers this part of the command: {}.", parts.join(", ")));
    }
    sentences
}

fn limit_phrase(limit_ms: u64) -> String {
    match limit_ms {
        0..1_000 => format!(" after {limit_ms} milliseconds, its limit"),
        _ => format!(" after {}, its limit", format_duration(limit_ms)),
    }
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    first + chars.as_str()
}

/// A call that was made again and again.
pub(crate) fn repeated_call(call: &RepeatedCall) -> String {
    let name = call_with_input(&call.tool, &call.input);
    let over = format_duration(call.over_ms);
    let result = sanitize_line(&call.result.to_string());
    let same = match call.has_same_result {
        true => format!("the result never changed: {result}"),
        false => format!("the last result: {result}"),
    };
    format!("{name} was made {} times over {over}; {same}.", call.times)
}

/// A call that the output limit cut off.
pub(crate) fn cut_call(call: &CutCall) -> String {
    let of = call.path.as_ref().map(|path| format!(" of {}", sanitize_line(path)));
    let (of, received) = (of.unwrap_or_default(), group_digits(call.received_chars));
    format!(
        "The output limit cut off a call of {}{of} after {received} characters of its arguments; it \
         did not run.",
        sanitize_line(&call.tool)
    )
}

/// Model calls without a reply, and what they were charged with.
pub(crate) fn lost_attempts(lost: &LostAttempts) -> Option<String> {
    if lost.count == 0 {
        return None;
    }
    let cut = match lost.cut_streams {
        0 => String::new(),
        1 => ", 1 of them cut off while the reply arrived".to_owned(),
        cut => format!(", {cut} of them cut off while the reply arrived"),
    };
    let money = match lost.estimated_usd_micros {
        0 => String::new(),
        micros => format!(" ({})", format_dollars(micros)),
    };
    let charged = match lost.estimated_tokens {
        0 => "nothing was charged for that".to_owned(),
        tokens => format!(
            "charged with {}{money}, an upper estimate: no usage was reported",
            count_noun(tokens, "token")
        ),
    };
    let calls = count_noun(u64::from(lost.count), "model call");
    Some(format!("{calls} brought no reply{cut}; {charged}."))
}

/// What the provider said last.
pub(crate) fn last_error(error: &TextExcerpt) -> String {
    format!("The last error was: {}", sanitize_line(&error.to_string()))
}

/// A sub-agent, with its conversation and how it ended.
pub(crate) fn sub_agent(agent: &SubAgentFact) -> String {
    let task = sanitize_line(&agent.task.to_string());
    let result = agent.result.as_ref().map(|text| sanitize_line(&text.to_string()));
    let result = result.filter(|text| !text.is_empty()).map(|text| format!(": {text}"));
    let cause = agent.cause.as_ref().map(|cause| format!(" ({cause})")).unwrap_or_default();
    let state = match agent.state {
        SubAgentState::Working => "has not returned yet",
        SubAgentState::Answered => "answered",
        SubAgentState::Failed => "failed",
    };
    let result = result.unwrap_or_default();
    let end = if result.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{} [{task}] {state}{cause}{result}{end}", agent.conversation)
}

/// How the run used the prompt cache, with what broke it.
pub(crate) fn cache_use(calls: &[ModelCallUse]) -> Vec<(String, Vec<u64>)> {
    let total =
        |call: &ModelCallUse| call.input_tokens + call.cache_read_tokens + call.cache_write_tokens;
    let (sent, read) = calls
        .iter()
        .fold((0, 0), |(sent, read), call| (sent + total(call), read + call.cache_read_tokens));
    let uses_cache = calls.iter().any(|call| call.cache_read_tokens + call.cache_write_tokens > 0);
    if !uses_cache || sent == 0 {
        return Vec::new();
    }
    let share = |part: u64, of: u64| part.saturating_mul(100).checked_div(of).unwrap_or(0);
    let each = |call: &ModelCallUse| format!("{} %", share(call.cache_read_tokens, total(call)));
    let hidden = calls.len().saturating_sub(MAX_NAMED_CALLS);
    let shares: Vec<String> = calls.iter().skip(hidden).map(each).collect();
    let before = match hidden {
        0 => String::new(),
        hidden => format!("{hidden} before these, then "),
    };
    let mut said = vec![(
        format!(
            "{} of {} input tokens came from the prompt cache ({} %); call by call: {before}{}.",
            group_digits(read),
            group_digits(sent),
            share(read, sent),
            shares.join(", ")
        ),
        Vec::new(),
    )];
    said.extend(calls.iter().filter_map(|call| {
        let miss = call.cache_miss.as_ref()?;
        let cost = match miss.extra_usd_micros {
            Some(micros) => format!("; that cost {} more", format_dollars(micros)),
            None => String::new(),
        };
        let tokens = count_noun(miss.tokens, "cached token");
        let why = break_reason(miss.cause);
        Some((format!("{tokens} had to be sent again: {why}{cost}."), vec![call.entry]))
    }));
    said
}

/// What broke the prompt cache.
fn break_reason(cause: CacheBreak) -> &'static str {
    match cause {
        CacheBreak::ModelSwitch => "another model was called, and caches belong to one model",
        CacheBreak::SystemPrompt => "the system prompt changed",
        CacheBreak::ChangedTools => "the offered tools changed",
        CacheBreak::Compaction => "the context was compacted",
        CacheBreak::History => "the messages were replaced or forked",
        CacheBreak::Expiry => "the pause was longer than the cache is kept",
        CacheBreak::Provider => "the provider dropped them, nothing changed on this side",
    }
}

/// The largest pieces of a context that is crowded.
pub(crate) fn largest_pieces(context: &ContextUse) -> Option<String> {
    if context.percent < CROWDED_PERCENT || context.pieces.is_empty() {
        return None;
    }
    let total = group_digits(context.tokens);
    let piece = |piece: &windlass::messages::ContextPiece| {
        let fixed = if piece.can_be_compacted { "" } else { ", cannot be compacted" };
        format!("{}: {} of {total} tokens{fixed}", piece.name, group_digits(piece.tokens))
    };
    let named: Vec<String> = context.pieces.iter().map(piece).collect();
    let rest = match context.other_tokens {
        0 => String::new(),
        tokens => format!("; everything else: {}", group_digits(tokens)),
    };
    Some(format!("The largest pieces: {}{rest}.", named.join("; ")))
}
