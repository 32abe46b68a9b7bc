//! Cases small enough to check by hand.
