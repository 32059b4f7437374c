//! Runs shell scripts in the sandbox.

use std::path::PathBuf;
use std::process::ExitStatus;

use tokio::io::AsyncReadExt;
use windlass_runtime::ports::{LaunchPurpose, LaunchRequest, LaunchStream, ProcessLauncher};
use windlass_sandbox::{Layers, NetworkAccess, Policy, SandboxLauncher, SandboxLimits};

/// The layers of a machine without namespaces.
pub(crate) const WITHOUT_NAMESPACES: Layers = Layers { namespaces: false, ..Layers::ALL };

/// A workspace, a folder beside it with secrets, and the policy that follows.
pub(crate) struct World {
    folder: tempfile::TempDir,
    pub(crate) policy: Policy,
    pub(crate) layers: Layers,
}

/// How a script ended, and what it printed.
#[derive(Debug)]
pub(crate) struct ScriptEnd {
    pub(crate) status: ExitStatus,
    pub(crate) output: String,
    pub(crate) blocked_hosts: Vec<String>,
}

impl World {
    pub(crate) fn new(layers: Layers) -> Self {
        let folder = tempfile::tempdir_in(base()).unwrap();
        let home = folder.path().canonicalize().unwrap();
        let workspace = home.join("w");
        for made in ["w/.git/hooks", "w/.git/objects", "w/src", "keys/inner"] {
            std::fs::create_dir_all(home.join(made)).unwrap();
        }
        for (file, text) in [
            ("w/.git/config", "[core]\n"),
            ("w/.git/HEAD", "ref: refs/heads/main\n"),
            ("w/src/main.rs", "fn main() {}\n"),
            ("w/.env", "TOKEN=in-the-workspace\n"),
            ("keys/id", "the-private-key\n"),
            ("keys/inner/id", "the-other-key\n"),
            ("outside", "may be read\n"),
        ] {
            std::fs::write(home.join(file), text).unwrap();
        }
        let protect =
            [".git/hooks", ".git/config", ".git/commondir", ".claude", ".mcp.json", ".vscode"];
        let policy = Policy {
            read: vec![home.join("outside")],
            write: vec![workspace.clone()],
            protect: protect.iter().map(|name| workspace.join(name)).collect(),
            deny_read: vec![home.join("keys"), workspace.join(".env")],
            network: NetworkAccess::None,
            hosts: Vec::new(),
            local_ports: Vec::new(),
            limits: SandboxLimits::default(),
        };
        Self { folder, policy, layers }
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.home().join("w")
    }

    pub(crate) fn launcher(&self) -> SandboxLauncher {
        SandboxLauncher::new(self.policy.clone())
            .with_helper(env!("CARGO_BIN_EXE_windlass-sandbox-exec"))
            .with_layers(self.layers)
    }

    /// Runs a script in the workspace, with the home folder as `$H`.
    pub(crate) async fn run(&self, script: &str) -> ScriptEnd {
        self.try_run(script).await.unwrap()
    }

    pub(crate) async fn try_run(&self, script: &str) -> std::io::Result<ScriptEnd> {
        let mut request = LaunchRequest::new(LaunchPurpose::Command, "/bin/sh", self.workspace());
        request.arguments = vec!["-c".into(), format!("exec 2>&1\n{script}").into()];
        request.environment = vec![
            ("PATH".into(), "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".into()),
            ("H".into(), self.home().into()),
        ];
        request.stdout = LaunchStream::Piped;
        let mut process = self.launcher().launch(request).await?;
        let mut output = Vec::new();
        let mut pipe = process.stdout.take().unwrap();
        // What is left running may hold the pipe, and ends with the call.
        let call = async {
            let status = process.handle.wait().await;
            process.handle.end().await;
            status
        };
        let (status, read) = tokio::join!(call, pipe.read_to_end(&mut output));
        read?;
        let status = status?;
        let blocked_hosts = process.handle.blocked_hosts();
        let output = String::from_utf8_lossy(&output).into_owned();
        Ok(ScriptEnd { status, output, blocked_hosts })
    }

    /// Asserts that a script succeeds, and returns what it printed.
    pub(crate) async fn succeeds(&self, script: &str) -> String {
        let ended = self.run(script).await;
        assert!(ended.status.success(), "{script}: {} {}", ended.status, ended.output);
        ended.output
    }

    /// Asserts that a script fails.
    pub(crate) async fn fails(&self, script: &str) -> String {
        let ended = self.run(script).await;
        assert!(!ended.status.success(), "{script} succeeded: {}", ended.output);
        ended.output
    }
}

/// The variable with the folder in which workspaces are made, for another user.
pub(crate) const BASE: &str = "WINDLASS_TEST_BASE";

/// Returns the folder in which workspaces are made; not one that is private in the sandbox.
fn base() -> PathBuf {
    std::env::var_os(BASE).map_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")), PathBuf::from)
}
