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

use windlass_core::facts::Facts;
use windlass_core::ids::LaneId;
use windlass_core::input::Finding;
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::raw::Raw;
use windlass_core::settings::ToolSpec;
use windlass_runtime::Toolbox;
use windlass_runtime::ports::{CallContext, Task, Tool};

use crate::desk::make_room;
use crate::limits::{MAX_OUTPUT_BYTES, MAX_OUTPUT_FILES, SPILL_BYTES};
use crate::workplace::Workplace;

/// The same tools; whatever one of them brings can be paged through with `Read`.
#[must_use]
pub fn paged(tools: &Toolbox, workplace: &Workplace) -> Toolbox {
    each(tools, |tool| Paged { tool, workplace: workplace.clone() })
}

/// Tools made of tools.
pub(crate) fn each<T: Tool>(tools: &Toolbox, wrap: impl Fn(Arc<dyn Tool>) -> T) -> Toolbox {
    let names = tools.specs().into_iter().map(|spec| spec.name);
    names.filter_map(|name| tools.get(&name)).map(wrap).fold(Toolbox::default(), Toolbox::with)
}

/// A tool whose long results are kept.
struct Paged {
    tool: Arc<dyn Tool>,
    workplace: Workplace,
}

impl Paged {
    fn keep(&self, context: &CallContext, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Done(content) => Outcome::Done(self.keep_content(context, content)),
            Outcome::Failed(error) => Outcome::Failed(self.keep_error(context, error)),
            Outcome::TimedOut { .. } | Outcome::Interrupted { .. } => outcome,
        }
    }

    fn keep_content(&self, context: &CallContext, content: Raw) -> Raw {
        // Pictures and documents are not cut.
        let text = (content.text().len() > SPILL_BYTES).then(|| content.read::<String>().ok());
        match text.flatten().and_then(|text| self.keep_text(context, text)) {
            Some(told) => Raw::string(&told),
            None => content,
        }
    }

    fn keep_error(&self, context: &CallContext, error: ToolError) -> ToolError {
        match self.keep_text(context, error.message.to_string()) {
            Some(told) => ToolError { message: Arc::from(told), ..error },
            None => error,
        }
    }

    /// The text with the name of the file that holds all of it, if it is long and has none yet.
    fn keep_text(&self, context: &CallContext, text: String) -> Option<String> {
        if text.len() <= SPILL_BYTES {
            return None;
        }
        let folder = self.workplace.desk(&context.lane).outputs().ok()?;
        let is_named = text.contains(&*folder.to_string_lossy());
        let path = (!is_named).then(|| write(&folder, context, &self.tool.spec(), &text))?.ok()?;
        let (bytes, path) = (text.len(), path.display());
        Some(format!(
            "{text}\n[all {bytes} bytes of this are in {path}: page through it with Read]"
        ))
    }
}

fn write(folder: &Path, context: &CallContext, spec: &ToolSpec, text: &str) -> io::Result<PathBuf> {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    let tool: String = spec.name.chars().filter(is_plain).take(40).collect();
    let path = folder.join(format!("{tool}-{}-{}.txt", context.call.ask, context.call.index));
    make_room(folder, MAX_OUTPUT_FILES);
    let room = usize::try_from(MAX_OUTPUT_BYTES).unwrap_or(usize::MAX).min(text.len());
    let mut file =
        File::options().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
    file.write_all(text.as_bytes().get(..room).unwrap_or_default())?;
    Ok(path)
}

impl Tool for Paged {
    fn spec(&self) -> ToolSpec {
        self.tool.spec()
    }

    fn assess(&self, input: &Raw) -> Facts {
        self.tool.assess(input)
    }

    fn assess_on(&self, lane: &LaneId, input: &Raw) -> Facts {
        self.tool.assess_on(lane, input)
    }

    fn run(&self, context: CallContext, input: Raw) -> Task<'_, Outcome> {
        Box::pin(async move {
            let outcome = self.tool.run(context.clone(), input).await;
            self.keep(&context, outcome)
        })
    }

    fn verify(&self, context: CallContext, input: Raw) -> Task<'_, Finding> {
        self.tool.verify(context, input)
    }

    fn leave(&self, lane: &LaneId) {
        self.tool.leave(lane);
    }
}
