// The catalogue: the models that people ask for by a short name, where their files are, and what
// they need. models.json is built in; the user's own file is laid over it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/status.h"

namespace kapitsa::hub {

struct CatalogueFile {
  std::string name;
  std::optional<uint64_t> size;  // bytes
  std::string sha256;            // empty: not known
};

// One set of files of a model: a quantisation, in one repository.
struct Variant {
  std::string name;  // "q8_0"
  std::string repo;
  std::string revision = "main";
  std::string format;                // "gguf" or "safetensors"
  std::string part;                  // what to pick in the repository (select_files); may be empty
  std::vector<CatalogueFile> files;  // where known
  std::optional<uint64_t> size;      // bytes, as published (rounded where only that is known)
  std::optional<double> bits;        // a weight takes about this many bits
  std::optional<uint64_t> min_memory;  // bytes, as its publisher states
};

struct Entry {
  std::vector<std::string> aliases;  // the first is its name
  std::string title;
  std::string architecture;  // "qwen3"
  std::optional<uint64_t> parameters;
  std::optional<uint64_t> context;  // tokens
  std::string licence;
  Json sampling = Json::object();  // recommended: temperature, top_p, top_k, ...
  bool verified = false;           // this project has run these very files
  std::string note;
  std::vector<Variant> variants;  // the first is the default

  const std::string& name() const { return aliases.front(); }
};

enum class Fit { kYes, kTight, kNo, kUnknown };
std::string_view name(Fit fit);

class Catalogue {
 public:
  // The built-in catalogue with `user_file` over it (may not exist). Error: kCorrupt, naming the
  // file.
  static Result<Catalogue> load(const std::string& user_file);
  // A catalogue from JSON text; `what` names it in errors.
  static Result<Catalogue> parse(std::string_view json, std::string_view what);

  const std::vector<Entry>& entries() const { return entries_; }
  // By any alias, in any case.
  const Entry* find(std::string_view alias) const;
  // The entry that names this repository, if any.
  const Entry* find_repo(std::string_view repo) const;
  // The alias that `text` most likely meant, or empty.
  std::string suggest(std::string_view text) const;

  // Lays `other` over this: an entry with the same name has its fields replaced, others are added.
  Status merge(const Json& other, std::string_view what);

 private:
  Status rebuild(std::string_view what);

  Json json_;
  std::vector<Entry> entries_;
};

const Variant* find_variant(const Entry& entry, std::string_view name);

// Bytes of the files: as published, or else from parameters and bits (`estimated` is set).
std::optional<uint64_t> file_bytes(const Entry& entry, const Variant& variant, bool* estimated);
// Bytes of memory to run it with a short context: as stated, or else its files and an eighth more.
std::optional<uint64_t> memory_needed(const Entry& entry, const Variant& variant);
// Whether `needed` fits a machine of `physical` bytes; the system and other programs want some too.
Fit fits(std::optional<uint64_t> needed, uint64_t physical);

}  // namespace kapitsa::hub
