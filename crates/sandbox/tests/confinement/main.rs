//! What a confined process can and cannot do, with every layer and without namespaces.

#[cfg(test)]
mod links;
#[cfg(test)]
mod network;
#[cfg(test)]
mod sandboxed;

use std::path::Path;

use sandboxed::{WITHOUT_NAMESPACES, World};
use windlass_sandbox::{Layers, Namespaces, NetworkAccess};

fn both() -> [World; 2] {
    [World::new(Layers::ALL), World::new(WITHOUT_NAMESPACES)]
}

#[tokio::test]
async fn the_level_that_was_reached_is_reported() {
    let world = World::new(Layers::ALL);
    let reached = world.launcher().probe().await.unwrap();
    assert_eq!(reached.namespaces, Namespaces::All, "{}", reached.describe());
    assert!(reached.landlock && reached.system_calls);
    assert_eq!(reached.describe(), "namespaces, Landlock, seccomp");
    let without = World::new(WITHOUT_NAMESPACES).launcher().probe().await.unwrap();
    assert_eq!(without.describe(), "Landlock, seccomp; no namespaces: switched off");
}

#[tokio::test]
async fn without_any_layer_nothing_is_started() {
    let world = World::new(Layers { namespaces: false, landlock: false, system_calls: true });
    let error = world.try_run("touch ran").await.unwrap_err();
    assert!(error.to_string().contains("neither namespaces nor Landlock"), "{error}");
    assert!(!world.workspace().join("ran").exists());
}

#[tokio::test]
async fn ordinary_work_in_the_workspace_succeeds() {
    for world in both() {
        world.succeeds("cat src/main.rs && echo changed > src/main.rs && mkdir src/new").await;
        world.succeeds("touch .git/objects/ab && echo x > .git/index 2>/dev/null || true").await;
        assert_eq!(world.succeeds("cat $H/outside").await, "may be read\n");
        let ended = world.run("echo out; exit 7").await;
        assert_eq!((ended.status.code(), ended.output.as_str()), (Some(7), "out\n"));
        world.succeeds("ls /usr/bin >/dev/null && echo x | grep -q x && cat </dev/null").await;
    }
    let world = World::new(Layers::ALL);
    world
        .succeeds("touch new && mv new newer && rm newer && echo t > /tmp/t && ls -a > list")
        .await;
    let text = std::fs::read_to_string(world.workspace().join("list")).unwrap();
    assert!(text.contains("src"));
}

#[tokio::test]
async fn nothing_outside_the_workspace_is_written() {
    for world in both() {
        for script in [
            "echo x > $H/outside",
            "echo x > $H/new",
            "mkdir $H/folder",
            "rm $H/outside",
            "mv $H/outside $H/elsewhere",
            "ln src/main.rs $H/link",
            "ln -s / link && echo x > link/$H/new",
            "echo x > /etc/windlass-test",
            "echo x > /usr/bin/windlass-test",
            "cp src/main.rs /var/lib/windlass-test",
            "echo x > src/../../new",
        ] {
            world.fails(script).await;
        }
        if world.layers.namespaces {
            // Landlock does not know modes and times of files.
            world.fails("chmod 777 $H/outside").await;
            world.fails("touch $H/outside").await;
        }
        let home = world.home();
        assert!(!home.join("new").exists() && !home.join("folder").exists());
        assert_eq!(std::fs::read_to_string(home.join("outside")).unwrap(), "may be read\n");
        assert!(!Path::new("/etc/windlass-test").exists());
    }
}

#[tokio::test]
async fn denied_files_are_not_read_by_any_way() {
    for world in both() {
        for script in [
            "cat $H/keys/id",
            "cat $H/keys/inner/id",
            "cat .env",
            "cat .en*",
            "dd if=.env",
            "cp .env copy; cat copy",
            "mv .env copy; cat copy",
            "ln .env copy; cat copy",
            "ln -s ../keys link; cat link/id",
            "ln -s $H/keys/id link2; cat link2",
            "grep -rs key $H/",
            "grep -rs TOKEN .",
            "cat $H/w/../keys/id",
            "cat /proc/self/root$H/keys/id",
            "cat /proc/self/cwd/.env",
            "tar c .env $H/keys 2>/dev/null | cat",
            "find $H -type f -exec cat {} +",
        ] {
            let output = world.run(script).await.output;
            assert!(!output.contains("key\n"), "{script}: {output}");
            assert!(!output.contains("in-the-workspace"), "{script}: {output}");
        }
        assert!(std::fs::read_to_string(world.workspace().join(".env")).unwrap().contains("TOKEN"));
    }
}

#[tokio::test]
async fn what_decides_what_runs_later_is_not_written() {
    for world in both() {
        for script in [
            "echo x > .git/hooks/pre-commit",
            "echo x > .git/config",
            "rm .git/config",
            "echo ../src > .git/commondir",
            "rm -f .git/commondir; echo ../src > .git/commondir",
            "mv src/main.rs .git/commondir",
            "ln -s ../src .git/commondir",
            "mv .git/config .git/old",
            "mv .git/hooks .git/old",
            "mv .git old && mkdir -p .git/hooks && echo x > .git/hooks/post-checkout",
            "rm -rf .git/hooks && mkdir .git/hooks && echo x > .git/hooks/a",
            "mkdir .claude && echo x > .claude/settings.json",
            "echo x > .claude/settings.json",
            "echo {} > .mcp.json",
            "mv src .mcp.json",
            "ln -sf src/main.rs .mcp.json",
            "cp -r src .claude && test -e .claude/main.rs",
            "mkdir d && echo x > d/tasks.json && mv -T d .vscode",
            "rmdir .claude && mkdir .claude && touch .claude/x",
        ] {
            world.fails(script).await;
        }
        let workspace = world.workspace();
        assert_eq!(std::fs::read_to_string(workspace.join(".git/config")).unwrap(), "[core]\n");
        assert!(std::fs::read_dir(workspace.join(".git/hooks")).unwrap().next().is_none());
        for absent in [".claude", ".mcp.json", ".vscode", ".git/commondir"] {
            assert!(!workspace.join(absent).exists(), "{absent} is left behind");
        }
    }
}

#[tokio::test]
async fn mount_points_are_removed_when_the_last_call_ends() {
    let world = World::new(Layers::ALL);
    let claude = world.workspace().join(".claude");
    let (long, short) = tokio::join!(
        world.run("sleep 1; mkdir -p .claude; echo x > .claude/settings.json"),
        world.run("sleep 0.2; ls -a")
    );
    assert!(short.output.contains(".claude"), "{short:?}");
    assert!(!long.status.success(), "the mount of one call went with another call: {long:?}");
    assert!(!claude.exists());
    std::fs::create_dir(&claude).unwrap();
    world.run("true").await;
    assert!(claude.exists(), "a folder of the user was removed");
}

#[tokio::test]
async fn other_processes_are_out_of_reach() {
    let own = std::process::id();
    for world in both() {
        for script in [
            format!("kill -0 {own}"),
            format!("kill -9 {own}"),
            "kill -0 $PPID && test $PPID -gt 1".to_owned(),
            format!("cat /proc/{own}/environ"),
            format!("head -c 1 /proc/{own}/mem"),
            format!("readlink /proc/{own}/fd/0"),
            format!("cat /proc/{own}/root/etc/passwd"),
        ] {
            world.fails(&script).await;
        }
        // The supervisor and the init process hold no secrets and cannot be ended from inside.
        world.run("kill -9 -1; kill -9 1; kill -9 $PPID").await;
    }
}

#[tokio::test]
async fn the_environment_of_other_processes_is_not_read() {
    for world in both() {
        let output = world.run("cat /proc/[0-9]*/environ | tr '\\0' '\\n'").await.output;
        assert!(!output.contains("CARGO"), "{output}");
    }
}

#[tokio::test]
async fn system_calls_that_reach_around_the_layers_fail() {
    for world in both() {
        for script in [
            "unshare -U true",
            "unshare -r -m true",
            "mount -t tmpfs x src",
            "umount /proc",
            "mount -o remount,rw /",
            "chroot / true",
            "nsenter -t 1 -m true",
        ] {
            world.fails(script).await;
        }
        let python = "
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
for number in [101, 165, 166, 155, 272, 308, 310, 311, 321, 298, 323, 425, 426, 427, 246, 175, 250, 248, 304, 428, 429, 430, 442, 438]:
    result = libc.syscall(number, 0, 0, 0, 0, 0, 0)
    error = ctypes.get_errno()
    if result != -1 or error != 1:
        sys.exit(f'{number}: {result} {error}')
if libc.syscall(435, 0, 0) != -1 or ctypes.get_errno() != 38: sys.exit('clone3')
if libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0) != -1: sys.exit('clone')
if libc.syscall(0x40000000 + 39) != -1: sys.exit('x32')
";
        std::fs::write(world.workspace().join("src/calls.py"), python).unwrap();
        let ended =
            world.run("command -v python3 >/dev/null || exit 0; python3 src/calls.py").await;
        assert!(ended.status.success(), "{ended:?}");
    }
}

#[tokio::test]
async fn there_is_no_network() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let socket_folder = tempfile::tempdir().unwrap();
    let socket = socket_folder.path().join("s");
    let _unix = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let python = format!(
        "
import socket, sys
def reaches(what, act):
    try: act()
    except OSError: return
    sys.exit(what)
def tcp(): socket.create_connection(('127.0.0.1', {port}), 2)
def udp():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'x', ('8.8.8.8', 53))
def raw(): socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)
def packet(): socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
def vsock(): socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)
def unix(): socket.socket(socket.AF_UNIX).connect('{}')
for act in [tcp, udp, raw, packet, vsock, unix]: reaches(act.__name__, act)
a, b = socket.socketpair(); a.send(b'x'); b.recv(1)
",
        socket.display()
    );
    for world in both() {
        std::fs::write(world.workspace().join("src/net.py"), &python).unwrap();
        let ended = world.run("command -v python3 >/dev/null || exit 0; python3 src/net.py").await;
        assert!(ended.status.success(), "{ended:?}");
    }
    let mut world = World::new(Layers::ALL);
    world.policy.network = NetworkAccess::Full;
    let connect = format!("bash -c 'echo > /dev/tcp/127.0.0.1/{port}'");
    world.succeeds(&connect).await;
}

#[tokio::test]
async fn programs_talk_to_themselves_over_loopback() {
    let world = World::new(Layers::ALL);
    let python = "
import socket
s = socket.create_server(('127.0.0.1', 0)); c = socket.create_connection(s.getsockname()); c.send(b'x')
";
    std::fs::write(world.workspace().join("src/own.py"), python).unwrap();
    world.succeeds("command -v python3 >/dev/null || exit 0; python3 src/own.py").await;
}

#[tokio::test]
async fn no_process_outlives_its_call() {
    for world in both() {
        let script = "
(setsid env -i sh -c 'while :; do date > src/alive; sleep 0.05; done' &)
while ! [ -s src/alive ]; do sleep 0.02; done";
        world.succeeds(script).await;
        let alive = world.workspace().join("src/alive");
        std::fs::remove_file(&alive).unwrap();
        tokio_sleep(400).await;
        assert!(!alive.exists(), "a process outlived its call");
    }
}

#[tokio::test]
async fn a_dropped_process_ends_with_all_it_started() {
    for world in both() {
        let script = "(setsid sh -c 'while :; do date > src/alive; sleep 0.05; done' &); sleep 60";
        let running = async { world.run(script).await };
        let alive = world.workspace().join("src/alive");
        tokio::select! {
            _ = running => panic!("it ended"),
            () = async { while !alive.exists() { tokio_sleep(20).await; } } => {}
        }
        tokio_sleep(300).await;
        drop(std::fs::remove_file(&alive));
        tokio_sleep(400).await;
        assert!(!alive.exists(), "a process outlived its caller");
    }
}

#[tokio::test]
async fn descriptors_of_others_are_not_inherited() {
    use std::os::fd::AsRawFd;
    for world in both() {
        // A file that this process has open without the flag that closes it on exec.
        let secret = std::fs::File::open(world.home().join("keys/id")).unwrap();
        rustix::io::fcntl_setfd(&secret, rustix::io::FdFlags::empty()).unwrap();
        let number = secret.as_raw_fd();
        let read = world.run(&format!("cat /proc/self/fd/{number}; cat /dev/fd/{number}")).await;
        assert!(!read.output.contains("the-private-key"), "{read:?}");
    }
}

#[tokio::test]
async fn sockets_of_other_processes_are_not_reached() {
    for world in both() {
        for name in ["daemon.sock", "w/daemon.sock", "outside.sock"] {
            let path = world.home().join(name);
            let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
            let connect = format!(
                "command -v python3 >/dev/null || exit 1\n\
                 python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"{}\")'",
                path.display()
            );
            world.fails(&connect).await;
            drop(listener);
        }
    }
    // A socket of its own is reached, where there are sockets.
    let world = World::new(Layers::ALL);
    world
        .succeeds(
            "command -v python3 >/dev/null || exit 0\n\
             python3 -c 'import socket; s=socket.socket(socket.AF_UNIX); s.bind(\"/tmp/s\"); s.listen(); \
             socket.socket(socket.AF_UNIX).connect(\"/tmp/s\")'",
        )
        .await;
}

#[tokio::test]
async fn no_program_with_the_rights_of_its_owner_is_left() {
    for world in both() {
        for script in [
            "cp /bin/true src/x; chmod u+s src/x",
            "cp /bin/true src/x; chmod 4755 src/x",
            "cp /bin/true src/x; chmod g+s src/x",
            "install -m 4755 /bin/true src/x",
            "python3 -c 'import os; os.close(os.open(\"src/y\", os.O_CREAT | os.O_WRONLY, 0o4755))'",
            "python3 -c 'import os; fd = os.open(\"src\", 0); os.chmod(\"main.rs\", 0o6755, dir_fd=fd)'",
        ] {
            world.run(script).await;
            let found = world.run("find . -perm /6000 | grep .").await;
            assert!(!found.status.success(), "{script}: {}", found.output);
        }
        world.succeeds("chmod 755 src/main.rs && touch src/new && chmod +x src/new").await;
    }
}

/// The controls: what a layer holds alone gets through when it is switched off.
#[tokio::test]
async fn each_layer_switched_off_lets_something_through() {
    let without_filter = World::new(Layers { system_calls: false, ..Layers::ALL });
    without_filter.succeeds("unshare -U true").await;
    let without_landlock = World::new(Layers { landlock: false, ..Layers::ALL });
    without_landlock.succeeds("echo x > /run/x").await;
    // Landlock alone hides `/proc` of nobody, and lets no new entry be made beside a protected one.
    let without_namespaces = World::new(WITHOUT_NAMESPACES);
    without_namespaces.succeeds("ls /proc | grep -q '^2$' || test -d /proc/$PPID").await;
    without_namespaces.fails("touch new").await;
}

#[tokio::test]
async fn a_fork_bomb_is_limited() {
    let mut world = World::new(Layers::ALL);
    world.policy.limits.processes = 400;
    let ended = world
        .run("i=0; while [ $i -lt 600 ]; do sleep 5 & i=$((i+1)); done; jobs -p | wc -l")
        .await;
    assert!(ended.output.contains("ork"), "{ended:?}");
}

#[tokio::test]
async fn devices_and_terminals_are_private() {
    let world = World::new(Layers::ALL);
    world.succeeds("echo x > /dev/null && head -c 1 /dev/urandom > /dev/null").await;
    world.fails("echo x > /dev/tty").await;
    world.fails("cat /dev/vda /dev/sda /dev/mem /dev/kmsg").await;
    world.fails("mknod src/device b 254 0 && head -c 1 src/device").await;
    world.fails("echo x > /proc/sys/kernel/core_pattern").await;
    world.fails("echo x > /proc/sys/kernel/hostname").await;
    world.fails("echo c > /proc/sysrq-trigger").await;
    world.fails("echo 1 > /sys/kernel/mm/ksm/run").await;
}

/// All of this holds for root, and for a user who is not.
#[test]
#[expect(clippy::disallowed_methods, reason = "the tests run again as another user")]
fn all_of_it_holds_for_an_unprivileged_user() {
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65_534;
    if !rustix::process::geteuid().is_root() || std::env::var_os(sandboxed::BASE).is_some() {
        return;
    }
    let base = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    std::os::unix::fs::chown(base.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    let tests = std::env::current_exe().unwrap();
    let mut command = std::process::Command::new(tests);
    command.uid(NOBODY).gid(NOBODY).env(sandboxed::BASE, base.path());
    command.env("HOME", base.path()).current_dir(base.path());
    let ended = command.output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
}

#[expect(clippy::disallowed_methods, reason = "processes outside the test need real time")]
async fn tokio_sleep(ms: u64) {
    tokio::time::sleep(std::time::Duration::from_millis(ms)).await;
}
