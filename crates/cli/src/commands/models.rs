//! `windlass models`: providers and models, with windows, prices and keys.

use std::process::ExitCode;

use crate::args::inspect_args::ModelsArgs;
use crate::config::config_toml;
use crate::inspect::model_list::ModelCatalog;
use crate::terminal::{self, OutputStyle};

pub(crate) fn run(args: &ModelsArgs) -> anyhow::Result<ExitCode> {
    let catalogue = ModelCatalog::read(&config_toml::read()?)?;
    let lines =
        if args.json { catalogue.to_json()? } else { catalogue.to_lines(OutputStyle::stdout()) };
    lines.iter().for_each(|line| terminal::print_line(line));
    Ok(ExitCode::SUCCESS)
}
