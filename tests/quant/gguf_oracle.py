"""gguf_oracle.py QUANT_TOOL: every format's decoder and encoder against PyPI gguf, bit for bit."""
import subprocess
import sys

import numpy as np
from gguf import GGMLQuantizationType as T
from gguf.quants import GGML_QUANT_SIZES, dequantize, quantize

FORMATS = ["F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q4_K", "Q5_K", "Q6_K", "Q2_K", "Q3_K",
           "IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ4_NL", "IQ4_XS", "TQ1_0", "TQ2_0",
           "MXFP4", "NVFP4"]
# Where a block's half-precision fields stand; IQ1_M's is scattered.
HALVES = {"F16": [0], "Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2],
          "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "Q2_K": [80, 82], "Q3_K": [108], "IQ1_S": [0],
          "IQ2_XXS": [0], "IQ2_XS": [0], "IQ2_S": [0], "IQ3_XXS": [0], "IQ3_S": [0], "IQ4_NL": [0], "IQ4_XS": [0],
          "TQ1_0": [52], "TQ2_0": [64]}
ENCODED = ["F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1"]
if not hasattr(T, "NVFP4"):
    sys.exit("PyPI gguf is too old here: scripts/fixtures installs the one that tests/requirements.txt names")
rng = np.random.default_rng(20)
faults = []


def tool(verb, name, data, dtype):
    out = subprocess.run([sys.argv[1], verb, name], input=data.tobytes(), stdout=subprocess.PIPE, check=True).stdout
    return np.frombuffer(out, dtype)


def check(what, mine, theirs):
    """Equal bits, any NaN counting as any other."""
    if mine.shape != theirs.shape:
        faults.append(f"{what}: {mine.shape} values, {theirs.shape} expected")
        return
    same = mine.view(f"u{mine.itemsize}") == theirs.view(f"u{theirs.itemsize}")
    if mine.dtype == np.float32:
        same |= np.isnan(mine) & np.isnan(theirs)
    if not same.all():
        i = int(np.argmin(same))
        faults.append(f"{what}: {int((~same).sum())} of {same.size} differ, first at {i}: {mine[i]} is {theirs[i]}")


def random_blocks(name, count):
    size = GGML_QUANT_SIZES[T[name]][1]
    blocks = rng.integers(0, 256, (count, size), dtype=np.uint8)
    quarter = count // 4
    for at in HALVES.get(name, []):  # a quarter with scales of real weights; the rest any bits, inf and NaN too
        scale = (rng.standard_normal(quarter) * 0.01).astype(np.float16)
        blocks[:quarter, at:at + 2] = scale.view(np.uint8).reshape(-1, 2)
        # Then zeros, the smallest and largest subnormal, the smallest and largest normal, infinity, NaN; both signs.
        ends = np.array([0, 1, 0x3FF, 0x400, 0x7BFF, 0x7C00, 0x7E00], np.uint16)
        ends = np.concatenate([ends, ends | 0x8000]).view(np.uint8).reshape(-1, 2)
        blocks[quarter:quarter + 14 * 20, at:at + 2] = np.tile(ends, (20, 1))
    if name == "MXFP4":
        blocks[:256, 0] = np.arange(256)  # every scale
    if name == "NVFP4":
        blocks[:256, :4] = np.arange(256)[:, None]
    blocks[-1] = 0xFF
    blocks[-2] = 0
    blocks[-3] = 0x7F
    blocks[-4] = 0x80
    return blocks


def weights(count, size):
    rows = rng.standard_normal((count, size)) * np.exp2(rng.integers(-12, 6, (count, 1)))
    rows[0] = 0
    rows[1] = 1.5                         # no spread
    rows[2] = np.round(rows[2] * 64) / 64 + 0.0  # ties; no -0, whose place in a minimum numpy leaves open
    rows[3, : size // 2] = 0
    rows[4] *= 1e-6                       # scales that are subnormal in half precision
    rows[5] *= 1e4
    return np.ascontiguousarray(rows, np.float32)


with np.errstate(all="ignore"):
    for name in FORMATS:
        blocks = random_blocks(name, 4000)
        check(f"decode {name}", tool("decode", name, blocks, np.float32), dequantize(blocks, T[name]).ravel())
    halves = np.arange(65536, dtype=np.uint16)
    for name in ["F16", "BF16"]:
        theirs = dequantize(halves.view(np.uint8).reshape(-1, 2), T[name]).ravel()
        check(f"decode all of {name}", tool("decode", name, halves, np.float32), theirs)
    for name in ENCODED:
        rows = weights(20000, 32)
        theirs = quantize(rows, T[name]).ravel().view(np.uint8)
        check(f"encode {name}", tool("encode", name, rows, np.uint8), theirs)
    # Models trained to be ternary: where the library's rounding and the least squares of this build are one.
    ternary = rng.integers(-1, 2, (500, 256)) * np.exp2(rng.uniform(-10, 10, (500, 1)))
    ternary[0] = 0
    ternary[1, 1:] = 0
    for name in ["TQ1_0", "TQ2_0"]:
        rows = np.ascontiguousarray(ternary, np.float32)
        theirs = quantize(rows, T[name]).ravel().view(np.uint8)
        check(f"encode ternary {name}", tool("encode", name, rows, np.uint8), theirs)
    # Every rounding case of the short floats: all patterns of the upper half, with telling lower halves.
    low = np.array([0, 1, 0xFFF, 0x1000, 0x1001, 0x7FFF, 0x8000, 0x8001, 0xFFFF], np.uint32)
    bits = ((halves.astype(np.uint32)[:, None] << 16) | low).ravel()
    floats = bits.view(np.float32)
    floats = floats[~np.isnan(floats)]
    for name in ["F16", "BF16"]:
        theirs = quantize(floats.reshape(-1, 1), T[name]).ravel().view(np.uint16)
        check(f"encode all of {name}", tool("encode", name, floats, np.uint16), theirs)

for fault in faults:
    print(fault)
sys.exit(1 if faults else 0)
