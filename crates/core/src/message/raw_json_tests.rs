use std::collections::BTreeSet;

use crate::message::raw_json::{RawJson, fingerprint, sha256_hex};

// spec: TRANSCRIPT-03
#[test]
fn text_is_kept_byte_for_byte() {
    for json in [
        r#"{"b":1,"a":2,"b":3}"#,
        r#"{ "spaced" : [ 1 , 2 ] }"#,
        "{\n\t\"lines\": 1\n}",
        r#""\u05d0\ud83d\ude00\ud800""#,
        "1.50e+01",
        "123456789012345678901234567890",
        "null",
    ] {
        let raw = RawJson::parse(json).unwrap();
        assert_eq!(raw.text(), json);
        assert_eq!(serde_json::to_string(&raw).unwrap(), json);
        assert_eq!(serde_json::from_str::<RawJson>(json).unwrap().text(), json);
    }
    assert_eq!(RawJson::parse("  [1]\n").unwrap().text(), "[1]");
}

#[test]
fn what_is_not_one_json_value_is_refused() {
    for text in
        ["", " ", "{", "[1,]", "{\"a\":}", "1 2", "\u{feff}1", "nul", "\"\u{1}\"", "{'a':1}"]
    {
        let error = RawJson::parse(text).unwrap_err();
        assert!(error.to_string().contains("send one JSON value"), "{text:?}");
    }
}

#[test]
fn depth_is_no_danger() {
    let deep = format!("{}1{}", "[".repeat(300_000), "]".repeat(300_000));
    let raw = RawJson::parse(deep.clone()).unwrap();
    assert_eq!(raw.text(), deep);
    assert_eq!(raw.canonical_hash_hex(), sha256_hex(deep.as_bytes()));
    assert!(raw.read::<Vec<Vec<u8>>>().is_err());
}

#[test]
fn objects_are_told_from_the_rest() {
    for (json, expected) in
        [("{}", true), (" {\"a\":1}", true), ("[]", false), ("\"{\"", false), ("null", false)]
    {
        assert_eq!(RawJson::parse(json).unwrap().is_object(), expected, "{json}");
    }
}

// spec: TRACE-04
#[test]
fn equal_inputs_hash_alike() {
    let alike = [
        [r#"{"a":1,"b":[2,3]}"#, r#"{ "b" : [2, 3], "a" : 1 }"#],
        [r#"{"x":{"b":1,"a":2}}"#, r#"{"x":{"a":2,"b":1}}"#],
        ["1", "1.0"],
        ["100", "1e2"],
        ["0", "-0.0"],
        [r#""\u05d0""#, "\"\u{5d0}\""],
        [r#"{"n":[1.0,{"m":2.0}]}"#, r#"{"n":[1,{"m":2}]}"#],
    ];
    for [a, b] in alike {
        assert_eq!(
            RawJson::parse(a).unwrap().canonical_hash_hex(),
            RawJson::parse(b).unwrap().canonical_hash_hex(),
            "{a} {b}"
        );
    }
    let unlike = [
        ["1", "2"],
        ["1", "\"1\""],
        ["1.5", "1"],
        ["[1,2]", "[2,1]"],
        ["{}", "[]"],
        ["null", "{}"],
    ];
    for [a, b] in unlike {
        assert_ne!(
            RawJson::parse(a).unwrap().canonical_hash_hex(),
            RawJson::parse(b).unwrap().canonical_hash_hex(),
            "{a} {b}"
        );
    }
}

// spec: TRACE-04
#[test]
fn hashes_never_change() {
    let golden = [
        ("{}", "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
        (r#"{"b":2,"a":1}"#, "43258cff783fe7036d8a43033f830adfc60ec037382473548ac742b888292777"),
        (r#"{"on":"/a"}"#, "70620ffaa63fb8920600f532b9d5a0635f6e93fa1f2e0ba2ad0bcd8cf90dadf5"),
        (r#""\ud800""#, "8c0c59dd0d275aadcd462a5fe12eb352cbdfeaf961eae4f85a4660521df7d2f5"),
    ];
    for (json, hash) in golden {
        assert_eq!(RawJson::parse(json).unwrap().canonical_hash_hex(), hash, "{json}");
    }
}

/// The hashes above are those of sorted keys. They are proven for the map that does not sort, with
/// which every crate of the workspace is built: `serde_json/preserve_order`, here and in the check.
#[test]
fn keys_are_sorted_although_the_map_keeps_their_order() {
    let (unsorted, sorted) = (
        r#"{"b":2,"a":{"d":[{"y":1,"x":2}],"c":3}}"#,
        r#"{"a":{"c":3,"d":[{"x":2,"y":1}]},"b":2}"#,
    );
    let read: serde_json::Value = serde_json::from_str(unsorted).unwrap();
    assert_eq!(read.to_string(), unsorted, "this build has no serde_json/preserve_order");
    assert_eq!(
        RawJson::parse(unsorted).unwrap().canonical_hash_hex(),
        sha256_hex(sorted.as_bytes())
    );
}

#[test]
fn strings_and_values_are_encoded() {
    assert_eq!(RawJson::string("a\"\n\u{5d0}").text(), "\"a\\\"\\n\u{5d0}\"");
    assert_eq!(RawJson::encode(&[1, 2]).text(), "[1,2]");
    assert_eq!(format!("{:?}", RawJson::string("x")), "\"x\"");
}

#[test]
fn texts_that_differ_anywhere_have_other_fingerprints() {
    let text = "a result that is longer than two words";
    let cut = (0..=text.len()).map(|end| text.get(..end).unwrap().to_owned());
    let changed = (0..text.len()).map(|at| format!("{}~{}", &text[..at], &text[at + 1..]));
    let zeros = (1..20).map(|count| "\0".repeat(count));
    let texts: Vec<String> = cut.chain(changed).chain(zeros).collect();
    let prints: BTreeSet<u64> = texts.iter().map(|text| fingerprint(text)).collect();
    assert_eq!(prints.len(), texts.len());
}
