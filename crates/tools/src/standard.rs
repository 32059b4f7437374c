//! The tools an agent has unless it is told otherwise.

use std::sync::Arc;

use windlass_runtime::Toolbox;

use crate::{
    AskUserQuestion, Bash, BashOutput, Edit, Glob, Grep, KillShell, Read, TodoWrite, Workplace,
    Write, paged,
};

/// The names of all standard tools.
pub const STANDARD: &[&str] = &[
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

/// All standard tools over one workplace.
#[must_use]
pub fn standard(workplace: &Workplace) -> Toolbox {
    standard_only(workplace, STANDARD.iter().copied())
}

/// Those standard tools whose names are given; a name that is none of them is passed over.
#[must_use]
pub fn standard_only<'n>(
    workplace: &Workplace,
    names: impl IntoIterator<Item = &'n str>,
) -> Toolbox {
    let tools = names.into_iter();
    let tools = tools.fold(Toolbox::default(), |tools, name| with(tools, name, workplace));
    paged(&tools, workplace)
}

fn with(tools: Toolbox, name: &str, workplace: &Workplace) -> Toolbox {
    match name {
        "AskUserQuestion" => tools.with(AskUserQuestion),
        "Bash" => tools.with(Bash::new(workplace, Arc::clone(workplace.clock()))),
        "BashOutput" => tools.with(BashOutput::new(workplace)),
        "Edit" => tools.with(Edit::new(workplace)),
        "Glob" => tools.with(Glob::new(workplace)),
        "Grep" => tools.with(Grep::new(workplace)),
        "KillShell" => tools.with(KillShell::new(workplace)),
        "Read" => tools.with(Read::new(workplace)),
        "TodoWrite" => tools.with(TodoWrite::new(workplace)),
        "Write" => tools.with(Write::new(workplace)),
        _ => tools,
    }
}
