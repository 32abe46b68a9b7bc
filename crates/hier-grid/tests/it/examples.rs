//! The paper's own examples: figure 1, and the nine jobs of formulas (1) and (2).
