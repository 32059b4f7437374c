//! How a tool is defined: its spec, the strict reading of its input, tools from functions, and
//! wrappers around tools.

mod function_tool;
pub(crate) mod tool_input;
pub(crate) mod tool_spec;
pub(crate) mod tool_wrapper;

pub use function_tool::FunctionTool;
