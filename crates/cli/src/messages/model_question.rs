//! Questions that a model asks through `AskUserQuestionTool`: their options, and the labels that an
//! answer means.

use serde::Deserialize;
use windlass::core::message::raw_json::RawJson;

use crate::terminal::escape_invisible;

#[cfg(test)]
#[path = "model_question_tests.rs"]
mod model_question_tests;

/// One question of a model.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ModelQuestion {
    pub(crate) question: String,
    #[serde(default)]
    pub(crate) header: Option<String>,
    #[serde(default, rename = "multiSelect")]
    pub(crate) multi_select: Option<bool>,
    #[serde(default)]
    pub(crate) options: Vec<AnswerOption>,
}

/// An offered answer.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct AnswerOption {
    pub(crate) label: String,
    #[serde(default)]
    pub(crate) description: Option<String>,
}

#[derive(Deserialize)]
struct AskUserQuestionInput {
    questions: Vec<ModelQuestion>,
}

/// The questions of a call; empty if it asks in another form.
pub(crate) fn parse_model_questions(input: &RawJson) -> Vec<ModelQuestion> {
    input.read::<AskUserQuestionInput>().map(|asked| asked.questions).unwrap_or_default()
}

impl ModelQuestion {
    fn is_multi_select(&self) -> bool {
        self.multi_select.unwrap_or(false)
    }

    /// The question with its options.
    pub(crate) fn question_lines(&self) -> Vec<String> {
        let header = self.header.as_deref().map(|header| format!("{}: ", flatten_line(header)));
        let mut lines =
            vec![format!("{}{}", header.unwrap_or_default(), flatten_line(&self.question))];
        lines.extend(self.option_lines());
        lines
    }

    /// The options, numbered.
    pub(crate) fn option_lines(&self) -> Vec<String> {
        let line = |(number, option): (usize, &AnswerOption)| {
            let about = option.description.as_deref().filter(|about| !about.trim().is_empty());
            let about =
                about.map(|about| format!(" - {}", flatten_line(about))).unwrap_or_default();
            format!("  {number}. {}{about}", flatten_line(&option.label))
        };
        (1..).zip(&self.options).map(line).collect()
    }

    /// How the question is answered at a terminal.
    pub(crate) fn prompt_line(&self) -> &'static str {
        match (self.options.is_empty(), self.is_multi_select()) {
            (true, _) => "Your answer:",
            (false, false) => "Choose a number, or type your own answer:",
            (false, true) => "Choose numbers separated by commas, or type an answer of your own:",
        }
    }

    /// Resolves the typed answer: numbers become their labels. `None` if it is not possible.
    pub(crate) fn resolve_answer(&self, typed: &str) -> Option<String> {
        let typed = typed.trim();
        if typed.is_empty() {
            return None;
        }
        // A label may be a number itself.
        if let Some(option) = self.options.iter().find(|option| option.label.trim() == typed) {
            return Some(option.label.clone());
        }
        let words: Vec<&str> =
            typed.split([',', ' ']).map(str::trim).filter(|word| !word.is_empty()).collect();
        let numbers: Option<Vec<usize>> = words.iter().map(|word| word.parse().ok()).collect();
        let Some(numbers) = numbers.filter(|_| !self.options.is_empty()) else {
            return Some(typed.to_owned());
        };
        if numbers.len() > 1 && !self.is_multi_select() {
            return None;
        }
        let label = |number: &usize| {
            let option = number.checked_sub(1).and_then(|index| self.options.get(index));
            option.map(|option| option.label.clone())
        };
        let mut labels: Vec<String> = numbers.iter().map(label).collect::<Option<_>>()?;
        labels.dedup();
        Some(labels.join(", "))
    }
}

/// The text for the model: the answer, or each question with its answer.
pub(crate) fn join_answers(asked: &[ModelQuestion], answers: &[String]) -> String {
    match (asked, answers) {
        ([_], [only]) => only.clone(),
        _ => {
            let pairs = asked.iter().zip(answers);
            let line = |(question, answer): (&ModelQuestion, &String)| {
                format!("{}: {answer}", question.question.trim())
            };
            pairs.map(line).collect::<Vec<_>>().join("\n")
        }
    }
}

/// Resolves an answer that was sent as text to the labels it means. Answers to several questions
/// are separated by semicolons or lines. Words that match nothing are passed on unchanged.
pub(crate) fn resolve_answer_text(input: &RawJson, text: &str) -> Result<String, String> {
    let questions = parse_model_questions(input);
    let parts: Vec<&str> = match questions.len() {
        0 => return Ok(text.to_owned()),
        1 => vec![text],
        _ => text.split([';', '\n']).map(str::trim).collect(),
    };
    if parts.len() != questions.len() {
        return Ok(text.to_owned());
    }
    let resolve = |(question, part): (&ModelQuestion, &&str)| {
        question.resolve_answer(part).ok_or_else(|| {
            format!(
                "`{part}` does not answer `{}`; choose from:\n{}",
                flatten_line(&question.question),
                question.option_lines().join("\n")
            )
        })
    };
    let answers: Vec<String> =
        questions.iter().zip(&parts).map(resolve).collect::<Result<_, _>>()?;
    Ok(join_answers(&questions, &answers))
}

fn flatten_line(text: &str) -> String {
    escape_invisible(text.trim()).replace('\n', " ")
}
