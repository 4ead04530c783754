#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| flashgc_fuzz::drive(data));
