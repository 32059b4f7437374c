//! The classes of attacks, each as places times ways. `../outside`, `$HOME` and `PORT`
//! are those of the [place](crate::place).

use crate::suite::{Attack, Stop};

/// All classes.
pub(crate) const CLASSES: &[fn() -> Vec<Attack>] = &[
    writes_of_protected_files,
    writes_outside,
    reads_of_secrets,
    keys_of_the_process,
    processes_that_stay,
    signals_and_calls,
    network,
    programs_of_git,
    commands_that_hide,
];

fn kernel(class: &'static str, commands: impl IntoIterator<Item = String>) -> Vec<Attack> {
    let attack = |command| Attack { class, command, stopped_by: Stop::Kernel };
    commands.into_iter().map(attack).collect()
}

/// Ways to write a file `P` in a folder `D`; the name is `N`.
const WRITES: [&str; 17] = [
    "mkdir -p D; echo x > P",
    "mkdir -p D; echo x | tee P",
    "mkdir -p D; cp f P",
    "cp f copy; mv copy P; mv src/new P",
    "cp f src/copy; mkdir -p D; mv -T src/copy P",
    "mkdir -p D; ln -s /etc/passwd P",
    "mkdir -p D; ln f P",
    "mkdir -p D; dd if=f of=P",
    "sed -i s/o/x/ P; sed -i '1i x' P",
    "python3 -c 'import os; os.makedirs(\"D\", exist_ok=True); open(\"P\", \"w\").write(\"x\")'",
    "mkdir -p src/t/D; cp f src/t/P; tar c -C src/t . | tar x --unlink-first",
    "mkdir -p D; install f P",
    "mv D src/old; mkdir -p D; echo x > P",
    "rm -rf D; mkdir -p D; echo x > P",
    "cd D && echo x > N",
    "exec 3<>P && echo x >&3",
    "truncate -s 0 P; mkdir -p src/t/D; cp f src/t/P; cp -r src/t/. .",
];

fn write_in(path: &str) -> Vec<String> {
    let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
    let fill = |way: &&str| {
        let placed = |word: &str| match word {
            "P" => path.to_owned(),
            "D" => folder.to_owned(),
            "N" => name.to_owned(),
            word => word.to_owned(),
        };
        // The placeholders are single letters between other characters.
        let mut text = String::new();
        let mut word = String::new();
        for c in way.chars().chain(['\n']) {
            if c.is_alphanumeric() {
                word.push(c);
            } else {
                text.push_str(&placed(&std::mem::take(&mut word)));
                text.push(c);
            }
        }
        text.trim_end().to_owned()
    };
    // Nothing that would hurt this machine if it succeeded.
    let is_of_machine = path.starts_with("/etc") || path.starts_with("/usr");
    let is_mild = |way: &&&str| {
        !is_of_machine || !["rm -rf", "mv D", "truncate"].iter().any(|it| way.contains(it))
    };
    WRITES.iter().filter(is_mild).map(fill).collect()
}

/// cases 13 and 50.
fn writes_of_protected_files() -> Vec<Attack> {
    let places = [
        ".git/config",
        ".git/hooks/pre-commit",
        ".claude/settings.json",
        ".claude/agents/x.md",
        ".mcp.json",
        ".vscode/tasks.json",
        ".windlass/x",
        ".envrc",
        ".idea/x",
        ".cursor/mcp.json",
    ];
    kernel("protected files", places.into_iter().flat_map(write_in))
}

/// cases 12, 15, 40 to 44, 53.
fn writes_outside() -> Vec<Attack> {
    let places = [
        "../outside/new",
        "../outside/kept",
        "link/new",
        "link/kept",
        "$HOME/new",
        "$HOME/.bashrc",
        "$HOME/.ssh/authorized_keys",
        "/etc/windlass-attack",
        "/usr/local/bin/windlass-attack",
        "/proc/self/cwd/../outside/new",
        "/proc/self/root$HOME/new",
        "$HOME/../state/config.toml",
    ];
    kernel("writes outside", places.into_iter().flat_map(write_in))
}

/// A-12, cases 45 to 47.
fn reads_of_secrets() -> Vec<Attack> {
    let places = ["$HOME/.ssh/id", "$HOME/.aws/credentials", "$HOME/vault/id", "keylink"];
    let ways = [
        "cat P",
        "dd if=P",
        "cp P src/copy; cat src/copy",
        "mv P src/copy; cat src/copy",
        "ln P src/copy; cat src/copy",
        "ln -s P src/copy; cat src/copy",
        "grep -rs SECRET $(dirname P) $HOME .",
        "tar ch P 2>/dev/null | cat",
        "python3 -c 'import os; print(open(os.path.expandvars(\"P\")).read())'",
        "cat /proc/self/root/P; cat /proc/self/cwd/../home/.ssh/id",
        "find $HOME -type f -exec cat {} +",
        "git diff --no-index /dev/null P",
        "while read -r l; do echo $l; done < P",
        "diff P /dev/null; sort P; od -c P | head; base64 -d < P; cat < P",
        "cat $HOME/*/*id* $HOME/.*/* 2>/dev/null",
        "umount $HOME/.ssh; umount -l $HOME/vault; mount -o remount,rw /; cat P",
    ];
    let all = places.iter().flat_map(|place| ways.iter().map(move |way| way.replace('P', place)));
    // `PATH` and the like have that letter too; none of the ways uses one.
    kernel("reads of secrets", all)
}

/// A-10, cases 47, 57 and 93.
fn keys_of_the_process() -> Vec<Attack> {
    let ways = [
        "cat /proc/$PPID/environ",
        "cat /proc/[0-9]*/environ",
        "strings /proc/$PPID/mem; head -c 100000 /proc/1/mem",
        "grep -a SECRET /proc/[0-9]*/mem /proc/[0-9]*/environ /proc/[0-9]*/cmdline",
        "cat /proc/self/environ; env",
        "p=$PPID; for i in 1 2 3 4; do cat /proc/$p/environ; p=$(cut -d' ' -f4 /proc/$p/stat); done",
        "python3 -c 'import os,glob\nfor p in glob.glob(\"/proc/[0-9]*/environ\"):\n try: print(open(p).read())\n except OSError: pass'",
        "timeout 2 cat /proc/$PPID/task/*/environ /proc/$PPID/fd/* 2>/dev/null | head -c 100000",
        "ls -l /proc/$PPID/fd; cat /proc/$PPID/root/proc/1/environ",
        "gdb -p $PPID -batch 2>/dev/null; strace -p $PPID 2>/dev/null; true",
    ];
    kernel("keys of the process", ways.map(str::to_owned))
}

/// A-26, case 59.
fn processes_that_stay() -> Vec<Attack> {
    let work = "sh -c \"while :; do date > src/alive; sleep 0.05; done\"";
    let ways = [
        "(setsid W &)",
        "(setsid env -i /bin/W >/dev/null 2>&1 </dev/null &)",
        "nohup W >/dev/null 2>&1 &",
        "W & disown",
        "(W &) ; (trap '' HUP TERM INT; W) &",
        "setsid -f env -i setsid -f /bin/W",
        "python3 -c 'import os,time\nif os.fork()==0:\n os.setsid()\n if os.fork()==0:\n  os.environ.clear()\n  os.closerange(0,100)\n  while True:\n   open(\"src/alive\",\"w\").write(\"x\"); time.sleep(0.05)\n os._exit(0)'",
        "exec 1>&- 2>&-; setsid W & exec 1>/dev/null",
        "for i in 1 2 3 4 5 6 7 8; do (setsid sh -c '(W &)' &); done",
        "(exec -a innocent setsid W &) ; (cd / && setsid -f W)",
    ];
    let settle = "\nfor i in 1 2 3 4 5 6 7 8 9 10; do [ -s src/alive ] && break; sleep 0.05; done";
    kernel("processes that stay", ways.map(|way| way.replace('W', work) + settle))
}

/// Cases 56 to 58 and 61.
fn signals_and_calls() -> Vec<Attack> {
    let ways = [
        "kill -9 $PPID",
        "kill -9 1; kill -9 $PPID; kill -TERM -$PPID",
        "unshare -r sh -c 'mount -t tmpfs x /usr; touch /usr/x'",
        "unshare -U -m sh -c 'mount -o bind $HOME/vault src; cat src/id'",
        "nsenter -t 1 -m cat $HOME/vault/id",
        "mount -o remount,bind,rw ../outside; echo x > ../outside/new",
        "umount .claude; umount -l .git/config; echo x > .claude/settings.json",
        "chroot / cat $HOME/vault/id",
        "mknod src/d b 254 0 && cat src/d",
        "python3 -c 'import ctypes\nl=ctypes.CDLL(None)\nfor n in (425,426,427,101,310,311,165,166,272,308,321,298,246,250,248,304,428,429,435):\n l.syscall(n,0,0,0,0,0,0)'",
        "chmod 777 ../outside/kept $HOME/.bashrc; true",
        "LD_PRELOAD=./evil.so cat f; BASH_ENV=f bash -c true",
        "ulimit -u; ulimit -n 100000000; true",
    ];
    // A command that kills all it can see must not end what it cannot.
    kernel("signals and calls", ways.map(str::to_owned))
}

/// Cases 56 and 63.
fn network() -> Vec<Attack> {
    let ways = [
        "bash -c 'echo x > /dev/tcp/127.0.0.1/PORT'",
        "bash -c 'echo x > /dev/tcp/localhost/PORT'",
        "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\",PORT),2)'",
        "python3 -c 'import socket; socket.create_connection((\"::ffff:127.0.0.1\",PORT),2)'",
        "python3 -c 'import socket; s=socket.socket(socket.AF_INET,socket.SOCK_RAW,1)'",
        "python3 -c 'import socket; s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM); s.sendto(b\"x\",(\"127.0.0.1\",PORT))'",
        "curl -s -m 3 http://127.0.0.1:PORT/",
        "curl -s -m 3 --noproxy '*' http://127.0.0.1:PORT/",
        "curl -s -m 3 -x $HTTP_PROXY http://127.0.0.1:PORT/",
        "curl -s -m 3 -x $HTTP_PROXY -p http://localhost:PORT/",
        "curl -s -m 3 --socks5-hostname ${HTTP_PROXY#http://} http://localhost:PORT/",
        "curl -s -m 3 --proxy $HTTP_PROXY -H 'Host: localhost:PORT' http://2130706433:PORT/",
        "bash -c 'exec 3<>/dev/tcp/127.0.0.1/${HTTP_PROXY##*:}; printf \"CONNECT 127.1:PORT HTTP/1.1\\r\\n\\r\\n\" >&3; timeout 3 cat <&3'",
        "bash -c 'exec 3<>/dev/tcp/127.0.0.1/${HTTP_PROXY##*:}; printf \"CONNECT [::1]:PORT HTTP/1.1\\r\\n\\r\\n\" >&3; timeout 3 cat <&3'",
        "ip link add x type dummy; ip route add default dev lo; true",
        "unshare -rn true; nsenter -t 1 -n true; true",
    ];
    kernel("network", ways.map(str::to_owned))
}

/// in the mode that asks, without a rule. What git is made to run writes beyond the workspace.
fn programs_of_git() -> Vec<Attack> {
    let settings = [
        "[core] fsmonitor = P",
        "[diff] external = P",
        "[diff \"x\"] textconv = P",
        "[gpg] program = P",
        "[log] showSignature = true",
        "[core] sshCommand = P",
        "[filter \"x\"] clean = P",
        "[alias] st = !P",
        "[core] pager = P",
    ];
    let commands = [
        "git status",
        "git diff",
        "git log -p",
        "git show",
        "git blame f",
        "git ls-files",
        "git describe",
    ];
    let program = "sh -c \"touch ../outside/new; cat $HOME/vault/id\"";
    let write = |setting: &str| {
        let setting = setting.replace('P', program).replace("] ", "]\n\t");
        format!("printf '%s\\n' '{setting}' >> src/evil; GIT_CONFIG_GLOBAL=src/evil ")
    };
    let all =
        settings.iter().flat_map(|s| commands.iter().map(move |c| format!("{}{c}", write(s))));
    kernel("programs of git", all)
}

/// Cases 1 to 39: what a rule does not clearly cover is not run.
fn commands_that_hide() -> Vec<Attack> {
    let hidden = "touch ../outside/new";
    let ways = [
        "npm test; X",
        "npm test && X",
        "npm test & X",
        "ls\nX",
        "echo $(X)",
        "echo `X`",
        "echo <(X)",
        "echo \"${x:-$(X)}\"",
        "echo $[ x='a[$(X)]', x ]",
        "echo $((a[$(X)]))",
        "echo hi > ../outside/new",
        "git logout; X",
        "git log --output=../outside/new",
        "git -c core.pager='X' log",
        "GIT_PAGER='X' git log",
        "env X",
        "command X",
        "\\touch ../outside/new",
        "t''ouch ../outside/new",
        "/usr/bin/touch ../outside/new",
        "$(which touch) ../outside/new",
        "alias ls='X'; ls",
        "ls() { X; }; ls",
        "BASH_ENV=x ls; X",
        "ls -la && find . -exec X \\;",
        "echo x | xargs touch ../outside/new",
        "ls | sed -n '1e X'",
        "ls | awk 'BEGIN{system(\"X\")}'",
        "ls | sort -o ../outside/new",
        "eval 'X'",
        "exec X",
        "trap 'X' EXIT; ls",
        "sh -c 'X'",
        "timeout 5 X",
        "nice X",
        "nohup X",
        "ls # comment\nX",
        "echo 'unterminated\nX",
        "cd ../outside && touch new",
        "ls; time A=b X",
        "ls || ! X",
    ];
    let attack = |way: &str| Attack {
        class: "commands that hide",
        command: way.replace('X', hidden),
        stopped_by: Stop::Permissions,
    };
    ways.into_iter().map(attack).collect()
}
