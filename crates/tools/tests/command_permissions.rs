//! Whole classes of commands and their permission decisions: every writer on every protected path,
//! every wrapper before a denied program, every way to a file that may not be read. Each class is a
//! product of tables, so that a new row is tried in every combination.

mod denied_files;
mod denied_programs;
mod protected_paths;

use windlass_core::permission::PermissionMode;

const EVERY_MODE: [PermissionMode; 5] = [
    PermissionMode::Default,
    PermissionMode::AcceptEdits,
    PermissionMode::Auto,
    PermissionMode::DontAsk,
    PermissionMode::BypassPermissions,
];

/// Commands that say which file they write.
const WRITERS: &[&str] = &[
    "echo x > {}",
    "echo x >> {}",
    "echo x >| {}",
    "echo x &> {}",
    "cat a 2> {}",
    "tee {}",
    "tee -a b {}",
    "echo x | tee {} b",
    "dd if=a of={}",
    "cp a {}",
    "cp -f -- a {}",
    "cp -T a {}",
    "cp --no-target-directory a {}",
    "mv a {}",
    "mv {} a",
    "mv -fT a {}",
    "install a {}",
    "install -m 755 a {}",
    "install -D a {}",
    "ln a {}",
    "ln {} a",
    "ln -s a {}",
    "ln -sf a {}",
    "sed -i s/a/b/ {}",
    "sed -Ei s/a/b/ {}",
    "sed -i.bak -e s/a/b/ {}",
    "sed --in-place s/a/b/ {}",
    "truncate -s 0 {}",
    "rm {}",
    "rm -rf {}",
    "chmod +x {}",
    "touch {}",
    "mkdir -p {}",
    "sort -o {} a",
    "sort --output={} a",
    "curl -o {} http://localhost",
    "rsync a {}",
    "true && tee {}",
    "timeout 5 tee {}",
    "sh -c 'tee {}'",
];
