//! Allow list of harmless options for programs that people allow for reading, and that can do more
//! than read.
//!
//! Not here: git, which has its own file.

use super::known_options::KnownOptions;

const NOTHING: KnownOptions = KnownOptions {
    command: "",
    letters: "",
    valued_letters: "",
    names: "",
    writing: "",
    first_operands: "",
};

const AWK: KnownOptions =
    KnownOptions { valued_letters: "Fv", names: "--version --csv", ..NOTHING };

/// The programs. Options are spelled out: an abbreviation of a long option is not harmless.
pub(super) const PROGRAMS: &[KnownOptions] = &[
    KnownOptions {
        command: "find",
        names: "-H -L -P -name -iname -path -ipath -wholename -iwholename -regex -iregex -type \
                -xtype -maxdepth -mindepth -size -mtime -mmin -atime -amin -ctime -cmin -newer \
                -newermt -anewer -cnewer -empty -print -print0 -printf -ls -not -o -a -or -and \
                -prune -depth -user -group -uid -gid -perm -readable -writable -executable -links \
                -inum -samefile -xdev -mount -quit -regextype -daystart -true -false -nouser \
                -nogroup -lname -ilname -used --version --help",
        writing: "-delete -fprint -fprint0 -fprintf -fls",
        ..NOTHING
    },
    KnownOptions {
        command: "sort",
        letters: "bdfgiMhnRrVcCmsuz",
        valued_letters: "kSt",
        names: "--ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort \
                --month-sort --human-numeric-sort --numeric-sort --reverse --version-sort --check \
                --key --merge --stable --buffer-size --field-separator --parallel --unique \
                --zero-terminated --version --help",
        writing: "-o --output -T --temporary-directory",
        ..NOTHING
    },
    KnownOptions {
        command: "rg",
        letters: "aciFhHIlnNopPqsSuUvVwx.0",
        valued_letters: "ABCegtTmrjMdE",
        names: "--after-context --before-context --context --case-sensitive --color --column \
                --count --count-matches --crlf --debug --files --files-with-matches \
                --files-without-match --fixed-strings --glob --iglob --heading --hidden \
                --ignore-case --invert-match --json --line-number --line-regexp --max-columns \
                --max-count --max-depth --max-filesize --multiline --multiline-dotall \
                --no-filename --no-heading --no-ignore --no-ignore-vcs --no-line-number \
                --no-messages --null --only-matching --passthru --pcre2 --pretty --quiet --regexp \
                --replace --smart-case --sort --sortr --stats --text --threads --trim --type \
                --type-add --type-list --type-not --unrestricted --vimgrep --with-filename \
                --word-regexp --version --help",
        ..NOTHING
    },
    KnownOptions {
        command: "fd",
        letters: "HIuaisgFplq01",
        valued_letters: "etdEcSj",
        names: "--hidden --no-ignore --unrestricted --absolute-path --ignore-case \
                --case-sensitive --glob --fixed-strings --full-path --extension --type \
                --max-depth --min-depth --exact-depth --exclude --size --changed-within \
                --changed-before --color --print0 --max-results --quiet --list-details --version \
                --help",
        ..NOTHING
    },
    KnownOptions {
        command: "tar",
        letters: "cxtruvzjJZaApkmOShlW",
        valued_letters: "fCbX",
        names: "--create --extract --get --list --append --update --diff --compare --concatenate \
                --file --directory --verbose --gzip --bzip2 --xz --zstd --lzma --lzip \
                --auto-compress --exclude --exclude-vcs --exclude-from --strip-components \
                --keep-old-files --keep-newer-files --skip-old-files --overwrite --no-same-owner \
                --no-same-permissions --same-owner --preserve-permissions --numeric-owner --owner \
                --group --mode --mtime --sort --format --wildcards --no-wildcards --anchored \
                --no-recursion --totals --to-stdout --dereference --touch --null \
                --one-file-system --version --help",
        ..NOTHING
    },
    KnownOptions {
        command: "sed",
        letters: "nErzu",
        valued_letters: "e",
        names: "--quiet --silent --regexp-extended --null-data --unbuffered --expression \
                --debug --posix --sandbox --version --help",
        writing: "-i --in-place",
        ..NOTHING
    },
    KnownOptions { command: "awk", ..AWK },
    KnownOptions { command: "gawk", ..AWK },
    KnownOptions { command: "mawk", ..AWK },
    KnownOptions { command: "nawk", ..AWK },
    KnownOptions { command: "original-awk", ..AWK },
    KnownOptions {
        command: "man",
        letters: "kfaw",
        names: "--where --path --whatis --apropos --all --version --help",
        ..NOTHING
    },
    KnownOptions { command: "scp", letters: "346CpqrRv", valued_letters: "Pl", ..NOTHING },
    KnownOptions { command: "sftp", letters: "46Cpqrv", valued_letters: "Pl", ..NOTHING },
    KnownOptions {
        command: "rsync",
        letters: "avrzunhPtlpogDcixqmRHSWdAXOJ4680",
        names: "--archive --verbose --recursive --compress --dry-run --delete --delete-after \
                --delete-before --delete-excluded --exclude --exclude-from --include --progress \
                --stats --human-readable --checksum --update --partial --ignore-existing \
                --existing --itemize-changes --info --size-only --times --perms --links --owner \
                --group --relative --one-file-system --max-size --min-size --bwlimit --timeout \
                --quiet --inplace --whole-file --numeric-ids --chmod --prune-empty-dirs --version \
                --help",
        ..NOTHING
    },
    KnownOptions {
        command: "zip",
        letters: "rqvjuyXD0123456789",
        valued_letters: "xi",
        names: "--recurse-paths --quiet --verbose --junk-paths --update --symlinks --exclude \
                --include --version --help",
        ..NOTHING
    },
    KnownOptions {
        command: "less",
        letters: "NRSXFEeiIMmgGswrn",
        names: "--version --help",
        writing: "-o -O --log-file --LOG-FILE",
        ..NOTHING
    },
    KnownOptions {
        command: "tree",
        letters: "adfilpsuhgDCFNqrtcUvJXSAQn",
        valued_letters: "LPI",
        names: "--dirsfirst --noreport --gitignore --prune --filelimit --du --inodes --si \
                --charset --sort --matchdirs --ignore-case --version --help",
        writing: "-o",
        ..NOTHING
    },
    KnownOptions {
        command: "date",
        letters: "uRI",
        valued_letters: "dr",
        names: "--utc --universal --date --iso-8601 --rfc-3339 --rfc-email --reference --version \
                --help",
        ..NOTHING
    },
    KnownOptions {
        command: "curl",
        letters: "sSfLkivIGgN46#aBlVZ",
        valued_letters: "HXdAmuwebrFCyYUx",
        names: "--silent --show-error --fail --fail-with-body --fail-early --location --insecure \
                --include --verbose --head --get --globoff --no-buffer --ipv4 --ipv6 --header \
                --request --data --data-raw --data-ascii --data-binary --data-urlencode --json \
                --form --form-string --user-agent --max-time --connect-timeout --user --write-out \
                --cookie --referer --range --continue-at --retry --retry-delay --retry-max-time \
                --retry-connrefused --retry-all-errors --compressed --url --http1.0 --http1.1 \
                --http2 --http3 --progress-bar --no-progress-meter --max-redirs --resolve --proxy \
                --noproxy --oauth2-bearer --max-filesize --limit-rate --parallel --tlsv1.2 \
                --tlsv1.3 --version --help",
        writing: "-o -O -J -D -c -T --output --output-dir --remote-name --remote-name-all \
                  --remote-header-name --create-dirs --dump-header --cookie-jar --upload-file \
                  --trace --trace-ascii --libcurl --stderr --etag-save --hsts --alt-svc",
        ..NOTHING
    },
    KnownOptions {
        command: "wget",
        letters: "qcNSrpkHLFE46b",
        valued_letters: "tTlARDUw",
        names: "--quiet --verbose --no-verbose --continue --timestamping --server-response \
                --recursive --level --no-parent --tries --timeout --wait --user-agent --header \
                --spider --no-check-certificate --page-requisites --convert-links --mirror \
                --accept --reject --domains --show-progress --progress --max-redirect --method \
                --no-clobber --version --help",
        writing: "-O -P -o -a --output-document --directory-prefix --output-file --append-output",
        ..NOTHING
    },
    KnownOptions {
        command: "tcpdump",
        letters: "nvXxAeqtlDSfKLNpOU#",
        valued_letters: "icrs",
        writing: "-w",
        ..NOTHING
    },
];
