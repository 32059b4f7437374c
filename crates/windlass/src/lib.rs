//! The library people depend on: the runtime and its adapters in one place.
