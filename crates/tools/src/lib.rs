//! Hands: the tools a model can call.
