//! Answers: what must be true before one counts, how often it is sent back, and that it is not lost.

use windlass_core::Input;
use windlass_core::counsel::{Advice, Counsel};
use windlass_core::record::{Record, Rejection};
use windlass_core::run::{Halt, Run};
use windlass_core::settings::{Listening, Settings};
use windlass_core::stop::StopCause;
use windlass_core::thrash::Level;

use crate::explore::advice::{NO, YES};

use super::{Fact, OfFact, OfStep, Step, Verdict, ensure};

pub(super) const FACTS: &[OfFact] = &[
    ("an answer is rejected for a reason and not for ever", rejected_rightly),
    ("an answer that something speaks against is marked", suspect_is_marked),
    ("an answer that no judge found good is marked", unjudged_is_marked),
    ("a judge is asked once about an answer", judged_once),
    ("hooks see a prompt before the model does", prompt_is_seen),
];

pub(super) const STEPS: &[OfStep] = &[
    ("a finished answer is never lost", answer_is_kept),
    ("a prompt that a hook blocks is not sent", blocked_is_not_sent),
    ("the last step of a guardrail is a person", last_step_is_a_person),
];

fn rejected_rightly(fact: &Fact<'_>) -> Verdict {
    let Record::Rejected { by, level, .. } = fact.record else { return Ok(()) };
    let (Some(run), Some(settings)) = (&fact.now.run, &fact.now.settings) else { return Ok(()) };
    let (used, most) = used(run, settings, *by);
    let due = match used {
        used if used >= most => Level::Human,
        0 => Level::Nudge,
        _ => Level::Directive,
    };
    let fits = match by {
        Rejection::Schema => lacks_structure(run, settings),
        Rejection::Checklist => settings.gate.missing(&run.done).is_some(),
        Rejection::Hook => is_blocked(&fact.entry.input),
        Rejection::Judge => ruled(&fact.entry.input, NO),
        Rejection::Drift => matches!(&fact.entry.input, Input::Replied { .. }),
    };
    ensure(fits && *level == due, || format!("{by:?} as {level:?} after {used} of {most}"))
}

fn used(run: &Run, settings: &Settings, by: Rejection) -> (u32, u32) {
    let (used, limits) = (&run.counters, &settings.limits);
    match by {
        Rejection::Schema => (used.output_retries, limits.output_retries),
        Rejection::Drift => (used.reprompts, limits.reprompts),
        Rejection::Checklist | Rejection::Hook | Rejection::Judge => {
            (used.rejections, limits.rejections)
        }
    }
}

/// The last step of a guardrail: nothing goes on before a person has spoken.
fn last_step_is_a_person(step: &Step<'_>) -> Verdict {
    let last = |record: &Record| matches!(record, Record::Rejected { level: Level::Human, .. });
    let (before, after) = (&step.before.run, &step.after.run);
    let same = before.as_ref().zip(after.as_ref()).filter(|(before, after)| before.id == after.id);
    let asked = same.is_none_or(|(_, run)| run.halt().is_some());
    let told = step.entry.records.iter().any(last);
    ensure(!told || asked, || "it goes on by itself".to_owned())
}

fn prompt_is_seen(fact: &Fact<'_>) -> Verdict {
    let Record::Asked { .. } = fact.record else { return Ok(()) };
    let (Some(run), Some(settings)) = (&fact.now.run, &fact.now.settings) else { return Ok(()) };
    let first = run.counters.model_calls == 0;
    // Once they have, room may be made before the model is asked.
    let sought = fact.world.live.run.as_ref().and_then(Run::consulting).map(|sought| &sought.about);
    let told = matches!(fact.entry.input, Input::Counselled { .. });
    let heard = told || sought.is_some_and(|about| !matches!(about, Counsel::Prompt {}));
    let hooked = settings.hooks.prompt == Listening::Hooked;
    ensure(!(first && hooked) || heard, || "nobody looked at the prompt".to_owned())
}

fn lacks_structure(run: &Run, settings: &Settings) -> bool {
    settings.output.is_some() && run.structured.is_none()
}

fn is_blocked(input: &Input) -> bool {
    matches!(input, Input::Counselled { advice: Advice::Block { .. }, .. })
}

/// Whether nothing may hold the end up any more.
fn must_end(run: &Run) -> bool {
    run.stop.is_some() || run.time_up.is_some()
}

fn suspect_is_marked(fact: &Fact<'_>) -> Verdict {
    let Record::Finished { run: id, cause, .. } = fact.record else { return Ok(()) };
    let (Some(run), Some(settings)) = (&fact.now.run, &fact.now.settings) else { return Ok(()) };
    let answers = matches!(cause, StopCause::EndTurn | StopCause::StopSequence);
    if run.id != *id || !answers {
        return Ok(());
    }
    let told = is_blocked(&fact.entry.input) || settings.gate.missing(&run.done).is_some();
    let excused = must_end(run) && !is_blocked(&fact.entry.input);
    let misfit = lacks_structure(run, settings) && !must_end(run);
    ensure(!misfit, || "an answer that fits no schema counts".to_owned())?;
    ensure(!told || excused || run.suspect.is_some(), || {
        "a doubtful answer is not marked".to_owned()
    })
}

fn ruled(input: &Input, word: &str) -> bool {
    matches!(input, Input::Counselled { advice: Advice::Summary { text, .. }, .. } if &**text == word)
}

/// Whether a judge was being asked when the input came.
fn is_ruling(fact: &Fact<'_>) -> bool {
    let sought = fact.world.live.run.as_ref().and_then(Run::consulting).map(|sought| &sought.about);
    matches!(sought, Some(Counsel::Ruling { .. }))
}

/// Only a run that had to end before anybody looked is excused.
fn unjudged_is_marked(fact: &Fact<'_>) -> Verdict {
    let Record::Finished { run: id, cause, .. } = fact.record else { return Ok(()) };
    let (Some(run), Some(settings)) = (&fact.now.run, &fact.now.settings) else { return Ok(()) };
    let answers = matches!(cause, StopCause::EndTurn | StopCause::StopSequence);
    if run.id != *id || !answers || settings.gate.judge.is_none() {
        return Ok(());
    }
    let good = is_ruling(fact) && ruled(&fact.entry.input, YES);
    let excused = !is_ruling(fact) && (must_end(run) || run.halt().is_some());
    ensure(good || excused || run.suspect.is_some(), || "nobody found it good".to_owned())
}

/// Unless its process died.
fn judged_once(fact: &Fact<'_>) -> Verdict {
    let Record::CounselSought { about: Counsel::Ruling { .. }, .. } = fact.record else {
        return Ok(());
    };
    let died = matches!(fact.entry.input, Input::Adopted { .. });
    ensure(died || !is_ruling(fact), || "a judge had just answered".to_owned())
}

/// A run that ends while its answer is looked at ends with it; one whose time is up does not go on.
fn answer_is_kept(step: &Step<'_>) -> Verdict {
    let Some(run) = &step.before.run else { return Ok(()) };
    let sought = run.consulting().map(|sought| &sought.about);
    let kept = run.halt().and_then(Halt::kept_answer).map(|kept| kept.cause);
    let Some(cause) = sought.and_then(Counsel::ends).or(kept) else { return Ok(()) };
    let ended = step.entry.records.iter().find_map(|record| match record {
        Record::Finished { run: id, cause, .. } if *id == run.id => Some(*cause),
        _ => None,
    });
    let asked = step.entry.records.iter().any(|r| matches!(r, Record::Asked { .. }));
    let goes_on = ended.is_none() && asked && run.time_up.is_some() && run.steers.is_empty();
    ensure(ended.is_none_or(|ended| ended == cause), || format!("ended as {ended:?}"))?;
    ensure(!goes_on, || "its time is up and it had an answer".to_owned())
}

fn blocked_is_not_sent(step: &Step<'_>) -> Verdict {
    let Some(run) = &step.before.run else { return Ok(()) };
    let sought = run.consulting().map(|sought| &sought.about);
    let Input::Counselled { advice, .. } = &step.entry.input else { return Ok(()) };
    let refused = matches!(advice, Advice::Block { .. } | Advice::Stop { .. });
    let prompt = matches!(sought, Some(Counsel::Prompt {}));
    let ended = step.entry.records.iter().any(
        |r| matches!(r, Record::Finished { run: id, cause: StopCause::HookStopped, .. } if *id == run.id),
    );
    let withdrawn = step.entry.records.contains(&Record::PromptWithdrawn {});
    ensure(!(refused && prompt) || (ended && withdrawn), || "the prompt stays".to_owned())
}
