use super::named_path;

#[test]
fn the_path_is_found_in_what_programs_print() {
    for (line, path) in [
        ("/usr/bin/bash: line 1: /srv/made: Read-only file system", "/srv/made"),
        ("a.sh: 1: cannot create /srv/made: Read-only file system", "/srv/made"),
        ("touch: cannot touch '/srv/a b': Read-only file system", "/srv/a b"),
        ("cp: cannot create regular file '../out/x': Read-only file system", "../out/x"),
        ("Error: EROFS: read-only file system, open '/srv/made.js'", "/srv/made.js"),
        ("OSError: [Errno 30] Read-only file system: '/srv/made.py'", "/srv/made.py"),
        ("error: failed to create directory `/srv/target`", "/srv/target"),
    ] {
        assert_eq!(named_path(line), Some(path), "{line}");
    }
    for line in ["Read-only file system", "fatal: see https://a.org/x: no", ""] {
        assert_eq!(named_path(line), None, "{line}");
    }
}
