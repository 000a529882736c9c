"""make_gguf.py FOLDER: all.gguf, written by PyPI gguf with one tensor of each type, and the same weights
as it decodes them, in all.f32, one tensor after another in the order of types.txt."""
import sys
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType as T
from gguf import GGUFWriter
from gguf.quants import GGML_QUANT_SIZES, dequantize, quantize

FORMATS = ["F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q4_K", "Q5_K", "Q6_K",
           "Q2_K", "Q3_K", "IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ4_NL", "IQ4_XS",
           "TQ1_0", "TQ2_0", "MXFP4", "NVFP4"]
# Of the types that the reference does not write: where the half-precision fields of a block stand.
HALVES = {"Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "Q2_K": [80, 82], "Q3_K": [108], "IQ1_S": [0], "IQ1_M": [],
          "IQ2_XXS": [0], "IQ2_XS": [0], "IQ2_S": [0], "IQ3_XXS": [0], "IQ3_S": [0], "IQ4_NL": [0], "IQ4_XS": [0],
          "NVFP4": []}
if not hasattr(T, "NVFP4"):
    sys.exit("PyPI gguf is too old here: scripts/fixtures installs the one that tests/requirements.txt names")
folder = Path(sys.argv[1])
rng = np.random.default_rng(5)
writer = GGUFWriter(folder / "all.gguf", "llama")
writer.add_block_count(2)
writer.add_rope_freq_base(1e6)
writer.add_bool("test.yes", True)
writer.add_int8("test.i8", -7)
writer.add_uint64("test.u64", 2**64 - 1)
writer.add_array("test.ints", [1, -2, 3])
writer.add_array("test.floats", [0.5, -0.25])
writer.add_array("test.bools", [True, False, True])
writer.add_token_list(["a", "Ġb", "日本", ""])
writer.add_chat_template("{{ messages }}")
floats = []
for name in FORMATS:
    shape = (2, 3, 512)  # row-major; the file holds it reversed
    if name in HALVES:
        elements, size = GGML_QUANT_SIZES[T[name]]
        blocks = rng.integers(0, 256, (6 * 512 // elements, size), dtype=np.uint8)
        if name == "IQ1_M":
            blocks[:, 55] = 0x10  # the top of its scattered half: no NaN
        for at in HALVES[name]:
            blocks[:, at:at + 2] = (rng.standard_normal(len(blocks)) * 0.01).astype(np.float16).view(np.uint8).reshape(-1, 2)
        data = blocks.reshape(2, 3, -1)
    else:
        data = quantize((rng.standard_normal(shape) * 0.02).astype(np.float32), T[name])
    writer.add_tensor(f"w.{name}", data, raw_dtype=T[name])
    floats.append(np.asarray(dequantize(data, T[name]), np.float32).ravel())
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
(folder / "types.txt").write_text("\n".join(FORMATS) + "\n")
np.concatenate(floats).tofile(folder / "all.f32")
