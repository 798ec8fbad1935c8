//! The module under instrumentation, with the types and names that all parts use.

use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::target::*;
use parallax_abi::entry::symbol::MODEL_PREFIX;

use crate::ir::{Builder, Type, Value};

/// A module and what every part of the pass needs of it.
pub struct Module {
    pub raw: LLVMModuleRef,
    pub context: LLVMContextRef,
    pub layout: LLVMTargetDataRef,
    pub i1: Type,
    pub i8: Type,
    pub i32: Type,
    pub i64: Type,
    pub ptr: Type,
    pub void: Type,
    /// Metadata kind of site ids.
    pub site_kind: u32,
    /// Metadata kind of block ids, on every instruction.
    pub block_kind: u32,
    /// The module defines models: its calls reach the real functions, on purpose.
    pub is_model_library: bool,
}

impl Module {
    /// # Safety
    /// `raw` is a valid module, exclusively ours while the result lives.
    pub unsafe fn new(raw: LLVMModuleRef) -> Module {
        unsafe {
            let context = LLVMGetModuleContext(raw);
            let kind = |name: &str| {
                LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as u32)
            };
            let mut module = Module {
                raw,
                context,
                layout: LLVMGetModuleDataLayout(raw),
                i1: Type(LLVMInt1TypeInContext(context)),
                i8: Type(LLVMInt8TypeInContext(context)),
                i32: Type(LLVMInt32TypeInContext(context)),
                i64: Type(LLVMInt64TypeInContext(context)),
                ptr: Type(LLVMPointerTypeInContext(context, 0)),
                void: Type(LLVMVoidTypeInContext(context)),
                site_kind: kind("plx.site"),
                block_kind: kind("plx.block"),
                is_model_library: false,
            };
            module.is_model_library = module.functions().iter().any(|function| {
                !function.is_declaration() && function.name().starts_with(MODEL_PREFIX)
            });
            module
        }
    }

    pub fn functions(&self) -> Vec<Value> {
        let mut functions = Vec::new();
        unsafe {
            let mut at = LLVMGetFirstFunction(self.raw);
            while !at.is_null() {
                functions.push(Value(at));
                at = LLVMGetNextFunction(at);
            }
        }
        functions
    }

    pub fn globals(&self) -> Vec<Value> {
        let mut globals = Vec::new();
        unsafe {
            let mut at = LLVMGetFirstGlobal(self.raw);
            while !at.is_null() {
                globals.push(Value(at));
                at = LLVMGetNextGlobal(at);
            }
        }
        globals
    }

    pub fn function(&self, name: &str) -> Option<Value> {
        let name = std::ffi::CString::new(name).ok()?;
        let function = unsafe { LLVMGetNamedFunction(self.raw, name.as_ptr()) };
        (!function.is_null()).then_some(Value(function))
    }

    pub fn global(&self, name: &str) -> Option<Value> {
        let name = std::ffi::CString::new(name).ok()?;
        let global = unsafe { LLVMGetNamedGlobal(self.raw, name.as_ptr()) };
        (!global.is_null()).then_some(Value(global))
    }

    pub fn declare(&self, name: &str, ty: Type) -> Value {
        self.function(name).unwrap_or_else(|| {
            let name = std::ffi::CString::new(name).expect("no NUL in a symbol");
            Value(unsafe { LLVMAddFunction(self.raw, name.as_ptr(), ty.0) })
        })
    }

    /// Calls an inline helper or a runtime entry point.
    pub fn call(&self, builder: &Builder, name: &str, arguments: &[Value]) -> Value {
        let function = self.function(name).expect("helpers are linked in");
        builder.call(function.function_type(), function, arguments)
    }

    pub fn function_type(&self, result: Type, parameters: &[Type]) -> Type {
        let mut raw: Vec<LLVMTypeRef> = parameters.iter().map(|ty| ty.0).collect();
        Type(unsafe { LLVMFunctionType(result.0, raw.as_mut_ptr(), raw.len() as u32, 0) })
    }

    pub fn int(&self, width: u32) -> Type {
        Type(unsafe { LLVMIntTypeInContext(self.context, width) })
    }

    pub fn array(&self, element: Type, length: u64) -> Type {
        Type(unsafe { LLVMArrayType2(element.0, length) })
    }

    pub fn structure(&self, fields: &[Type]) -> Type {
        let mut raw: Vec<LLVMTypeRef> = fields.iter().map(|ty| ty.0).collect();
        Type(unsafe {
            LLVMStructTypeInContext(self.context, raw.as_mut_ptr(), raw.len() as u32, 0)
        })
    }

    pub fn number(&self, ty: Type, value: u64) -> Value {
        Value(unsafe { LLVMConstInt(ty.0, value, 0) })
    }

    pub fn n32(&self, value: u32) -> Value {
        self.number(self.i32, u64::from(value))
    }

    pub fn n64(&self, value: u64) -> Value {
        self.number(self.i64, value)
    }

    /// Bytes that a store of this type writes.
    pub fn store_size(&self, ty: Type) -> u64 {
        unsafe { LLVMStoreSizeOfType(self.layout, ty.0) }
    }

    /// Bytes between elements of an array of this type.
    pub fn alloc_size(&self, ty: Type) -> u64 {
        unsafe { LLVMABISizeOfType(self.layout, ty.0) }
    }

    pub fn alignment(&self, ty: Type) -> u64 {
        u64::from(unsafe { LLVMABIAlignmentOfType(self.layout, ty.0) })
    }

    pub fn bits(&self, ty: Type) -> u64 {
        unsafe { LLVMSizeOfTypeInBits(self.layout, ty.0) }
    }

    pub fn field_offset(&self, ty: Type, field: u32) -> u64 {
        unsafe { LLVMOffsetOfElement(self.layout, ty.0, field) }
    }

    pub fn is_sized(&self, ty: Type) -> bool {
        unsafe { LLVMTypeIsSized(ty.0) != 0 }
    }

    pub fn source_name(&self) -> String {
        let mut length = 0;
        unsafe {
            let bytes = LLVMGetSourceFileName(self.raw, &mut length);
            let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), length);
            String::from_utf8_lossy(bytes).into_owned()
        }
    }

    pub fn data_layout_text(&self) -> String {
        unsafe {
            std::ffi::CStr::from_ptr(LLVMGetDataLayoutStr(self.raw))
                .to_string_lossy()
                .into_owned()
        }
    }

    pub fn target_text(&self) -> String {
        unsafe {
            std::ffi::CStr::from_ptr(LLVMGetTarget(self.raw))
                .to_string_lossy()
                .into_owned()
        }
    }

    pub fn builder(&self) -> Builder {
        Builder::new(self.context)
    }

    /// A private C string in the module.
    pub fn string(&self, text: &str) -> Value {
        unsafe {
            let constant =
                LLVMConstStringInContext2(self.context, text.as_ptr().cast(), text.len(), 0);
            let global = LLVMAddGlobal(self.raw, LLVMTypeOf(constant), c"plx.name".as_ptr());
            LLVMSetInitializer(global, constant);
            LLVMSetLinkage(global, llvm_sys::LLVMLinkage::LLVMPrivateLinkage);
            LLVMSetGlobalConstant(global, 1);
            LLVMSetUnnamedAddress(global, llvm_sys::LLVMUnnamedAddr::LLVMGlobalUnnamedAddr);
            Value(global)
        }
    }

    /// A private variable of pointer type, null at start.
    pub fn private_pointer(&self) -> Value {
        unsafe {
            let global = LLVMAddGlobal(self.raw, self.ptr.0, c"plx.seen".as_ptr());
            LLVMSetInitializer(global, self.ptr.null().0);
            LLVMSetLinkage(global, llvm_sys::LLVMLinkage::LLVMPrivateLinkage);
            Value(global)
        }
    }

    /// Calls a function with constants before the program's own constructors run.
    pub fn add_constructor_calling(&self, function: Value, arguments: &[Value]) {
        let ty = self.function_type(self.void, &[]);
        let constructor =
            Value(unsafe { LLVMAddFunction(self.raw, c"plx.register".as_ptr(), ty.0) });
        constructor.set_linkage(llvm_sys::LLVMLinkage::LLVMInternalLinkage);
        let builder = self.builder();
        builder.at_end(constructor.append_block("entry"));
        builder.call(function.function_type(), function, arguments);
        unsafe { LLVMBuildRetVoid(builder.raw()) };
        self.add_constructor(constructor);
    }

    /// Runs a function before the program's own constructors.
    fn add_constructor(&self, function: Value) {
        const NAME: &std::ffi::CStr = c"llvm.global_ctors";
        let entry = self.structure(&[self.i32, self.ptr, self.ptr]);
        unsafe {
            let mut fields = [self.n32(1).0, function.0, self.ptr.null().0];
            let mut entries = vec![LLVMConstStructInContext(
                self.context,
                fields.as_mut_ptr(),
                3,
                0,
            )];
            if let Some(old) = self.global("llvm.global_ctors") {
                let list = LLVMGetInitializer(old.0);
                entries.extend(
                    (0..LLVMGetNumOperands(list) as u32).map(|index| LLVMGetOperand(list, index)),
                );
                LLVMDeleteGlobal(old.0);
            }
            let list = LLVMConstArray2(entry.0, entries.as_mut_ptr(), entries.len() as u64);
            let global = LLVMAddGlobal(self.raw, LLVMTypeOf(list), NAME.as_ptr());
            LLVMSetInitializer(global, list);
            LLVMSetLinkage(global, llvm_sys::LLVMLinkage::LLVMAppendingLinkage);
        }
    }

    /// Site of an instruction: its own, or else its block's.
    pub fn site(&self, instruction: Value) -> Value {
        let id = instruction
            .number(self.site_kind)
            .or_else(|| instruction.number(self.block_kind))
            .unwrap_or(0);
        self.n64(id)
    }

    pub fn metadata_kind(&self, name: &str) -> u32 {
        unsafe { LLVMGetMDKindIDInContext(self.context, name.as_ptr().cast(), name.len() as u32) }
    }
}
