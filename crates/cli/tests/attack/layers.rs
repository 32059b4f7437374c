//! The controls of each layer: with all of them an attack is held, and with one switched off it
//! succeeds. The library switches them; the program itself has no switch.

use std::process::Stdio;

use tokio::io::AsyncReadExt;
use windlass_runtime::ports::{LaunchPurpose, LaunchRequest, LaunchStream, ProcessLauncher};
use windlass_sandbox::{HostRule, Layers, NetworkAccess, Policy, SandboxLauncher, SandboxLimits};

use crate::place::{Place, User};

/// Printed by an attack that reached what leaves no other trace; it is never part of its text.
const REACHED: &str = "REACHED-IT";

/// What one layer holds, and how it is switched off.
struct LayerControl {
    layer: &'static str,
    attack: &'static str,
    switch_off: fn(&mut Policy, &mut Layers, &Place),
}

const CONTROLS: [LayerControl; 8] = [
    LayerControl {
        layer: "namespaces: private /tmp",
        attack: "cat $TMPFILE",
        switch_off: |_, layers, _| layers.namespaces = false,
    },
    LayerControl {
        layer: "namespaces: private /proc",
        attack: "cat /proc/[0-9]*/cmdline",
        switch_off: |_, layers, _| layers.namespaces = false,
    },
    LayerControl {
        layer: "Landlock",
        attack: "echo x > /run/x && echo REACHED+IT | tr + -",
        switch_off: |_, layers, _| layers.landlock = false,
    },
    LayerControl {
        layer: "seccomp",
        attack: "unshare -U true && echo REACHED+IT | tr + -",
        switch_off: |_, layers, _| layers.system_calls = false,
    },
    LayerControl {
        layer: "network namespace",
        attack: "bash -c 'echo x > /dev/tcp/127.0.0.1/PORT'; sleep 0.2",
        switch_off: |policy, _, _| policy.network = NetworkAccess::Full,
    },
    LayerControl {
        layer: "proxy",
        attack: "bash -c 'exec 3<>/dev/tcp/127.0.0.1/${HTTP_PROXY##*:}; \
                 printf \"CONNECT allowed.test:80 HTTP/1.1\\r\\n\\r\\n\" >&3; timeout 1 cat <&3'",
        switch_off: |policy, _, place| {
            let rule = format!("allowed.test:80=127.0.0.1:{}", place.port());
            policy.hosts.push(HostRule::parse(&rule).unwrap());
        },
    },
    LayerControl {
        layer: "protected paths",
        attack: "echo x > .git/hooks/pre-commit; mkdir -p .claude && echo {} > .claude/settings.json",
        switch_off: |policy, _, _| policy.protect.clear(),
    },
    LayerControl {
        layer: "hidden files",
        attack: "cat $HOME/vault/id",
        switch_off: |policy, _, _| policy.deny_read.clear(),
    },
];

/// Runs the controls; returns how many there are, and those that prove nothing.
pub(crate) fn run() -> (usize, Vec<String>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut failures = Vec::new();
    for control in &CONTROLS {
        let attempt = |is_off: bool| {
            let place = Place::new(User::Own);
            let (mut policy, mut layers) = (policy_of(&place), Layers::ALL);
            if is_off {
                (control.switch_off)(&mut policy, &mut layers, &place);
            }
            runtime.block_on(attack(&place, policy, layers, control.attack))
        };
        if let Some(reached) = attempt(false) {
            failures.push(format!("{}: {reached} with every layer", control.layer));
        }
        if attempt(true).is_none() {
            failures.push(format!("{}: nothing was reached without it", control.layer));
        }
    }
    (CONTROLS.len(), failures)
}

/// What the program would let the commands of the place do.
fn policy_of(place: &Place) -> Policy {
    let workspace = place.path("w").canonicalize().unwrap();
    let home = place.path("home").canonicalize().unwrap();
    let zones = windlass_tools::PathZones::with_home(&workspace, Some(home.clone()));
    let paths = zones.sandbox_paths();
    let mut deny_read = paths.deny_read;
    deny_read.push(home.join("vault"));
    Policy {
        read: Vec::new(),
        write: paths.write,
        protect: paths.protect,
        deny_read,
        network: NetworkAccess::None,
        hosts: Vec::new(),
        local_ports: Vec::new(),
        limits: SandboxLimits::default(),
    }
}

/// Runs an attack with the program as the helper of the sandbox; returns what it reached.
async fn attack(place: &Place, policy: Policy, layers: Layers, script: &str) -> Option<String> {
    let secret = place.secret_in_tmp();
    let mut other = place.process_with_secret();
    let launcher = SandboxLauncher::new(policy)
        .with_helper(env!("CARGO_BIN_EXE_windlass"))
        .with_layers(layers);
    let workspace = place.path("w").canonicalize().unwrap();
    let mut request = LaunchRequest::new(LaunchPurpose::Command, "/bin/sh", workspace);
    let script = script.replace("PORT", &place.port().to_string());
    request.arguments = vec!["-c".into(), format!("exec 2>&1\n{script}").into()];
    request.environment = vec![
        ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
        ("HOME".into(), place.path("home").into()),
        ("TMPFILE".into(), secret.path().into()),
    ];
    request.stdout = LaunchStream::Piped;
    let mut process = launcher.launch(request).await.unwrap();
    let mut output = Vec::new();
    let mut pipe = process.stdout.take().unwrap();
    let ended = async {
        drop(process.handle.wait().await);
        process.handle.end().await;
    };
    let ((), read) = tokio::join!(ended, pipe.read_to_end(&mut output));
    read.unwrap();
    drop(other.kill());
    drop(other.wait());
    let text = String::from_utf8_lossy(&output);
    let marked = text.contains(REACHED).then(|| "it reached its end".to_owned());
    marked.or_else(|| place.find_success(&text))
}

/// Standard streams of a process that only has to be there.
pub(crate) fn no_streams(command: &mut std::process::Command) -> &mut std::process::Command {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null())
}
