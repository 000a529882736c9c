#include "engine/plan.h"

#include <algorithm>

#include "base/log.h"
#include "engine/kv/pools.h"

namespace kapitsa::engine {
namespace {

// The longest sequence, in whole pages, that `room` holds, up to `most`.
int64_t longest(const backend::Graph& graph, const PlanInput& in, size_t room, int64_t most) {
  int64_t low = 0, high = most / backend::kPage + 1;  // pages; low fits
  while (low + 1 < high) {
    const int64_t middle = (low + high) / 2;
    (sequence_bytes(graph, in.kv, middle * backend::kPage, in.chunk) <= room ? low : high) = middle;
  }
  return sequence_bytes(graph, in.kv, low * backend::kPage, in.chunk) <= room ? low * backend::kPage : 0;
}

}  // namespace

size_t sequence_bytes(const backend::Graph& graph, backend::KvType kv, int64_t tokens, int chunk) {
  size_t bytes = backend::state_bytes(graph);
  for (size_t g = 0; g < graph.kv_groups().size(); ++g) {
    const auto pages = static_cast<size_t>(most_pages(static_cast<int>(tokens), graph.kv_groups()[g].window, chunk));
    bytes += pages * backend::kv_page_bytes(graph, kv, static_cast<int>(g));
  }
  return bytes;
}

Result<Plan> plan_cache(const backend::Graph& graph, const PlanInput& in) {
  const size_t room = in.memory > in.weights + kReserve ? in.memory - in.weights - kReserve : 0;
  Plan plan;
  plan.context = in.asked_context > 0 ? in.asked_context : in.own_context;
  if (plan.context > in.own_context) {
    spdlog::warn("{}: a context of {} tokens is asked for, the model was made for {}: expect nonsense beyond", in.path,
                 plan.context, in.own_context);
  }
  const int64_t fits = longest(graph, in, room, pages_for(plan.context) * int64_t{backend::kPage});
  if (in.asked_context > 0 && plan.context > fits) {
    return error(Code::kExhausted,
                 "{}: a context of {} tokens takes {} MB beside {} MB of weights, this machine has {} MB: at most {} tokens fit",
                 in.path, plan.context, sequence_bytes(graph, in.kv, plan.context, in.chunk) >> 20, in.weights >> 20, in.memory >> 20, fits);
  }
  if (fits < std::min<int64_t>(2 * backend::kPage, plan.context)) {
    return error(Code::kExhausted, "{}: the weights take {} MB, this machine has {} MB: nothing is left for a context", in.path,
                 in.weights >> 20, in.memory >> 20);
  }
  if (plan.context > fits) {
    spdlog::warn("{}: the context is cut from {} to {} tokens, which is what memory holds", in.path, plan.context, fits);
    plan.context = static_cast<int>(fits);
  }
  // What does not grow with the context is planned for so many sequences; pages that do are shared as they come.
  size_t fixed = backend::state_bytes(graph);
  for (size_t g = 0; g < graph.kv_groups().size(); ++g) {
    const int window = graph.kv_groups()[g].window;
    if (window == 0) continue;
    const auto pages = static_cast<size_t>(most_pages(plan.context, window, in.chunk));
    fixed += pages * backend::kv_page_bytes(graph, in.kv, static_cast<int>(g));
  }
  const auto sequences = static_cast<int>(
      std::clamp<size_t>(fixed > 0 ? room / 4 / fixed : static_cast<size_t>(in.max_batch), 1, static_cast<size_t>(in.max_batch)));
  for (size_t g = 0; g < graph.kv_groups().size(); ++g) {
    const int window = graph.kv_groups()[g].window, one = most_pages(plan.context, window, in.chunk);
    if (window > 0) {
      plan.cache.pages.push_back(one * sequences);
      continue;
    }
    const size_t page_bytes = backend::kv_page_bytes(graph, in.kv, static_cast<int>(g));
    const auto half = static_cast<int64_t>((room / 2 > fixed ? room / 2 - fixed : 0) / page_bytes);
    plan.cache.pages.push_back(static_cast<int>(std::clamp<int64_t>(half, one, int64_t{one} * in.max_batch)));
  }
  plan.cache.type = in.kv;
  plan.cache.states = graph.states().empty() ? 0 : sequences;
  return plan;
}

backend::CacheShape shape_for(const backend::Graph& graph, backend::KvType kv, int tokens, int sequences) {
  backend::CacheShape shape{.type = kv, .pages = {}, .states = graph.states().empty() ? 0 : sequences};
  shape.pages.assign(graph.kv_groups().size(), pages_for(tokens) * sequences);
  return shape;
}

}  // namespace kapitsa::engine
