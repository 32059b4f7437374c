//! Why it stopped, or what it waits for, and what to do next.

use windlass::core::call::Call;
use windlass::core::project::limit_reached;
use windlass::core::run::{Phase, Run};
use windlass_runtime::identity::is_gone;

use super::words;
use super::{Past, Sentence};

/// The most important sentences: they come first.
pub(super) fn sentences(past: &Past<'_>) -> Vec<Sentence> {
    match (past.ended(), &past.at_end.run) {
        (Some(_), _) => over(past),
        (None, Some(run)) if run.id == *past.run => under_way(past, run),
        (None, _) => vec![Sentence::plain(words::queued(past.lane))],
    }
}

fn over(past: &Past<'_>) -> Vec<Sentence> {
    let Some(ended) = past.ended() else { return Vec::new() };
    let entry = past.ended_in.unwrap_or(past.last);
    let mut said = vec![Sentence::new(
        words::ended(ended.cause, limit_reached(&past.before, ended.cause)),
        entry,
    )];
    said.extend(ended.also.iter().map(|also| Sentence::new(words::also(*also), entry)));
    if let Some(why) = &ended.suspect {
        said.push(Sentence::new(words::suspect(why), entry));
    }
    if let Some(why) = words::told_at_end(ended, &past.before) {
        said.push(Sentence::new(why, entry));
    }
    said.push(Sentence::plain(words::next_step(ended.cause, past.lane)));
    said
}

fn under_way(past: &Past<'_>, run: &Run) -> Vec<Sentence> {
    let mut said: Vec<Sentence> = run
        .questions()
        .map(|question| {
            Sentence::new(words::waits_for(question, &past.at_end, past.lane), past.last)
        })
        .collect();
    if said.is_empty() {
        said.push(Sentence::new(doing(past, run), past.last));
    }
    if let Some(stop) = run.stop {
        said.push(Sentence::plain(words::stopping(stop.how)));
    }
    said.extend(who_drives(past, said.is_empty() || run.questions().next().is_none()));
    said
}

fn doing(past: &Past<'_>, run: &Run) -> String {
    match &run.phase {
        Phase::Between => words::BETWEEN.to_owned(),
        Phase::Asking(asking) => words::asking(asking.ask),
        Phase::Deferred { until } => words::deferred(*until, run.counters.failures),
        Phase::Acting(round) => {
            let open: Vec<&Call> = round.calls.iter().filter(|call| !call.is_settled()).collect();
            words::acting(&open)
        }
        Phase::Consulting(consulting) => words::consulting(consulting.about.name()),
        Phase::Halted(halt) => words::waits_for(&halt.question, &past.at_end, past.lane),
    }
}

/// Whether anybody works on it: a run that was left by a process that died waits for a hand.
fn who_drives(past: &Past<'_>, is_at_work: bool) -> Option<Sentence> {
    if !is_at_work {
        return None;
    }
    if let Some(need) = past.driver.need {
        return Some(Sentence::plain(format!("It is {need}.")));
    }
    let text = match past.driver.lane?.owner.as_deref() {
        Some(owner) if !is_gone(owner) => words::DRIVEN,
        Some(_) | None => words::ABOUT_TO_BE_DRIVEN,
    };
    Some(Sentence::plain(text))
}
