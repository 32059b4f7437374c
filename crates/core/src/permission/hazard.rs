//! Words that turn a command people allow for looking into one that writes files or runs other
//! programs. A rule covers them only if it spells them out.
//!
//! Not here: programs that exist to run others; those are taken apart at the edge.

use std::sync::Arc;

use super::glob;
use super::script;
use super::subject::SimpleCommand;

/// A command and the words to hold back.
struct Hazard {
    /// The command's name, and after it perhaps the name of its own command.
    command: &'static str,
    /// Long options are also known by their beginnings, short ones within a bundle.
    options: &'static [&'static str],
}

const fn hazard(command: &'static str, options: &'static [&'static str]) -> Hazard {
    Hazard { command, options }
}

const GIT: &[&str] = &[
    "--output",
    "--ext-diff",
    "--textconv",
    "--open-files-in-pager",
    "--exec",
    "--upload-pack",
    "--receive-pack",
    "--exec-path",
    "--git-dir",
    "--work-tree",
    "--config",
    "--config-env",
    "--template",
    "--separate-git-dir",
];

const HAZARDS: &[Hazard] = &[
    hazard("git", GIT),
    hazard("git grep", &["-O"]),
    hazard("git rebase", &["-x", "-i", "--interactive"]),
    hazard("git clone", &["-u", "-c"]),
    hazard("git difftool", &["-x", "--extcmd", "-t", "--tool"]),
    hazard("git mergetool", &["-t", "--tool"]),
    hazard("git archive", &["-o"]),
    hazard("git format-patch", &["-o", "--output-directory"]),
    hazard("git bundle", &["create"]),
    hazard("git bisect", &["run"]),
    hazard("git submodule", &["foreach", "update", "add"]),
    hazard("git filter-branch", &["-"]),
    hazard("git hook", &["run"]),
    hazard("git help", &["-w", "--web", "-m", "--man", "-i", "--info"]),
    hazard("git worktree", &["add", "move"]),
    hazard("git send-email", &["--smtp-server", "--sendmail-cmd", "--to-cmd", "--cc-cmd"]),
    hazard("git diff", &["--no-index"]),
    hazard("git commit", &["-t"]),
    hazard(
        "find",
        &[
            "-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf",
            "-fls",
        ],
    ),
    hazard("sort", &["-o", "--output", "--compress-program"]),
    hazard("rg", &["--pre", "--hostname-bin"]),
    hazard("fd", &["-x", "-X", "--exec", "--exec-batch"]),
    hazard(
        "tar",
        &[
            "-I",
            "-F",
            "--checkpoint-action",
            "--to-command",
            "--use-compress-program",
            "--info-script",
            "--new-volume-script",
            "--rsh-command",
            "--rmt-command",
        ],
    ),
    hazard("sed", &["-i", "--in-place", "-f", "--file", "-s"]),
    hazard("awk", &["-f", "--file", "-i", "--include", "-E", "--exec", "-l", "--load", "-e"]),
    hazard("gawk", &["-f", "--file", "-i", "--include", "-E", "--exec", "-l", "--load", "-e"]),
    hazard("mawk", &["-f", "-W"]),
    hazard("nawk", &["-f"]),
    hazard("man", &["-P", "-H", "--pager", "--html"]),
    hazard("ssh", &["-o", "-F", "-E", "-S", "-I"]),
    hazard("scp", &["-S", "-o", "-F", "-D"]),
    hazard("sftp", &["-S", "-o", "-F", "-D", "-b"]),
    hazard("rsync", &["-e", "--rsh", "--rsync-path", "-M", "--remote-option", "--daemon"]),
    hazard("zip", &["-T", "--test", "--unzip-command"]),
    hazard("less", &["-o", "-O", "--log-file", "--LOG-FILE"]),
    hazard("tree", &["-o"]),
    hazard("date", &["-s", "--set"]),
    hazard(
        "curl",
        &[
            "-o",
            "-O",
            "-K",
            "-J",
            "-D",
            "-c",
            "-T",
            "--output",
            "--output-dir",
            "--remote-name",
            "--remote-name-all",
            "--config",
            "--dump-header",
            "--cookie-jar",
            "--upload-file",
            "--trace",
            "--trace-ascii",
            "--libcurl",
            "--stderr",
            "--etag-save",
            "--hsts",
            "--alt-svc",
        ],
    ),
    hazard("wget", &["-e", "--execute", "--use-askpass", "--post-file", "--body-file"]),
    hazard("tcpdump", &["-z", "-w"]),
];

/// Whether the command uses no such word, or the rule says every one it uses itself.
pub(super) fn is_spelled(rule: &[Arc<str>], command: &SimpleCommand) -> bool {
    let said = |word: &str| {
        rule.iter().any(|said| option(said) == option(word) || glob::escape(word) == **said)
    };
    let hazards: Vec<&Hazard> = HAZARDS.iter().filter(|hazard| hazard.is_of(command)).collect();
    let is_hazard = |at: usize, word: &str| {
        hazards.iter().any(|hazard| hazard.is_in(word)) || is_program_text(command, at, word)
    };
    let mut words = command.words.iter().map(AsRef::as_ref).enumerate().skip(1);
    words.all(|(at, word)| !is_hazard(at, word) || said(word))
}

impl Hazard {
    fn is_of(&self, command: &SimpleCommand) -> bool {
        let mut words = command.words.iter().map(AsRef::as_ref);
        self.command.split(' ').all(|part| words.next() == Some(part))
    }

    fn is_in(&self, word: &str) -> bool {
        word.len() > 1 && self.options.iter().any(|known| is_option(known, option(word)))
    }
}

/// Words that are programs themselves, and are not plainly harmless ones.
fn is_program_text(command: &SimpleCommand, at: usize, word: &str) -> bool {
    match command.name() {
        "sed" => {
            !word.starts_with('-') && !script::is_plain_sed(word) && is_sed_script(command, at)
        }
        "awk" | "gawk" | "mawk" | "nawk" => !script::is_plain_awk(word),
        // The first word of tar is a bundle of options, with a hyphen or without.
        "tar" => at == 1 && !word.starts_with('-') && word.contains(['I', 'F']),
        _ => false,
    }
}

/// The script is the first word that is no option, or the one behind `-e`.
fn is_sed_script(command: &SimpleCommand, at: usize) -> bool {
    let before: Vec<&str> = command.words.iter().take(at).skip(1).map(AsRef::as_ref).collect();
    let takes_script = |word: &&str| matches!(*word, "-e" | "--expression");
    before.last().is_some_and(takes_script) || before.iter().all(|word| word.starts_with('-'))
}

/// The option's name without its value.
fn option(word: &str) -> &str {
    word.split_once('=').map_or(word, |(name, _)| name)
}

fn is_option(known: &str, word: &str) -> bool {
    match (known.strip_prefix("--"), known.strip_prefix('-')) {
        // `--outp` is `--output` for most programs.
        (Some(_), _) => word.len() > 2 && known.starts_with(word),
        (None, Some(letter)) if letter.len() == 1 => is_bundled(letter, word),
        _ => known == word,
    }
}

/// `-nro` holds `-o`, and so may `-ofile`.
fn is_bundled(letter: &str, word: &str) -> bool {
    let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    letters.is_some_and(|letters| letters.contains(letter))
}
