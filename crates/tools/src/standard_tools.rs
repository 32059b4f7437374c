//! The standard tools, which an agent has by default.

#[cfg(feature = "shell")]
use std::sync::Arc;

use windlass_runtime::ToolRegistry;

use crate::{
    AskUserQuestionTool, EditTool, GlobTool, GrepTool, ReadTool, TodoWriteTool, ToolContext,
    WriteTool, with_long_results,
};
#[cfg(feature = "shell")]
use crate::{BashTool, TaskOutputTool, TaskStopTool};

/// Adds one tool to a registry.
type AddTool = fn(ToolRegistry, &ToolContext) -> ToolRegistry;

/// Every standard tool: its name, and how it is added to a registry.
const TABLE: &[(&str, AddTool)] = &[
    ("AskUserQuestion", |tools, _| tools.with(AskUserQuestionTool)),
    #[cfg(feature = "shell")]
    ("Bash", |tools, context| tools.with(BashTool::new(context, Arc::clone(context.clock())))),
    ("Edit", |tools, context| tools.with(EditTool::new(context))),
    ("Glob", |tools, context| tools.with(GlobTool::new(context))),
    ("Grep", |tools, context| tools.with(GrepTool::new(context))),
    ("Read", |tools, context| tools.with(ReadTool::new(context))),
    #[cfg(feature = "shell")]
    ("TaskOutput", |tools, context| tools.with(TaskOutputTool::new(context))),
    #[cfg(feature = "shell")]
    ("TaskStop", |tools, context| tools.with(TaskStopTool::new(context))),
    ("TodoWrite", |tools, context| tools.with(TodoWriteTool::new(context))),
    ("Write", |tools, context| tools.with(WriteTool::new(context))),
];

/// Returns the names of all standard tools.
pub fn standard_tool_names() -> impl Iterator<Item = &'static str> + Clone {
    TABLE.iter().map(|(name, _)| *name)
}

/// Returns all standard tools with one tool context.
#[must_use]
pub fn standard_tools(context: &ToolContext) -> ToolRegistry {
    select_standard_tools(context, standard_tool_names())
}

/// Returns the standard tools with these names; unknown names are skipped.
#[must_use]
pub fn select_standard_tools<'n>(
    context: &ToolContext,
    names: impl IntoIterator<Item = &'n str>,
) -> ToolRegistry {
    let find = |name: &str| TABLE.iter().find(|(known, _)| *known == name).map(|(_, add)| *add);
    let tools = names.into_iter().filter_map(find);
    let tools = tools.fold(ToolRegistry::default(), |tools, add| add(tools, context));
    with_long_results(&tools, context)
}
