//! Every command line that runs Node: the cases of the TypeScript Agent SDK, editors made with the
//! TypeScript library of ACP, the conformance suite of MCP, and the dashboard with its tests in a
//! browser.
//!
//! Sources and packages are put together below the target folder, so nothing is installed in the
//! source tree or anywhere else, and `cargo clean` removes it.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::cargo;
use crate::invocation::Invocation;
use crate::python_env;
use crate::workspace;

/// What the compiler reads, and what an earlier run may have left behind.
const COPIED_FILES: &[&str] = &["package.json", "package-lock.json", "tsconfig.json", "src"];
const REPLACED_FOLDERS: &[&str] = &["src", "build"];

/// Installs Debian's Chromium, unless a browser is there or that is not possible: it needs apt-get,
/// and root or passwordless sudo.
const INSTALL_CHROMIUM: &str = r#"
command -v chromium >/dev/null && exit 0
command -v apt-get >/dev/null || exit 0
if [ "$(id -u)" = 0 ]; then root=""; elif sudo -n true 2>/dev/null; then root="sudo -n"; else exit 0; fi
echo "Chromium is missing here: installing Debian's chromium"
export DEBIAN_FRONTEND=noninteractive
$root apt-get -q update && $root apt-get -q install -y --no-install-recommends chromium
exit 0
"#;

/// The official TypeScript SDK with our binary as its CLI. Its own CLI is an optional dependency,
/// which is left out.
pub(crate) fn sdk_test_steps() -> Result<Vec<Invocation>> {
    compiled_test_steps("tests/typescript", "sdk-typescript")
}

/// The official TypeScript library of the Agent Client Protocol, as an editor with our binary as
/// its agent.
pub(crate) fn acp_test_steps() -> Result<Vec<Invocation>> {
    compiled_test_steps("tests/typescript-acp", "acp-typescript")
}

/// Installs, compiles and runs the cases of a folder.
fn compiled_test_steps(sources: &str, installed: &str) -> Result<Vec<Invocation>> {
    let project = NodeProject::new(sources, installed)?;
    let mut steps = project.install_steps(&["--omit=optional"]);
    steps.extend([project.compile_step(), cargo::binary_for_checks(), project.test_step()?]);
    Ok(steps)
}

/// The conformance suite of MCP, and servers of the registry, with our binary as their client. They
/// run on a Node of their own: the suite needs a newer one than most systems have.
pub(crate) fn mcp_test_steps() -> Result<Vec<Invocation>> {
    let sources = workspace::root()?.join("tests").join("mcp");
    let folder = workspace::target_folder()?.join("mcp-conformance");
    let files = ["package.json", "package-lock.json", "client.mjs", "browser.mjs", "run.mjs"];
    let copied: Vec<_> = files.iter().map(|name| path_text(&sources.join(name))).collect();
    let node = folder.join("node_modules/node/bin/node");
    let (mut steps, python) = python_env::mcp_server_steps()?;
    steps.extend([
        Invocation::new("mkdir", &["-p", &path_text(&folder)]),
        Invocation::new("cp", &[]).with_arguments(&copied).with_arguments(&[path_text(&folder)]),
        Invocation::new("npm", &["ci", "--no-audit", "--no-fund", "--loglevel=error"])
            .with_arguments(&["--prefix".to_owned(), path_text(&folder)]),
        cargo::binary_for_checks(),
        Invocation::new(&path_text(&node), &[&path_text(&folder.join("run.mjs"))])
            .with_variable("WINDLASS", &windlass_path()?)
            .with_variable("MCP_PYTHON", &python),
    ]);
    Ok(steps)
}

/// The committed dashboard is what its sources make, and it works in a browser against the real
/// server.
pub(crate) fn dashboard_test_steps() -> Result<Vec<Invocation>> {
    let sources = NodeProject::new("dashboard", "dashboard")?;
    let cases = NodeProject::new("tests/dashboard", "dashboard-tests")?;
    let (built, committed) = (sources.folder.join("dist"), sources.sources.join("dist"));
    let mut steps = vec![Invocation::new("sh", &["-c", INSTALL_CHROMIUM])];
    steps.extend(sources.install_steps(&[]));
    steps.extend([
        Invocation::new("cp", &[&path_text(&sources.sources.join("build.mjs"))])
            .with_arguments(&[path_text(&sources.folder)]),
        sources.compile_step(),
        Invocation::new("npm", &["run", "--silent", "build", "--prefix"])
            .with_arguments(&[path_text(&sources.folder)]),
        Invocation::new("diff", &["-r"])
            .with_arguments(&[path_text(&built), path_text(&committed)]),
    ]);
    steps.extend(cases.install_steps(&[]));
    steps.extend([cases.compile_step(), cargo::binary_for_checks(), cases.test_step()?]);
    Ok(steps)
}

/// A folder of TypeScript with its packages, and where it is put together.
struct NodeProject {
    sources: PathBuf,
    folder: PathBuf,
}

impl NodeProject {
    fn new(sources: &str, folder: &str) -> Result<Self> {
        let sources = workspace::root()?.join(sources);
        Ok(Self { sources, folder: workspace::target_folder()?.join(folder) })
    }

    /// Puts sources and packages together. What was deleted since an earlier run is gone.
    fn install_steps(&self, options: &[&str]) -> Vec<Invocation> {
        let replaced = REPLACED_FOLDERS.iter().map(|name| path_text(&self.folder.join(name)));
        let copied: Vec<_> =
            COPIED_FILES.iter().map(|name| path_text(&self.sources.join(name))).collect();
        let folder = path_text(&self.folder);
        vec![
            Invocation::new("rm", &["-rf"]).with_arguments(&replaced.collect::<Vec<_>>()),
            Invocation::new("mkdir", &["-p", &folder]),
            Invocation::new("cp", &["-R"])
                .with_arguments(&copied)
                .with_arguments(std::slice::from_ref(&folder)),
            Invocation::new("npm", &["ci", "--no-audit", "--no-fund", "--loglevel=error"])
                .with_arguments(&options.iter().map(|&word| word.to_owned()).collect::<Vec<_>>())
                .with_arguments(&["--prefix".to_owned(), folder]),
        ]
    }

    fn compile_step(&self) -> Invocation {
        run_step(&self.folder.join("node_modules/typescript/bin/tsc"))
            .with_arguments(&["--project".to_owned(), path_text(&self.folder)])
    }

    /// Runs the compiled cases with the binary of the check.
    fn test_step(&self) -> Result<Invocation> {
        let cases = run_step(&self.folder.join("build/run.js"));
        Ok(cases.with_variable("WINDLASS", &windlass_path()?))
    }
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
