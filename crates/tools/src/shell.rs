//! The shell tools: running, polling and ending commands.

mod background_commands;
mod bash;
mod bash_output;
mod command_analysis;
mod kill_shell;
mod path_recheck;
mod program_lookup;
mod report;
mod running_commands;
mod sandbox_notes;
mod scripts;
mod working_folder;

pub use background_commands::BackgroundCommandInfo;
pub use bash::BashTool;
pub use bash_output::BashOutputTool;
pub use command_analysis::analyze_command;
pub use kill_shell::KillShellTool;
pub use scripts::files_run_by;

pub(crate) use background_commands::BackgroundCommands;
pub(crate) use program_lookup::ProgramLookup;
pub(crate) use running_commands::RunningCommands;
