//! Flags of the output.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use tracing_subscriber::filter::Targets;

use super::values::{LogFormat, OutputFormat};
use crate::{logging, sdk};

/// How it is printed.
#[derive(Debug, Clone, ClapArgs)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Choose how the result is printed
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) output_format: OutputFormat,
    /// Print one JSON object at the end; same as --output-format json
    #[arg(long, conflicts_with = "output_format")]
    pub(crate) json: bool,
    /// Print thinking and diffs too; required for --output-format stream-json
    #[arg(long)]
    pub(crate) verbose: bool,
    /// Stream pieces of replies too (with stream-json)
    #[arg(long)]
    pub(crate) include_partial_messages: bool,
    /// Stream a line about each batch of tool calls too, written by the model for summaries while
    /// the run goes on (with stream-json)
    #[arg(long)]
    pub(crate) include_tool_use_summaries: bool,
    /// Write the program's own log to standard error: error, warn, info, debug, trace or off, or
    /// targets such as windlass=debug [default: $RUST_LOG, else off]
    #[arg(long, value_name = "LEVEL", value_parser = logging::parse_filter)]
    pub(crate) log: Option<Targets>,
    /// Choose how the log is written
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = LogFormat::Text)]
    pub(crate) log_format: LogFormat,
    /// Write the program's own log at level debug; the categories that may follow have no effect
    #[arg(short = 'd', long, value_name = "CATEGORIES", hide = true, alias = "debug-to-stderr", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(crate) debug: Option<String>,
    /// Write the program's own log to this file
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) debug_file: Option<PathBuf>,
}

impl OutputArgs {
    /// How the result is printed.
    pub(crate) fn format(&self) -> OutputFormat {
        if self.json { OutputFormat::Json } else { self.output_format }
    }

    /// Whether lines about batches of tool calls are written and printed.
    pub(crate) fn wants_tool_use_summaries(&self) -> bool {
        let wanted = self.include_tool_use_summaries || sdk::wants_tool_use_summaries();
        wanted && self.format() == OutputFormat::StreamJson
    }

    /// Whether a program reads it.
    pub(crate) fn is_for_programs(&self) -> bool {
        self.format() != OutputFormat::Text
    }
}
