#include <algorithm>
#include <cstring>

#include "backend/cpu/step.h"

namespace kapitsa::cpu {
namespace {

// Channels that a member works on at a time.
constexpr int kChannels = 256;
constexpr int kMaxKernel = 16;

}  // namespace

void conv(const Run& run, size_t index, const backend::ConvOp& op, int /*member*/) {
  const int channels = op.in.width, blocks = (channels + kChannels - 1) / kChannels, back = op.kernel - 1;
  const float* weight = static_cast<const CpuWeight&>(*op.weight).floats();
  const float* bias = op.bias ? static_cast<const CpuWeight&>(*op.bias).floats() : nullptr;
  run.claim(index, static_cast<int64_t>(run.cuts.sequences.size()) * blocks, 1, [&](int64_t unit) {
    const SequenceRows& rows = run.cuts.sequences[static_cast<size_t>(unit / blocks)];
    const int first = static_cast<int>(unit % blocks) * kChannels, count = std::min(kChannels, channels - first);
    // [back][channels]: the newest inputs before this step, oldest first.
    float* state = run.state(op.state, rows.sequence, first);
    if (run.begins(rows.sequence)) {
      for (int j = 0; j < back; ++j) std::memset(state + j * channels, 0, static_cast<size_t>(count) * 4);
    }
    // Input t of this step, which may be negative.
    const auto input = [&](int t) -> const float* {
      return t < 0 ? state + (back + t) * channels : run.row(op.in, rows.row + t) + first;
    };
    for (int t = 0; t < rows.count; ++t) {
      const float* taps[kMaxKernel];
      for (int j = 0; j < op.kernel; ++j) taps[j] = input(t - back + j);
      run.kernels.conv(taps, op.kernel, weight + first, channels, bias ? bias + first : nullptr, count,
                       run.row(op.out, rows.row + t) + first);
    }
    for (int j = 0; j < back; ++j) {
      std::memmove(state + j * channels, input(rows.count - back + j), static_cast<size_t>(count) * 4);
    }
  });
}

}  // namespace kapitsa::cpu
