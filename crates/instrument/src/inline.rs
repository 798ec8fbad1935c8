//! Inlines small functions before tracing.
//!
//! A traced function is large, so LLVM would not inline it afterwards, and the
//! price of a call in the concrete copy is paid for every `getc`. What is inlined here is
//! what any compiler would inline: small functions whose body is known.
//!
//! Nothing is lost for those who read traces: each inlined copy of a site gets an id
//! of its own, and the table says which site it is a copy of and through which
//! calls it came here, so that call stacks stay complete.

use std::collections::{HashMap, HashSet};

use llvm_sys::LLVMLinkage;
use parallax_record::{Site, SiteTable};

use crate::ir::{LLVMOpcode, Value};
use crate::module::Module;
use crate::sites::inlined_id;

/// Functions with at most this many instructions are inlined.
const SMALL: usize = 40;
/// A function stops growing at this size.
const LARGE: usize = 4000;

/// Inlines within the whole module; adds the copies' sites to the table.
pub fn inline_small_functions(module: &Module, table: &mut SiteTable) {
    let functions: Vec<Value> = module
        .functions()
        .into_iter()
        .filter(|function| !function.is_declaration())
        .collect();
    let small: HashSet<Value> = functions
        .iter()
        .copied()
        .filter(|function| is_small(*function))
        .collect();
    let mut sites = Copies::new(table);
    // Small functions first, so that what they call is inside them already
    // when they are inlined themselves.
    let (inner, outer): (Vec<Value>, Vec<Value>) = functions
        .iter()
        .partition(|function| small.contains(function));
    for function in inner.into_iter().chain(outer) {
        inline_into(module, function, &small, &mut sites);
    }
    sites.finish(table);
}

fn instruction_count(function: Value) -> usize {
    function
        .blocks()
        .iter()
        .map(|block| block.instructions().len())
        .sum()
}

fn is_small(function: Value) -> bool {
    use LLVMOpcode::*;
    // A definition that the linker may replace by another one is not known.
    let known = matches!(
        function.linkage(),
        LLVMLinkage::LLVMInternalLinkage
            | LLVMLinkage::LLVMPrivateLinkage
            | LLVMLinkage::LLVMLinkOnceODRLinkage
    );
    known
        && !function.has_attribute("noinline")
        && !function.has_attribute("naked")
        && !function.has_attribute("returns_twice")
        && !function.function_type().is_variadic()
        && instruction_count(function) <= SMALL
        && function
            .blocks()
            .iter()
            .flat_map(|block| block.instructions())
            .all(|instruction| match instruction.opcode() {
                LLVMIndirectBr | LLVMInvoke | LLVMCallBr | LLVMLandingPad | LLVMAlloca => false,
                LLVMCall => {
                    instruction.called_value() != function
                        && !instruction.returns_twice()
                        && !instruction.is_must_tail()
                }
                _ => true,
            })
}

fn inline_into(module: &Module, function: Value, small: &HashSet<Value>, copies: &mut Copies) {
    let name = function.name();
    let mut size = instruction_count(function);
    let calls: Vec<Value> = function
        .blocks()
        .iter()
        .flat_map(|block| block.instructions())
        .filter(|instruction| {
            instruction.opcode() == LLVMOpcode::LLVMCall
                && small.contains(&instruction.called_value())
                && instruction.called_value() != function
                && instruction.called_type() == instruction.called_value().function_type()
        })
        .collect();
    for call in calls {
        let Some(call_site) = call.number(module.site_kind) else {
            continue;
        };
        if size > LARGE {
            break;
        }
        let mut before: HashSet<Value> = function
            .blocks()
            .iter()
            .flat_map(|block| block.instructions())
            .collect();
        if !call.inline_call() {
            continue;
        }
        // The call is gone, and a new instruction may have its address.
        before.remove(&call);
        for instruction in function
            .blocks()
            .iter()
            .flat_map(|block| block.instructions())
        {
            if before.contains(&instruction) {
                continue;
            }
            size += 1;
            for kind in [module.site_kind, module.block_kind] {
                if let Some(site) = instruction.number(kind) {
                    instruction.set_number(kind, copies.copy(&name, site, call_site));
                }
            }
        }
    }
}

/// The copies' entries of the table.
struct Copies {
    known: HashMap<u64, Site>,
    /// By the name of the function that they are in now.
    added: Vec<(String, u64)>,
    made: HashSet<u64>,
}

impl Copies {
    fn new(table: &SiteTable) -> Copies {
        let known = table
            .functions
            .iter()
            .flat_map(|function| function.sites.iter().map(|site| (site.id, site.clone())))
            .collect();
        Copies {
            known,
            added: Vec::new(),
            made: HashSet::new(),
        }
    }

    /// Id of the copy of `site` made by inlining the call at `call`.
    fn copy(&mut self, function: &str, site: u64, call: u64) -> u64 {
        let id = inlined_id(site, call);
        if self.made.insert(id)
            && let Some(old) = self.known.get(&site)
        {
            let mut new = old.clone();
            new.id = id;
            new.original = if old.original == 0 {
                site
            } else {
                old.original
            };
            new.within.insert(0, call);
            self.known.insert(id, new);
            self.added.push((function.to_owned(), id));
        }
        id
    }

    fn finish(self, table: &mut SiteTable) {
        let mut by_name: HashMap<&str, usize> = HashMap::new();
        for (index, function) in table.functions.iter().enumerate() {
            by_name.insert(&function.name, index);
        }
        let places: Vec<Option<usize>> = self
            .added
            .iter()
            .map(|(function, _)| by_name.get(function.as_str()).copied())
            .collect();
        for ((_, id), place) in self.added.iter().zip(places) {
            if let Some(place) = place {
                table.functions[place].sites.push(self.known[id].clone());
            }
        }
    }
}
