//! Programs that run other programs, and how to find those.

/// A wrapper program, which runs the command after it unchanged.
pub(crate) struct WrapperProgram {
    pub(crate) name: &'static str,
    /// Options without a value.
    pub(crate) flags: &'static [&'static str],
    /// Options with a value.
    pub(crate) values: &'static [&'static str],
    /// The number of its own operands before the command.
    pub(crate) operands: usize,
}

const fn wrapper_program(
    name: &'static str,
    flags: &'static [&'static str],
    values: &'static [&'static str],
    operands: usize,
) -> WrapperProgram {
    WrapperProgram { name, flags, values, operands }
}

/// Wrappers that are unwrapped without a note if their options are known.
const PLAIN_WRAPPERS: &[WrapperProgram] = &[
    wrapper_program(
        "timeout",
        &["--foreground", "--preserve-status", "-v", "--verbose"],
        &["-k", "--kill-after", "-s", "--signal"],
        1,
    ),
    wrapper_program("nice", &[], &["-n", "--adjustment"], 0),
    wrapper_program("nohup", &[], &[], 0),
    wrapper_program("stdbuf", &[], &["-i", "-o", "-e", "--input", "--output", "--error"], 0),
    wrapper_program("time", &["-p"], &[], 0),
    wrapper_program("command", &[], &[], 0),
    wrapper_program("builtin", &[], &[], 0),
    wrapper_program("env", &[], &[], 0),
];

/// `xargs`, whose command gets unknown words.
pub(crate) const XARGS: WrapperProgram = wrapper_program(
    "xargs",
    &["-0", "-r", "-t", "--null", "--no-run-if-empty", "--verbose"],
    &["-n", "-P", "-I", "-L", "-d", "--max-args", "--max-procs", "--delimiter"],
    0,
);

/// Programs that run others with other rights, other words, elsewhere, or later.
const OPAQUE_PROGRAMS: &[&str] = &[
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

const SHELL_PROGRAMS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "ksh93", "mksh", "ash", "fish", "rbash", "yash", "csh",
    "tcsh", "osh", "ysh", "nu", "elvish", "xonsh", "pwsh",
];

/// Returns the plain wrapper of this name.
pub(crate) fn find_plain_wrapper(name: &str) -> Option<&'static WrapperProgram> {
    PLAIN_WRAPPERS.iter().find(|wrapper| wrapper.name == name)
}

/// Returns whether a program runs commands in a way that cannot be analysed.
pub(crate) fn is_opaque_program(name: &str) -> bool {
    OPAQUE_PROGRAMS.contains(&name) || name.starts_with("ld-linux") || name.starts_with("ld-musl")
}

/// Returns whether a program is a shell, which reads commands.
pub(crate) fn is_shell_program(name: &str) -> bool {
    SHELL_PROGRAMS.contains(&name)
}
