//! Where values live when control can come from either copy of a function.
//!
//! A value that the symbolic copy defines in one segment and uses in another has a slot in
//! the stack frame: the symbolic copy stores it after its definition and loads
//! it at the start of each segment that uses it. The concrete copy knows nothing
//! of slots until it jumps over: then it stores the values that are *live* at
//! the target, and clears all labels, because none of its values has one.
//!
//! The symbolic copy is another function ([`outline`](crate::outline)), so what it uses of the
//! first one's, parameters and variables on the stack, has slots too: *outer* values, stored on
//! the way over whatever the target.

use std::collections::{HashMap, HashSet};

use llvm_sys::core::*;

use crate::ir::{Block, Builder, LLVMOpcode, Type, Value};
use crate::module::Module;

/// Place of one value.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Home {
    Value(u32),
    Label(u32),
}

/// The slots of one function.
pub struct Slots<'m> {
    module: &'m Module,
    homes: HashMap<Value, Home>,
    /// What the concrete copy stores for each value slot; slots of outer values follow.
    originals: Vec<Value>,
    outer: Vec<Value>,
    label_count: u32,
    /// The slots, as the concrete copy addresses them: values, then labels.
    state: Value,
    /// The same, as the symbolic copy does.
    parameter: Value,
    value_type: Type,
    /// One load per slot and block.
    loads: HashMap<(Home, Block), Value>,
    /// Value slots that are live at the start of a block, as bits.
    live: HashMap<Block, Vec<u64>>,
}

impl<'m> Slots<'m> {
    /// Moves everything in `blocks` that crosses blocks into slots. `original` gives the
    /// concrete copy's counterpart; what has none is a label. `placeholders` stand for
    /// labels that are set before the symbolic copy is entered. The slots are made before `anchor`;
    /// the blocks' function finds them through `parameter`.
    pub fn new(
        module: &'m Module,
        anchor: Value,
        blocks: &[Block],
        original: &HashMap<Value, Value>,
        placeholders: &[Value],
        parameter: Value,
    ) -> Slots<'m> {
        let inside: HashSet<Block> = blocks.iter().copied().collect();
        let outer = outer_values(blocks, &inside, placeholders);
        let mut homes = HashMap::new();
        let mut originals = Vec::new();
        let mut label_count = 0;
        let mut order: Vec<Value> = placeholders.to_vec();
        order.extend(
            blocks
                .iter()
                .flat_map(|block| block.instructions())
                .filter(|instruction| crosses(*instruction)),
        );
        for value in &order {
            let home = match original.get(value) {
                Some(original) => {
                    originals.push(*original);
                    Home::Value(originals.len() as u32 - 1)
                }
                None => {
                    label_count += 1;
                    Home::Label(label_count - 1)
                }
            };
            homes.insert(*value, home);
        }
        let types: Vec<Type> = originals
            .iter()
            .chain(&outer)
            .map(|value| value.ty())
            .collect();
        let value_type = module.structure(&types);
        let builder = module.builder();
        builder.before(anchor);
        let labels = module.array(module.i32, u64::from(label_count));
        let state = builder.alloca(module.structure(&[value_type, labels]));
        let mut slots = Slots {
            module,
            homes,
            originals,
            outer,
            label_count,
            state,
            parameter,
            value_type,
            loads: HashMap::new(),
            live: HashMap::new(),
        };
        for value in order {
            slots.demote(value, placeholders.contains(&value));
        }
        slots.compute_liveness(blocks);
        for index in 0..slots.outer.len() {
            let value = slots.outer[index];
            let home = slots.outer_home(index);
            slots.replace_uses(value, home, |user| inside.contains(&user));
        }
        slots
    }

    /// Address of the slots in the concrete copy, for use in one block. Each block hides anew
    /// where it comes from: LLVM's optimiser looks at all uses of a variable on the stack again
    /// and again, and a large function stores to the slots in thousands of places (measured: half
    /// of all the time spent on sqlite).
    pub fn state(&self, builder: &Builder) -> Value {
        builder.opaque(self.state)
    }

    /// Whether the value has a slot: somebody elsewhere uses it.
    pub fn contains(&self, value: Value) -> bool {
        self.homes.contains_key(&value)
    }

    /// Stores what a jump from the concrete copy to `target` must bring along.
    pub fn enter(&self, builder: &Builder, state: Value, target: Block) {
        let live = &self.live[&target];
        for (index, original) in self.originals.iter().enumerate() {
            if live[index / 64] >> (index % 64) & 1 != 0 {
                let address = self.address(builder, state, Home::Value(index as u32));
                builder.store(*original, address);
            }
        }
    }

    /// Clears all labels: a value that comes from the concrete copy has none.
    pub fn clear_labels(&self, builder: &Builder, state: Value) {
        if self.label_count == 0 {
            return;
        }
        let (zero, size) = (self.module.number(self.module.i8, 0), 4 * self.label_count);
        let labels = self.address(builder, state, Home::Label(0));
        unsafe {
            LLVMBuildMemSet(
                builder.raw(),
                labels.0,
                zero.0,
                self.module.n64(u64::from(size)).0,
                4,
            );
        }
    }

    /// Sets a label, after [`Slots::clear_labels`].
    pub fn set_label(&self, builder: &Builder, state: Value, label: Value, value: Value) {
        if let Some(home) = self.homes.get(&label) {
            builder.store(value, self.address(builder, state, *home));
        }
    }

    /// Stores parameters, addresses of variables on the stack and the like.
    pub fn store_outer(&self, builder: &Builder, state: Value) {
        for (index, value) in self.outer.iter().enumerate() {
            let home = self.outer_home(index);
            builder.store(*value, self.address(builder, state, home));
        }
    }

    fn outer_home(&self, index: usize) -> Home {
        Home::Value((self.originals.len() + index) as u32)
    }

    fn address(&self, builder: &Builder, base: Value, home: Home) -> Value {
        let module = self.module;
        let offset = match home {
            Home::Value(field) => module.field_offset(self.value_type, field),
            Home::Label(index) => {
                module.alloc_size(self.value_type).next_multiple_of(4) + 4 * u64::from(index)
            }
        };
        builder.offset(module.i8, base, module.n64(offset))
    }

    fn demote(&mut self, value: Value, is_placeholder: bool) {
        let home = self.homes[&value];
        let own = value.parent();
        self.replace_uses(value, home, |user| user != own);
        if !is_placeholder {
            let builder = self.module.builder();
            builder.after(value);
            let address = self.address(&builder, self.parameter, home);
            builder.store(value, address);
        }
    }

    /// Makes users in the blocks that `reads_slot` names read the slot.
    fn replace_uses(&mut self, value: Value, home: Home, reads_slot: impl Fn(Block) -> bool) {
        for user in value.users() {
            if user.opcode() == LLVMOpcode::LLVMPHI {
                for (index, (incoming, from)) in user.incoming().into_iter().enumerate() {
                    if incoming == value && reads_slot(from) {
                        let load = self.load_in(home, value.ty(), from);
                        user.set_operand(index as u32, load);
                    }
                }
            } else if reads_slot(user.parent()) {
                let load = self.load_in(home, value.ty(), user.parent());
                for index in 0..user.operand_count() {
                    if user.operand(index) == value {
                        user.set_operand(index, load);
                    }
                }
            }
        }
    }

    fn load_in(&mut self, home: Home, ty: Type, block: Block) -> Value {
        if let Some(load) = self.loads.get(&(home, block)) {
            return *load;
        }
        let builder = self.module.builder();
        builder.before(block.first_after_phis());
        let address = self.address(&builder, self.parameter, home);
        let load = builder.load(ty, address);
        self.loads.insert((home, block), load);
        load
    }

    /// Backward data flow: a slot is live at a block's start if the block loads it, or if it is live
    /// at the end and the block does not store it.
    fn compute_liveness(&mut self, blocks: &[Block]) {
        let words = self.originals.len().div_ceil(64);
        let mut uses: HashMap<Block, Vec<u64>> = blocks
            .iter()
            .map(|block| (*block, vec![0; words]))
            .collect();
        let mut definitions = uses.clone();
        let mark = |sets: &mut HashMap<Block, Vec<u64>>, block: Block, index: u32| {
            let set = sets.entry(block).or_insert_with(|| vec![0; words]);
            set[index as usize / 64] |= 1 << (index % 64);
        };
        for (home, block) in self.loads.keys() {
            if let Home::Value(index) = home {
                mark(&mut uses, *block, *index);
            }
        }
        for (value, home) in &self.homes {
            if let Home::Value(index) = home {
                mark(&mut definitions, value.parent(), *index);
            }
        }
        let mut predecessors: HashMap<Block, Vec<Block>> = HashMap::new();
        for block in blocks {
            let terminator = block.terminator();
            for index in 0..terminator.successor_count() {
                predecessors
                    .entry(terminator.successor(index))
                    .or_default()
                    .push(*block);
            }
        }
        let mut live = uses.clone();
        let mut work: Vec<Block> = blocks.to_vec();
        while let Some(block) = work.pop() {
            let at_start = live[&block].clone();
            for predecessor in predecessors.get(&block).into_iter().flatten() {
                let defined = &definitions[predecessor];
                let before = live.get_mut(predecessor).expect("all blocks are there");
                let mut changed = false;
                for word in 0..words {
                    let more = before[word] | (at_start[word] & !defined[word]);
                    changed |= more != before[word];
                    before[word] = more;
                }
                if changed {
                    work.push(*predecessor);
                }
            }
        }
        self.live = live;
    }
}

/// Whether a block other than its own uses the instruction's value.
fn crosses(instruction: Value) -> bool {
    let block = instruction.parent();
    instruction.users().into_iter().any(|user| {
        if user.opcode() == LLVMOpcode::LLVMPHI {
            user.incoming()
                .iter()
                .any(|(value, from)| *value == instruction && *from != block)
        } else {
            user.parent() != block
        }
    })
}

/// Values that the blocks use and other blocks of the original function define, in order of use.
fn outer_values(blocks: &[Block], inside: &HashSet<Block>, placeholders: &[Value]) -> Vec<Value> {
    let mut known: HashSet<Value> = placeholders.iter().copied().collect();
    let mut outer = Vec::new();
    for instruction in blocks.iter().flat_map(|block| block.instructions()) {
        for operand in instruction.operands() {
            let is_outer = operand.is_argument()
                || (operand.is_instruction() && !inside.contains(&operand.parent()));
            if is_outer && known.insert(operand) {
                outer.push(operand);
            }
        }
    }
    outer
}
