#include "app/quantize_options.h"

namespace kapitsa::app {
namespace {

// "ffn_down=Q6_K", or "ffn_down=8" for an MLX folder.
Result<convert::Override> override_of(const std::string& text, bool mlx) {
  const size_t equals = text.rfind('=');
  if (equals == 0 || equals == text.npos) return error(Code::kInvalid, "--tensor {}: PART=TYPE was expected, as in ffn_down=Q6_K", text);
  convert::Override out;
  out.part = text.substr(0, equals);
  const std::string type = text.substr(equals + 1);
  if (mlx) {
    for (const int bits : {2, 3, 4, 5, 6, 8, 16}) {
      if (type == std::to_string(bits)) out.bits = bits == 16 ? 0 : bits;
    }
    if (!out.bits) return error(Code::kInvalid, "--tensor {}: bits of an MLX folder are 2, 3, 4, 5, 6, 8 or 16", text);
    return out;
  }
  const auto recipe = convert::find_recipe(type);
  if (!recipe.ok()) return recipe.status().in("--tensor " + text);
  if (recipe->mlx || recipe->base != recipe->better) return error(Code::kInvalid, "--tensor {}: {} is no format of a single tensor", text, type);
  out.format = recipe->base;
  return out;
}

}  // namespace

void add_quantize_options(CLI::App& command, QuantizeOptions& o) {
  command.add_option("model", o.model, "What to read: an alias, a GGUF file, a Hugging Face or MLX folder, a hub id")->required();
  command.add_option("out", o.out, "What to write: a .gguf file")->required();
  command.add_option("--type,-t", o.type, "What most matrices become; see below")->capture_default_str();
  command.add_option("--tensor", o.tensors, "PART=TYPE: tensors whose GGUF name contains PART become TYPE; the first that fits counts");
  command.add_flag("--pure", o.pure, "No more bits for the head, shared experts and other sensitive matrices; routers and norms stay float32");
  command.add_option("--pre", o.pre, "The word for the tokenizer's pre-tokenizer, where it is of no family that has one");
  command.add_option("--threads", o.threads, "CPU threads; default: one a physical core")->check(CLI::Range(1, 1024));
  command.add_flag("--dry-run", o.dry, "Only print what each tensor would become");
  command.add_flag("--force,-f", o.force, "Replace OUT where it exists");
  std::string names;
  size_t line = 0;
  for (const std::string& name : convert::recipe_names()) {
    if (names.size() - line > 70) names += "\n ", line = names.size();
    names += " " + name;
  }
  command.footer("Types:\n " + names +
                 "\n\nA run that was interrupted leaves OUT.partial; the same command goes on with it.\nMemory stays at some megabytes a thread, whatever the model's size.");
}

Result<convert::PlanOptions> plan_of(const QuantizeOptions& o) {
  convert::PlanOptions plan;
  KAPITSA_ASSIGN(plan.recipe, convert::find_recipe(o.type));
  plan.group = o.group;
  plan.pure = o.pure;
  for (const std::string& text : o.tensors) {
    KAPITSA_ASSIGN(auto one, override_of(text, plan.recipe.mlx));
    plan.overrides.push_back(std::move(one));
  }
  return plan;
}

}  // namespace kapitsa::app
