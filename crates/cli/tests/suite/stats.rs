//! `windlass stats`.

use crate::kit::Place;

#[test]
fn an_empty_store_has_no_runs() {
    let ran = Place::new("").run(&["stats"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.starts_with("no runs yet"), "{}", ran.out);
}

#[test]
fn shares_and_histogram_are_computed_on_the_trace() {
    let place = Place::new(
        "when user is \"odd\"\n  say \"?\"\n  stop something_new\n\
         when user is \"two\" and results 0\n  call Read {\"file_path\": \"a\"}\n\
         when user is \"loop\"\n  call Read {\"file_path\": \"a\"}\n\
         when any\n  say \"x\"\n",
    );
    place.write("a", "x");
    for prompt in ["one", "one", "two", "odd"] {
        place.ask(prompt, &[]);
    }
    place.ask("loop", &["--max-turns", "2"]);
    let ran = place.run(&["stats"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    for expected in [
        "5 runs ended",
        "stopped at the cap          1   20.00 %",
        "unexpected stops            1   20.00 %  over the target of 0.3 %",
        "iterations to end_turn (3 runs; median 1, 95 % within 2, longest 2)",
        "1 │████████████████████████████████████████████████████████████ 2",
        "2 │██████████████████████████████ 1",
    ] {
        assert!(ran.out.contains(expected), "{expected:?} is missing in\n{}", ran.out);
    }
    let json = &place.json(&["stats", "--days", "1"])[0];
    assert_eq!((&json["runs"], &json["stopped_at_cap"]), (&5.into(), &1.into()));
    assert_eq!(
        (&json["unexpected"], &json["unexpected_within_target"]),
        (&1.into(), &false.into())
    );
    assert_eq!(json["iterations_to_end_turn"]["1"], 2);
    assert_eq!(json["reasons"]["max_iters"], 1);
    let none = &place.json(&["stats", "--days", "0"])[0];
    assert_eq!(none["runs"], 0, "nothing ended in the last zero days");
}
