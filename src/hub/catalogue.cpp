#include "hub/catalogue.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/edit_distance.h"
#include "base/file_map.h"
#include "hub/catalogue_data.h"
#include "hub/ids.h"

namespace kapitsa::hub {
namespace {

// Reads fields of one JSON object; the first wrong type is kept as the error.
class Fields {
 public:
  Fields(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) fail("is not an object");
  }

  std::string text(const char* key, bool required = false) {
    const Json* value = get(key);
    if (value == nullptr) {
      if (required) fail(fmt::format("has no \"{}\"", key));
      return "";
    }
    if (!value->is_string()) return fail(fmt::format("\"{}\" is not a string", key)), "";
    return value->get<std::string>();
  }
  std::optional<double> number(const char* key) {
    const Json* value = get(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_number() || value->get<double>() < 0 || value->get<double>() > 1e18) {
      fail(fmt::format("\"{}\" is not a number from 0 to 1e18", key));
      return std::nullopt;
    }
    return value->get<double>();
  }
  std::optional<uint64_t> integer(const char* key) {
    const auto value = number(key);
    if (!value) return std::nullopt;
    return static_cast<uint64_t>(*value);
  }
  bool flag(const char* key) {
    const Json* value = get(key);
    if (value != nullptr && !value->is_boolean())
      fail(fmt::format("\"{}\" is not true or false", key));
    return value != nullptr && value->is_boolean() && value->get<bool>();
  }
  const Json& array(const char* key, bool required) {
    static const Json kEmpty = Json::array();
    const Json* value = get(key);
    if (value == nullptr || !value->is_array()) {
      if (required || value != nullptr) fail(fmt::format("\"{}\" is not a list", key));
      return kEmpty;
    }
    return *value;
  }
  void fail(const std::string& why) {
    if (status_.ok()) status_ = error(Code::kCorrupt, "{} {}", where_, why);
  }
  const Status& status() const { return status_; }
  // A null is as good as nothing: "not known".
  const Json* get(const char* key) const {
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }

 private:
  const Json& object_;
  std::string where_;
  Status status_;
};

Result<Variant> parse_variant(const Json& json, const std::string& where) {
  Fields fields(json, where);
  Variant variant;
  variant.name = fields.text("name", true);
  variant.repo = fields.text("repo", true);
  if (const std::string revision = fields.text("revision"); !revision.empty())
    variant.revision = revision;
  variant.format = fields.text("format", true);
  variant.part = fields.text("part");
  variant.size = fields.integer("size");
  variant.bits = fields.number("bits");
  variant.min_memory = fields.integer("min_memory");
  for (const Json& file : fields.array("files", false)) {
    Fields of_file(file, where + ": a file");
    CatalogueFile parsed{of_file.text("name", true), of_file.integer("size"),
                         of_file.text("sha256")};
    KAPITSA_RETURN_IF_ERROR(of_file.status());
    if (!valid_file(parsed.name))
      fields.fail(fmt::format("names a file '{}' outside its folder", parsed.name));
    if (!parsed.sha256.empty() && !is_hex(parsed.sha256, 64)) {
      fields.fail(fmt::format("{}: its sha256 is not 64 hex digits", parsed.name));
    }
    variant.files.push_back(std::move(parsed));
  }
  KAPITSA_RETURN_IF_ERROR(fields.status());
  if (!valid_repo(variant.repo))
    fields.fail(fmt::format("'{}' is not a repository's name", variant.repo));
  if (!valid_revision(variant.revision))
    fields.fail(fmt::format("'{}' is not a revision", variant.revision));
  if (variant.format != "gguf" && variant.format != "safetensors") {
    fields.fail(fmt::format("\"format\" is '{}'; it is gguf or safetensors", variant.format));
  }
  KAPITSA_RETURN_IF_ERROR(fields.status());
  return variant;
}

Result<Entry> parse_entry(const Json& json, const std::string& where) {
  Fields fields(json, where);
  Entry entry;
  for (const Json& alias : fields.array("aliases", true)) {
    if (!alias.is_string() || alias.get_ref<const std::string&>().empty() ||
        alias.get_ref<const std::string&>().find_first_of("/:@ ") != std::string::npos) {
      fields.fail("has an alias that is not a word without '/', ':' and '@'");
    } else {
      entry.aliases.push_back(to_lower(alias.get<std::string>()));
    }
  }
  entry.title = fields.text("title", true);
  entry.architecture = fields.text("architecture", true);
  entry.parameters = fields.integer("parameters");
  entry.context = fields.integer("context");
  entry.licence = fields.text("licence");
  entry.verified = fields.flag("verified");
  entry.note = fields.text("note");
  if (const Json* sampling = fields.get("sampling")) {
    if (!sampling->is_object()) fields.fail("\"sampling\" is not an object");
    for (const auto& [key, value] : sampling->items()) {
      if (!value.is_number()) fields.fail(fmt::format("\"sampling\": '{}' is not a number", key));
    }
    entry.sampling = *sampling;
  }
  const Json& variants = fields.array("variants", true);
  if (entry.aliases.empty()) fields.fail("has no alias");
  if (variants.empty()) fields.fail("has no variant");
  KAPITSA_RETURN_IF_ERROR(fields.status());
  for (const Json& variant : variants) {
    KAPITSA_ASSIGN(Variant parsed, parse_variant(variant, where + ": a variant"));
    entry.variants.push_back(std::move(parsed));
  }
  return entry;
}

std::string name_in(const Json& entry) {
  if (!entry.is_object()) return "";
  const auto aliases = entry.find("aliases");
  return aliases != entry.end() && aliases->is_array() && !aliases->empty() &&
                 aliases->front().is_string()
             ? to_lower(aliases->front().get<std::string>())
             : "";
}

}  // namespace

std::string_view name(Fit fit) {
  switch (fit) {
    case Fit::kYes:
      return "yes";
    case Fit::kTight:
      return "tight";
    case Fit::kNo:
      return "no";
    case Fit::kUnknown:
      return "unknown";
  }
  return "unknown";
}

Status Catalogue::rebuild(std::string_view what) {
  const std::string place(what);
  if (!json_.is_object() || !json_.contains("models") || !json_["models"].is_array()) {
    return error(Code::kCorrupt, "{}: has no list \"models\"", place);
  }
  entries_.clear();
  std::set<std::string> seen;
  for (const Json& model : json_["models"]) {
    const std::string called = name_in(model);
    KAPITSA_ASSIGN(Entry entry, parse_entry(model, fmt::format("{}: model '{}'", place, called)));
    for (const std::string& alias : entry.aliases) {
      if (!seen.insert(alias).second) {
        return error(Code::kCorrupt, "{}: the alias '{}' is given twice", place, alias);
      }
    }
    entries_.push_back(std::move(entry));
  }
  return Status();
}

Result<Catalogue> Catalogue::parse(std::string_view text, std::string_view what) {
  Catalogue catalogue;
  KAPITSA_ASSIGN(catalogue.json_, parse_json(text, what));
  KAPITSA_RETURN_IF_ERROR(catalogue.rebuild(what));
  return catalogue;
}

Status Catalogue::merge(const Json& other, std::string_view what) {
  if (!other.is_object() || !other.contains("models") || !other["models"].is_array()) {
    return error(Code::kCorrupt, "{}: has no list \"models\"", what);
  }
  Json& models = json_["models"];
  for (const Json& model : other["models"]) {
    const std::string called = name_in(model);
    const auto same = std::find_if(models.begin(), models.end(), [&](const Json& mine) {
      return !called.empty() && name_in(mine) == called;
    });
    if (same == models.end()) {
      models.push_back(model);
    } else {
      same->merge_patch(model);
    }
  }
  return rebuild(what);
}

Result<Catalogue> Catalogue::load(const std::string& user_file) {
  KAPITSA_ASSIGN(Catalogue catalogue, parse(kCatalogueJson, "the built-in catalogue"));
  auto text = read_file(user_file);
  if (!text.ok()) {
    if (text.status().code() == Code::kNotFound || user_file.empty()) return catalogue;
    return text.status();
  }
  KAPITSA_ASSIGN(const Json json, parse_json(*text, user_file));
  KAPITSA_RETURN_IF_ERROR(catalogue.merge(json, user_file));
  return catalogue;
}

const Entry* Catalogue::find(std::string_view alias) const {
  const std::string wanted = to_lower(alias);
  for (const Entry& entry : entries_) {
    if (std::find(entry.aliases.begin(), entry.aliases.end(), wanted) != entry.aliases.end())
      return &entry;
  }
  return nullptr;
}

const Entry* Catalogue::find_repo(std::string_view repo) const {
  const std::string wanted = to_lower(repo);
  for (const Entry& entry : entries_) {
    for (const Variant& variant : entry.variants) {
      if (to_lower(variant.repo) == wanted) return &entry;
    }
  }
  return nullptr;
}

std::string Catalogue::suggest(std::string_view text) const {
  if (text.size() > 64) return "";
  const std::string wanted = to_lower(text);
  std::string best;
  size_t best_distance = std::max<size_t>(1, wanted.size() / 3) + 1;
  for (const Entry& entry : entries_) {
    for (const std::string& alias : entry.aliases) {
      size_t away = edit_distance(wanted, alias);
      if (wanted.size() >= 3 && alias.find(wanted) != alias.npos) away = std::min<size_t>(away, 1);
      if (away < best_distance) {
        best_distance = away;
        best = alias;
      }
    }
  }
  return best;
}

const Variant* find_variant(const Entry& entry, std::string_view wanted) {
  if (wanted.empty()) return &entry.variants.front();
  for (const Variant& variant : entry.variants) {
    if (to_lower(variant.name) == to_lower(wanted)) return &variant;
  }
  return nullptr;
}

std::optional<uint64_t> file_bytes(const Entry& entry, const Variant& variant, bool* estimated) {
  *estimated = false;
  if (variant.size) return variant.size;
  uint64_t sum = 0;
  bool all = !variant.files.empty();
  for (const CatalogueFile& file : variant.files) {
    all = all && file.size;
    sum += file.size.value_or(0);
  }
  if (all) return sum;
  if (!entry.parameters || !variant.bits) return std::nullopt;
  *estimated = true;
  return static_cast<uint64_t>(static_cast<double>(*entry.parameters) * *variant.bits / 8);
}

std::optional<uint64_t> memory_needed(const Entry& entry, const Variant& variant) {
  if (variant.min_memory) return variant.min_memory;
  bool estimated = false;
  const auto bytes = file_bytes(entry, variant, &estimated);
  if (!bytes) return std::nullopt;
  return *bytes + *bytes / 8 + 300'000'000;
}

Fit fits(std::optional<uint64_t> needed, uint64_t physical) {
  if (!needed || physical == 0) return Fit::kUnknown;
  const uint64_t for_others = std::min<uint64_t>(physical / 8, 4'000'000'000);
  if (*needed <= physical - for_others) return Fit::kYes;
  return *needed <= physical ? Fit::kTight : Fit::kNo;
}

}  // namespace kapitsa::hub
