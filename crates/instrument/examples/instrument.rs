//! Instruments one bitcode file: `instrument IN.bc OUT.bc`. For looking at what the pass does.
#![allow(clippy::print_stderr)]

use std::ffi::CString;

use llvm_sys::bit_writer::LLVMWriteBitcodeToFile;
use llvm_sys::core::*;
use llvm_sys::ir_reader::LLVMParseIRInContext;
use parallax_instrument::{Mode, instrument};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, input, output] = arguments.as_slice() else {
        eprintln!("usage: instrument IN.bc OUT.bc");
        std::process::exit(2);
    };
    let input = CString::new(input.as_str()).expect("no NUL in arguments");
    let output = CString::new(output.as_str()).expect("no NUL in arguments");
    unsafe {
        let context = LLVMContextCreate();
        let (mut buffer, mut module, mut message) = (
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            std::ptr::null_mut(),
        );
        assert_eq!(
            LLVMCreateMemoryBufferWithContentsOfFile(input.as_ptr(), &mut buffer, &mut message),
            0
        );
        assert_eq!(
            LLVMParseIRInContext(context, buffer, &mut module, &mut message),
            0
        );
        let result = instrument(module, Mode::Traced);
        LLVMWriteBitcodeToFile(module, output.as_ptr());
        if let Err(error) = result {
            eprintln!("{error}");
            std::process::exit(1);
        }
    }
}
