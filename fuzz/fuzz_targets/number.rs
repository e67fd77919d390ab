#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rbenchstat_fuzz::number::check(data));
