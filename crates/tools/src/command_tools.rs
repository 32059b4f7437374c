//! Command tools: any program is a tool. A table gives its name, description, input, argument list
//! and what is known about it; no shell reads the arguments.
//!
//! Not here: where the tables are read from, and whether the folder that has them is trusted.

mod argument_template;
mod command_tool;
mod config;
mod input_spec;

#[cfg(test)]
mod command_tools_tests;

pub use command_tool::CommandTool;
pub use config::{CommandToolConfig, CommandToolName, ProgramInput};
