//! Installs Prometheus' tool that checks metrics and rules, if it is missing.
//!
//! If it cannot be installed nothing is skipped: the test that needs it fails and says so.

use crate::invocation::Invocation;

/// Installs Debian's package without starting its service, unless it is installed or that is not
/// possible: it needs apt-get, and root or passwordless sudo.
const INSTALL_SCRIPT: &str = r#"
command -v promtool >/dev/null && exit 0
command -v apt-get >/dev/null || exit 0
if [ "$(id -u)" = 0 ]; then root=""; elif sudo -n true 2>/dev/null; then root="sudo -n"; else exit 0; fi
echo "promtool is missing here: installing Debian's prometheus"
export DEBIAN_FRONTEND=noninteractive
$root apt-get -q update && $root apt-get -q install -y --no-install-recommends prometheus
exit 0
"#;

/// The step that installs the package.
pub(crate) fn install_steps() -> Vec<Invocation> {
    vec![Invocation::new("sh", &["-c", INSTALL_SCRIPT])]
}
