//! Why a run stopped, or what it waits for, and what to do next.

use windlass::core::call::call_facts::Repeatability;
use windlass::core::call::call_state::{Call, CallState};
use windlass::core::projection::limit_reached;
use windlass::core::run::active_run::{Run, RunPhase};
use windlass::core::run::question::QuestionKind;
use windlass::messages::RunFacts;
use windlass_runtime::worker_identity::has_process_ended;

use super::{ExplainSentence, RunPast};
use crate::messages::{self, report};

/// The most important sentences, which come first.
pub(super) fn explain_state(past: &RunPast<'_>) -> Vec<ExplainSentence> {
    match (past.run_end(), &past.state_at_end.run) {
        (Some(_), _) => explain_end(past),
        (None, Some(run)) if run.id == *past.run => explain_progress(past, run),
        (None, _) => vec![ExplainSentence::without_proof(match past.driver.need {
            Some(need) => format!("It is {need}."),
            None => messages::WAITING_IN_QUEUE.to_owned(),
        })],
    }
}

fn explain_end(past: &RunPast<'_>) -> Vec<ExplainSentence> {
    let Some(ended) = past.run_end() else { return Vec::new() };
    let entry = past.end_entry.unwrap_or(past.last_entry);
    let mut sentences = vec![ExplainSentence::new(
        messages::stopped_because(
            ended.cause,
            limit_reached(&past.state_before_end, ended.cause).as_deref(),
        ),
        entry,
    )];
    sentences.extend(
        ended
            .other_causes
            .iter()
            .map(|also| ExplainSentence::new(messages::also_stopped_because(*also), entry)),
    );
    if let Some(reason) = &ended.suspect_reason {
        sentences.push(ExplainSentence::new(messages::suspect_answer(reason), entry));
    }
    if let Some(reason) = messages::final_message(ended, &past.state_before_end) {
        sentences.push(ExplainSentence::new(reason, entry));
    }
    sentences
}

/// What a person can do now, the most important first.
pub(super) fn advise(past: &RunPast<'_>, facts: &RunFacts) -> Vec<ExplainSentence> {
    let said = match (past.run_end(), &past.state_at_end.run) {
        (Some(ended), _) => report::advice::advise(ended.cause, facts, past.lane),
        (None, Some(run)) if run.id == *past.run => advise_progress(past, run),
        (None, _) => Vec::new(),
    };
    said.into_iter().map(ExplainSentence::without_proof).collect()
}

/// The possible answers of a run that waits, and what continuing does to one that is interrupted.
fn advise_progress(past: &RunPast<'_>, run: &Run) -> Vec<String> {
    let mut said = Vec::new();
    for question in run.open_questions() {
        if matches!(question.kind, QuestionKind::Uncertain { .. }) {
            said.push(report::explain::CHECK_FIRST.to_owned());
        }
        let answers = question.kind.accepted_answers();
        let words = messages::answer_words(answers);
        said.extend(answers.iter().zip(words).map(|(answer, word)| {
            let consequence = messages::answer_consequence(&question.kind, *answer);
            report::explain::possible_answer(word, consequence)
        }));
    }
    if said.is_empty() && past.driver.need.is_some() {
        said = describe_resume(run);
    }
    said
}

/// What continuing an interrupted run does with what was in progress.
fn describe_resume(run: &Run) -> Vec<String> {
    let Some(round) = run.round() else {
        return vec![report::explain::RESUME_ASKS_AGAIN.to_owned()];
    };
    let is_open = |call: &&Call| matches!(call.state, CallState::Running { .. } | CallState::Lost);
    let open = round.calls.iter().filter(is_open).map(|call| {
        let name = messages::format_tool_use(&call.tool_use.name, &call.tool_use.input);
        report::explain::on_resume(&name, call.facts.repeat == Repeatability::Repeatable)
    });
    open.collect()
}

fn explain_progress(past: &RunPast<'_>, run: &Run) -> Vec<ExplainSentence> {
    let mut sentences: Vec<ExplainSentence> = run
        .open_questions()
        .map(|question| {
            ExplainSentence::new(
                messages::open_question(question, &past.state_at_end, past.lane),
                past.last_entry,
            )
        })
        .collect();
    if sentences.is_empty() {
        sentences.push(ExplainSentence::new(current_phase(past, run), past.last_entry));
    }
    if let Some(stop) = run.stop_request {
        sentences.push(ExplainSentence::without_proof(messages::stop_requested(stop.mode)));
    }
    sentences
        .extend(owner_status(past, sentences.is_empty() || run.open_questions().next().is_none()));
    sentences
}

fn current_phase(past: &RunPast<'_>, run: &Run) -> String {
    match &run.phase {
        RunPhase::Deciding => messages::DECIDING.to_owned(),
        RunPhase::CallingModel(asking) => messages::model_call_running(asking.model_call),
        RunPhase::AwaitingRetry { until } => {
            messages::waiting_for_retry(*until, run.counters.failures)
        }
        RunPhase::RunningTools(round) => {
            let open: Vec<&Call> = round.calls.iter().filter(|call| !call.is_finished()).collect();
            messages::calls_running(&open)
        }
        RunPhase::InReview(consulting) => messages::review_running(consulting.review.name()),
        RunPhase::Paused(halt) => {
            messages::open_question(&halt.question, &past.state_at_end, past.lane)
        }
    }
}

/// Whether a process drives the run; an interrupted run needs `windlass resume`.
fn owner_status(past: &RunPast<'_>, is_at_work: bool) -> Option<ExplainSentence> {
    if !is_at_work {
        return None;
    }
    if let Some(need) = past.driver.need {
        return Some(ExplainSentence::without_proof(format!("It is {need}.")));
    }
    let text = match past.driver.lane?.owner.as_deref() {
        Some(owner) if !has_process_ended(owner) => messages::DRIVEN,
        Some(_) | None => messages::ABOUT_TO_BE_DRIVEN,
    };
    Some(ExplainSentence::without_proof(text))
}
