#include <algorithm>
#include <cstring>

#include "backend/cpu/step.h"

namespace kapitsa::cpu {
namespace {

using backend::AttentionOp;
using backend::kPage;

// Positions after which a row's partial result is merged and begun anew. Cuts are by position, never by a share of the
// length, so that a row's bits do not depend on how its work was divided.
constexpr int kSplit = 1024;
constexpr int kTileRows = 16;

int group_of(const AttentionOp& op) { return op.heads / op.kv_heads; }
size_t padded_head(const AttentionOp& op) { return static_cast<size_t>((op.head_dim + 15) / 16 * 16); }

// A member's scratch: two states a query (the split being worked on, all before it), and one block of keys and values as
// float32 for many queries, or gathered for a row of a tree.
struct Scratch {
  size_t queries, state_floats, states, keys, values, bytes;
  explicit Scratch(const AttentionOp& op) {
    queries = static_cast<size_t>(kTileRows * group_of(op));
    state_floats = padded_head(op) + 16;
    states = 2 * queries * state_floats * 4;
    keys = states + (2 * queries * sizeof(QueryState) + 63) / 64 * 64;
    values = keys + static_cast<size_t>(op.head_dim) * kPage * 4 + 64;
    bytes = values + padded_head(op) * kPage * 4 + 64;
  }
};

class Worker {
 public:
  Worker(const Run& run, const AttentionOp& op, int member)
      : run_(run), op_(op), scratch_(op), mine_(run.member_scratch(member)), group_(group_of(op)) {
    current_ = reinterpret_cast<QueryState*>(mine_ + scratch_.states);
    before_ = current_ + scratch_.queries;
  }

  void tile(const RowTile& tile, int kv_head) {
    tile_ = tile;
    kv_head_ = kv_head;
    const int queries = tile.count * group_;
    for (int i = 0; i < queries; ++i) {
      current_[i] = fresh(i, 0);
      before_[i] = fresh(i, 1);
    }
    const int last = position(tile.row + tile.count - 1);
    bool merged = false;
    for (int start = first(tile.row) / kPage * kPage; start <= last; start += kPage) {
      if (start % kSplit == 0 && start > first(tile.row)) {
        merge(queries);
        merged = true;
      }
      block(start);
    }
    if (merged) merge(queries);
    for (int i = 0; i < queries; ++i) {
      const int head = head_of(i % group_);
      const float* sink = op_.sinks ? static_cast<const CpuWeight&>(*op_.sinks).floats() + head : nullptr;
      float* out = run_.row(op_.out, tile.row + i / group_) + head * op_.head_dim;
      run_.kernels.finish(merged ? before_[i] : current_[i], sink, op_.head_dim,
                          out);
      if (op_.gated) run_.kernels.sigmoid_mul(query(tile.row + i / group_, head) + op_.head_dim, op_.head_dim, out);
    }
  }

 private:
  int position(int row) const { return run_.batch.positions[static_cast<size_t>(row)]; }
  int sequence() const { return run_.batch.sequences[static_cast<size_t>(tile_.row)]; }
  // The first position that a row sees.
  int first(int row) const { return op_.window > 0 ? std::max(0, position(row) - op_.window + 1) : 0; }
  int head_of(int in_group) const {
    return op_.map == backend::HeadMap::kGrouped ? kv_head_ * group_ + in_group : in_group * op_.kv_heads + kv_head_;
  }
  int page(int slot) const { return run_.pages(op_.layer, sequence())[slot / kPage]; }

  const float* query(int row, int head) const { return run_.row(op_.q, row) + head * op_.head_dim * (op_.gated ? 2 : 1); }

  QueryState fresh(int query, int which) {
    auto* floats = reinterpret_cast<float*>(mine_) + (2 * static_cast<size_t>(query) + static_cast<size_t>(which)) * scratch_.state_floats;
    std::memset(floats, 0, scratch_.state_floats * 4);
    const int row = tile_.row + query / group_;
    return {this->query(row, head_of(query % group_)), floats + 16, floats, -__builtin_inff()};
  }

  void merge(int queries) {
    for (int i = 0; i < queries; ++i) {
      run_.kernels.merge(before_[i], current_[i], op_.head_dim);
      current_[i] = fresh(i, 0);
    }
  }

  // The positions [start, start + 64).
  void block(int start) {
    int begin[kTileRows * 64], end[kTileRows * 64];  // by query; a group has at most 64 heads (checked by the model)
    // Rows of a tile have rising positions: those that see this block are neighbours.
    int from = 0, to = tile_.count;
    while (position(tile_.row + from) < start) ++from;
    while (first(tile_.row + to - 1) >= start + kPage) --to;
    if (from >= to) return;
    for (int r = from; r < to; ++r) {
      for (int h = 0; h < group_; ++h) {
        begin[(r - from) * group_ + h] = std::max(0, first(tile_.row + r) - start);
        end[(r - from) * group_ + h] = std::min(kPage, position(tile_.row + r) + 1 - start);
      }
    }
    const int count = (to - from) * group_;
    QueryState* queries = current_ + from * group_;
    const CpuCache& cache = run_.step.cache;
    const std::byte *keys, *values;
    bool half = cache.half();
    const int committed = run_.batch.committed[static_cast<size_t>(sequence())];
    if (!tile_.chain && start + kPage > committed) {
      gather(start, begin[0], end[0], committed);
      keys = mine_ + scratch_.keys;
      values = mine_ + scratch_.values;
      half = false;
    } else {
      keys = cache.keys(op_.layer, page(start), kv_head_);
      values = cache.values(op_.layer, page(start), kv_head_);
      // Converting pays once the block is read by more queries than one register tile holds.
      if (half && count > 8) {
        run_.kernels.from_half(reinterpret_cast<const uint16_t*>(keys), int64_t{op_.head_dim} * kPage,
                               reinterpret_cast<float*>(mine_ + scratch_.keys));
        run_.kernels.from_half(reinterpret_cast<const uint16_t*>(values), int64_t{op_.head_dim} * kPage,
                               reinterpret_cast<float*>(mine_ + scratch_.values));
        keys = mine_ + scratch_.keys;
        values = mine_ + scratch_.values;
        half = false;
      }
    }
    run_.kernels.attend(queries, count, begin, end, keys, values, half, op_.head_dim, op_.scale);
  }

  // The keys and values that a row of a tree sees at positions start + [begin, end): from the cache below the committed
  // length, from its ancestors' slots above it, each in the place where it would lie later.
  void gather(int start, int begin, int end, int committed) {
    auto* keys = reinterpret_cast<float*>(mine_ + scratch_.keys);
    auto* values = reinterpret_cast<float*>(mine_ + scratch_.values);
    std::memset(keys, 0, static_cast<size_t>(op_.head_dim) * kPage * 4);
    const CpuCache& cache = run_.step.cache;
    for (int place = begin; place < end; ++place) {
      const int slot = start + place < committed ? start + place : ancestor_slot(start + place);
      const std::byte* k = cache.keys(op_.layer, page(slot), kv_head_);
      const std::byte* v = cache.values(op_.layer, page(slot), kv_head_);
      const int at = slot % kPage;
      if (!cache.half()) {
        for (int d = 0; d < op_.head_dim; ++d) keys[d * kPage + place] = reinterpret_cast<const float*>(k)[d * kPage + at];
        std::memcpy(values + place * op_.head_dim, reinterpret_cast<const float*>(v) + at * op_.head_dim, static_cast<size_t>(op_.head_dim) * 4);
      } else {
        for (int d = 0; d < op_.head_dim; ++d) {
          run_.kernels.from_half(reinterpret_cast<const uint16_t*>(k) + d * kPage + at, 1, &keys[d * kPage + place]);
        }
        run_.kernels.from_half(reinterpret_cast<const uint16_t*>(v) + at * op_.head_dim, op_.head_dim, values + place * op_.head_dim);
      }
    }
  }

  int ancestor_slot(int at) const {
    const int row = tile_.row;
    for (int j = row; j >= 0 && run_.batch.sequences[static_cast<size_t>(j)] == sequence(); --j) {
      if (position(j) == at && row <= run_.batch.subtree_end[static_cast<size_t>(j)]) return run_.batch.slots[static_cast<size_t>(j)];
    }
    return at;
  }

  const Run& run_;
  const AttentionOp& op_;
  Scratch scratch_;
  std::byte* mine_;
  int group_;
  RowTile tile_{};
  int kv_head_ = 0;
  QueryState *current_, *before_;  // by query of the tile
};

}  // namespace

size_t attention_scratch_bytes(const AttentionOp& op) { return Scratch(op).bytes; }

void attention(const Run& run, size_t index, const AttentionOp& op, int member) {
  Worker worker(run, op, member);
  run.claim(index, static_cast<int64_t>(run.cuts.tiles.size()) * op.kv_heads, 1, [&](int64_t unit) {
    // The longest tiles come first, so that the last one to finish is a short one.
    const auto tile = run.cuts.tiles.size() - 1 - static_cast<size_t>(unit / op.kv_heads);
    worker.tile(run.cuts.tiles[tile], static_cast<int>(unit % op.kv_heads));
  });
}

}  // namespace kapitsa::cpu
