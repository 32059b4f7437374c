//! `Write`: the whole contents of a file.

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::facts::Facts;
use windlass_core::input::Finding;
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::raw::Raw;
use windlass_core::settings::ToolSpec;
use windlass_runtime::ports::{CallContext, Task, Tool};

use super::blocking::blocking;
use super::encoding::{Encoding, Endings};
use super::place::Place;
use super::target::Before;
use super::{change, patch, target};
use crate::input::{self, Input, unfit};
use crate::limits::MAX_EDIT_BYTES;
use crate::offer::offer;
use crate::workplace::Workplace;

/// Writes files.
#[derive(Debug, Clone)]
pub struct Write {
    workplace: Workplace,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// The file: absolute, or relative to the workspace
    #[schemars(length(min = 1))]
    file_path: String,
    /// All that will be in it
    content: String,
}

impl Input for Asked {
    fn problem(&self) -> Option<String> {
        if self.content.len() as u64 > MAX_EDIT_BYTES {
            return Some(format!("the content has more than {MAX_EDIT_BYTES} bytes"));
        }
        input::path_problem("file_path", &self.file_path)
    }
}

impl Write {
    /// Writes files in `workplace`, where paths that are not absolute begin.
    #[must_use]
    pub fn new(workplace: impl Into<Workplace>) -> Self {
        Self { workplace: workplace.into() }
    }
}

fn write(
    workplace: &Workplace,
    context: &CallContext,
    asked: &Asked,
) -> Result<Outcome, ToolError> {
    let place = target::place(workplace.zones(), &asked.file_path)?;
    let desk = workplace.desk(&context.lane);
    let before = target::before(&place)?;
    if let Some(before) = &before {
        target::check_seen(&desk, &place, before)?;
    }
    let bytes = bytes(&place, before.as_ref(), asked.content.as_bytes())?;
    change::carry_out(context, &desk, &place, before.as_ref(), &bytes)?;
    let done = if before.is_some() { "updated" } else { "created" };
    let lines = match asked.content.lines().count() {
        1 => "1 line".to_owned(),
        lines => format!("{lines} lines"),
    };
    let content = Raw::string(&format!("{done} {} ({lines})", place.shown.display()));
    Ok(match before {
        Some(before) => Outcome::Detailed { content, detail: patch::detail(&before.bytes, &bytes) },
        None => Outcome::Done(content),
    })
}

/// The content spelled as the file was.
fn bytes(place: &Place, before: Option<&Before>, content: &[u8]) -> Result<Vec<u8>, ToolError> {
    let Some(before) = before else { return Ok(content.to_vec()) };
    let encoding = Encoding::of(&before.bytes);
    let text = encoding.decode(&before.bytes).ok_or_else(|| not_spelled(place))?;
    let ended = Endings::of(&text).apply(content);
    // A mark that the model writes itself must not stand there twice.
    let own_mark = ended.strip_prefix("\u{feff}".as_bytes());
    let unmarked = own_mark.filter(|_| encoding != Encoding::Plain).unwrap_or(&ended);
    encoding.encode(unmarked).ok_or_else(|| not_spelled(place))
}

pub(super) fn not_spelled(place: &Place) -> ToolError {
    ToolError::new(
        "encoding",
        &format!("{} is in UTF-16 and this text cannot be spelled so", place.shown.display()),
        "send plain Unicode text",
    )
}

impl Tool for Write {
    fn spec(&self) -> ToolSpec {
        offer::<Asked>(
            "Write",
            "Writes a file, making the folders on the way. A file that exists must have been read \
             before and is replaced as a whole; to change a part of it use Edit.",
        )
    }

    fn assess(&self, input: &Raw) -> Facts {
        let facts = |asked: Asked| change::facts(&self.workplace, &asked.file_path);
        input::read(input).map_or_else(unfit, facts)
    }

    fn run(&self, context: CallContext, input: Raw) -> Task<'_, Outcome> {
        let workplace = self.workplace.clone();
        blocking(move || write(&workplace, &context, &input::read(&input)?))
    }

    fn verify(&self, context: CallContext, input: Raw) -> Task<'_, Finding> {
        let path = input::read(&input).map(|asked: Asked| asked.file_path);
        let found = path.map(|path| change::find_out(&self.workplace, &context, &path));
        Box::pin(std::future::ready(found.unwrap_or(Finding::Unknown {})))
    }
}
