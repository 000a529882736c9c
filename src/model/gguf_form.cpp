#include "model/gguf_form.h"

#include <algorithm>

#include "backend/outline.h"
#include "model/architecture.h"
#include "model/gguf_keys.h"
#include "model/model.h"

namespace kapitsa::model {
namespace {

constexpr std::string_view kArch = "{arch}";

// The name that GGUF files have for a family; of two the second is for those with experts.
std::string gguf_architecture(const Architecture& family, const Transformer& m) {
  const bool experts = std::any_of(m.layers.begin(), m.layers.end(), [](const Layer& l) { return l.moe.has_value(); });
  return std::string(experts ? family.gguf.back() : family.gguf.front());
}

}  // namespace

Result<GgufForm> gguf_form(const weights::Checkpoint& checkpoint) {
  if (checkpoint.container == weights::Container::gguf) return error(Code::kInvalid, "{}: is a GGUF already", checkpoint.path);
  KAPITSA_ASSIGN(const Architecture* family, find_architecture(checkpoint));
  GgufForm form;
  backend::Outline nothing;
  Transformer m;
  Loader loader(checkpoint, nothing, nullptr, &form);
  KAPITSA_RETURN_IF_ERROR(load_family(*family, loader, m));
  set_gguf_keys(m, form.metadata);

  form.architecture = gguf_architecture(*family, m);
  weights::Metadata keys;
  for (const auto& [key, value] : form.metadata) {
    keys.set(key.starts_with(kArch) ? form.architecture + key.substr(kArch.size()) : key, value);
  }
  form.metadata = std::move(keys);
  return form;
}

}  // namespace kapitsa::model
