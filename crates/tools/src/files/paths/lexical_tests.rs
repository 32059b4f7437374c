use std::path::Path;

use super::lexical::{is_kernel_path, lexical_absolute, resource_keys_at};

#[test]
fn a_path_is_made_absolute_and_plain() {
    let table = [
        ("a.txt", "/w/a.txt"),
        ("./a//b/../c", "/w/a/c"),
        ("../../../etc/passwd", "/etc/passwd"),
        ("/x/./y", "/x/y"),
        ("..", "/"),
        ("/", "/"),
        ("~/x", "/w/~/x"),
        ("-rf", "/w/-rf"),
        ("two\nlines", "/w/two\nlines"),
    ];
    for (path, expected) in table {
        assert_eq!(
            lexical_absolute(Path::new("/w"), Path::new(path)),
            Path::new(expected),
            "{path}"
        );
    }
}

#[test]
fn a_link_touches_what_it_points_to() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    std::fs::write(folder.join("real"), "").unwrap();
    std::os::unix::fs::symlink("real", folder.join("link")).unwrap();
    let named = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let keys_of =
        |name: &str| resource_keys_at(&folder.join(name)).iter().map(ToString::to_string).collect();
    let (link, real, missing): (Vec<_>, Vec<_>, Vec<_>) =
        (keys_of("link"), keys_of("real"), keys_of("missing"));
    assert_eq!(link, [named("link"), named("real")]);
    assert_eq!(real, [named("real")]);
    assert_eq!(missing, [named("missing")]);
}

#[test]
fn the_kernels_places_are_whole_names() {
    assert!(is_kernel_path(Path::new("/proc/1/environ")) && is_kernel_path(Path::new("/dev")));
    assert!(!is_kernel_path(Path::new("/process")) && !is_kernel_path(Path::new("/w/dev")));
}
