// Where Q2_K and Q3_K keep the two low bits of a weight: weight i = 128h + 32s + l (l = 0..31) at
// bits 2s..2s+1 of byte 32h + l.
#pragma once

namespace kapitsa::quant {

// The place of the first weight of sub-block g of 16; the others follow byte by byte.
struct TwoBits {
  int byte;
  int shift;
};
constexpr TwoBits two_bits_of_group(int g) {
  return {32 * (g >> 3) + 16 * (g & 1), g & 6};
}

}  // namespace kapitsa::quant
