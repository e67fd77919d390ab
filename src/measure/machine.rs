//! What the machine is like for measuring.

use std::fs;
use std::path::Path;
use std::time::Duration;

/// What to tell before measuring; only Linux says so much about itself.
#[must_use]
pub fn remarks() -> Vec<String> {
    let root = Path::new("/");
    let busy = busy(root);
    std::thread::sleep(Duration::from_millis(300));
    let load = busy
        .zip(self::busy(root))
        .and_then(|(before, after)| load(before, after));
    let settings = [battery(root), governor(root), limit(root)];
    load.into_iter()
        .chain(settings.into_iter().flatten())
        .collect()
}

fn read(path: &Path) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

/// The ticks of all processors since the start of the machine, and how many of them did something.
#[derive(Clone, Copy, Debug)]
struct Ticks {
    busy: f64,
    all: f64,
    processors: f64,
}

fn busy(root: &Path) -> Option<Ticks> {
    let text = read(&root.join("proc/stat"))?;
    let processors = text.lines().filter(|line| line.starts_with("cpu")).count();
    let ticks: Vec<f64> = text
        .lines()
        .next()?
        .split_whitespace()
        .skip(1)
        .map_while(|tick| tick.parse().ok())
        .collect();
    // user nice system idle iowait irq softirq steal; what follows is counted in user too.
    let all: f64 = ticks.iter().take(8).sum();
    let idle = ticks.get(3)? + ticks.get(4)?;
    Some(Ticks {
        busy: all - idle,
        all,
        processors: processors.checked_sub(1)? as f64,
    })
}

/// Half a core that others use is told.
fn load(before: Ticks, after: Ticks) -> Option<String> {
    let ticks = after.all - before.all;
    let cores = (after.busy - before.busy) / ticks * after.processors;
    (ticks > 0.0 && cores > 0.5).then(|| {
        format!(
            "other programs keep {cores:.1} of {} cores busy: what is measured now varies more",
            after.processors
        )
    })
}

fn battery(root: &Path) -> Option<String> {
    let supplies = fs::read_dir(root.join("sys/class/power_supply")).ok()?;
    let is_in_use = supplies.flatten().any(|supply| {
        let says =
            |name: &str, what: &str| read(&supply.path().join(name)).as_deref() == Some(what);
        says("type", "Battery") && says("status", "Discharging")
    });
    is_in_use
        .then(|| "the machine runs on its battery, which slows it down at times: plug it in".into())
}

fn governor(root: &Path) -> Option<String> {
    let policies = fs::read_dir(root.join("sys/devices/system/cpu/cpufreq")).ok()?;
    let saves = policies.flatten().find_map(|policy| {
        let says = |name: &str| read(&policy.path().join(name)).unwrap_or_default();
        let (governor, driver) = (says("scaling_governor"), says("scaling_driver"));
        // With these drivers, `powersave` is the usual governor, and the preference tells what it does.
        if driver == "intel_pstate"
            || driver.starts_with("amd-pstate")
            || driver.starts_with("amd_pstate")
        {
            let preference = says("energy_performance_preference");
            return matches!(preference.as_str(), "power" | "balance_power").then_some(preference);
        }
        matches!(governor.as_str(), "powersave" | "conservative").then_some(governor)
    })?;
    Some(format!(
        "the processor saves power ({saves}): set its governor to performance"
    ))
}

/// A container may use less than the cores that it sees, and is stopped for the rest of each period.
fn limit(root: &Path) -> Option<String> {
    let own = read(&root.join("proc/self/cgroup"))?;
    let own = own
        .lines()
        .find_map(|line| line.strip_prefix("0::/"))?
        .to_owned();
    let cores = read(&root.join("proc/stat"))?
        .lines()
        .filter(|line| line.starts_with("cpu"))
        .count()
        .checked_sub(1)? as f64;
    let groups = root.join("sys/fs/cgroup");
    let limits = Path::new(&own).ancestors().filter_map(|group| {
        let text = read(&groups.join(group).join("cpu.max"))?;
        let (quota, period) = text.split_once(' ')?;
        Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?)
    });
    let least = limits.fold(f64::INFINITY, f64::min);
    (least < cores).then(|| {
        format!(
            "this container may use {least:.1} of {cores} cores: more at once is stopped for a while; -cpu {} stays within",
            least.floor().max(1.0)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn half_a_core_of_others_is_told() {
        let at = |user: u32, idle: u32| {
            let root = machine(&[(
                "proc/stat",
                &format!("cpu  {user} 0 0 {idle} 0 0 0 0 0 0\ncpu0 1\ncpu1 1\nintr 5\n"),
            )]);
            busy(root.path()).unwrap()
        };
        let remark = load(at(100, 1000), at(130, 1030)).unwrap();
        assert!(
            remark.starts_with("other programs keep 1.0 of 2 cores busy"),
            "{remark}"
        );
        assert_eq!(load(at(100, 1000), at(110, 1050)), None);
        assert_eq!(load(at(100, 1000), at(100, 1000)), None);
    }

    #[test]
    fn a_battery_in_use_is_told() {
        let status = |status| {
            battery(
                machine(&[
                    ("sys/class/power_supply/BAT0/type", "Battery\n"),
                    ("sys/class/power_supply/BAT0/status", status),
                ])
                .path(),
            )
        };
        assert!(status("Discharging\n").is_some());
        assert_eq!(status("Full\n"), None);
    }

    fn governor_of(driver: &str, set: &str, preference: &str) -> Option<String> {
        let policy = "sys/devices/system/cpu/cpufreq/policy0/";
        governor(
            machine(&[
                (&format!("{policy}scaling_driver"), driver),
                (&format!("{policy}scaling_governor"), set),
                (
                    &format!("{policy}energy_performance_preference"),
                    preference,
                ),
            ])
            .path(),
        )
    }

    #[test]
    fn a_governor_that_saves_power_is_told() {
        assert!(governor_of("acpi-cpufreq", "powersave", "").is_some());
        assert_eq!(governor_of("acpi-cpufreq", "performance", ""), None);
        assert_eq!(
            governor_of("intel_pstate", "powersave", "balance_performance"),
            None
        );
        assert!(governor_of("intel_pstate", "powersave", "balance_power").is_some());
    }

    fn limit_of(set: &str) -> Option<String> {
        limit(
            machine(&[
                ("proc/self/cgroup", "0::/a/b\n"),
                ("proc/stat", "cpu  1\ncpu0 1\ncpu1 1\n"),
                ("sys/fs/cgroup/a/cpu.max", set),
                ("sys/fs/cgroup/a/b/cpu.max", "max 100000\n"),
            ])
            .path(),
        )
    }

    #[test]
    fn a_limit_below_the_cores_is_told_wherever_it_is_set() {
        assert!(
            limit_of("150000 100000\n")
                .unwrap()
                .contains("1.5 of 2 cores")
        );
        assert_eq!(limit_of("200000 100000\n"), None);
        assert_eq!(limit_of("max 100000\n"), None);
    }
}
