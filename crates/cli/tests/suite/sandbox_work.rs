//! Ordinary work in the sandbox, as it is by default: commits, virtual environments, tests, and
//! packages of registries that a rule allows.

use std::process::Stdio;

use serde_json::json;

use crate::test_home::{CommandOutput, TestHome};

/// Folders that are not in the workspace: the home of the person, and the packages of a registry.
struct Work {
    home: TestHome,
    person: tempfile::TempDir,
}

impl Work {
    fn new() -> Self {
        let person = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        Self { home: TestHome::new(""), person }
    }

    /// Runs a command as the call of a model; what the sandbox confines runs without a question.
    fn run(&self, command: &str) -> CommandOutput {
        let call = json!({ "command": command, "timeout": 300_000 });
        let script =
            format!("when results 0\n  call Bash {call}\nwhen any\n  say \"${{result}}\"\n");
        self.home.write("a.script", &script);
        let store = self.home.path("w.db");
        let settings = json!({"sandbox": {"autoAllowBashIfSandboxed": true}}).to_string();
        let args = ["-p", "go", "--script", "a.script", "--settings", &settings, "--store"];
        let args = [&args[..], &[store.to_str().unwrap()]].concat();
        self.home.run_with_env(&args, &[("HOME", self.person.path().to_str().unwrap())])
    }

    fn succeeds(&self, command: &str) -> String {
        let ran = self.run(&format!("({command}) && echo all-went-well"));
        assert!(ran.out.contains("all-went-well"), "{command}: {} {}", ran.out, ran.err);
        ran.out
    }

    fn has(&self, program: &str) -> bool {
        let version = self.home.program(program).arg("--version").output();
        version.is_ok_and(|ended| ended.status.success())
    }

    /// Serves files of a folder on this machine; returns the port.
    fn serve(&self, folder: &str) -> Server {
        let code = "import functools, http.server, os, sys\n\
             handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])\n\
             server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), handler)\n\
             open(sys.argv[2] + '.new', 'w').write(str(server.server_port))\n\
             os.rename(sys.argv[2] + '.new', sys.argv[2])\n\
             server.serve_forever()\n";
        let (folder, port) = (self.person.path().join(folder), self.home.path("port"));
        let mut command = self.home.program("python3");
        let command = command.args(["-c", code]).arg(folder).arg(&port);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let server = Server(child);
        self.home.wait_for_file("port");
        server
    }

    fn allow_registry(&self) {
        let port = std::fs::read_to_string(self.home.path("port")).unwrap();
        let config = format!("[sandbox]\nhosts = [\"registry.test:80=127.0.0.1:{port}\"]\n");
        std::fs::create_dir_all(self.home.path("home")).unwrap();
        self.home.write("home/config.toml", &config);
    }

    /// Runs a command that needs the registry: without the rule it fails and the host is named, with
    /// it the command succeeds.
    fn needs_registry(&self, command: &str) -> String {
        let refused = self.run(command);
        assert!(
            refused.out.contains("the sandbox kept it from reaching registry.test:80"),
            "{} {}",
            refused.out,
            refused.err
        );
        self.allow_registry();
        self.succeeds(command)
    }
}

/// A server that ends with the test.
struct Server(std::process::Child);

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

// spec: SANDBOX-06
#[test]
fn git_commits_and_python_has_an_environment() {
    let work = Work::new();
    let git = |args: &[&str]| {
        assert!(work.home.program("git").args(args).output().unwrap().status.success());
    };
    git(&["init", "-q"]);
    git(&["config", "user.name", "a"]);
    git(&["config", "user.email", "a@b.test"]);
    work.home.write("f.txt", "one\n");
    work.succeeds(
        "git add f.txt && git commit -qm first && git switch -qc other && git log --oneline",
    );
    if !work.has("python3") {
        return;
    }
    let out = work.succeeds(
        "python3 -m venv --without-pip .venv && . .venv/bin/activate && python -c 'import sys; print(sys.prefix)'",
    );
    assert!(out.contains("/.venv"), "{out}");
}

// spec: SANDBOX-06
#[test]
fn a_crate_is_tested() {
    let work = Work::new();
    std::fs::create_dir(work.home.path("src")).unwrap();
    work.home.write(
        "Cargo.toml",
        "[package]\nname = \"tiny\"\nversion = \"1.0.0\"\nedition = \"2021\"\n[workspace]\n",
    );
    work.home.write(
        "src/lib.rs",
        "#[test]\nfn it_works() { std::fs::write(\"made\", \"x\").unwrap(); }\n",
    );
    let out = with_toolchain(&work, "cargo test --offline 2>&1");
    assert!(out.contains("1 passed") && work.home.path("made").exists(), "{out}");
}

/// Runs cargo with the toolchain of the test, whose home folder is another one.
fn with_toolchain(work: &Work, command: &str) -> String {
    let (cargo, rustup) = toolchain();
    let ran = work.run(&format!("RUSTUP_HOME={rustup} PATH={cargo}/bin:$PATH {command}"));
    ran.out
}

fn toolchain() -> (String, String) {
    let home = std::env::var("HOME").unwrap_or_default();
    let named = |name: &str, folder: &str| {
        std::env::var(name).unwrap_or_else(|_| format!("{home}/{folder}"))
    };
    (named("CARGO_HOME", ".cargo"), named("RUSTUP_HOME", ".rustup"))
}

/// Makes the files of a registry: what a server of pip, npm or cargo would answer.
const MAKE_REGISTRY: &str = r##"
import hashlib, io, json, os, sys, tarfile, zipfile
root = sys.argv[1]
def write(path, data):
    path = os.path.join(root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, "wb").write(data if isinstance(data, bytes) else data.encode())
def archive(files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name); info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    return out.getvalue()
wheel = io.BytesIO()
with zipfile.ZipFile(wheel, "w") as z:
    z.writestr("tiny_pip.py", "said = 'from pip'\n")
    z.writestr("tiny_pip-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-pip\nVersion: 1.0\n")
    z.writestr("tiny_pip-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    z.writestr("tiny_pip-1.0.dist-info/RECORD", "")
write("simple/tiny-pip/index.html", "<a href='../../tiny_pip-1.0-py3-none-any.whl'>tiny_pip-1.0-py3-none-any.whl</a>")
write("tiny_pip-1.0-py3-none-any.whl", wheel.getvalue())
package = archive({"package/package.json": '{"name":"tiny-npm","version":"1.0.0"}', "package/index.js": "console.log('from npm')\n"})
write("tiny-npm-1.0.0.tgz", package)
dist = {"tarball": "http://registry.test/tiny-npm-1.0.0.tgz", "shasum": hashlib.sha1(package).hexdigest()}
write("tiny-npm", json.dumps({"name": "tiny-npm", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {"name": "tiny-npm", "version": "1.0.0", "dist": dist}}}))
crate = archive({"tiny-dep-1.0.0/Cargo.toml": '[package]\nname = "tiny-dep"\nversion = "1.0.0"\n', "tiny-dep-1.0.0/src/lib.rs": "pub fn said() -> u8 { 7 }\n"})
write("crates/tiny-dep/1.0.0/download", crate)
write("index/config.json", json.dumps({"dl": "http://registry.test/crates/{crate}/{version}/download"}))
write("index/ti/ny/tiny-dep", json.dumps({"name": "tiny-dep", "vers": "1.0.0", "deps": [], "cksum": hashlib.sha256(crate).hexdigest(), "features": {}, "yanked": False}) + "\n")
"##;

fn with_registry() -> Option<(Work, Server)> {
    let work = Work::new();
    if !work.has("python3") {
        return None;
    }
    let folder = work.person.path().join("registry");
    std::fs::create_dir(&folder).unwrap();
    let made =
        work.home.program("python3").args(["-c", MAKE_REGISTRY]).arg(&folder).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let server = work.serve("registry");
    Some((work, server))
}

// spec: SANDBOX-07
#[test]
fn pip_installs_from_a_registry_that_a_rule_allows() {
    let Some((work, _server)) = with_registry() else { return };
    let install = "python3 -m venv .venv && .venv/bin/python -m pip install --retries 0 --target lib --trusted-host registry.test \
         --index-url http://registry.test/simple/ --disable-pip-version-check tiny-pip && \
         PYTHONPATH=lib .venv/bin/python -c 'import tiny_pip; print(tiny_pip.said)'";
    assert!(work.needs_registry(install).contains("from pip"));
}

// spec: SANDBOX-07
#[test]
fn npm_installs_from_a_registry_that_a_rule_allows() {
    let Some((work, _server)) = with_registry() else { return };
    if !work.has("npm") {
        return;
    }
    work.home.write(
        "package.json",
        r#"{"name":"w","version":"1.0.0","scripts":{"test":"node -e 'require(\"tiny-npm\")'"}}"#,
    );
    let install = "npm install --registry http://registry.test/ --fetch-retries 0 --no-audit --no-fund tiny-npm && npm test";
    assert!(work.needs_registry(install).contains("from npm"));
}

// spec: SANDBOX-07
#[test]
fn cargo_builds_from_a_registry_that_a_rule_allows() {
    let Some((work, _server)) = with_registry() else { return };
    std::fs::create_dir_all(work.home.path("src")).unwrap();
    std::fs::create_dir_all(work.home.path(".cargo-home")).unwrap();
    work.home.write(
        "Cargo.toml",
        "[package]\nname = \"w\"\nversion = \"1.0.0\"\nedition = \"2021\"\n[workspace]\n\
         [dependencies]\ntiny-dep = { version = \"1\", registry = \"tiny\" }\n",
    );
    work.home
        .write("src/main.rs", "fn main() { println!(\"from cargo {}\", tiny_dep::said()); }\n");
    let (cargo, rustup) = toolchain();
    let run = format!(
        "RUSTUP_HOME={rustup} PATH={cargo}/bin:$PATH CARGO_HOME=$PWD/.cargo-home CARGO_NET_RETRY=0 \
         CARGO_REGISTRIES_TINY_INDEX=sparse+http://registry.test/index/ cargo run"
    );
    assert!(work.needs_registry(&run).contains("from cargo 7"));
}
