//! The standard tools, which an agent has by default.

use std::sync::Arc;

use windlass_runtime::ToolRegistry;

use crate::{
    AskUserQuestionTool, BashOutputTool, BashTool, EditTool, GlobTool, GrepTool, KillShellTool,
    ReadTool, TodoWriteTool, ToolContext, WriteTool, with_long_results,
};

/// The names of all standard tools.
pub const STANDARD_TOOLS: &[&str] = &[
    "AskUserQuestion",
    "Bash",
    "BashOutput",
    "Edit",
    "Glob",
    "Grep",
    "KillShell",
    "Read",
    "TodoWrite",
    "Write",
];

/// Returns all standard tools with one tool context.
#[must_use]
pub fn standard_tools(workplace: &ToolContext) -> ToolRegistry {
    select_standard_tools(workplace, STANDARD_TOOLS.iter().copied())
}

/// Returns the standard tools with these names; unknown names are skipped.
#[must_use]
pub fn select_standard_tools<'n>(
    workplace: &ToolContext,
    names: impl IntoIterator<Item = &'n str>,
) -> ToolRegistry {
    let tools = names.into_iter();
    let tools = tools.fold(ToolRegistry::default(), |tools, name| add_tool(tools, name, workplace));
    with_long_results(&tools, workplace)
}

fn add_tool(tools: ToolRegistry, name: &str, workplace: &ToolContext) -> ToolRegistry {
    match name {
        "AskUserQuestion" => tools.with(AskUserQuestionTool),
        "Bash" => tools.with(BashTool::new(workplace, Arc::clone(workplace.clock()))),
        "BashOutput" => tools.with(BashOutputTool::new(workplace)),
        "Edit" => tools.with(EditTool::new(workplace)),
        "Glob" => tools.with(GlobTool::new(workplace)),
        "Grep" => tools.with(GrepTool::new(workplace)),
        "KillShell" => tools.with(KillShellTool::new(workplace)),
        "Read" => tools.with(ReadTool::new(workplace)),
        "TodoWrite" => tools.with(TodoWriteTool::new(workplace)),
        "Write" => tools.with(WriteTool::new(workplace)),
        _ => tools,
    }
}
