#include "backend/cpu/step.h"

namespace kapitsa::cpu {

// Attention takes up to 16 neighbouring rows of one sequence together when they are a plain chain; rows of a tree each
// alone, since each sees other ancestors.
void Cuts::cut(const backend::Batch& batch) {
  constexpr int kTile = 16;
  tiles.clear();
  sequences.clear();
  const int rows = static_cast<int>(batch.tokens.size());
  const auto at = [](std::span<const int32_t> list, int row) { return list[static_cast<size_t>(row)]; };
  for (int begin = 0; begin < rows;) {
    int end = begin;
    bool chain = true;
    while (end < rows && at(batch.sequences, end) == at(batch.sequences, begin)) {
      chain = chain && at(batch.slots, end) == at(batch.positions, end) &&
              (end == begin || at(batch.positions, end) == at(batch.positions, end - 1) + 1);
      ++end;
    }
    const int size = chain ? kTile : 1;
    for (int r = begin; r < end; r += size) tiles.push_back({r, std::min(size, end - r), chain});
    sequences.push_back({at(batch.sequences, begin), begin, end - begin});
    begin = end;
  }
}

}  // namespace kapitsa::cpu
