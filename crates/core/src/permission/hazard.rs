//! Options that turn a command people allow for looking into one that writes files or runs other
//! programs. A rule covers them only if it spells them out.
//!
//! Not here: programs that exist to run others; those are taken apart at the edge.

use std::sync::Arc;

use super::subject::SimpleCommand;

/// A command and the options to hold back.
struct Hazard {
    command: &'static str,
    /// Long options are also known by their beginnings, short ones within a bundle.
    options: &'static [&'static str],
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
];

const HAZARDS: &[Hazard] = &[
    Hazard { command: "git", options: GIT },
    Hazard {
        command: "find",
        options: &[
            "-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf",
            "-fls",
        ],
    },
    Hazard { command: "sort", options: &["-o", "--output", "--compress-program"] },
    Hazard { command: "rg", options: &["--pre", "--hostname-bin"] },
    Hazard { command: "fd", options: &["-x", "-X", "--exec", "--exec-batch"] },
    Hazard {
        command: "tar",
        options: &[
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
    },
    Hazard { command: "man", options: &["-P", "-H", "--pager", "--html"] },
    Hazard { command: "ssh", options: &["-o", "-F"] },
    Hazard { command: "less", options: &["-o", "-O", "--log-file", "--LOG-FILE"] },
    Hazard { command: "tree", options: &["-o"] },
    Hazard { command: "date", options: &["-s", "--set"] },
];

/// Whether the command uses no such option, or the rule says every one it uses itself.
pub(super) fn is_spelled(rule: &[Arc<str>], command: &SimpleCommand) -> bool {
    let Some(hazard) = HAZARDS.iter().find(|hazard| hazard.command == command.name()) else {
        return true;
    };
    let said = |word: &Arc<str>| rule.iter().any(|said| option(said) == option(word));
    command.words.iter().skip(1).filter(|word| hazard.is_in(word)).all(said)
}

impl Hazard {
    fn is_in(&self, word: &str) -> bool {
        word.len() > 1 && self.options.iter().any(|known| is_option(known, option(word)))
    }
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
