//! `Edit`: one text in a file for another.

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
use super::substitute::{self, Wish};
use super::{change, open, patch, target};
use crate::input::{self, Input, unfit};
use crate::limits::MAX_EDIT_BYTES;
use crate::offer::offer;
use crate::workplace::Workplace;

/// Edits files.
#[derive(Debug, Clone)]
pub struct Edit {
    workplace: Workplace,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// The file: absolute, or relative to the workspace
    #[schemars(length(min = 1))]
    file_path: String,
    /// The text to replace, exactly as it stands in the file, without line numbers
    #[schemars(length(min = 1))]
    old_string: String,
    /// The text to put there
    new_string: String,
    /// Whether to replace it everywhere; otherwise it must stand there once
    #[serde(default)]
    replace_all: bool,
}

impl Input for Asked {
    fn problem(&self) -> Option<String> {
        match self.old_string == self.new_string {
            _ if self.old_string.is_empty() => {
                Some("the old_string is empty; use Write for a new file".to_owned())
            }
            true => Some("old_string and new_string are the same".to_owned()),
            false => input::path_problem("file_path", &self.file_path),
        }
    }
}

impl Edit {
    /// Edits files in `workplace`, where paths that are not absolute begin.
    #[must_use]
    pub fn new(workplace: impl Into<Workplace>) -> Self {
        Self { workplace: workplace.into() }
    }
}

fn edit(workplace: &Workplace, context: &CallContext, asked: &Asked) -> Result<Outcome, ToolError> {
    let place = target::place(workplace.zones(), &asked.file_path)?;
    let desk = workplace.desk(&context.lane);
    let before = target::before(&place)?.ok_or_else(|| open::missing(&place.shown))?;
    target::check_seen(&desk, &place, &before)?;
    let (bytes, said) = edited(&place, &before.bytes, asked)?;
    change::carry_out(context, &desk, &place, Some(&before), &bytes)?;
    let detail = patch::detail(&before.bytes, &bytes);
    Ok(Outcome::Detailed { content: Raw::string(&said), detail })
}

/// The new contents, spelled and ended as the old ones, and what to say about them.
fn edited(place: &Place, bytes: &[u8], asked: &Asked) -> Result<(Vec<u8>, String), ToolError> {
    let encoding = Encoding::of(bytes);
    let text = encoding.decode(bytes).ok_or_else(|| super::write::not_spelled(place))?;
    let endings = Endings::of(&text);
    let wish = Wish {
        old: &endings.plain(asked.old_string.as_bytes()),
        new: &endings.plain(asked.new_string.as_bytes()),
        everywhere: asked.replace_all,
    };
    let done = substitute::substitute(&endings.plain(&text), wish)
        .map_err(|found| found.problem(&place.shown, endings))?;
    let bytes = encoding.encode(&endings.apply(&done.text));
    let bytes = bytes.ok_or_else(|| super::write::not_spelled(place))?;
    match bytes.len() as u64 > MAX_EDIT_BYTES {
        true => Err(super::kind::too_large(&place.shown, MAX_EDIT_BYTES)),
        false => Ok((bytes, done.report(&place.shown))),
    }
}

impl Tool for Edit {
    fn spec(&self) -> ToolSpec {
        offer::<Asked>(
            "Edit",
            "Replaces a text in a file by another. The file must have been read before. The old \
             text must stand there exactly, and once unless replace_all is set.",
        )
    }

    fn assess(&self, input: &Raw) -> Facts {
        let facts = |asked: Asked| change::facts(&self.workplace, &asked.file_path);
        input::read(input).map_or_else(unfit, facts)
    }

    fn run(&self, context: CallContext, input: Raw) -> Task<'_, Outcome> {
        let workplace = self.workplace.clone();
        blocking(move || edit(&workplace, &context, &input::read(&input)?))
    }

    fn verify(&self, context: CallContext, input: Raw) -> Task<'_, Finding> {
        let path = input::read(&input).map(|asked: Asked| asked.file_path);
        let found = path.map(|path| change::find_out(&self.workplace, &context, &path));
        Box::pin(std::future::ready(found.unwrap_or(Finding::Unknown {})))
    }
}
