//! Asks the person at the terminal what a run waits for, and sends the answers.

use windlass::core::log::inbox::{AnswerChannel, AnswerSource};

use super::question_prompt::{self, EndOfInput, ProjectContext, PromptLine};
use super::signals::{self, SignalAction, SignalListener};
use crate::inspect::open_questions::OpenQuestion;
use crate::setup::RunSetup;
use crate::terminal::print_note;

/// What happened to the questions for the person.
pub(super) enum AnswerOutcome {
    /// All questions are answered: the run can continue.
    AllAnswered,
    /// The input was closed: the run stays parked.
    InputClosed,
    /// A signal arrived instead of an answer: the run stays parked.
    Signal(SignalAction),
}

/// Asks the person at the terminal; if they exit, the run stays parked.
pub(super) async fn ask_person(
    questions: &[OpenQuestion],
    setup: &RunSetup,
    signals: &mut SignalListener,
) -> anyhow::Result<AnswerOutcome> {
    let mut resumed = signals::listen_for_continue()?;
    for OpenQuestion { lane, question, conversation } in questions {
        let project = ProjectContext { folder: setup.workspace.clone(), trust: setup.trust };
        let prompt = PromptLine::default();
        let mut asking = Box::pin(question_prompt::ask_question(
            question.clone(),
            conversation.as_ref().clone(),
            project,
            prompt.clone(),
        ));
        loop {
            tokio::select! {
                biased;
                sign = signals.next() => {
                    // The prompt is an unfinished line.
                    print_note("");
                    return Ok(AnswerOutcome::Signal(sign));
                }
                // After `fg` the question is shown again.
                _ = resumed.recv() => prompt.show(),
                answer = &mut asking => match answer {
                    Ok(answer) => {
                        let source = AnswerSource::new(AnswerChannel::Terminal);
                        let session = setup.windlass.session(lane.clone());
                        session.answer_as(question.id, answer, source).await?;
                        break;
                    }
                    Err(error) if error.is::<EndOfInput>() => {
                        print_note("");
                        return Ok(AnswerOutcome::InputClosed);
                    }
                    Err(error) => return Err(error),
                },
            }
        }
    }
    Ok(AnswerOutcome::AllAnswered)
}
