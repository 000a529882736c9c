#include "text/dialect/tools.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "text/dialect/loose_json.h"
#include "text/dialect/markers.h"

namespace kapitsa::text {
namespace {

// A $ref may lead to itself and alternatives to each other: so many schemas are looked at for one
// answer.
constexpr int kMaxSteps = 256;

constexpr const char* kAlternatives[] = {"anyOf", "oneOf", "allOf"};

const Json* find(const Json* object, const std::string& key) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto found = object->find(key);
  return found == object->end() ? nullptr : &*found;
}

// What a JSON pointer ("#/$defs/Name") points to; null for other references.
const Json* follow(const Json* root, std::string_view pointer) {
  if (pointer.empty() || pointer[0] != '#') return nullptr;
  pointer.remove_prefix(1);
  const Json* out = root;
  while (out != nullptr && !pointer.empty()) {
    if (pointer[0] != '/') return nullptr;
    pointer.remove_prefix(1);
    const size_t end = std::min(pointer.find('/'), pointer.size());
    std::string key(pointer.substr(0, end));
    for (size_t at = 0; (at = key.find('~', at)) != std::string::npos; ++at) {
      key.replace(at, 2, key.compare(at, 2, "~1") == 0 ? "/" : "~");
    }
    pointer.remove_prefix(end);
    if (out->is_array()) {
      const bool number =
          !key.empty() && key.size() < 6 &&
          std::all_of(key.begin(), key.end(), [](unsigned char c) { return std::isdigit(c); });
      const size_t index = number ? std::stoul(key) : out->size();
      out = index < out->size() ? &(*out)[index] : nullptr;
    } else {
      out = find(out, key);
    }
  }
  return out;
}

// The schema behind `schema`'s $ref; null where it cannot be had, or is no object.
const Json* resolve(const Json* root, const Json* schema, int& steps) {
  while (steps++ < kMaxSteps) {
    if (schema == nullptr || !schema->is_object()) return nullptr;
    const Json* reference = find(schema, "$ref");
    if (reference == nullptr || !reference->is_string()) return schema;
    schema = follow(root, reference->get_ref<const std::string&>());
  }
  return nullptr;
}

uint8_t bits_named(std::string_view type) {
  if (type == "null") return kNull;
  if (type == "boolean") return kBoolean;
  if (type == "integer") return kInteger;
  if (type == "number") return kNumber | kInteger;
  if (type == "string") return kString;
  if (type == "array") return kArray;
  if (type == "object") return kObject;
  return 0;
}

uint8_t bits_of(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return kNull;
    case Json::value_t::boolean:
      return kBoolean;
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      return kInteger;
    case Json::value_t::number_float:
      return kNumber;
    case Json::value_t::string:
      return kString;
    case Json::value_t::array:
      return kArray;
    case Json::value_t::object:
      return kObject;
    default:
      return 0;
  }
}

uint8_t types_of(const Json* root, const Json* schema, int& steps) {
  schema = resolve(root, schema, steps);
  if (schema == nullptr) return kAnyType;
  uint8_t out = 0;
  if (const Json* type = find(schema, "type")) {
    if (type->is_string()) out = bits_named(type->get_ref<const std::string&>());
    if (type->is_array()) {
      for (const Json& one : *type) {
        if (one.is_string()) out |= bits_named(one.get_ref<const std::string&>());
      }
    }
  }
  if (out == 0) {
    if (const Json* values = find(schema, "enum"); values && values->is_array()) {
      for (const Json& value : *values) out |= bits_of(value);
    }
    if (const Json* value = find(schema, "const")) out |= bits_of(*value);
  }
  if (out == 0) {
    if (find(schema, "properties") || find(schema, "additionalProperties")) out = kObject;
    if (find(schema, "items")) out = kArray;
  }
  if (out != 0) {
    const Json* nullable = find(schema, "nullable");
    if (nullable && *nullable == true) out |= kNull;
    return out;
  }
  uint8_t all = kAnyType;
  for (const char* name : kAlternatives) {
    const Json* list = find(schema, name);
    if (list == nullptr || !list->is_array() || list->empty()) continue;
    const bool both = std::string_view(name) == "allOf";
    uint8_t any = both ? uint8_t{kAnyType} : uint8_t{0};
    for (const Json& one : *list) {
      const uint8_t types = types_of(root, &one, steps);
      any = static_cast<uint8_t>(both ? any & types : any | types);
    }
    all &= any;
  }
  return all == 0 ? uint8_t{kAnyType}
                  : all;  // types that exclude each other: nothing can be learnt
}

// Calls `see` with `schema` and, while it returns false, with its alternatives.
template <typename See>
bool each_alternative(const Json* root, const Json* schema, const See& see, int& steps) {
  schema = resolve(root, schema, steps);
  if (schema == nullptr) return false;
  if (see(schema)) return true;
  for (const char* name : kAlternatives) {
    const Json* list = find(schema, name);
    if (list == nullptr || !list->is_array()) continue;
    for (const Json& one : *list) {
      if (each_alternative(root, &one, see, steps)) return true;
    }
  }
  return false;
}

template <typename See>
bool each_alternative(const Schema& schema, const See& see) {
  int steps = 0;
  return each_alternative(schema.root, schema.here, see, steps);
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return out;
}

// The text as one of `types` that is no string.
std::optional<Json> typed(std::string_view text, uint8_t types) {
  text = trim(text, kWhiteSpace);
  if (text.empty()) return std::nullopt;
  const std::string word = text.size() <= 5 ? lower(text) : std::string();
  if ((types & kNull) && (word == "null" || word == "none")) return Json(nullptr);
  if ((types & kBoolean) && (word == "true" || word == "false")) return Json(word == "true");
  if (text[0] == '+') text.remove_prefix(1);
  auto value = read_loose_json(text);
  if (!value) return std::nullopt;
  if (value->is_string()) {
    // Quoted where no quotes were asked for; what is inside counts.
    return trim(value->get_ref<const std::string&>(), kWhiteSpace) == text
               ? std::nullopt
               : typed(value->get<std::string>(), types);
  }
  if (value->is_number_float() && !(types & kNumber) && (types & kInteger)) {
    const double number = value->get<double>();
    if (std::nearbyint(number) == number && std::abs(number) < 9e15)
      value = Json(static_cast<int64_t>(number));
  }
  return (bits_of(*value) & types) ? value : std::nullopt;
}

Json coerce_at(Json value, const Schema& schema, int depth) {
  if (schema.here == nullptr || depth > 128) return value;
  const uint8_t types = schema.types();
  if (!(bits_of(value) & types)) {
    if (value.is_string()) {
      auto found = typed(value.get_ref<const std::string&>(), types);
      if (found) value = *std::move(found);
    } else if (value.is_number_float() && (types & kInteger)) {
      auto found = typed(value.dump(), types);
      if (found) value = *std::move(found);
    } else if ((types & kString) && !value.is_null()) {
      return value.dump(-1, ' ', false, Json::error_handler_t::replace);
    }
  }
  const uint8_t type = bits_of(value);
  if (!value.is_structured() || !(type & types)) return value;
  const Schema here = schema.alternative(type);
  if (value.is_array()) {
    const Schema items = here.items();
    for (Json& item : value) item = coerce_at(std::move(item), items, depth + 1);
  } else {
    for (auto& [key, member] : value.items()) {
      member = coerce_at(std::move(member), here.member(key), depth + 1);
    }
  }
  return value;
}

}  // namespace

uint8_t Schema::types() const {
  int steps = 0;
  return types_of(root, here, steps);
}

Schema Schema::member(const std::string& key) const {
  const Json* out = nullptr;
  each_alternative(*this, [&](const Json* schema) {
    out = find(find(schema, "properties"), key);
    return out != nullptr;
  });
  if (out == nullptr) {
    each_alternative(*this, [&](const Json* schema) {
      const Json* others = find(schema, "additionalProperties");
      if (others != nullptr && others->is_object()) out = others;
      return out != nullptr;
    });
  }
  return {root, out};
}

bool Schema::has_member(const std::string& key) const {
  return each_alternative(
      *this, [&](const Json* schema) { return find(find(schema, "properties"), key) != nullptr; });
}

bool Schema::requires_member(const std::string& key) const {
  return each_alternative(*this, [&](const Json* schema) {
    const Json* required = find(schema, "required");
    return required != nullptr && required->is_array() &&
           std::find(required->begin(), required->end(), Json(key)) != required->end();
  });
}

Schema Schema::items() const {
  int steps = 0;
  const Json* out = find(resolve(root, here, steps), "items");
  return {root, out != nullptr && out->is_object() ? out : nullptr};
}

Schema Schema::alternative(uint8_t wanted) const {
  Schema out = *this;
  each_alternative(*this, [&](const Json* schema) {
    // One that says only what its alternatives are is not the answer.
    const bool says = find(schema, "properties") || find(schema, "items") || find(schema, "type");
    if (!says || (Schema{root, schema}.types() & wanted) != wanted) return false;
    out.here = schema;
    return true;
  });
  return out;
}

Json coerce(Json value, const Schema& schema) {
  return coerce_at(std::move(value), schema, 0);
}

Json value_of(std::string_view text, const Schema& schema) {
  const uint8_t types = schema.types();
  if (types == kString) return std::string(text);
  auto value = typed(text, types & ~kString);
  if (!value) return std::string(text);
  return coerce(*std::move(value), schema);
}

ToolSet::ToolSet(const Json& tools) {
  if (!tools.is_array()) return;
  for (const Json& tool : tools) {
    const Json* function = find(&tool, "function");
    const Json* name = find(function, "name");
    if (name == nullptr || !name->is_string()) continue;
    const Json* parameters = find(function, "parameters");
    parameters_[name->get<std::string>()] = parameters ? *parameters : Json::object();
  }
}

Schema ToolSet::parameters(const std::string& name) const {
  const auto found = parameters_.find(name);
  return found == parameters_.end() ? Schema{} : Schema{&found->second, &found->second};
}

}  // namespace kapitsa::text
