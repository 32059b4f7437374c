use super::{is_harmless_awk, is_harmless_sed};

#[test]
fn a_sed_script_is_plain_only_if_it_prints_deletes_quits_or_substitutes() {
    for plain in [
        "p",
        "1p",
        "1,5p",
        "$d",
        "1,$p",
        "10q",
        "=",
        "s/a/b/",
        "s/a/b/g",
        "s|a|b|gI",
        "s#/a#/e#",
        "s/a\\/b/c/2p",
        "1p;5p",
        "s/a/b/; s/c/d/g",
        "2!d",
        "s/w/e/g",
    ] {
        assert!(is_harmless_sed(plain), "{plain}");
    }
    for harmful in [
        "e",
        "1e id",
        "w x",
        "1w x",
        "s/a/id/e",
        "s/a/b/ge",
        "s/a/b/w x",
        "s/a/b/gw x",
        "W x",
        "r /etc/passwd",
        "R x",
        "/x/e id",
        "/x/w y",
        "p;e id",
        "p\ne id",
        "1{e id}",
        "{w x\n}",
        "s/a/b",
        "s\\a\\b\\",
        "a\\\nx",
        "y/a/b/;e id",
        "F;e",
        "s/a\nb/c/e",
        "sxaxbxe",
        "0~3e",
    ] {
        assert!(!is_harmless_sed(harmful), "{harmful}");
    }
}

#[test]
fn an_awk_program_is_plain_only_without_words_that_write_or_run() {
    for plain in ["{print $1}", "NR==1", "/x/ {print}", "{s += $1} END {print s}", "-F,", "file"] {
        assert!(is_harmless_awk(plain), "{plain}");
    }
    for harmful in [
        "BEGIN{system(\"id\")}",
        "{print > \"x\"}",
        "{print | \"sh\"}",
        "{\"id\" | getline x}",
        "{getline < \"/etc/passwd\"}",
        "@load \"x\"",
        "@include \"x\"",
        "BEGIN{f=\"sys\" \"tem\"; @f(\"id\")}",
    ] {
        assert!(!is_harmless_awk(harmful), "{harmful}");
    }
}
