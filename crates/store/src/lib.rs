//! Memory on disk: stores of lanes.
