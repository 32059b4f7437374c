//! Results that are longer than a model is shown: the whole is kept in a file, and the last line of
//! the result names it. The core cuts the middle out, so the last line is always read.
//!
//! `Bash` keeps what it prints while it prints, and `Read` shows a page that fits, so those two need
//! none of this.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_core::block::Block;
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::raw::Raw;
use windlass_runtime::Toolbox;
use windlass_runtime::ports::{CallContext, Task, Tool};

use crate::around::{Around, each};
use crate::desk::make_room;
use crate::limits::{MAX_OUTPUT_BYTES, MAX_OUTPUT_FILES, MAX_OUTPUT_TOTAL_BYTES, SPILL_BYTES};
use crate::workplace::Workplace;

/// The same tools; whatever one of them brings can be paged through with `Read`.
#[must_use]
pub fn paged(tools: &Toolbox, workplace: &Workplace) -> Toolbox {
    each(tools, &Paged { workplace: workplace.clone() })
}

/// Keeps long results.
#[derive(Clone)]
struct Paged {
    workplace: Workplace,
}

/// Where a result comes from.
#[derive(Clone, Copy)]
struct Source<'a> {
    tool: &'a dyn Tool,
    context: &'a CallContext,
}

impl Around for Paged {
    fn run<'a>(
        &'a self,
        tool: &'a dyn Tool,
        context: CallContext,
        input: Raw,
    ) -> Task<'a, Outcome> {
        Box::pin(async move {
            let outcome = tool.run(context.clone(), input).await;
            self.keep(Source { tool, context: &context }, outcome)
        })
    }
}

impl Paged {
    fn keep(&self, from: Source<'_>, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Done(content) => Outcome::Done(self.keep_content(from, content)),
            Outcome::Detailed { content, detail } => {
                Outcome::Detailed { content: self.keep_content(from, content), detail }
            }
            Outcome::Failed(error) => Outcome::Failed(self.keep_error(from, error)),
            Outcome::TimedOut { .. } | Outcome::Interrupted { .. } => outcome,
        }
    }

    fn keep_content(&self, from: Source<'_>, content: Raw) -> Raw {
        let text = (content.text().len() > SPILL_BYTES).then(|| whole_text(&content));
        match text.flatten().and_then(|text| self.keep_text(from, text)) {
            Some(told) => Raw::string(&told),
            None => content,
        }
    }

    fn keep_error(&self, from: Source<'_>, error: ToolError) -> ToolError {
        let (text, is_output) = match &error.output {
            Some(output) => (output.to_string(), true),
            None => (error.message.to_string(), false),
        };
        match (self.keep_text(from, text), is_output) {
            (Some(told), true) => error.with_output(&told),
            (Some(told), false) => ToolError { message: Arc::from(told), ..error },
            (None, _) => error,
        }
    }

    /// The text with the name of the file that holds all of it, if it is long and has none yet.
    fn keep_text(&self, from: Source<'_>, text: String) -> Option<String> {
        if text.len() <= SPILL_BYTES {
            return None;
        }
        let folder = self.workplace.desk(&from.context.lane).outputs().ok()?;
        let is_named = text.contains(&*folder.to_string_lossy());
        let path = (!is_named).then(|| write(&folder, from, &text))?.ok()?;
        let (bytes, path) = (text.len(), path.display());
        Some(format!(
            "{text}\n[all {bytes} bytes of this are in {path}: page through it with Read]"
        ))
    }
}

/// A result that is text and nothing else: pictures and documents are not cut.
fn whole_text(content: &Raw) -> Option<String> {
    if let Ok(text) = content.read::<String>() {
        return Some(text);
    }
    let blocks = content.read::<Vec<Block>>().ok()?;
    let texts: Option<Vec<&str>> = blocks.iter().map(Block::as_text).collect();
    texts.map(|texts| texts.join("\n"))
}

fn write(folder: &Path, from: Source<'_>, text: &str) -> io::Result<PathBuf> {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    let tool: String = from.tool.spec().name.chars().filter(is_plain).take(40).collect();
    let call = from.context.call;
    let path = folder.join(format!("{tool}-{}-{}.txt", call.ask, call.index));
    make_room(folder, MAX_OUTPUT_FILES, MAX_OUTPUT_TOTAL_BYTES - MAX_OUTPUT_BYTES);
    let room = usize::try_from(MAX_OUTPUT_BYTES).unwrap_or(usize::MAX).min(text.len());
    let mut file =
        File::options().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
    file.write_all(text.as_bytes().get(..room).unwrap_or_default())?;
    Ok(path)
}
