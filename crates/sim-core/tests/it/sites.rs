//! Sets of sites.

use sim_core::{SiteId, SiteSet};

#[test]
fn sites_from_127_on_belong_together_and_a_set_of_every_site_says_so() {
    let far = SiteSet::NONE.with(SiteId(5_000));
    assert!(far.contains(SiteId(127)) && far.contains(SiteId(u32::MAX)) && !far.contains(SiteId(126)));
    assert_eq!(Vec::from(far), [SiteId(127)]);
    assert!(SiteSet::from(Vec::from(SiteSet::ALL)).is_all() && !far.is_all());
}
