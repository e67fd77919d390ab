#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rbenchstat_fuzz::filter::check(data));
