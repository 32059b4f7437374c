//! Every command line that runs Node: the cases of the TypeScript Agent SDK.
//!
//! Sources and packages are put together below the target folder, so nothing is installed in the
//! source tree or anywhere else, and `cargo clean` removes it.

use std::path::Path;

use anyhow::Result;

use crate::cargo;
use crate::invocation::Invocation;
use crate::workspace;

/// What the compiler reads, and what an earlier run may have left behind.
const COPIED_FILES: &[&str] = &["package.json", "package-lock.json", "tsconfig.json"];
const REPLACED_FOLDERS: &[&str] = &["src", "build"];

/// The official TypeScript SDK with our binary as its CLI. Its own CLI is an optional dependency,
/// which is left out.
pub(crate) fn sdk_test_steps() -> Result<Vec<Invocation>> {
    let sources = workspace::root()?.join("tests").join("typescript");
    let folder = workspace::target_folder()?.join("sdk-typescript");
    let install = ["ci", "--omit=optional", "--no-audit", "--no-fund", "--loglevel=error"];
    Ok(vec![
        remove_step(&folder),
        Invocation::new("mkdir", &["-p", &path_text(&folder)]),
        copy_step(&sources, &folder),
        Invocation::new("npm", &install)
            .with_arguments(&["--prefix".to_owned(), path_text(&folder)]),
        run_step(&folder.join("node_modules/typescript/bin/tsc"))
            .with_arguments(&["--project".to_owned(), path_text(&folder)]),
        cargo::binary_for_checks(),
        run_step(&folder.join("build/run.js")).with_variable("WINDLASS", &windlass_path()?),
    ])
}

/// The conformance suite of MCP, and servers of the registry, with our binary as their client. They
/// run on a Node of their own: the suite needs a newer one than most systems have.
pub(crate) fn mcp_test_steps() -> Result<Vec<Invocation>> {
    let sources = workspace::root()?.join("tests").join("mcp");
    let folder = workspace::target_folder()?.join("mcp-conformance");
    let files = ["package.json", "package-lock.json", "client.mjs", "browser.mjs", "run.mjs"];
    let copied: Vec<_> = files.iter().map(|name| path_text(&sources.join(name))).collect();
    let install = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
    let node = folder.join("node_modules/node/bin/node");
    Ok(vec![
        Invocation::new("mkdir", &["-p", &path_text(&folder)]),
        Invocation::new("cp", &[]).with_arguments(&copied).with_arguments(&[path_text(&folder)]),
        Invocation::new("npm", &install)
            .with_arguments(&["--prefix".to_owned(), path_text(&folder)]),
        cargo::binary_for_checks(),
        Invocation::new(&path_text(&node), &[&path_text(&folder.join("run.mjs"))])
            .with_variable("WINDLASS", &windlass_path()?),
    ])
}

/// Removes sources and compiled files of an earlier run: a case that was deleted must not run.
fn remove_step(folder: &Path) -> Invocation {
    let replaced = REPLACED_FOLDERS.iter().map(|name| path_text(&folder.join(name)));
    Invocation::new("rm", &["-rf"]).with_arguments(&replaced.collect::<Vec<_>>())
}

fn copy_step(sources: &Path, folder: &Path) -> Invocation {
    let names = COPIED_FILES.iter().chain(&["src"]);
    let copied: Vec<_> = names.map(|name| path_text(&sources.join(name))).collect();
    Invocation::new("cp", &["-R"]).with_arguments(&copied).with_arguments(&[path_text(folder)])
}

fn run_step(program: &Path) -> Invocation {
    Invocation::new("node", &[&path_text(program)])
}

fn windlass_path() -> Result<String> {
    Ok(path_text(&workspace::target_folder()?.join("ci").join("windlass")))
}

fn path_text(path: &Path) -> String {
    path.display().to_string()
}
