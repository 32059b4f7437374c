//! Installs the PostgreSQL server that tests and torture need, if it is missing.
//!
//! If it cannot be installed nothing is skipped: the tests that need it fail and say so.

use crate::invocation::Invocation;

/// Installs Debian's packages, unless they are installed or that is not possible: it needs apt-get,
/// and root or passwordless sudo.
const INSTALL_SCRIPT: &str = r#"
there() { ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null; }
pool() { PATH="$PATH:/usr/sbin" command -v pgbouncer >/dev/null; }
there && pool && exit 0
command -v apt-get >/dev/null || exit 0
if [ "$(id -u)" = 0 ]; then root=""; elif sudo -n true 2>/dev/null; then root="sudo -n"; else exit 0; fi
echo "PostgreSQL is missing here: installing Debian's postgresql and pgbouncer"
export DEBIAN_FRONTEND=noninteractive
$root apt-get -q update && $root apt-get -q install -y --no-install-recommends postgresql pgbouncer
exit 0
"#;

/// The step that installs the packages.
pub(crate) fn install_steps() -> Vec<Invocation> {
    vec![Invocation::new("sh", &["-c", INSTALL_SCRIPT])]
}
