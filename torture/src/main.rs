//! Kills real processes and audits what they leave behind.

fn main() {}
