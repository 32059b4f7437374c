//! Questions that a model asks through `AskUserQuestion`: what is offered, and which labels an answer
//! means.

use serde::Deserialize;
use windlass::core::raw::Raw;

use super::escape::visible;

#[cfg(test)]
#[path = "choices_tests.rs"]
mod choices_tests;

/// One question of a model.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct AskedQuestion {
    pub(crate) question: String,
    #[serde(default)]
    pub(crate) header: Option<String>,
    #[serde(default, rename = "multiSelect")]
    pub(crate) multi_select: Option<bool>,
    #[serde(default)]
    pub(crate) options: Vec<AnswerOption>,
}

/// An answer that is offered.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct AnswerOption {
    pub(crate) label: String,
    #[serde(default)]
    pub(crate) description: Option<String>,
}

#[derive(Deserialize)]
struct Asked {
    questions: Vec<AskedQuestion>,
}

/// The questions of a call; none if it asks in another way.
pub(crate) fn asked_questions(input: &Raw) -> Vec<AskedQuestion> {
    input.read::<Asked>().map(|asked| asked.questions).unwrap_or_default()
}

impl AskedQuestion {
    fn takes_several(&self) -> bool {
        self.multi_select.unwrap_or(false)
    }

    /// The question and what it offers.
    pub(crate) fn lines(&self) -> Vec<String> {
        let header = self.header.as_deref().map(|header| format!("{}: ", flat(header)));
        let mut lines = vec![format!("{}{}", header.unwrap_or_default(), flat(&self.question))];
        lines.extend(self.option_lines());
        lines
    }

    /// What it offers, numbered.
    pub(crate) fn option_lines(&self) -> Vec<String> {
        let line = |(number, option): (usize, &AnswerOption)| {
            let about = option.description.as_deref().filter(|about| !about.trim().is_empty());
            let about = about.map(|about| format!(" - {}", flat(about))).unwrap_or_default();
            format!("  {number}. {}{about}", flat(&option.label))
        };
        (1..).zip(&self.options).map(line).collect()
    }

    /// How it is answered at a terminal.
    pub(crate) fn prompt(&self) -> &'static str {
        match (self.options.is_empty(), self.takes_several()) {
            (true, _) => "Your answer:",
            (false, false) => "Choose a number, or type an answer of your own:",
            (false, true) => "Choose numbers separated by commas, or type an answer of your own:",
        }
    }

    /// The answer that was typed: numbers are the labels they stand for. `None` if it cannot be one.
    pub(crate) fn resolve(&self, typed: &str) -> Option<String> {
        let typed = typed.trim();
        if typed.is_empty() {
            return None;
        }
        let words: Vec<&str> =
            typed.split([',', ' ']).map(str::trim).filter(|word| !word.is_empty()).collect();
        let numbers: Option<Vec<usize>> = words.iter().map(|word| word.parse().ok()).collect();
        let Some(numbers) = numbers.filter(|_| !self.options.is_empty()) else {
            return Some(typed.to_owned());
        };
        if numbers.len() > 1 && !self.takes_several() {
            return None;
        }
        let label = |number: &usize| {
            let option = number.checked_sub(1).and_then(|place| self.options.get(place));
            option.map(|option| option.label.clone())
        };
        let mut labels: Vec<String> = numbers.iter().map(label).collect::<Option<_>>()?;
        labels.dedup();
        Some(labels.join(", "))
    }
}

/// What the model is told: the answer, or each question with its answer.
pub(crate) fn join_answers(asked: &[AskedQuestion], answers: &[String]) -> String {
    match (asked, answers) {
        ([_], [only]) => only.clone(),
        _ => {
            let pairs = asked.iter().zip(answers);
            let line = |(asked, answer): (&AskedQuestion, &String)| {
                format!("{}: {answer}", asked.question.trim())
            };
            pairs.map(line).collect::<Vec<_>>().join("\n")
        }
    }
}

/// An answer that was sent as text: the labels it means. Answers to several questions are separated
/// by semicolons or lines. Words that fit nothing are passed on as they are.
pub(crate) fn resolve_text(input: &Raw, text: &str) -> Result<String, String> {
    let asked = asked_questions(input);
    let parts: Vec<&str> = match asked.len() {
        0 => return Ok(text.to_owned()),
        1 => vec![text],
        _ => text.split([';', '\n']).map(str::trim).collect(),
    };
    if parts.len() != asked.len() {
        return Ok(text.to_owned());
    }
    let resolve = |(asked, part): (&AskedQuestion, &&str)| {
        asked.resolve(part).ok_or_else(|| {
            format!(
                "`{part}` does not answer `{}`; choose from:\n{}",
                flat(&asked.question),
                asked.option_lines().join("\n")
            )
        })
    };
    let answers: Vec<String> = asked.iter().zip(&parts).map(resolve).collect::<Result<_, _>>()?;
    Ok(join_answers(&asked, &answers))
}

fn flat(text: &str) -> String {
    visible(text.trim()).replace('\n', " ")
}
