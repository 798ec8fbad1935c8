//! From site ids to places in the program.

use std::collections::HashMap;

use parallax_abi::SiteId;

use super::{BlockId, Program};

/// An instruction: a block, and a number in it. The terminator has the number after the last instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Spot {
    pub block: BlockId,
    pub number: u32,
}

#[derive(Debug, Default)]
pub(super) struct Index {
    blocks: HashMap<SiteId, Vec<BlockId>>,
    spots: HashMap<SiteId, Vec<Spot>>,
}

impl Index {
    pub(super) fn new(program: &Program) -> Index {
        let mut index = Index::default();
        for id in program.block_ids() {
            let block = program.block(id);
            index.blocks.entry(block.site).or_default().push(id);
            for (number, place) in (0..).zip(block.places()) {
                if place.site != 0 {
                    let spot = Spot { block: id, number };
                    index
                        .spots
                        .entry(SiteId(place.site))
                        .or_default()
                        .push(spot);
                }
            }
        }
        index
    }
}

impl Program {
    /// All copies of the block with this site, or of the block that has the instruction with this site.
    pub fn blocks_of(&self, site: SiteId) -> Vec<BlockId> {
        match self.sites.blocks.get(&site) {
            Some(blocks) => blocks.clone(),
            None => {
                let spots = self.instructions_of(site).iter();
                spots.map(|spot| spot.block).collect()
            }
        }
    }

    /// All copies of the instruction with this site.
    pub fn instructions_of(&self, site: SiteId) -> &[Spot] {
        self.sites.spots.get(&site).map_or(&[], Vec::as_slice)
    }
}
