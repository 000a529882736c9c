#include "model/block/window.h"

namespace kapitsa::model {

int layer_window(Loader& loader, int layer) {
  if (loader.gguf()) {
    // A flag a layer; a family without windows has no such key.
    const auto* sliding = loader.flags("{arch}.attention.sliding_window_pattern");
    const auto at = static_cast<size_t>(layer);
    if (sliding == nullptr || at >= sliding->size() || !(*sliding)[at]) return 0;
    return loader.count("", "{arch}.attention.sliding_window", 1 << 28);
  }
  const Json& config = loader.config();
  const auto types = config.find("layer_types");
  if (types != config.end() && types->is_array()) {
    const auto index = static_cast<size_t>(layer);
    if (index >= types->size() || (*types)[index] != "sliding_attention") return 0;
    return loader.count("sliding_window", "", 1 << 28);
  }
  if (!loader.maybe_flag("use_sliding_window").value_or(false)) return 0;
  if (layer < loader.maybe_number("max_window_layers", "").value_or(0)) return 0;
  return loader.count("sliding_window", "", 1 << 28);
}

}  // namespace kapitsa::model
