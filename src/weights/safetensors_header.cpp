#include "weights/safetensors_header.h"

#include <limits>

#include "base/json.h"
#include "weights/printable.h"

namespace kapitsa::weights {
namespace {

constexpr size_t kMostAxes = 8;

class HeaderEvents final : public nlohmann::json_sax<Json> {
 public:
  std::vector<SafetensorsEntry> entries;
  Status fault;

  bool null() override { return scalar("null"); }
  bool boolean(bool) override { return scalar("a boolean"); }
  bool number_integer(number_integer_t) override { return scalar("a negative number"); }
  bool number_float(number_float_t, const string_t&) override { return scalar("a fraction"); }
  bool binary(binary_t&) override { return scalar("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (skipping_ > 0) return true;
    if (place_ == Place::shape) {
      if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        return refuse("has an axis of length {}", value);
      }
      if (entry_.shape.size() == kMostAxes) return refuse("has more than {} axes", kMostAxes);
      entry_.shape.push_back(static_cast<int64_t>(value));
      return true;
    }
    if (place_ == Place::offsets) {
      if (offsets_ == 2) return refuse("has more than two data_offsets");
      (offsets_++ == 0 ? entry_.begin : entry_.end) = value;
      return true;
    }
    return scalar("a number");
  }

  bool string(string_t& text) override {
    if (skipping_ > 0 || place_ == Place::metadata) return true;
    if (place_ != Place::tensor || field_ != "dtype") return scalar("a string");
    if (!entry_.dtype.empty()) return refuse("repeats its dtype");
    entry_.dtype = text;
    return true;
  }

  bool start_object(size_t) override {
    if (skip_nested()) return true;
    if (place_ == Place::outside) {
      place_ = Place::header;
    } else if (place_ == Place::header && field_ == "__metadata__") {
      place_ = Place::metadata;
    } else if (place_ == Place::header) {
      place_ = Place::tensor;
      entry_ = {};
      entry_.name = field_;
      offsets_ = 0;
      has_shape_ = false;
      has_offsets_ = false;
    } else {
      return scalar("an object");
    }
    return true;
  }

  bool end_object() override {
    if (unskip_nested()) return true;
    if (place_ == Place::tensor) {
      if (entry_.dtype.empty() || !has_shape_ || offsets_ != 2) {
        return refuse("needs a dtype, a shape and two data_offsets");
      }
      entries.push_back(std::move(entry_));
      entry_ = {};
    }
    place_ = place_ == Place::header ? Place::outside : Place::header;
    return true;
  }

  bool start_array(size_t) override {
    if (skip_nested()) return true;
    const bool in_tensor = place_ == Place::tensor;
    if (in_tensor && field_ == "shape") {
      return enter(Place::shape, has_shape_);
    }
    if (in_tensor && field_ == "data_offsets") {
      return enter(Place::offsets, has_offsets_);
    }
    return scalar("an array");
  }

  bool end_array() override {
    if (unskip_nested()) return true;
    place_ = Place::tensor;
    return true;
  }

  bool key(string_t& text) override {
    if (skipping_ == 0) field_ = text;
    return true;
  }

  bool parse_error(size_t byte, const std::string&, const nlohmann::detail::exception&) override {
    fault = error(Code::kCorrupt, "the header is not valid JSON at its byte {}", byte);
    return false;
  }

 private:
  enum class Place { outside, header, metadata, tensor, shape, offsets };

  bool known_field() const {
    return field_ == "dtype" || field_ == "shape" || field_ == "data_offsets";
  }

  // Goes into one of a tensor's arrays, which may come once.
  bool enter(Place place, bool& seen) {
    if (seen) return refuse("repeats its {}", field_);
    seen = true;
    place_ = place;
    return true;
  }

  // Within a tensor, an unknown field's objects and arrays are passed over, with all inside them.
  bool skip_nested() {
    if (skipping_ == 0 && !(place_ == Place::tensor && !known_field())) return false;
    ++skipping_;
    return true;
  }
  bool unskip_nested() {
    if (skipping_ == 0) return false;
    --skipping_;
    return true;
  }

  // A value where the header has no place for that kind of value.
  bool scalar(std::string_view kind) {
    if (skipping_ > 0 || (place_ == Place::tensor && !known_field())) return true;
    switch (place_) {
      case Place::outside:
        fault = error(Code::kCorrupt, "the header is {}, not an object", kind);
        return false;
      case Place::header:
        fault = error(Code::kCorrupt, "the header's '{}' is {}, not an object", printable(field_),
                      kind);
        return false;
      case Place::metadata:
        fault = error(Code::kCorrupt, "the header's __metadata__ value '{}' is {}, not a string",
                      printable(field_), kind);
        return false;
      default:
        return refuse("has {} in its {}", kind, printable(field_));
    }
  }

  template <class... Args>
  bool refuse(fmt::format_string<Args...> format, Args&&... args) {
    fault = error(Code::kCorrupt, "the tensor '{}' {}", printable(entry_.name),
                  fmt::format(format, std::forward<Args>(args)...));
    return false;
  }

  Place place_ = Place::outside;
  int skipping_ = 0;
  std::string field_;
  SafetensorsEntry entry_;
  int offsets_ = 0;
  bool has_shape_ = false;
  bool has_offsets_ = false;
};

}  // namespace

Result<std::vector<SafetensorsEntry>> parse_safetensors_header(std::string_view json) {
  HeaderEvents events;
  bool good = false;
  try {
    good = Json::sax_parse(json.begin(), json.end(), &events);
  } catch (const std::exception& e) {
    return error(Code::kCorrupt, "the header cannot be read: {}", e.what());
  }
  if (good) return std::move(events.entries);
  if (events.fault.ok()) return error(Code::kCorrupt, "the header is not valid JSON");
  return events.fault;
}

}  // namespace kapitsa::weights
