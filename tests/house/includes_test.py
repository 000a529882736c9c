"""Fails on an include against the direction of docs/decisions/0001-house.md, and on a file that is too long."""
import pathlib
import re
import sys

# What each folder of src/ may include, beside itself.
MAY = {
    "base": set(),
    "quant": {"base"},
    "weights": {"base", "quant"},
    "backend": {"base", "quant"},
    "model": {"base", "quant", "weights", "backend"},
    "text": {"base", "weights"},
    "engine": {"base", "quant", "weights", "backend", "model", "text"},
    "convert": {"base", "quant", "weights", "backend", "model", "text", "engine"},
    "api": {"base", "text", "engine"},
    "net": {"base"},
    "hub": {"base"},
    "app": {"base", "quant", "weights", "backend", "model", "text", "engine", "convert", "api", "net", "hub"},
}
LONGEST = 400
GENERATED = {"src/text/unicode/table.cpp"}

root = pathlib.Path(sys.argv[1])
faults = []
for path in sorted((root / "src").rglob("*")):
    if path.suffix not in {".h", ".cpp", ".inl", ".rs"} or "target" in path.parts:
        continue
    name = path.relative_to(root).as_posix()
    folder = name.split("/")[1]
    lines = path.read_text(encoding="utf-8").splitlines()
    if len(lines) > LONGEST and name not in GENERATED and ".inc" not in name:
        faults.append(f"{name}: {len(lines)} lines, at most {LONGEST} are wanted")
    if folder not in MAY:
        faults.append(f"{name}: the folder {folder} is not in the house")
        continue
    for number, line in enumerate(lines, 1):
        match = re.match(r'\s*#include "([a-z_0-9]+)/(.+)"', line)
        if not match or match[1] not in MAY:
            continue
        if match[1] != folder and match[1] not in MAY[folder]:
            faults.append(f"{name}:{number}: {folder} may not include {match[1]}/{match[2]}")
        if folder != "backend" and match[1] == "backend" and re.match(r"(cpu|metal|cuda)/", match[2]):
            faults.append(f"{name}:{number}: only backend/factory.cpp may know a backend's folder")
for fault in faults:
    print(fault)
sys.exit(1 if faults else 0)
