//! The files of a crate, and their imports of each other.

use super::imports::{Import, imports};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A crate by its files. A file is known by the path of its module; the root's is empty.
pub(super) struct Crate {
    files: BTreeMap<Vec<String>, File>,
}

struct File {
    /// `plan/tabu.rs`.
    name: String,
    imports: Vec<Import>,
}

/// Imports between files, with their lines.
type Edges = BTreeMap<Vec<String>, BTreeMap<Vec<String>, Vec<usize>>>;

impl Crate {
    /// The sources by their paths below `src`.
    pub(super) fn new(sources: &BTreeMap<String, String>) -> Self {
        let has_library = sources.contains_key("lib.rs");
        let file = |(name, text): (&String, &String)| {
            let mut module: Vec<String> = name.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
            module.pop_if(|last| last == "mod");
            // The program of a library stands beside it: nobody imports it.
            if module == ["lib"] || (module == ["main"] && !has_library) {
                module.clear();
            }
            (module, File { name: name.clone(), imports: imports(name, text) })
        };
        Self { files: sources.iter().map(file).collect() }
    }

    /// One circle of each knot, import by import.
    pub(super) fn circles(&self) -> Vec<String> {
        let edges = self.edges();
        circles(&edges).iter().map(|circle| self.in_words(circle, &edges)).collect()
    }

    fn in_words(&self, circle: &[Vec<String>], edges: &Edges) -> String {
        let next = circle.iter().cycle().skip(1);
        let arrows = circle.iter().zip(next).map(|(from, to)| {
            format!("{}:{} imports {}", self.files[from].name, edges[from][to][0], self.files[to].name)
        });
        format!("circle: {}", arrows.collect::<Vec<_>>().join("; "))
    }

    /// The imports that count.
    fn edges(&self) -> Edges {
        let mut edges = Edges::new();
        for (module, file) in &self.files {
            let from = edges.entry(module.clone()).or_default();
            for import in &file.imports {
                let at = [module.as_slice(), &import.within].concat();
                for to in self.leads_to(&at, &import.path, &mut BTreeSet::new()) {
                    // A file's way up does not count.
                    if !module.starts_with(&to) {
                        from.entry(to).or_default().push(import.line);
                    }
                }
            }
        }
        edges
    }

    /// The files that a path in the module `at` leads to: the one that it names, and where that re-exports, the one that defines.
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

/// The shortest way.
fn path(from: &Vec<String>, to: &Vec<String>, edges: &Edges) -> Option<Vec<Vec<String>>> {
    let mut came_from: BTreeMap<&Vec<String>, &Vec<String>> = BTreeMap::new();
    let mut open = VecDeque::from([from]);
    while let Some(module) = open.pop_front() {
        if module == to {
            let mut way = vec![to.clone()];
            while let Some(before) = way.last().filter(|last| *last != from).map(|last| came_from[last]) {
                way.push(before.clone());
            }
            way.reverse();
            return Some(way);
        }
        for next in edges[module].keys() {
            if next != from && !came_from.contains_key(next) {
                came_from.insert(next, module);
                open.push_back(next);
            }
        }
    }
    None
}

/// Of each knot of circles, one circle: the first import of the first file, and the shortest way back.
fn circles(edges: &Edges) -> Vec<Vec<Vec<String>>> {
    let mut told: BTreeSet<Vec<String>> = BTreeSet::new();
    let mut found = Vec::new();
    for (from, to) in edges {
        let circle = to.keys().find_map(|next| path(next, from, edges));
        let Some(mut circle) = circle.filter(|circle| circle.iter().all(|module| !told.contains(module))) else {
            continue;
        };
        told.extend(circle.iter().cloned());
        circle.rotate_right(1);
        found.push(circle);
    }
    found
}
