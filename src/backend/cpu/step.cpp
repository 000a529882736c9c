#include "backend/cpu/step.h"

#include <algorithm>
#include <map>

namespace kapitsa::cpu {
namespace {

using namespace backend;

size_t aligned(size_t n) { return (n + 63) / 64 * 64; }

// Which values an op reads or updates, and which it makes.
struct Uses {
  std::vector<Value> reads, writes;
};
Uses uses(const Op& op) {
  struct Visitor {
    Uses operator()(const EmbedOp& o) { return {{}, {o.out}}; }
    Uses operator()(const LinearOp& o) {
      Uses u{{o.in}, {}};
      if (o.gate.valid()) u.reads.push_back(o.gate);
      for (const auto& p : o.parts) u.writes.push_back(p.out);
      return u;
    }
    Uses operator()(const RopeKvOp& o) { return {{o.q, o.k, o.v}, {}}; }
    Uses operator()(const AttentionOp& o) { return {{o.q}, {o.out}}; }
    Uses operator()(const SelectRowsOp& o) { return {{o.in}, {o.out}}; }
    Uses operator()(const NormOp& o) { return {{o.in}, {o.out}}; }
    Uses operator()(const RouteOp& o) { return {{o.in}, {o.out}}; }
    Uses operator()(const ExpertsOp& o) { return {{o.in, o.route}, {o.out}}; }
    Uses operator()(const CombineOp& o) { return {{o.in, o.route}, {o.out}}; }
    Uses operator()(const ConvOp& o) { return {{o.in}, {o.out}}; }
    Uses operator()(const DeltaOp& o) { return {{o.in, o.a, o.b}, {o.out}}; }
    Uses operator()(const ScanOp& o) { return {{o.in, o.dt}, {o.out}}; }
    Uses operator()(const GatedNormOp& o) { return {{o.in, o.gate}, {o.out}}; }
  };
  return std::visit(Visitor{}, op);
}

// Places for values whose lifetimes do not overlap are shared: first fit over the ops in order.
class Placement {
 public:
  size_t place(size_t bytes, size_t from, size_t to) {
    bytes = aligned(bytes);
    size_t offset = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (const auto& taken : taken_) {
        const bool lives = taken.to >= from && taken.from <= to;
        if (lives && taken.offset < offset + bytes && offset < taken.offset + taken.bytes) {
          offset = taken.offset + taken.bytes;
          moved = true;
        }
      }
    }
    taken_.push_back({offset, bytes, from, to});
    end_ = std::max(end_, offset + bytes);
    return offset;
  }
  size_t end() const { return end_; }

 private:
  struct Taken { size_t offset, bytes, from, to; };
  std::vector<Taken> taken_;
  size_t end_ = 0;
};

bool same(const Rope& a, const Rope& b) {
  return a.inverse_frequency == b.inverse_frequency && a.magnitude == b.magnitude && a.pairs == b.pairs;
}

}  // namespace

size_t quant_rows_bytes(int64_t rows, int64_t columns) {
  const auto c = static_cast<size_t>((columns + 31) / 32 * 32), r = static_cast<size_t>(rows);
  return aligned(r * c) + 2 * aligned(r * c / 32 * 4) + aligned(r * c / 16 * 4);
}

QuantRows quant_rows_at(std::byte* memory, int64_t rows, int64_t columns) {
  const auto c = static_cast<size_t>((columns + 31) / 32 * 32), r = static_cast<size_t>(rows);
  QuantRows q;
  q.columns = static_cast<int64_t>(c);
  q.q = reinterpret_cast<int8_t*>(memory);
  memory += aligned(r * c);
  q.scale = reinterpret_cast<float*>(memory);
  memory += aligned(r * c / 32 * 4);
  q.scaled_sum = reinterpret_cast<float*>(memory);
  memory += aligned(r * c / 32 * 4);
  q.sum = reinterpret_cast<int32_t*>(memory);
  return q;
}

CpuStep::CpuStep(const Graph& g, CpuCache& c, const StepShape& s, int threads) : graph(g), cache(c), shape(s) {
  const auto& ops = graph.ops();
  const auto values = static_cast<size_t>(graph.value_count());
  std::vector<size_t> first(values, SIZE_MAX), last(values, 0);
  std::vector<int> width(values, 0);
  value_offset.resize(values);
  output_space.assign(values, false);

  for (size_t i = 0; i < ops.size(); ++i) {
    const Uses u = uses(ops[i]);
    bool selected = std::holds_alternative<SelectRowsOp>(ops[i]);
    for (Value v : u.reads) {
      const auto id = static_cast<size_t>(v.id);
      last[id] = i;
      selected = selected || output_space[id];
    }
    for (Value v : u.writes) {
      const auto id = static_cast<size_t>(v.id);
      if (first[id] == SIZE_MAX) {
        first[id] = i;
        width[id] = v.stride;
        output_space[id] = selected;
      }
      last[id] = i;
    }
  }
  if (graph.logits.valid()) last[static_cast<size_t>(graph.logits.id)] = ops.size();

  const auto rows = static_cast<size_t>(shape.rows), outputs = static_cast<size_t>(shape.outputs);
  Placement placement;
  for (size_t v = 0; v < values; ++v) {
    if (first[v] == SIZE_MAX) continue;
    // A row's end may be read in whole registers.
    const size_t size = (output_space[v] ? outputs : rows) * static_cast<size_t>(width[v]) * 4 + 64;
    value_offset[v] = placement.place(size, first[v], last[v]);
  }
  bytes = placement.end();
  const auto take = [this](size_t n) {
    const size_t at = bytes;
    bytes += aligned(n);
    return at;
  };

  if (shape.taps) {
    for (const auto& tap : graph.taps()) tap_offset.push_back(take(rows * static_cast<size_t>(tap.value.width) * 4));
  }
  // What all members prepare for all: an op's rows normed, gathered or quantised, and the experts' answers.
  size_t floats = 0, quants = 0, answers = 0;
  const auto share = [&](size_t count, int64_t columns, bool as_float, bool as_quant) {
    if (as_float) floats = std::max(floats, count * static_cast<size_t>(columns));
    if (as_quant) quants = std::max(quants, quant_rows_bytes(static_cast<int64_t>(count), columns));
  };
  const auto quantised = [](const Weight& w) { return static_cast<const CpuWeight&>(w).layout() == CpuWeight::Layout::kQuantPanels; };
  rope_of_op.assign(ops.size(), -1);
  for (size_t i = 0; i < ops.size(); ++i) {
    if (const auto* op = std::get_if<LinearOp>(&ops[i])) {
      share(rows, op->in.width, true, true);
      member_bytes = std::max(member_bytes, linear_scratch_bytes(*op, shape.rows));
    } else if (const auto* ask = std::get_if<ExpertsOp>(&ops[i])) {
      const bool quant = quantised(*ask->up);
      share(rows * static_cast<size_t>(ask->used), ask->in.width, !quant, quant);
      member_bytes = std::max(member_bytes, experts_scratch_bytes(*ask, shape.rows));
    } else if (const auto* sum = std::get_if<CombineOp>(&ops[i])) {
      const bool quant = quantised(*sum->down);
      share(rows * static_cast<size_t>(sum->used), sum->down->columns(), !quant, quant);
      answers = std::max(answers, rows * static_cast<size_t>(sum->used) * static_cast<size_t>(sum->down->rows()));
      member_bytes = std::max(member_bytes, combine_scratch_bytes(*sum, shape.rows));
    } else if (const auto* choose = std::get_if<RouteOp>(&ops[i])) {
      member_bytes = std::max(member_bytes, route_scratch_bytes(*choose));
    } else if (const auto* rule = std::get_if<DeltaOp>(&ops[i])) {
      member_bytes = std::max(member_bytes, delta_scratch_bytes(*rule));
    } else if (const auto* att = std::get_if<AttentionOp>(&ops[i])) {
      member_bytes = std::max(member_bytes, attention_scratch_bytes(*att));
    } else if (const auto* embed_op = std::get_if<EmbedOp>(&ops[i])) {
      // A row as stored: at most four bytes a weight.
      member_bytes = std::max(member_bytes, static_cast<size_t>(embed_op->out.width) * 4 + 64);
    } else if (const auto* rope = std::get_if<RopeKvOp>(&ops[i]); rope && rope->rope) {
      size_t r = 0;
      while (r < ropes.size() && !same(*ropes[r], *rope->rope)) ++r;
      if (r == ropes.size()) {
        ropes.push_back(&*rope->rope);
        rope_offset.push_back(take(rows * rope->rope->inverse_frequency.size() * 2 * 4 + 64));
      }
      rope_of_op[i] = static_cast<int>(r);
    }
  }
  shared_offset = take(floats * 4 + 64);
  quant_offset = take(quants);
  answers_offset = take(answers * 4 + 64);
  // Members' scratch in lines of their own.
  member_bytes = (member_bytes + 4095) / 4096 * 4096;
  member_offset = (bytes + 4095) / 4096 * 4096;
  bytes = member_offset + member_bytes * static_cast<size_t>(threads);
  claims = std::make_unique<std::atomic<int64_t>[]>(ops.size());
}

}  // namespace kapitsa::cpu
