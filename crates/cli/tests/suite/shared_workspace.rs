//! Two workers with different host names on one PostgreSQL, and a workspace that both have.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use windlass_cluster::{DiskMode, PostgresCluster};

use crate::test_home::TestHome;

/// Starts a worker on a machine of this name, in this folder.
#[expect(clippy::disallowed_methods, reason = "the test runs real processes")]
fn worker(home: &TestHome, host: &str, folder: &Path, store: &str) -> Child {
    let script = home.path("a.script");
    let own = home.command(&[]);
    let mut command = Command::new("unshare");
    command
        .args(["--user", "--map-root-user", "--uts", "sh", "-c"])
        .arg("hostname \"$0\" && exec \"$@\"")
        .arg(host)
        .arg(own.get_program())
        .args(["worker", "--store", store, "--script", script.to_str().unwrap()])
        .args(["--workspace", folder.to_str().unwrap()])
        .current_dir(home.path("."))
        .envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .stdin(Stdio::null())
        .stderr(std::fs::File::create(home.path(&format!("said-{host}"))).unwrap());
    command.spawn().unwrap()
}

fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

// spec: SCALE-09
#[test]
fn a_second_machine_with_the_same_workspace_goes_on_and_one_without_it_does_not() {
    let home = TestHome::new("when any\n  delay 3s\n  say \"done\"\n");
    let cluster = PostgresCluster::start(DiskMode::Trusted).unwrap();
    let store = cluster.url("postgres");
    let (shop, other) = (home.path("shop"), home.path("other"));
    for folder in [&shop, &other] {
        std::fs::create_dir(folder).unwrap();
        let ran = home.run_bare(&["trust", folder.to_str().unwrap()]);
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    let run = |args: &[&str]| home.run_bare(&[args, &["--store", &store]].concat());
    let is = |state: &str| run(&["runs", "--json"]).out.contains(&format!("\"state\":\"{state}\""));

    let first = worker(&home, "machine-a", &shop, &store);
    let shop = shop.to_str().unwrap();
    let output = run(&["-p", "go", "--detach", "--conversation", "c1", "--workspace", shop]);
    assert_eq!(output.code, 0, "{}", output.err);
    home.wait_until("the run", || is("running"));
    end(first);

    // A worker without the workspace records what the dead one left, and does not drive it.
    let stranger = worker(&home, "machine-b", &other, &store);
    home.wait_until("the dead worker is noticed", || is("timed_out"));
    #[expect(clippy::disallowed_methods, reason = "the test gives a real process time")]
    std::thread::sleep(Duration::from_secs(4));
    assert!(is("timed_out"), "{}", run(&["runs", "--json"]).out);
    for command in [["explain", "c1"].as_slice(), &["doctor"], &["runs"]] {
        let ran = run(command);
        let told = format!("{}{}", ran.out, ran.err);
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        let wanted = "waiting for a worker with the workspace";
        assert!(told.contains(wanted), "{command:?}: {told}");
    }

    let second = worker(&home, "machine-c", Path::new(shop), &store);
    let elapsed = home.wait_until("the run, on the other machine", || is("completed"));
    assert!(elapsed < Duration::from_secs(15), "{elapsed:?}");
    end(second);
    end(stranger);
}

// spec: SCALE-09
#[test]
fn a_run_of_an_untrusted_folder_names_the_host_it_waits_for() {
    let home = TestHome::new("when any\n  say \"done\"\n");
    let store = home.path("w.db").display().to_string();
    for folder in ["shop", "other"] {
        std::fs::create_dir(home.path(folder)).unwrap();
    }
    let stranger = worker(&home, "machine-b", &home.path("other"), &store);
    let doctor = || home.run(&["doctor"]).out;
    home.wait_until("the worker", || doctor().contains("1 worker is running"));
    let place = ["--detach", "--workspace", "shop", "--conversation", "c1"];
    let queued = home.run_prompt_unattended("go", &place);
    assert_eq!(queued.code, 0, "{}", queued.err);
    let explained = home.run(&["explain", "c1"]);
    let told = explained.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("on the host") && told.contains("`windlass trust`"), "{told}");
    end(stranger);
}
