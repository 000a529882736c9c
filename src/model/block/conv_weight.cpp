#include "model/block/conv_weight.h"

#include <cmath>

namespace kapitsa::model {

backend::WeightRef load_conv(Loader& l, Name name, int64_t channels, int kernel) {
  const std::vector<float> stored = l.values(std::move(name).shaped({channels, kernel}), channels * kernel);
  std::vector<float> weight(stored.size());
  for (int64_t c = 0; c < channels; ++c) {
    for (int j = 0; j < kernel; ++j) {
      weight[static_cast<size_t>(j * channels + c)] = stored[static_cast<size_t>(c * kernel + j)];
    }
  }
  return l.upload(weight);
}

backend::WeightRef load_decay(Loader& l, const Name& name, int64_t heads) {
  std::vector<float> decay = l.values(name, heads, {ValueChange::Kind::kMinusExp});
  if (!l.gguf()) {
    for (float& a : decay) a = static_cast<float>(-std::exp(double{a}));
  }
  return l.upload(decay);
}

}  // namespace kapitsa::model
