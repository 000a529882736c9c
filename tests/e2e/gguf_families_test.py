"""The golden checkpoints written as GGUF files, in that container's names, order of heads and keys: the same logits."""

import json
import unittest

import numpy
from gguf import GGUFWriter
from safetensors.numpy import load_file

from kapitsa import GOLDEN, CliTest


def tensors_of(folder):
    """All tensors as float32; numpy has no bfloat16."""
    data = (folder / "model.safetensors").read_bytes()
    size = int.from_bytes(data[:8], "little")
    out = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        bits = numpy.frombuffer(data[8 + size + begin:8 + size + end], numpy.uint16).astype(numpy.uint32) << 16
        out[name] = bits.view(numpy.float32).reshape(entry["shape"])
    return out


def common(writer, config, arch):
    writer.add_block_count(config.get("num_hidden_layers") or len(config["layers_block_type"]))
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    if config.get("intermediate_size") and arch != "nemotron_h_moe":
        writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_key_length(config["head_dim"])
    writer.add_layer_norm_rms_eps(config.get("rms_norm_eps") or config["layer_norm_epsilon"])
    rope = config.get("rope_parameters")
    if rope:
        writer.add_rope_freq_base(rope["rope_theta"])
        if "partial_rotary_factor" in rope:
            writer.add_rope_dimension_count(int(config["head_dim"] * rope["partial_rotary_factor"]))
    for key in ("num_experts", "n_routed_experts", "num_local_experts"):
        if key in config:
            writer.add_expert_count(config[key])
            writer.add_expert_used_count(config["num_experts_per_tok"])
            break


class Names:
    """Hugging Face names to GGUF's, by what stands in them."""
    PARTS = {
        "input_layernorm.weight": "attn_norm.weight", "self_attn.q_proj.weight": "attn_q.weight", "self_attn.k_proj.weight": "attn_k.weight",
        "self_attn.v_proj.weight": "attn_v.weight", "self_attn.o_proj.weight": "attn_output.weight", "self_attn.q_norm.weight": "attn_q_norm.weight",
        "self_attn.k_norm.weight": "attn_k_norm.weight", "self_attn.softmax_offset": "attn_sinks.weight", "mlp.gate_proj.weight": "ffn_gate.weight",
        "mlp.up_proj.weight": "ffn_up.weight", "mlp.down_proj.weight": "ffn_down.weight", "mlp.gate.weight": "ffn_gate_inp.weight",
        "mlp.shared_expert.gate_proj.weight": "ffn_gate_shexp.weight", "mlp.shared_expert.up_proj.weight": "ffn_up_shexp.weight",
        "mlp.shared_expert.down_proj.weight": "ffn_down_shexp.weight", "mlp.shared_expert_gate.weight": "ffn_gate_inp_shexp.weight",
        "linear_attn.in_proj_qkv.weight": "attn_qkv.weight", "linear_attn.in_proj_z.weight": "attn_gate.weight",
        "linear_attn.in_proj_a.weight": "ssm_alpha.weight", "linear_attn.in_proj_b.weight": "ssm_beta.weight",
        "linear_attn.conv1d.weight": "ssm_conv1d.weight", "linear_attn.A_log": "ssm_a", "linear_attn.dt_bias": "ssm_dt.bias",
        "linear_attn.norm.weight": "ssm_norm.weight", "linear_attn.out_proj.weight": "ssm_out.weight",
        "norm.weight": "attn_norm.weight", "mixer.in_proj.weight": "ssm_in.weight", "mixer.conv1d.weight": "ssm_conv1d.weight",
        "mixer.conv1d.bias": "ssm_conv1d.bias", "mixer.A_log": "ssm_a", "mixer.D": "ssm_d", "mixer.dt_bias": "ssm_dt.bias",
        "mixer.norm.weight": "ssm_norm.weight", "mixer.out_proj.weight": "ssm_out.weight", "mixer.q_proj.weight": "attn_q.weight",
        "mixer.k_proj.weight": "attn_k.weight", "mixer.v_proj.weight": "attn_v.weight", "mixer.o_proj.weight": "attn_output.weight",
        "mixer.up_proj.weight": "ffn_up.weight", "mixer.down_proj.weight": "ffn_down.weight", "mixer.gate.weight": "ffn_gate_inp.weight",
        "mixer.gate.e_score_correction_bias": "exp_probs_b.bias", "mixer.shared_experts.up_proj.weight": "ffn_up_shexp.weight",
        "mixer.shared_experts.down_proj.weight": "ffn_down_shexp.weight"}
    ENDS = {"embed_tokens.weight": "token_embd.weight", "embeddings.weight": "token_embd.weight", "norm.weight": "output_norm.weight",
            "norm_f.weight": "output_norm.weight", "lm_head.weight": "output.weight"}

    def __init__(self, post_norm):
        self.parts = {**self.PARTS, "post_attention_layernorm.weight": post_norm}

    def of(self, name):
        if ".layers." not in name:
            return self.ENDS[name.split("model.")[-1].split("backbone.")[-1]]
        layer, part = name.split(".layers.")[1].split(".", 1)
        return f"blk.{layer}.{self.parts[part]}"


def stack_experts(tensors):
    """experts.E.X_proj of a layer become one tensor."""
    out, stacks = {}, {}
    for name, value in tensors.items():
        if ".experts." not in name:
            out[name] = value
            continue
        head, tail = name.split(".experts.")
        expert, part = tail.split(".", 1)
        layer = head.split(".layers.")[1].split(".")[0]
        stacks.setdefault(f"blk.{layer}.ffn_{part.split('_')[0]}_exps.weight", {})[int(expert)] = value
    return out, {name: numpy.stack([parts[e] for e in sorted(parts)]) for name, parts in stacks.items()}


def tiled(config, value, axis, head_dim):
    """Value heads from grouped order (their key head: h / repeat) to tiled order (h % key heads)."""
    keys, values = config["linear_num_key_heads"], config["linear_num_value_heads"]
    order = numpy.arange(values).reshape(keys, values // keys).T.ravel()
    shape = list(value.shape)
    cut = value.reshape(*shape[:axis], values, head_dim, *shape[axis + 1:])
    return numpy.take(cut, order, axis).reshape(shape)


class GgufFamilies(CliTest):
    def check(self, family, arch, post_norm, extra, change=None):
        config = json.loads((GOLDEN / family / "config.json").read_text())
        path = self.folder / f"{family}.gguf"
        writer = GGUFWriter(path, arch)
        common(writer, config, arch)
        extra(writer, config)
        tensors, stacks = stack_experts(tensors_of(GOLDEN / family))
        names = Names(post_norm)
        for name, value in tensors.items():
            writer.add_tensor(names.of(name), numpy.ascontiguousarray(change(config, name, value) if change else value))
        for name, value in stacks.items():
            writer.add_tensor(name, value)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        reference = load_file(GOLDEN / family / "reference.safetensors")
        out = self.folder / "out.safetensors"
        self.kapitsa("logits", path, "--tokens", GOLDEN / family / "reference.safetensors", "--out", out, "--compute", "f32", "--kv", "f32")
        self.assertLessEqual(numpy.abs(load_file(out)["logits"] - reference["logits"]).max(), 2e-3)

    def test_qwen3_moe(self):
        def extra(w, c):
            w.add_head_count_kv(c["num_key_value_heads"])
            w.add_expert_feed_forward_length(c["moe_intermediate_size"])
        self.check("qwen3_moe", "qwen3moe", "ffn_norm.weight", extra)

    @staticmethod
    def delta_keys(w, c):
        w.add_head_count_kv(c["num_key_value_heads"])
        w.add_ssm_conv_kernel(c["linear_conv_kernel_dim"])
        w.add_ssm_state_size(c["linear_key_head_dim"])
        w.add_ssm_group_count(c["linear_num_key_heads"])
        w.add_ssm_time_step_rank(c["linear_num_value_heads"])
        w.add_ssm_inner_size(c["linear_num_value_heads"] * c["linear_value_head_dim"])
        w.add_full_attention_interval(4)

    @staticmethod
    def delta_change(c, name, value):
        dim, keys = c["linear_value_head_dim"], c["linear_num_key_heads"] * c["linear_key_head_dim"]
        if name.endswith("norm.weight") and not name.endswith("linear_attn.norm.weight"):
            return value + 1
        if "in_proj_qkv" in name or "conv1d" in name:
            value = value.reshape(value.shape[0], -1)
            return numpy.concatenate([value[:2 * keys], tiled(c, value[2 * keys:], 0, dim)])
        if "in_proj_z" in name:
            return tiled(c, value, 0, dim)
        if "in_proj_a" in name or "in_proj_b" in name or "dt_bias" in name:
            return tiled(c, value, 0, 1)
        if "A_log" in name:
            return tiled(c, -numpy.exp(value), 0, 1)
        return tiled(c, value, 1, dim) if "linear_attn.out_proj" in name else value

    def test_qwen3_5(self):
        self.check("qwen3_5", "qwen35", "post_attention_norm.weight", self.delta_keys, self.delta_change)

    def test_qwen3_5_moe(self):
        self.check("qwen3_5_moe", "qwen35moe", "post_attention_norm.weight", self.delta_keys, self.delta_change)

    def test_nemotron_h(self):
        def extra(w, c):
            kinds = c["layers_block_type"]
            w.add_head_count_kv([c["num_key_value_heads"] if k == "full_attention" else 0 for k in kinds])
            w.add_feed_forward_length([{"mlp": c["intermediate_size"], "moe": c["moe_intermediate_size"]}.get(k, 0) for k in kinds])
            w.add_ssm_conv_kernel(c["conv_kernel"])
            w.add_ssm_state_size(c["ssm_state_size"])
            w.add_ssm_group_count(c["n_groups"])
            w.add_ssm_time_step_rank(c["mamba_num_heads"])
            w.add_ssm_inner_size(c["mamba_num_heads"] * c["mamba_head_dim"])
            w.add_expert_weights_norm(c["norm_topk_prob"])
            w.add_expert_weights_scale(c["routed_scaling_factor"])
            # Both are in published files, and mean nothing: this family has no rotary positions.
            w.add_rope_freq_base(10000)
            w.add_rope_dimension_count(16)

        def change(c, name, value):
            if "A_log" in name:
                return -numpy.exp(value).reshape(-1, 1)
            if name.endswith("mixer.D"):
                return value.reshape(-1, 1)
            if "mixer.norm" in name:
                return value.reshape(c["n_groups"], -1)
            return value.reshape(value.shape[0], -1) if "conv1d.weight" in name else value
        self.check("nemotron_h", "nemotron_h_moe", "none", extra, change)

    def test_flint(self):
        def extra(w, c):
            w.add_head_count_kv(c["num_key_value_heads"])
            w.add_expert_feed_forward_length(c["moe_intermediate_size"])
            w.add_expert_weights_norm(c["norm_topk_prob"])
            w.add_expert_weights_scale(1.0)
            w.add_sliding_window(c["sliding_window"])
            w.add_sliding_window_pattern([kind == "sliding_attention" for kind in c["layer_types"]])
        self.check("flint", "flint", "ffn_norm.weight", extra)


class Scales(CliTest):
    """NVFP4 files keep a factor of each tensor beside it."""

    def write(self, path, scaled):
        rng = numpy.random.default_rng(3)
        writer = GGUFWriter(path, "qwen3moe")
        common(writer, {"num_hidden_layers": 1, "max_position_embeddings": 64, "hidden_size": 64, "num_attention_heads": 2, "head_dim": 32,
                        "rms_norm_eps": 1e-6, "num_experts": 4, "num_experts_per_tok": 2}, "qwen3moe")
        writer.add_head_count_kv(1)

        def add(name, *shape, factors=None):
            value = (rng.standard_normal(shape) / 8).astype(numpy.float32)
            if factors is not None:
                factors = numpy.asarray(factors, numpy.float32)
                if scaled:
                    writer.add_tensor(name + ".scale", factors)
                else:
                    value = value * factors.reshape(-1, *[1] * (len(shape) - 1))
            writer.add_tensor(name + ".weight", value)
        add("token_embd", 100, 64)
        add("output", 100, 64, factors=[3.0])
        add("output_norm", 64)
        for norm in ("attn_norm", "ffn_norm"):
            add("blk.0." + norm, 64)
        for norm in ("attn_q_norm", "attn_k_norm"):
            add("blk.0." + norm, 32)
        add("blk.0.attn_q", 64, 64, factors=[0.5])
        add("blk.0.attn_k", 32, 64)
        add("blk.0.attn_v", 32, 64, factors=[2.5])
        add("blk.0.attn_output", 64, 64)
        add("blk.0.ffn_gate_inp", 4, 64)
        for part, shape in (("gate", (4, 48, 64)), ("up", (4, 48, 64)), ("down", (4, 64, 48))):
            add(f"blk.0.ffn_{part}_exps", *shape, factors=[0.25, 2.0, 1.0, 4.0])
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()

    def test_a_factor_beside_a_tensor_multiplies_it(self):
        logits = []
        for scaled in (False, True):
            path, out = self.folder / f"{scaled}.gguf", self.folder / "out.safetensors"
            self.write(path, scaled)
            self.kapitsa("logits", path, "--tokens", "1,2,3,4,5,6", "--out", out, "--compute", "f32", "--kv", "f32")
            logits.append(load_file(out)["logits"])
        self.assertGreater(numpy.abs(logits[0]).max(), 0.1)
        self.assertLessEqual(numpy.abs(logits[0] - logits[1]).max(), 1e-4 * numpy.abs(logits[0]).max())


if __name__ == "__main__":
    unittest.main()
