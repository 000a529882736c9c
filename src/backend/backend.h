// What a backend is: it packs weights, keeps the KV cache, records a model's graph into steps and runs them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/graph.h"
#include "base/status.h"
#include "quant/format.h"
#include "quant/planes.h"

namespace kapitsa::backend {

// The grid that everything is anchored to: KV pages, attention blocks, prefill sizes.
inline constexpr int kPage = 64;
// Rows of a decode or verify pass; more rows than this are prefill, in multiples of kPage.
inline constexpr int kMaxDecodeRows = 16;

// The smallest recorded size that holds `rows`: 1, 2, 4, 8, 16, 64, 128, ...
int bucket(int rows);

// A matrix as a file stores it.
struct Stored {
  quant::Format format = quant::Format::f32;
  int64_t rows = 0, columns = 0;
  std::span<const std::byte> bytes;  // rows one after another; must outlive the Weight. Of Format::planes: the codes
  std::optional<quant::Planes> planes;  // of Format::planes: row 0 is the matrix's
  float scale = 1;  // factor on every product, beside the format's own scales
  // Called with parts of `bytes` that the backend has copied and will not read again; may be empty.
  std::function<void(std::span<const std::byte>)> release;

  // What the file spends on it.
  size_t stored_bytes() const;
};

enum class Use {
  kProduct,  // products at the backend's own precision
  kRows,     // single rows are read: an embedding
  kExact,    // products in float32, weights decoded (routers)
};

enum class Compute {
  kDefault,  // activations quantised to 8 bits a block for quantised weights
  kFloat32,  // every weight decoded, every product in float32: for checking
};
enum class KvType { kF16, kF32 };

// Bytes that a page takes over all layers of a group of the graph.
size_t kv_page_bytes(const Graph& graph, KvType type, int group);
// Bytes of one sequence's recurrent state.
size_t state_bytes(const Graph& graph);

// What changes from step to step, copied to the device before the step runs: nothing in a step is read by
// the host. Rows beyond tokens.size() of the bucket compute nothing.
struct Batch {
  std::span<const int32_t> tokens;      // [rows]
  std::span<const int32_t> positions;   // [rows]
  std::span<const int32_t> sequences;   // [rows] which row of `page_table`
  // [rows] the last row of the subtree that this row is the root of (kflash.md: rows in depth-first order; j is
  // an ancestor of i, or i itself, iff j <= i <= subtree_end[j]). A plain chain: the last row of the sequence.
  std::span<const int32_t> subtree_end;
  // [rows] where the row's key and value are written, counted like a position from the sequence's start. A
  // plain chain: its position. Siblings of a tree share a position, not a slot.
  std::span<const int32_t> slots;
  // [sequences] tokens that lie in the cache before this step; those below are read by position, those at or
  // above come from this step's rows.
  std::span<const int32_t> committed;
  // [groups, sequences, pages_per_sequence] page ids, by the graph's KV groups; -1 where a page is behind the window.
  std::span<const int32_t> page_table;
  int pages_per_sequence = 0;
  // [sequences] where the sequence's recurrent state lies; empty for a graph without. With recurrent layers a sequence's
  // rows are a plain chain.
  std::span<const int32_t> states;
  std::span<const int32_t> output_rows;  // rows whose logits are wanted, ascending
};

struct CacheShape {
  KvType type = KvType::kF16;
  std::vector<int> pages;  // by KV group
  int states = 0;          // sequences that have recurrent state at a time
};

// What sequences leave behind: pages of kPage tokens for each KV group, and slots of recurrent state.
class Cache {
 public:
  virtual ~Cache() = default;
  // Copies, so that a sequence can go on from where another one is. Not while a step runs.
  virtual void copy_page(int group, int from, int to) = 0;
  virtual void copy_state(int from, int to) = 0;
};

struct StepShape {
  int rows = 1;       // a bucket
  int outputs = 1;    // output rows at most
  bool taps = false;  // keep what Graph::tap() marked
};

// A graph recorded for at most `rows` rows.
class Step {
 public:
  virtual ~Step() = default;
  virtual int rows() const = 0;
  virtual size_t scratch_bytes() const = 0;
};

struct Limits {
  std::string device;        // "Intel Xeon ..., AVX-512 VNNI, 2 threads"
  size_t memory_bytes = 0;   // what a model may take at most
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  virtual Limits limits() const = 0;

  // Packs a matrix; it serves every use, `use` says which one pays. Errors: kUnsupported (a format this backend has no
  // kernel for), kExhausted.
  virtual Result<WeightRef> pack(const Stored& stored, Use use) = 0;
  // The same for a stack of experts: matrices of one shape and format.
  virtual Result<WeightRef> pack_stack(std::span<const Stored> experts) = 0;
  // Uploads a float32 vector (norm weights, biases).
  virtual Result<WeightRef> vector(std::span<const float> values) = 0;

  virtual Result<std::unique_ptr<Cache>> make_cache(const Graph& graph, const CacheShape& shape) = 0;
  // Records `graph` over `cache`; both must outlive the step. Steps share their scratch.
  virtual Result<std::unique_ptr<Step>> record(const Graph& graph, Cache& cache, const StepShape& shape) = 0;

  // Runs a step over a batch of at most its rows. Blocking; one step at a time. `cancelled` (may be null) is
  // looked at between ops: kCancelled leaves the cache's new slots and the sequences' recurrent states undefined.
  virtual Status run(Step& step, const Batch& batch, const std::atomic<bool>* cancelled) = 0;

  // After run(): row i of the logits, i counting output rows; valid until the next run.
  virtual std::span<const float> logits(const Step& step, int row) const = 0;
  // After run() of a graph with taps: tap `index`, row `row` of the batch.
  virtual std::span<const float> tap(const Step& step, int index, int row) const = 0;
};

struct Options {
  std::string name;  // "cpu", or empty for the best one here
  int threads = 0;   // CPU: 0 means one a physical core
  Compute compute = Compute::kDefault;
};

// Makes a backend. Error: kInvalid with the names that this build has.
Result<std::unique_ptr<Backend>> make(const Options& options);

}  // namespace kapitsa::backend
