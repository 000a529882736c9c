"""Writes tests/weights/planes: quantised matrices as each library stores them, and what they mean ("X.want", float32).

MLX's own codes and values come from the library (pip install "mlx[cpu]" ml_dtypes numpy); the others are random codes with the
values that the formats' equations give, computed here apart from the engine. The result is committed: run it only to change it.
"""

import json
import pathlib
import struct

import ml_dtypes
import mlx.core as mx
import numpy as np

OUT = pathlib.Path(__file__).parent / "planes"
random = np.random.default_rng(7)
mx.set_default_device(mx.cpu)
tensors, settings = {}, {}
DTYPES = {"float32": "F32", "bfloat16": "BF16", "float16": "F16", "uint32": "U32", "uint8": "U8", "int32": "I32", "int64": "I64",
          "float8_e4m3fn": "F8_E4M3"}


def of_mlx(array):
    if array.dtype == mx.bfloat16:
        return np.array(array.view(mx.uint16)).view(ml_dtypes.bfloat16)
    return np.array(array)


def mlx(name, mode, bits, group, dtype=mx.float32, shape=(3, 128)):
    values = mx.array(random.normal(0, 0.05, shape).astype(np.float32)).astype(dtype)
    parts = mx.quantize(values, group, bits, mode=mode)
    for suffix, part in zip(("weight", "scales", "biases"), parts):
        tensors[f"{name}.{suffix}"] = of_mlx(part)
    # In float32 whatever the scales' type is, so that nothing is rounded twice.
    wide = [part.astype(mx.float32) for part in parts[1:]] if mode == "affine" else list(parts[1:])
    tensors[f"{name}.want"] = of_mlx(mx.dequantize(parts[0], *wide, group_size=group, bits=bits, mode=mode).astype(mx.float32))
    settings[name] = {"group_size": group, "bits": bits} | ({} if mode == "affine" else {"mode": mode})


E2M1 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3, -4, -6], np.float32)


def nibbles(codes):
    return (codes[..., 0::2] | codes[..., 1::2] << 4).astype(np.uint8)


def words(codes, bits):
    stream = ((codes[..., None] >> np.arange(bits)) & 1).reshape(*codes.shape[:-1], -1).astype(np.uint8)
    return np.packbits(stream, axis=-1, bitorder="little").view(np.int32)


def fp8(shape, low=0, high=127):
    return random.integers(low, high, shape).astype(np.uint8).view(ml_dtypes.float8_e4m3fn)


def spread(scales, rows, columns):
    return np.repeat(np.repeat(scales.astype(np.float32), rows, -2), columns, -1)


for bits in (2, 3, 4, 5, 6, 8):
    for group in (32, 64, 128):
        mlx(f"mlx.{bits}.{group}", "affine", bits, group)
mlx("mlx.bf16", "affine", 4, 64, mx.bfloat16)
mlx("mlx.f16", "affine", 6, 64, mx.float16)
mlx("mlx.stack", "affine", 4, 64, shape=(3, 5, 64))
mlx("mlx.mxfp4", "mxfp4", 4, 32)
mlx("mlx.mxfp8", "mxfp8", 8, 32)
mlx("mlx.nvfp4", "nvfp4", 4, 16)

codes, scale = random.integers(0, 16, (4, 64)), fp8((4, 4), 1)
tensors |= {"modelopt.nvfp4.weight": nibbles(codes), "modelopt.nvfp4.weight_scale": scale, "modelopt.nvfp4.weight_scale_2": np.float32(0.0137),
            "modelopt.nvfp4.input_scale": np.float32(3),
            "modelopt.nvfp4.want": E2M1[codes] * spread(scale.astype(np.float32) * np.float32(0.0137), 1, 16)}
tensors |= {"ct.nvfp4.weight_packed": nibbles(codes), "ct.nvfp4.weight_scale": scale, "ct.nvfp4.weight_global_scale": np.array([73.1], np.float32),
            "ct.nvfp4.input_global_scale": np.array([2], np.float32),
            "ct.nvfp4.want": E2M1[codes] * spread(scale.astype(np.float32) / np.float32(73.1), 1, 16)}
power = random.integers(110, 135, (4, 2)).astype(np.uint8)
powers = np.exp2(power.astype(np.float32) - 127)
tensors |= {"modelopt.mxfp4.weight": nibbles(codes), "modelopt.mxfp4.weight_scale": power, "modelopt.mxfp4.want": E2M1[codes] * spread(powers, 1, 32)}

signs = (random.integers(0, 127, (130, 136)) | random.integers(0, 2, (130, 136)) << 7).astype(np.uint8).view(ml_dtypes.float8_e4m3fn)
plain = signs.astype(np.float32)
tensors |= {"fp8.tensor.weight": signs[:5, :128], "fp8.tensor.weight_scale": np.float32(0.031), "fp8.tensor.want": plain[:5, :128] * np.float32(0.031)}
channel = random.uniform(0.001, 0.1, (5, 1)).astype(np.float32)
tensors |= {"fp8.channel.weight": signs[:5, :128], "fp8.channel.weight_scale": channel, "fp8.channel.want": plain[:5, :128] * channel}
block = random.uniform(0.001, 0.1, (2, 2)).astype(ml_dtypes.bfloat16)
tensors |= {"fp8.block.weight": signs, "fp8.block.weight_scale_inv": block, "fp8.block.want": plain * spread(block, 128, 128)[:130, :136]}
power8 = random.integers(110, 135, (5, 4)).astype(np.uint8)
tensors |= {"fp8.mx.weight": signs[:5, :128], "fp8.mx.weight_scale": power8, "fp8.mx.want": plain[:5, :128] * spread(np.exp2(power8.astype(np.float32) - 127), 1, 32)}
tensors |= {"fp8.bare.weight": signs[:2], "fp8.bare.want": plain[:2]}

for bits in (3, 4, 8):
    codes = random.integers(0, 1 << bits, (3, 64))
    scale = random.uniform(0.001, 0.1, (3, 2)).astype(ml_dtypes.bfloat16)
    tensors |= {f"ct.int{bits}.weight_packed": words(codes, bits), f"ct.int{bits}.weight_scale": scale, f"ct.int{bits}.weight_shape": np.array([3, 64]),
                f"ct.int{bits}.want": (codes - (1 << bits - 1)).astype(np.float32) * spread(scale, 1, 32)}

bell = np.clip(np.round(random.normal(0, 2, (4, 128))), -8, 7).astype(np.int64)
scale = random.uniform(0.001, 0.1, (4, 2)).astype(ml_dtypes.bfloat16)
bias = random.normal(0, 0.1, (4, 2)).astype(ml_dtypes.bfloat16)
tensors |= {"bytes.offset.weight": nibbles(bell + 8), "bytes.offset.scales": scale, "bytes.offset.want": bell.astype(np.float32) * spread(scale, 1, 64)}
tensors |= {"bytes.twos.weight": nibbles(bell & 15), "bytes.twos.weight_scale": scale, "bytes.twos.want": bell.astype(np.float32) * spread(scale, 1, 64)}
tensors |= {"bytes.affine.weight": nibbles(bell + 8), "bytes.affine.scales": scale, "bytes.affine.biases": bias,
            "bytes.affine.want": (bell + 8).astype(np.float32) * spread(scale, 1, 64) + spread(bias, 1, 64)}


def file_of(names):
    header, data = {}, b""
    for name in names:
        value = np.asarray(tensors[name])
        raw = np.ascontiguousarray(value).tobytes()
        header[name] = {"dtype": DTYPES[value.dtype.name], "shape": list(value.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


OUT.mkdir(exist_ok=True)
(OUT / "model.safetensors").write_bytes(file_of(tensors))
(OUT / "config.json").write_text(json.dumps({"model_type": "none", "quantization": {"group_size": 64, "bits": 4} | settings}, indent=1) + "\n")
# What the fuzzer begins with.
SEEDS = OUT.parent.parent / "fuzz" / "seeds" / "planes"
SEEDS.mkdir(parents=True, exist_ok=True)
for bases in (["mlx.3.32", "mlx.mxfp8"], ["modelopt.nvfp4", "ct.nvfp4", "modelopt.mxfp4"], ["ct.int3", "bytes.affine", "bytes.twos"], ["fp8.channel", "fp8.mx", "fp8.tensor"]):
    parts = [name for name in tensors if name.rpartition(".")[0] in bases and not name.endswith(".want")]
    (SEEDS / f"{bases[0]}.safetensors").write_bytes(file_of(parts))
