//! Commands that only look, as long as they use no flag that is not on this page. A flag that is
//! missing here costs a question; one too many could cost a machine.

use super::subject::SimpleCommand;

/// A command and the flags with which it stays read-only.
struct Harmless {
    command: &'static str,
    flags: &'static [&'static str],
    operands: Operands,
}

/// What the words that are not flags may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operands {
    /// Anything; all are looked at.
    Any,
    /// At most one: a second would be written to.
    One,
    /// None: one would be made, or set.
    None,
    /// A format that begins with `+`.
    Format,
}

const fn any(command: &'static str, flags: &'static [&'static str]) -> Harmless {
    Harmless { command, flags, operands: Operands::Any }
}

const fn only(
    command: &'static str,
    flags: &'static [&'static str],
    operands: Operands,
) -> Harmless {
    Harmless { command, flags, operands }
}

const LOG: &[&str] = &[
    "-n",
    "-p",
    "-s",
    "-i",
    "-w",
    "-b",
    "--oneline",
    "--stat",
    "--shortstat",
    "--numstat",
    "--graph",
    "--all",
    "--decorate",
    "--name-only",
    "--name-status",
    "--since",
    "--until",
    "--after",
    "--before",
    "--author",
    "--grep",
    "--format",
    "--pretty",
    "--abbrev-commit",
    "--no-merges",
    "--merges",
    "--reverse",
    "--follow",
    "--max-count",
    "--date",
    "--patch",
    "--no-patch",
];

const DIFF: &[&str] = &[
    "-w",
    "-b",
    "--stat",
    "--shortstat",
    "--numstat",
    "--cached",
    "--staged",
    "--name-only",
    "--name-status",
    "--no-ext-diff",
    "--no-color",
    "--check",
    "--quiet",
    "--summary",
];

const HARMLESS: &[Harmless] = &[
    any("true", &[]),
    any("false", &[]),
    any("pwd", &["-L", "-P"]),
    any("whoami", &[]),
    only("date", &["-u", "-I", "-R"], Operands::Format),
    only("uname", &["-a", "-s", "-r", "-m", "-n"], Operands::None),
    any("echo", &["-n", "-e", "-E"]),
    any("cat", &["-n", "-A", "-b", "-s", "-e", "-t", "-v", "-E", "-T"]),
    any("head", &["-n", "-c", "-q", "-v"]),
    any("tail", &["-n", "-c", "-q", "-v"]),
    any("wc", &["-l", "-w", "-c", "-m", "-L"]),
    any("ls", &["-l", "-a", "-A", "-h", "-R", "-t", "-r", "-S", "-1", "-d", "-F", "-i", "-s"]),
    any("stat", &["-c", "-L", "-t"]),
    any("file", &["-b", "-i", "-L"]),
    any("du", &["-s", "-h", "-a", "-c", "-d"]),
    any("df", &["-h", "-i", "-T"]),
    any("basename", &[]),
    any("dirname", &[]),
    any("realpath", &[]),
    any("which", &["-a"]),
    only("uniq", &["-c", "-d", "-u", "-i"], Operands::One),
    any("cut", &["-d", "-f", "-c"]),
    any("tr", &["-d", "-s", "-c"]),
    any("sort", &["-n", "-r", "-u", "-h", "-V", "-f", "-b", "-k", "-t", "-s"]),
    any("diff", &["-u", "-r", "-q", "-w", "-b", "-N"]),
    any("cmp", &["-s", "-l"]),
    any(
        "find",
        &[
            "-name",
            "-iname",
            "-path",
            "-type",
            "-maxdepth",
            "-mindepth",
            "-size",
            "-mtime",
            "-newer",
            "-print",
            "-empty",
            "-not",
        ],
    ),
    any(
        "grep",
        &[
            "-n",
            "-i",
            "-r",
            "-R",
            "-l",
            "-L",
            "-c",
            "-v",
            "-w",
            "-x",
            "-E",
            "-F",
            "-o",
            "-q",
            "-s",
            "-A",
            "-B",
            "-C",
            "-H",
            "-h",
            "-e",
            "-m",
            "--include",
            "--exclude",
            "--exclude-dir",
        ],
    ),
    any(
        "rg",
        &[
            "-n",
            "-i",
            "-l",
            "-c",
            "-v",
            "-w",
            "-x",
            "-F",
            "-o",
            "-q",
            "-s",
            "-S",
            "-A",
            "-B",
            "-C",
            "-g",
            "-t",
            "-e",
            "-m",
            "--files",
            "--glob",
            "--type",
            "--count",
            "--no-heading",
        ],
    ),
    any("git status", &["-s", "-b", "--short", "--porcelain", "--branch"]),
    any("git rev-parse", &["--show-toplevel", "--abbrev-ref", "--short", "--verify"]),
    any("git log", LOG),
    any("git show", LOG),
    any("git diff", DIFF),
    any("git blame", &["-L", "-w"]),
    only("git branch", &["-a", "-r", "-v", "--show-current"], Operands::None),
    any("git ls-files", &["-m", "-o", "-s", "--exclude-standard"]),
];

/// What is left of commands that run another one, once that was taken out and listed by itself.
const WRAPPERS: &[&[&str]] = &[
    &["timeout"],
    &["nice"],
    &["nohup"],
    &["stdbuf"],
    &["time"],
    &["command"],
    &["builtin"],
    &["env"],
    &["sh", "-c"],
    &["bash", "-c"],
    &["dash", "-c"],
];

/// Whether nothing but the name of a wrapper is left, which does nothing by itself.
#[must_use]
pub fn only_wraps(command: &SimpleCommand) -> bool {
    let is = |wrapper: &[&str]| command.words.iter().map(AsRef::as_ref).eq(wrapper.iter().copied());
    WRAPPERS.iter().any(|wrapper| is(wrapper))
}

/// Whether the command cannot change anything.
#[must_use]
pub fn is_read_only(command: &SimpleCommand) -> bool {
    HARMLESS.iter().any(|harmless| harmless.covers(command))
}

impl Harmless {
    fn covers(&self, command: &SimpleCommand) -> bool {
        let mut words = command.words.iter().map(AsRef::as_ref);
        let named = self.command.split(' ').all(|part| words.next() == Some(part));
        let (flags, operands): (Vec<&str>, Vec<&str>) = words.partition(|word| is_flag(word));
        named && flags.iter().all(|flag| self.takes(flag)) && self.operands.take(&operands)
    }

    fn takes(&self, word: &str) -> bool {
        let flag = word.split_once('=').map_or(word, |(flag, _)| flag);
        self.flags.contains(&flag) || self.takes_bundle(flag) || self.takes_number(word)
    }

    /// `-la` is `-l -a`; long flags are never bundles.
    fn takes_bundle(&self, word: &str) -> bool {
        let Some(letters) = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else {
            return false;
        };
        let known = |letter: char| self.flags.iter().any(|flag| *flag == format!("-{letter}"));
        !letters.is_empty() && letters.chars().all(known)
    }

    /// `-20` and `-n20` are a count where the command counts.
    fn takes_number(&self, word: &str) -> bool {
        let counts = self.flags.contains(&"-n");
        let number = word.strip_prefix("-n").or_else(|| word.strip_prefix('-')).unwrap_or_default();
        counts && !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
    }
}

impl Operands {
    fn take(self, operands: &[&str]) -> bool {
        match self {
            Self::Any => true,
            Self::One => operands.len() <= 1,
            Self::None => operands.is_empty(),
            Self::Format => operands.iter().all(|operand| operand.starts_with('+')),
        }
    }
}

fn is_flag(word: &str) -> bool {
    word.starts_with('-') && word != "-"
}
