//! Long results: the full text of a result that is longer than a model is shown is kept in a file,
//! which is named in the last line of the result. The core truncates the middle, so the last line
//! is always read.
//!
//! `BashTool` keeps its output while the command runs, and `ReadTool` returns a page that fits, so
//! those two do not need this.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::log::ids::{CallId, LaneId};
use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::raw_json::RawJson;
use windlass_core::settings::limits::Limits;
use windlass_runtime::ToolRegistry;
use windlass_runtime::ports::{BoxFuture, CallContext, ResultFiles, Tool};

use crate::limits::{
    MAX_OUTPUT_BYTES, MAX_OUTPUT_FILES, MAX_OUTPUT_TOTAL_BYTES, OUTPUT_FILE_THRESHOLD_BYTES,
};
use crate::tool_context::ToolContext;
use crate::tool_context::tool_state::evict_oldest_files;
use crate::tool_definition::tool_wrapper::{ToolWrapper, wrap_all};

/// Wraps the tools so that a long result of any of them can be paged through with `ReadTool`.
#[must_use]
pub fn with_long_results(tools: &ToolRegistry, tool_context: &ToolContext) -> ToolRegistry {
    wrap_all(tools, &LongResultKeeper { tool_context: tool_context.clone() })
}

/// Keeps long results in files.
#[derive(Clone)]
struct LongResultKeeper {
    tool_context: ToolContext,
}

/// The call that a result comes from.
#[derive(Clone, Copy)]
struct ResultSource<'a> {
    tool: &'a dyn Tool,
    context: &'a CallContext,
}

impl ResultSource<'_> {
    /// The length above which all of a result is kept in a file. A run that shows more to the model
    /// keeps only what is longer than that.
    fn threshold_bytes(&self) -> usize {
        let limit = self.context.settings.as_ref().map(|settings| settings.limits.result_chars);
        let raised = limit.filter(|chars| *chars > Limits::default().result_chars);
        raised.map_or(OUTPUT_FILE_THRESHOLD_BYTES, |chars| {
            usize::try_from(chars).unwrap_or(usize::MAX)
        })
    }
}

impl ToolWrapper for LongResultKeeper {
    fn run_wrapped<'a>(
        &'a self,
        tool: &'a dyn Tool,
        context: CallContext,
        input: RawJson,
    ) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            let files = CallFiles {
                keeper: self.clone(),
                tool: tool.spec().name,
                call: context.call,
                lane: context.lane.clone(),
            };
            let context = CallContext { files: Some(Arc::new(files)), ..context };
            let outcome = tool.run(context.clone(), input).await;
            self.keep_outcome(ResultSource { tool, context: &context }, outcome)
        })
    }
}

impl LongResultKeeper {
    fn keep_outcome(&self, from: ResultSource<'_>, outcome: ToolOutcome) -> ToolOutcome {
        match outcome {
            ToolOutcome::Done(content) => ToolOutcome::Done(self.keep_content(from, content)),
            ToolOutcome::DoneWithDetail { content, detail } => {
                ToolOutcome::DoneWithDetail { content: self.keep_content(from, content), detail }
            }
            ToolOutcome::Failed(error) => ToolOutcome::Failed(self.keep_error(from, error)),
            ToolOutcome::TimedOut { .. }
            | ToolOutcome::Interrupted { .. }
            | ToolOutcome::InputRequested(_) => outcome,
        }
    }

    fn keep_content(&self, from: ResultSource<'_>, content: RawJson) -> RawJson {
        let text =
            (content.text().len() > from.threshold_bytes()).then(|| text_only_result(&content));
        match text.flatten().and_then(|text| self.keep_text(from, text)) {
            Some(told) => RawJson::string(&told),
            None => content,
        }
    }

    fn keep_error(&self, from: ResultSource<'_>, error: ToolError) -> ToolError {
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

    /// Returns the text with the name of the file that contains all of it, if it is long and does
    /// not name one yet.
    fn keep_text(&self, from: ResultSource<'_>, text: String) -> Option<String> {
        if text.len() <= from.threshold_bytes() {
            return None;
        }
        let folder =
            self.tool_context.tool_state(&from.context.lane).create_outputs_folder().ok()?;
        let is_named = text.contains(&*folder.to_string_lossy());
        let path = (!is_named).then(|| write_result_file(&folder, from, &text))?.ok()?;
        let (bytes, path) = (text.len(), path.display());
        Some(format!("{text}\n[full result ({bytes} bytes): {path}; read it with Read]"))
    }
}

/// Keeps the files of one call beside its long texts.
struct CallFiles {
    keeper: LongResultKeeper,
    tool: Arc<str>,
    call: CallId,
    lane: LaneId,
}

impl std::fmt::Debug for CallFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallFiles").field("call", &self.call).finish_non_exhaustive()
    }
}

impl ResultFiles for CallFiles {
    fn keep(&self, suffix: &str, bytes: &[u8]) -> Option<PathBuf> {
        if bytes.len() as u64 > MAX_OUTPUT_BYTES {
            return None;
        }
        let folder =
            self.keeper.tool_context.tool_state(&self.lane).create_outputs_folder().ok()?;
        let name = format!("{}-{suffix}", result_file_name(&self.tool, self.call));
        write_file(&folder, &name, bytes).ok()
    }
}

/// Returns the text of a result that is nothing but text: images and documents are not truncated.
fn text_only_result(content: &RawJson) -> Option<String> {
    if let Ok(text) = content.read::<String>() {
        return Some(text);
    }
    let blocks = content.read::<Vec<ContentBlock>>().ok()?;
    let texts: Option<Vec<&str>> = blocks.iter().map(ContentBlock::as_text).collect();
    texts.map(|texts| texts.join("\n"))
}

fn write_result_file(folder: &Path, from: ResultSource<'_>, text: &str) -> io::Result<PathBuf> {
    let name = format!("{}.txt", result_file_name(&from.tool.spec().name, from.context.call));
    let remaining = usize::try_from(MAX_OUTPUT_BYTES).unwrap_or(usize::MAX).min(text.len());
    write_file(folder, &name, text.as_bytes().get(..remaining).unwrap_or_default())
}

fn result_file_name(tool: &str, call: CallId) -> String {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    let tool: String = tool.chars().filter(is_plain).take(40).collect();
    format!("{tool}-{}-{}", call.model_call, call.index)
}

fn write_file(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    let path = folder.join(name);
    evict_oldest_files(folder, MAX_OUTPUT_FILES, MAX_OUTPUT_TOTAL_BYTES - MAX_OUTPUT_BYTES);
    let mut file =
        File::options().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
    file.write_all(bytes)?;
    Ok(path)
}
