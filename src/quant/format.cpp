#include "quant/format.h"

#include <array>
#include <bit>
#include <cstring>

#include "quant/formats.h"
#include "quant/traits.h"

namespace kapitsa::quant {
namespace {

static_assert(std::endian::native == std::endian::little,
              "blocks are read as little-endian memory");

// Blocks are copied out and in because a file may place them at any address.
template <Format format>
void decode_blocks(const std::byte* blocks, size_t count, float* out) {
  using T = Traits<format>;
  for (size_t i = 0; i < count; ++i) {
    typename T::Block block;
    std::memcpy(&block, blocks + i * sizeof(block), sizeof(block));
    T::decode(block, out + i * T::kElements);
  }
}

template <class T>
concept EncodesPlainly = requires(const float* in, typename T::Block& block) {
  T::encode(in, block);
};
template <class T>
concept Weighs = requires(const float* in, typename T::Block& block) {
  T::encode(in, in, block);
};

template <Format format>
void encode_blocks(const float* in, const float* importance, size_t count, std::byte* blocks) {
  using T = Traits<format>;
  for (size_t i = 0; i < count; ++i) {
    typename T::Block block;
    const size_t at = i * T::kElements;
    if constexpr (Weighs<T>) T::encode(in + at, importance ? importance + at : nullptr, block);
    else T::encode(in + at, block);
    std::memcpy(blocks + i * sizeof(block), &block, sizeof(block));
  }
}

template <Format format>
constexpr FormatInfo make_info(std::string_view name, int gguf_type) {
  using T = Traits<format>;
  FormatInfo info{name,   gguf_type, T::kElements, sizeof(typename T::Block), decode_blocks<format>,
                  nullptr};
  if constexpr (EncodesPlainly<T> || Weighs<T>) info.encode = encode_blocks<format>;
  return info;
}

// In the order of the enumeration: both come from the same list.
constexpr std::array kFormats{
#define KAPITSA_FORMAT(id, name, gguf) make_info<Format::id>(name, gguf),
#include "quant/formats.def"
#undef KAPITSA_FORMAT
};

constexpr FormatInfo kPlanes{"planes", -1, 1, 0, nullptr, nullptr};

}  // namespace

const FormatInfo& info(Format format) {
  if (format == Format::planes) return kPlanes;
  return kFormats[static_cast<size_t>(format)];
}

std::optional<Format> from_gguf_type(uint32_t type) {
  for (size_t i = 0; i < kFormats.size(); ++i) {
    if (static_cast<uint32_t>(kFormats[i].gguf_type) == type) return static_cast<Format>(i);
  }
  return std::nullopt;
}

std::optional<Format> from_name(std::string_view name) {
  for (size_t i = 0; i < kFormats.size(); ++i) {
    if (kFormats[i].name == name) return static_cast<Format>(i);
  }
  return std::nullopt;
}

size_t row_bytes(Format format, size_t columns) {
  const FormatInfo& f = info(format);
  const auto elements = static_cast<size_t>(f.block_elements);
  return columns % elements == 0 ? columns / elements * static_cast<size_t>(f.block_bytes) : 0;
}

}  // namespace kapitsa::quant
