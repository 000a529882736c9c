// `kapitsa quantize`: a checkpoint in another container and with other bits a weight.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>

#include "app/command.h"
#include "app/interrupt.h"
#include "app/load_progress.h"
#include "app/open_model.h"
#include "app/quantize_options.h"
#include "app/terminal.h"
#include "base/say.h"
#include "convert/gguf_out.h"
#include "hub/human_bytes.h"

namespace kapitsa::app {
namespace {

Status check_output(const QuantizeOptions& options) {
  std::error_code missing;
  if (options.force || options.dry || !std::filesystem::exists(options.out, missing)) return {};
  return error(Code::kInvalid, "{}: is there already; --force replaces it", options.out);
}

double bits(uint64_t bytes, int64_t parameters) {
  return parameters > 0 ? 8.0 * static_cast<double>(bytes) / static_cast<double>(parameters) : 0;
}

// What the output is made of, by format.
void print_report(const QuantizeOptions& options, const convert::Report& report) {
  struct Sum {
    int tensors = 0;
    int64_t parameters = 0;
    uint64_t bytes = 0;
  };
  std::map<std::string, Sum> by_format;
  Sum all;
  for (const auto& tensor : report.tensors) {
    for (Sum* sum : {&by_format[tensor.format], &all}) {
      ++sum->tensors;
      sum->parameters += tensor.parameters;
      sum->bytes += tensor.bytes;
    }
  }
  if (options.dry) {
    for (const auto& tensor : report.tensors) fmt::print("{:<44} {:<10} {:>12}\n", tensor.name, tensor.format, tensor.parameters);
  }
  for (const auto& [format, sum] : by_format) {
    say("  {:<10} {:>5} tensor{} {:>9}\n", format, sum.tensors, sum.tensors == 1 ? " " : "s", hub::human_bytes(sum.bytes));
  }
  say("{}: {}, {:.2f} bits a weight\n", options.out, hub::human_bytes(report.bytes), bits(all.bytes, all.parameters));
}

Status run_quantize(QuantizeOptions options, const Globals& globals) {
  KAPITSA_ASSIGN(const convert::PlanOptions plan, plan_of(options));
  KAPITSA_RETURN_IF_ERROR(check_output(options));
  KAPITSA_ASSIGN(const auto files, find_model(options.model, hub::Download::kIfMissing, globals));
  KAPITSA_ASSIGN(const auto checkpoint, weights::Checkpoint::open(files.path));
  Interrupt interrupt;
  LoadProgress progress(fmt::format("writing {}", std::filesystem::path(options.out).filename().string()), !globals.quiet);
  bool interrupted = false;
  const convert::Work work{options.threads, [&](double share) { progress.update(share); },
                           [&] { return interrupted = interrupted || interrupt.take(); }};
  auto report = convert::write_gguf(checkpoint, options.out, {.plan = plan, .pre = options.pre, .dry = options.dry}, work);
  progress.finish();
  if (interrupted) say("stopped; the same command goes on from here\n");
  if (!report.ok()) return report.status();
  if (globals.quiet) return {};
  for (const std::string& note : report->notes) say("note: {}\n", note);
  if (report->requantised > 0) {
    say("note: {} tensors had fewer than 8 bits a weight already; they lose precision once more\n", report->requantised);
  }
  if (report->resumed > 0) say("{} tensors were there from an earlier run\n", report->resumed);
  print_report(options, *report);
  return {};
}

}  // namespace

void add_quantize(CLI::App& root, Run& run, const Globals& globals) {
  auto options = std::make_shared<QuantizeOptions>();
  CLI::App* command = root.add_subcommand("quantize", "Write a model with fewer bits a weight, or as another kind of file");
  add_quantize_options(*command, *options);
  command->callback([options, &run, &globals] {
    run = [options, &globals] {
      const Status status = run_quantize(*options, globals);
      if (status.code() == Code::kCancelled) return 130;
      return status.ok() ? 0 : fail(status);
    };
  });
}

}  // namespace kapitsa::app
