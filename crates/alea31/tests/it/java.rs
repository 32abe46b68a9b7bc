//! Two containers of Java as far as a plan depends on their order, in slow and obvious form.

/// Lists keys like `HashMap<Double, …>.keySet()`: a table of bins that doubles, every key put in one by one.
pub(crate) fn hash_map_order(keys: &[f64]) -> Vec<f64> {
    let mut table: Vec<Vec<f64>> = vec![Vec::new(); 16];
    let mut size = 0;
    for key in keys {
        let bin = bin_of(*key, table.len());
        if table[bin].contains(key) {
            continue;
        }
        table[bin].push(*key);
        size += 1;
        if f64::from(size) > 0.75 * table.len() as f64 {
            let mut larger = vec![Vec::new(); 2 * table.len()];
            for key in table.into_iter().flatten() {
                let bin = bin_of(key, larger.len());
                larger[bin].push(key);
            }
            table = larger;
        }
    }
    table.into_iter().flatten().collect()
}

fn bin_of(key: f64, bins: usize) -> usize {
    let bits = key.to_bits();
    let hash = (bits & 0xffff_ffff) ^ (bits >> 32);
    usize::try_from((hash ^ (hash >> 16)) % bins as u64).expect("fewer than the bins")
}

/// Binary heap of Alea, from 1 on, by swaps.
#[derive(Default)]
pub(crate) struct Heap(Vec<(f64, u32)>);

impl Heap {
    pub(crate) fn insert(&mut self, at: f64, processors: u32) {
        self.0.push((at, processors));
        let mut place = self.0.len();
        while place > 1 && self.0[place - 1].0 < self.0[place / 2 - 1].0 {
            self.0.swap(place - 1, place / 2 - 1);
            place /= 2;
        }
    }

    pub(crate) fn delete_min(&mut self) -> (f64, u32) {
        let min = self.0.swap_remove(0);
        let mut place = 1;
        while 2 * place <= self.0.len() {
            let (left, right) = (2 * place, 2 * place + 1);
            let is_right = right <= self.0.len() && self.0[right - 1].0 < self.0[left - 1].0;
            let child = if is_right { right } else { left };
            if self.0[child - 1].0 >= self.0[place - 1].0 {
                break;
            }
            self.0.swap(child - 1, place - 1);
            place = child;
        }
        min
    }

    pub(crate) fn min(&mut self) -> &mut (f64, u32) {
        &mut self.0[0]
    }

    pub(crate) fn slots(&self) -> &[(f64, u32)] {
        &self.0
    }
}
