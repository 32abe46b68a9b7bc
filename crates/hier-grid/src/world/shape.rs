//! Shape of a grid tree, before it is cut into several and its schedulers are numbered.

/// Shape of a grid tree: a scheduler and its children. A shape without children is a site, with its LGS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    pub(crate) children: Vec<Shape>,
}

impl Shape {
    /// A site.
    pub const fn site() -> Self {
        Self { children: Vec::new() }
    }

    /// A scheduler over these children. Their sites are numbered in the same order.
    ///
    /// # Panics
    ///
    /// Panics if there are none.
    pub fn over(children: Vec<Self>) -> Self {
        assert!(!children.is_empty(), "a scheduler has children, or it is a site");
        Self { children }
    }

    /// A tree in which all schedulers of a level have the same number of children: `[4, 4, 2, 5]` is the paper's hierarchical system.
    pub fn levels(levels: &[u32]) -> Self {
        match levels.split_first() {
            None => Self::site(),
            Some((children, below)) => Self { children: vec![Self::levels(below); *children as usize] },
        }
    }

    pub(crate) fn leaves(&self) -> usize {
        if self.children.is_empty() { 1 } else { self.children.iter().map(Self::leaves).sum() }
    }

    /// Cuts the tree into `trees`, at the first level that has enough schedulers, spread evenly. In the paper the four
    /// trees hold a backbone each, the sixteen a net each. A tree always has a root above its sites.
    pub(crate) fn cut<'a>(&'a self, trees: usize) -> Vec<Self> {
        assert!(trees <= self.leaves(), "a tree holds at least one site");
        let mut pieces: Vec<&'a Self> = vec![self];
        // Down to the first level with enough schedulers; `bounds` then spreads them evenly.
        while pieces.len() < trees {
            // A site cannot be split.
            let split =
                |piece: &'a Self| if piece.children.is_empty() { std::slice::from_ref(piece) } else { &piece.children };
            pieces = pieces.into_iter().flat_map(split).collect();
        }
        let bounds = |tree: usize| tree * pieces.len() / trees;
        let tree = |tree: usize| match &pieces[bounds(tree)..bounds(tree + 1)] {
            [one] if !one.children.is_empty() => (*one).clone(),
            several => Self { children: several.iter().map(|piece| (*piece).clone()).collect() },
        };
        (0..trees).map(tree).collect()
    }
}
