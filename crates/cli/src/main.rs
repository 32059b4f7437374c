//! The binary `windlass`.

fn main() {}
