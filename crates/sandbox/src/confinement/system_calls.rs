//! The seccomp filter: system calls that no command needs and that reach around the other layers.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};

use crate::{Namespaces, NetworkAccess};

/// Calls that fail with "operation not permitted".
const DENIED: &[libc::c_long] = &[
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_unshare,
    libc::SYS_setns,
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Files by handle, and events of whole file systems.
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_quotactl,
    // Large parts of the kernel that are rarely needed and often broken.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // The machine.
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_vhangup,
];

/// Flags of `clone` that make namespaces.
const NAMESPACE_FLAGS: [i32; 7] = [
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];

/// Requests of `ioctl` that type into a terminal: `TIOCSTI` and `TIOCLINUX`, whose type differs
/// between C libraries.
const TERMINAL_INPUT: [u64; 2] = [0x5412, 0x541c];

/// Restricts this thread and what it executes.
pub(super) fn restrict(network: NetworkAccess, namespaces: Namespaces) -> io::Result<()> {
    let rules = denied_rules(network, namespaces).map_err(io::Error::other)?;
    apply(rules, libc::EPERM)?;
    // Their flags are in memory, where a filter cannot read them; without them `clone` and `openat`
    // are used.
    let in_memory = [libc::SYS_clone3, libc::SYS_openat2];
    apply(in_memory.into_iter().map(|call| (call, Vec::new())).collect(), libc::ENOSYS)?;
    #[cfg(target_arch = "x86_64")]
    apply_filter(&other_calling_convention()).map_err(io::Error::other)?;
    Ok(())
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn apply(rules: Rules, error: i32) -> io::Result<()> {
    let architecture = std::env::consts::ARCH.try_into().map_err(io::Error::other)?;
    let denied = SeccompAction::Errno(error.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, denied, architecture)
        .map_err(io::Error::other)?;
    let program: BpfProgram = filter.try_into().map_err(io::Error::other)?;
    apply_filter(&program).map_err(io::Error::other)
}

fn denied_rules(
    network: NetworkAccess,
    namespaces: Namespaces,
) -> Result<Rules, seccompiler::BackendError> {
    let mut rules: Rules = DENIED.iter().map(|call| (*call, Vec::new())).collect();
    let flags = NAMESPACE_FLAGS.iter().map(|flag| {
        let flag = u64::from(flag.unsigned_abs());
        SeccompRule::new(vec![condition(0, SeccompCmpOp::MaskedEq(flag), flag)?])
    });
    rules.insert(libc::SYS_clone, flags.collect::<Result<_, _>>()?);
    let requests = TERMINAL_INPUT
        .iter()
        .map(|request| SeccompRule::new(vec![condition(1, SeccompCmpOp::Eq, *request)?]));
    rules.insert(libc::SYS_ioctl, requests.collect::<Result<_, _>>()?);
    let sockets = match (network, namespaces) {
        // Without a network namespace every socket would reach this machine.
        (NetworkAccess::None, Namespaces::None) => Vec::new(),
        _ => socket_rules()?,
    };
    rules.insert(libc::SYS_socket, sockets);
    rules.extend(mode_rules()?);
    Ok(rules)
}

/// Returns the calls that would give a file the rights of its owner or group: a program left in the
/// workspace would have them for whoever runs it.
fn mode_rules() -> Result<Rules, seccompiler::BackendError> {
    let with_mode_at = [
        (libc::SYS_fchmod, 1),
        (libc::SYS_fchmodat, 2),
        (SYS_FCHMODAT2, 2),
        (libc::SYS_openat, 3),
        (libc::SYS_mknodat, 2),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_chmod, 1),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_open, 2),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_creat, 1),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_mknod, 1),
    ];
    let mut rules = Rules::new();
    let has_bits = |argument: u8, bits: u32| {
        condition(argument, SeccompCmpOp::MaskedEq(u64::from(bits)), u64::from(bits))
    };
    for (call, argument) in with_mode_at {
        let flags_at = match call {
            libc::SYS_openat => Some(2),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_open => Some(1),
            _ => None,
        };
        let mut denied = Vec::new();
        for bit in [libc::S_ISUID, libc::S_ISGID] {
            match flags_at {
                None => denied.push(SeccompRule::new(vec![has_bits(argument, bit)?])?),
                // Without such a flag there is no mode, and the argument is what was there before.
                Some(at) => {
                    for flag in [libc::O_CREAT, UNNAMED_FILE] {
                        let with_mode = has_bits(at, flag.unsigned_abs())?;
                        denied.push(SeccompRule::new(vec![has_bits(argument, bit)?, with_mode])?);
                    }
                }
            }
        }
        rules.insert(call, denied);
    }
    Ok(rules)
}

/// The flag of `O_TMPFILE` that makes a file without a name.
const UNNAMED_FILE: i32 = libc::O_TMPFILE & !libc::O_DIRECTORY;

/// `fchmodat2`, the same on every architecture.
const SYS_FCHMODAT2: libc::c_long = 452;

/// Returns the sockets that are denied: raw ones, and families other than the common ones.
fn socket_rules() -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let families = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let others = families
        .iter()
        .map(|family| condition(0, SeccompCmpOp::Ne, u64::from(family.unsigned_abs())))
        .collect::<Result<Vec<_>, _>>()?;
    let raw = |family: i32| {
        SeccompRule::new(vec![
            condition(0, SeccompCmpOp::Eq, u64::from(family.unsigned_abs()))?,
            condition(1, SeccompCmpOp::MaskedEq(0xf), u64::from(libc::SOCK_RAW.unsigned_abs()))?,
        ])
    };
    // Protocol 0 lists interfaces and routes; the others configure the kernel.
    let netlink = SeccompRule::new(vec![
        condition(0, SeccompCmpOp::Eq, u64::from(libc::AF_NETLINK.unsigned_abs()))?,
        condition(2, SeccompCmpOp::Ne, 0)?,
    ])?;
    Ok(vec![SeccompRule::new(others)?, raw(libc::AF_INET)?, raw(libc::AF_INET6)?, netlink])
}

fn condition(
    argument: u8,
    comparison: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, comparison, value)
}

/// Returns a filter against the x32 calling convention, which has other numbers for the same calls.
#[cfg(target_arch = "x86_64")]
fn other_calling_convention() -> BpfProgram {
    use seccompiler::sock_filter;
    const LOAD_NUMBER: u16 = 0x20;
    const JUMP_IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const FIRST_X32_NUMBER: u32 = 0x4000_0000;
    const ALLOW: u32 = 0x7fff_0000;
    let no_such_call = 0x0005_0000 | libc::ENOSYS.unsigned_abs();
    vec![
        sock_filter { code: LOAD_NUMBER, jt: 0, jf: 0, k: 0 },
        sock_filter { code: JUMP_IF_AT_LEAST, jt: 0, jf: 1, k: FIRST_X32_NUMBER },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: no_such_call },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: ALLOW },
    ]
}
