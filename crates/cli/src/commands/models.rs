//! `windlass models`: providers and models, with windows, prices and keys.

use std::process::ExitCode;

use crate::config::config_toml;
use crate::inspect::args::ModelsArgs;
use crate::inspect::model_list::ModelCatalog;
use crate::inspect::style::OutputStyle;
use crate::output;

pub(crate) fn run(args: &ModelsArgs) -> anyhow::Result<ExitCode> {
    let catalogue = ModelCatalog::read(&config_toml::read()?)?;
    let lines =
        if args.json { catalogue.to_json()? } else { catalogue.to_lines(OutputStyle::stdout()) };
    lines.iter().for_each(|line| output::print_line(line));
    Ok(ExitCode::SUCCESS)
}
