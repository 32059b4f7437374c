//! Programs that run other programs, and how to find those.

/// A program that stands before the one that is meant and lets it run as it is.
pub(super) struct Wrapper {
    pub(super) name: &'static str,
    /// Options without a value.
    pub(super) flags: &'static [&'static str],
    /// Options with one.
    pub(super) values: &'static [&'static str],
    /// Words of its own before the command.
    pub(super) operands: usize,
}

const fn wrapper(
    name: &'static str,
    flags: &'static [&'static str],
    values: &'static [&'static str],
    operands: usize,
) -> Wrapper {
    Wrapper { name, flags, values, operands }
}

/// Taken off without a doubt as long as their options are understood.
const PLAIN: &[Wrapper] = &[
    wrapper(
        "timeout",
        &["--foreground", "--preserve-status", "-v", "--verbose"],
        &["-k", "--kill-after", "-s", "--signal"],
        1,
    ),
    wrapper("nice", &[], &["-n", "--adjustment"], 0),
    wrapper("nohup", &[], &[], 0),
    wrapper("stdbuf", &[], &["-i", "-o", "-e", "--input", "--output", "--error"], 0),
    wrapper("time", &["-p"], &[], 0),
    wrapper("command", &[], &[], 0),
    wrapper("builtin", &[], &[], 0),
    wrapper("env", &[], &[], 0),
];

/// `xargs`, of which the command gets words that are not known.
pub(super) const XARGS: Wrapper = wrapper(
    "xargs",
    &["-0", "-r", "-t", "--null", "--no-run-if-empty", "--verbose"],
    &["-n", "-P", "-I", "-L", "-d", "--max-args", "--max-procs", "--delimiter"],
    0,
);

/// Programs that run others with other rights, other words, elsewhere, or later.
const OPAQUE: &[&str] = &[
    "sudo",
    "doas",
    "su",
    "runuser",
    "pkexec",
    "xargs",
    "parallel",
    "exec",
    "busybox",
    "toybox",
    "chroot",
    "nsenter",
    "unshare",
    "setpriv",
    "setsid",
    "setarch",
    "linux32",
    "linux64",
    "x86_64",
    "i386",
    "i486",
    "i586",
    "i686",
    "aarch64",
    "arm",
    "armv7l",
    "armv8l",
    "ppc",
    "ppc32",
    "ppc64",
    "ppc64le",
    "s390",
    "s390x",
    "mips",
    "mips32",
    "mips64",
    "sparc",
    "sparc64",
    "riscv64",
    "uname26",
    "prlimit",
    "choom",
    "ssh-agent",
    "gpg-agent",
    "keychain",
    "eatmydata",
    "cgexec",
    "softlimit",
    "setuidgid",
    "envuidgid",
    "chpst",
    "gosu",
    "su-exec",
    "tini",
    "dumb-init",
    "runcon",
    "sg",
    "newgrp",
    "pkttyagent",
    "uclampset",
    "rlwrap",
    "rlfe",
    "socat",
    "ncat",
    "trickle",
    "cpulimit",
    "gtimeout",
    "gnice",
    "genv",
    "gstdbuf",
    "gnohup",
    "timelimit",
    "daemonize",
    "start-stop-daemon",
    "nocache",
    "cset",
    "mosh",
    "lxc",
    "incus",
    "machinectl",
    "systemd-inhibit",
    "systemd-nspawn",
    "systemd-cat",
    "ionice",
    "chrt",
    "taskset",
    "numactl",
    "strace",
    "ltrace",
    "gdb",
    "perf",
    "valgrind",
    "watch",
    "entr",
    "flock",
    "script",
    "expect",
    "unbuffer",
    "screen",
    "tmux",
    "systemd-run",
    "at",
    "batch",
    "ssh",
    "npx",
    "bunx",
    "uvx",
    "pnpx",
    "fakeroot",
    "proxychains",
    "proxychains4",
    "torsocks",
    "torify",
    "xvfb-run",
    "dbus-run-session",
    "catchsegv",
    "coproc",
    "firejail",
    "bwrap",
    "docker",
    "podman",
    "nix-shell",
    "direnv",
    "hyperfine",
    "faketime",
    "ld.so",
];

const SHELLS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "ksh93", "mksh", "ash", "fish", "rbash", "yash", "csh",
    "tcsh", "osh", "ysh", "nu", "elvish", "xonsh", "pwsh",
];

/// The plain wrapper of this name.
pub(super) fn plain(name: &str) -> Option<&'static Wrapper> {
    PLAIN.iter().find(|wrapper| wrapper.name == name)
}

/// Whether it runs what it is told in a way that cannot be followed.
pub(super) fn is_opaque(name: &str) -> bool {
    OPAQUE.contains(&name) || name.starts_with("ld-linux") || name.starts_with("ld-musl")
}

/// Whether it reads commands.
pub(super) fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}
