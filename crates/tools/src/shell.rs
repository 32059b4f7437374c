//! The shell tools: running, polling and ending commands.

mod background_commands;
mod bash;
mod command_analysis;
mod content_sources;
mod path_recheck;
mod program_lookup;
mod report;
mod running_commands;
mod sandbox_notes;
mod scripts;
mod task_output;
mod task_stop;
mod working_folder;

pub use background_commands::BackgroundCommandInfo;
pub use bash::BashTool;
pub use command_analysis::analyze_command;
pub use report::background_command_id;
pub use scripts::files_run_by;
pub use task_output::TaskOutputTool;
pub use task_stop::TaskStopTool;

pub(crate) use background_commands::BackgroundCommands;
pub(crate) use program_lookup::ProgramLookup;
pub(crate) use running_commands::RunningCommands;
