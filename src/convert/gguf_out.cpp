#include "convert/gguf_out.h"

#include <filesystem>

#include "convert/form.h"
#include "convert/gguf_metadata.h"
#include "convert/gguf_task.h"
#include "convert/source.h"
#include "weights/gguf_writer.h"

namespace kapitsa::convert {
namespace {

using model::GgufTensor;

bool is_tied(const model::GgufForm& form) {
  for (const GgufTensor& t : form.tensors) {
    if (t.name == "output.weight") return false;
  }
  return true;
}

int layers_of(const model::GgufForm& form) {
  int layers = 0;
  for (const GgufTensor& t : form.tensors) layers = std::max(layers, layer_of(t.name) + 1);
  return layers;
}

// Everything that the output's bytes depend on.
std::string fingerprint(const weights::Checkpoint& checkpoint, const std::string& head, const GgufOptions& options) {
  std::error_code ignored;
  const auto time = std::filesystem::last_write_time(checkpoint.path, ignored).time_since_epoch().count();
  return fmt::format("{} {} {} {} {}", checkpoint.path, checkpoint.file_bytes(), time, options.importance_name, head);
}

}  // namespace

Result<Report> write_gguf(const weights::Checkpoint& checkpoint, const std::string& path, const GgufOptions& options, const Work& work) {
  if (checkpoint.holds(path)) return error(Code::kInvalid, "{}: is the input, and would be lost", path);
  KAPITSA_ASSIGN(const model::GgufForm form, form_of(checkpoint));
  Report report;
  KAPITSA_ASSIGN(const weights::Metadata metadata, gguf_metadata(checkpoint, form, options.plan.recipe.name, options.pre, report.notes));

  const bool tied = is_tied(form);
  const int layers = layers_of(form);
  std::vector<weights::GgufEntry> entries;
  std::vector<GgufTask> tasks;
  for (const GgufTensor& tensor : form.tensors) {
    const quant::Format format = gguf_format(options.plan, tensor, class_of(tensor, tied), layers);
    KAPITSA_ASSIGN(Source source, Source::of(checkpoint, tensor));
    if (source.bits() < 8 && format != source.format()) ++report.requantised;
    tasks.emplace_back(std::move(source), tensor, format, entries.size());
    entries.push_back({tensor.name, format, tensor.shape});
    if (!tasks.back().factor_name().empty()) {
      entries.push_back({tasks.back().factor_name(), quant::Format::f32, {tasks.back().source().matrices()}});
    }
  }
  auto layout = weights::gguf_layout(metadata, entries);
  if (!layout.ok()) return layout.status().in(path);
  report.bytes = layout->size;
  for (size_t i = 0; i < entries.size(); ++i) {
    int64_t parameters = 1;
    for (const int64_t n : entries[i].shape) parameters *= n;
    report.tensors.push_back({entries[i].name, std::string(quant::info(entries[i].format).name), parameters, layout->places[i].size});
  }
  if (options.dry) return report;

  const std::string resume = fingerprint(checkpoint, layout->head, options);
  KAPITSA_ASSIGN(auto file, weights::TensorFile::create(path, *std::move(layout), resume));
  std::vector<Task> todo;
  for (GgufTask& task : tasks) {
    if (file.was_whole(task.entry())) {
      ++report.resumed;
      continue;
    }
    if (options.importance) task.weigh(*options.importance);
    todo.push_back(task.bind(file));
  }
  KAPITSA_RETURN_IF_ERROR(run_tasks(todo, work));
  KAPITSA_RETURN_IF_ERROR(file.finish());
  return report;
}

}  // namespace kapitsa::convert
