//! The paper's world: what the specification pins down.
