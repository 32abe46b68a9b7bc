//! Programs as plainly as they can be written: to be read, and to check others against.

mod predicted;

pub use predicted::{Behind, Foresight, Predicted, predicted_easy};
