use super::{MAX_LIVE_OUTPUT_BYTES, ProgressReporter};

#[test]
fn output_is_joined_until_it_is_taken() {
    let reporter = ProgressReporter::default();
    assert_eq!(reporter.take_report(), None);
    reporter.report_output(b"one\n");
    reporter.clone().report_output(b"two\n");
    let report = reporter.take_report().unwrap();
    assert_eq!((&*report.output, report.omitted_bytes), ("one\ntwo\n", 0));
    assert_eq!(reporter.take_report(), None);
}

#[test]
fn of_much_output_the_tail_is_kept() {
    let reporter = ProgressReporter::default();
    for _ in 0..10 {
        reporter.report_output(&[b'x'; MAX_LIVE_OUTPUT_BYTES]);
    }
    reporter.report_output(b"end");
    let report = reporter.take_report().unwrap();
    assert_eq!(report.output.len(), MAX_LIVE_OUTPUT_BYTES);
    assert!(report.output.ends_with("xend"));
    assert_eq!(report.omitted_bytes, (9 * MAX_LIVE_OUTPUT_BYTES + 3) as u64);
}

#[test]
fn a_character_in_two_reports_becomes_whole() {
    let reporter = ProgressReporter::default();
    reporter.report_output(b"gr\xc3");
    assert_eq!(&*reporter.take_report().unwrap().output, "gr");
    assert_eq!(reporter.take_report(), None);
    reporter.report_output(b"\xbc\xc3\x9f \xff!");
    assert_eq!(&*reporter.take_report().unwrap().output, "\u{fc}\u{df} \u{fffd}!");
}

#[test]
fn only_the_last_step_is_kept() {
    let reporter = ProgressReporter::default();
    reporter.report_step(1.0, Some(3.0), Some("first"));
    reporter.report_step(2.0, Some(f64::INFINITY), Some(&"x".repeat(10_000)));
    reporter.report_step(f64::NAN, None, None);
    let step = reporter.take_report().unwrap().step.unwrap();
    assert_eq!((step.done, step.total), (2.0, None));
    assert_eq!(step.text.unwrap().len(), 500);
}
