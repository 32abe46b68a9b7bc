//! The files of a crate, and their imports of each other.

use super::imports::{Import, imports};
use std::collections::{BTreeMap, BTreeSet};

/// Files of a crate, by the paths of their modules; the root's is empty.
pub(super) struct Crate {
    files: BTreeMap<Vec<String>, File>,
}

struct File {
    /// File name: `plan/tabu.rs`.
    name: String,
    imports: Vec<Import>,
}

/// Imports between files, each with its first line.
type Edges = BTreeMap<Vec<String>, BTreeMap<Vec<String>, usize>>;

impl Crate {
    /// Returns the crate of these sources, given by their paths below `src`.
    pub(super) fn new(sources: &BTreeMap<String, String>) -> Self {
        let has_library = sources.contains_key("lib.rs");
        let file = |(name, text): (&String, &String)| {
            let mut module: Vec<String> = name.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
            module.pop_if(|last| last == "mod");
            // The program beside a library is not imported.
            if module == ["lib"] || (module == ["main"] && !has_library) {
                module.clear();
            }
            (module, File { name: name.clone(), imports: imports(name, text) })
        };
        Self { files: sources.iter().map(file).collect() }
    }

    /// Returns a circle, import by import.
    pub(super) fn circle(&self) -> Option<String> {
        let mut edges = self.edges();
        peeled(&mut edges);
        // From import to import, until a file repeats.
        let mut way = vec![edges.keys().next()?];
        loop {
            let next = edges[way[way.len() - 1]].keys().next()?;
            if let Some(first) = way.iter().position(|file| *file == next) {
                let arrows = way[first..].iter().map(|from| {
                    let (to, line) = edges[*from].first_key_value().expect("it imports another");
                    format!("{}:{line} imports {}", self.files[*from].name, self.files[to].name)
                });
                return Some(format!("circle: {}", arrows.collect::<Vec<_>>().join("; ")));
            }
            way.push(next);
        }
    }

    /// Returns the number of layers of the files and folders beside the root: each imports lower ones alone, its tests apart. `None` if there is a circle.
    pub(super) fn layers(&self) -> Option<usize> {
        let mut rooms = Edges::new();
        let room = |module: &Vec<String>| module.first().map(|first| vec![first.clone()]);
        for (module, to) in self.edges() {
            let Some(from) = room(&module).filter(|_| module.last().is_none_or(|name| name != "tests")) else {
                continue;
            };
            let others = to.into_iter().filter_map(|(to, line)| Some((room(&to)?, line)));
            rooms.entry(from.clone()).or_default().extend(others.filter(|(to, _)| *to != from));
        }
        let layers = peeled(&mut rooms);
        rooms.is_empty().then_some(layers)
    }

    /// Returns the imports that count.
    fn edges(&self) -> Edges {
        let mut edges = Edges::new();
        for (module, file) in &self.files {
            let from = edges.entry(module.clone()).or_default();
            for import in &file.imports {
                let at = [module.as_slice(), &import.within].concat();
                for to in self.leads_to(&at, &import.path, &mut BTreeSet::new()) {
                    // Imports from a file above do not count.
                    if !module.starts_with(&to) {
                        from.entry(to).or_insert(import.line);
                    }
                }
            }
        }
        edges
    }

    /// Returns the files that a path in the module `at` leads to: the one that it names and, if that re-exports, the one that defines.
    fn leads_to(&self, at: &[String], path: &[String], seen: &mut BTreeSet<Vec<String>>) -> BTreeSet<Vec<String>> {
        let mut module = at.to_vec();
        let mut rest = path;
        match path[0].as_str() {
            "crate" => module.clear(),
            "self" | "super" => {}
            name => {
                // A name of another crate, a type, or a module below.
                let below = [at, &[name.to_owned()]].concat();
                if !self.files.contains_key(&below) {
                    return BTreeSet::new();
                }
            }
        }
        while let Some((first, behind)) = rest.split_first() {
            match first.as_str() {
                "crate" | "self" => {}
                "super" => drop(module.pop()),
                name => {
                    let below = [module.as_slice(), &[name.to_owned()]].concat();
                    if !self.files.contains_key(&below) {
                        break;
                    }
                    module = below;
                }
            }
            rest = behind;
        }
        // A module within a file is that file.
        while !self.files.contains_key(&module) {
            module.pop();
        }
        let mut found = BTreeSet::from([module.clone()]);
        let Some(name) = rest.first() else { return found };
        let key = [module.as_slice(), std::slice::from_ref(name)].concat();
        if seen.insert(key) {
            let passes_on = |import: &&Import| import.within.is_empty() && import.name.as_ref() == Some(name);
            for import in self.files[&module].imports.iter().filter(passes_on) {
                found.extend(self.leads_to(&module, &import.path, seen));
            }
        }
        found
    }
}

/// Removes layer by layer what imports nothing that is left, and returns the number of layers. What stays is in a circle, or above one.
fn peeled(edges: &mut Edges) -> usize {
    for layers in 0.. {
        let before = edges.len();
        edges.retain(|_, to| !to.is_empty());
        if edges.len() == before {
            return layers;
        }
        let left: BTreeSet<_> = edges.keys().cloned().collect();
        edges.values_mut().for_each(|to| to.retain(|to, _| left.contains(to)));
    }
    unreachable!("each layer has a file")
}
