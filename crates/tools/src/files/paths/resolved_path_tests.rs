use std::fs::{self, File};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;
use tempfile::TempDir;

use super::path_zones::PathZones;
use super::resolved_path::{open_beneath, open_by_parts};

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::create_dir_all(folder.path().join("w/sub")).unwrap();
    fs::write(folder.path().join("w/sub/a"), "inside").unwrap();
    fs::write(folder.path().join("secret"), "outside").unwrap();
    symlink("sub", folder.path().join("w/link")).unwrap();
    symlink("..", folder.path().join("w/up")).unwrap();
    folder
}

/// The fallback for a kernel without `openat2` must be as strict.
#[test]
fn a_walk_follows_no_link_and_leaves_no_folder() {
    let folder = folder();
    let root = OwnedFd::from(File::open(folder.path().join("w")).unwrap());
    let open = |path: &str| open_by_parts(&root, Path::new(path), OFlags::RDONLY);
    let mut text = String::new();
    File::from(open("sub/a").unwrap()).read_to_string(&mut text).unwrap();
    assert_eq!(text, "inside");
    assert!(open(".").is_ok());
    for path in ["link/a", "up/secret", "link", "../secret", "sub/../../secret", "/etc/passwd"] {
        let error = open(path).unwrap_err();
        let refused = [Errno::LOOP, Errno::XDEV, Errno::NOTDIR];
        assert!(refused.contains(&error), "{path}: {error}");
    }
    assert_eq!(open_by_parts(&root, Path::new("link"), OFlags::PATH).unwrap_err(), Errno::LOOP);
}

/// The kernel's `openat2` is as strict as the fallback.
#[test]
fn an_opening_beneath_a_root_follows_no_link_inside_it() {
    let folder = folder();
    let root = OwnedFd::from(File::open(folder.path().join("w")).unwrap());
    let open = |path: &str| open_beneath(&root, Path::new(path), OFlags::RDONLY | OFlags::NOFOLLOW);
    assert!(open("sub/a").is_ok() && open(".").is_ok());
    for path in ["link/a", "link", "up/w/sub/a", "up/secret", "../secret", "/etc/passwd"] {
        let error = open(path).unwrap_err();
        assert!([Errno::LOOP, Errno::XDEV, Errno::NOTDIR].contains(&error), "{path}: {error}");
    }
}

#[test]
fn a_place_is_where_the_kernel_would_end_up() {
    let folder = folder();
    let zones = PathZones::with_home(&folder.path().join("w"), None);
    let real = |path: &str| zones.resolve(path).map(|resolved| resolved.real_path());
    assert_eq!(real("link/a").unwrap(), zones.root().join("sub/a"));
    assert_eq!(real("link/../sub/a").unwrap(), zones.root().join("sub/a"));
    assert_eq!(&*real("up/secret").unwrap_err().code, "outside_workspace");
    assert_eq!(real("../secret").unwrap(), zones.root().parent().unwrap().join("secret"));
}
