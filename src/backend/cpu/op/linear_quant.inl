// Matrix products with quantised weights (panels: pack/panel.h) and 8-bit activations. Per block of 32 inputs the dot
// product is an exact integer; per output one chain over the blocks:
//   acc = fma(float(dot), weight scale * activation scale, acc)
//   acc = fma(-weight minimum, activation scale * sum of q, acc)      (formats with a minimum)
// so that neither the number of rows, the threads nor the instruction set can change a bit.
//
// Few rows read the panel's codes as they lie; more rows expand the panel once into bytes and float scales.
//
// A format says: kBlocks (blocks in a superblock), kParts (scales in a block), kMax (largest code; 0: codes are signed
// bytes), kOffset (what to take off a code), kMinimum, and how scales and codes are read.

// Q4_0, Q4_1, Q5_0, Q5_1: one block a superblock, f16 fields.
template <bool kFifth, bool kMin>
struct Legacy {
  static constexpr int kBlocks = 1, kParts = 1, kMax = kFifth ? 31 : 15, kOffset = kMin ? 0 : kFifth ? 16 : 8;
  static constexpr bool kMinimum = kMin;
  static constexpr int kHeader = kMin ? 64 : 32, kBytes = kFifth ? 320 : 256;
  static void scales(const uint8_t* header, Vec* scale, Vec* minimum) {
    scale[0] = load_half(reinterpret_cast<const uint16_t*>(header));
    // Here the format adds its minimum.
    if (kMin) minimum[0] = sub(zero(), load_half(reinterpret_cast<const uint16_t*>(header + 32)));
  }
  static void codes(const uint8_t* block, Codes* w) {
    for (int v = 0; v < 4; ++v) {
      const Codes c = load_codes(block + 64 * v);
      w[v] = bits(c, 0, 15);
      w[v + 4] = bits(c, 4, 15);
    }
    if (!kFifth) return;
    const Codes high = load_codes(block + 256);
    each<8>([&](auto v) { w[v] = join(w[v], high, v, 1, 4); });
  }
};

struct Q8_0 {
  static constexpr int kBlocks = 1, kParts = 1, kMax = 0, kOffset = 0, kHeader = 32, kBytes = 512;
  static constexpr bool kMinimum = false;
  static void scales(const uint8_t* header, Vec* scale, Vec*) {
    scale[0] = load_half(reinterpret_cast<const uint16_t*>(header));
  }
  static void codes(const uint8_t* block, Codes* w) {
    for (int v = 0; v < 8; ++v) w[v] = prepare_signed(load_codes(block + 64 * v));
  }
};

// Q4_K, Q5_K: scale = d * sc, minimum = dmin * m, 6 bits each in 12 bytes.
template <bool kFifth>
struct KQuant {
  static constexpr int kBlocks = 8, kParts = 1, kMax = kFifth ? 31 : 15, kOffset = 0, kHeader = 256;
  static constexpr int kBytes = kFifth ? 320 : 256;
  static constexpr bool kMinimum = true;
  static void scales(const uint8_t* header, Vec* scale, Vec* minimum) {
    const Vec d = load_half(reinterpret_cast<const uint16_t*>(header));
    const Vec dmin = load_half(reinterpret_cast<const uint16_t*>(header + 32));
    const uint8_t* s = header + 64;
    uint8_t six[2][8][16];
    for (int g = 0; g < 4; ++g) {
      for (int i = 0; i < 16; ++i) {
        const int a = s[16 * g + i], b = s[16 * (g + 4) + i], c = s[16 * (g + 8) + i];
        six[0][g][i] = static_cast<uint8_t>(a & 63);
        six[1][g][i] = static_cast<uint8_t>(b & 63);
        six[0][g + 4][i] = static_cast<uint8_t>((c & 15) | (a >> 6) << 4);
        six[1][g + 4][i] = static_cast<uint8_t>(c >> 4 | (b >> 6) << 4);
      }
    }
    for (int g = 0; g < 8; ++g) {
      scale[g] = mul(d, bytes_to_float(six[0][g]));
      minimum[g] = mul(dmin, bytes_to_float(six[1][g]));
    }
  }
  static void codes(const uint8_t* block, Codes* w) { Legacy<kFifth, true>::codes(block, w); }
};

// Q6_K: two scales a block of 32, codes less 32.
struct Q6_K {
  static constexpr int kBlocks = 8, kParts = 2, kMax = 63, kOffset = 32, kHeader = 288, kBytes = 384;
  static constexpr bool kMinimum = false;
  static void scales(const uint8_t* header, Vec* scale, Vec*) {
    const Vec d = load_half(reinterpret_cast<const uint16_t*>(header));
    for (int g = 0; g < 16; ++g) {
      scale[g] = mul(d, signed_bytes_to_float(reinterpret_cast<const int8_t*>(header) + 32 + 16 * g));
    }
  }
  static void codes(const uint8_t* block, Codes* w) {
    const Codes high[2] = {load_codes(block + 256), load_codes(block + 320)};
    each<4>([&](auto v) {
      const Codes c = load_codes(block + 64 * v);
      w[v] = join(bits(c, 0, 15), high[v % 2], 2 * (v / 2), 3, 4);
      w[v + 4] = join(bits(c, 4, 15), high[v % 2], 2 * (v / 2) + 4, 3, 4);
    });
  }
};

// The rows that a tile works on, block by block.
struct Rows {
  const int8_t* q;
  const int32_t* sum;
  const float* scale;
  const float* scaled_sum;
  int64_t blocks;  // from row to row, in blocks of 32

  Rows(const QuantRows& x, int64_t row0) : blocks(x.columns / 32) {
    q = x.q + row0 * blocks * 32;
    sum = x.sum + row0 * blocks * 2;
    scale = x.scale + row0 * blocks;
    scaled_sum = x.scaled_sum + row0 * blocks;
  }
};

template <class F, int R>
inline void block_rows(const Codes* w, const Vec* scale, const Vec* minimum, const Rows& x, int64_t b, Vec* acc) {
  constexpr int kGroups = 8 / F::kParts;
  for (int r = 0; r < R; ++r) {
    const int64_t at = r * x.blocks + b;
    const int8_t* q = x.q + at * 32;
    const int32_t* sums = x.sum + at * 2;
    const float d = x.scale[at];
    for (int p = 0; p < F::kParts; ++p) {
      const int32_t x_sum = F::kParts == 2 ? sums[p] : sums[0] + sums[1];
      Int dots;
      if constexpr (F::kMax == 0) dots = dot_signed<kGroups>(w + p * kGroups, q + 4 * kGroups * p, x_sum);
      else dots = dot<kGroups, F::kMax == 0 ? 1 : F::kMax>(w + p * kGroups, q + 4 * kGroups * p, set_int(-F::kOffset * x_sum));
      acc[r] = fma(to_float(dots), mul(scale[p], set(d)), acc[r]);
    }
    if (F::kMinimum) acc[r] = fnma(minimum[0], set(x.scaled_sum[at]), acc[r]);
  }
}

template <class F, int R>
void direct_rows(const uint8_t* panel, int64_t superblocks, const QuantRows& all, int64_t row0, float* out) {
  const Rows x(all, row0);
  Vec acc[R];
  for (auto& a : acc) a = zero();
  for (int64_t s = 0; s < superblocks; ++s) {
    Vec scale[F::kBlocks * F::kParts], minimum[F::kBlocks];
    F::scales(panel, scale, minimum);
    panel += F::kHeader;
    for (int b = 0; b < F::kBlocks; ++b, panel += F::kBytes) {
      Codes w[8];
      F::codes(panel, w);
      for (int line = 0; line < F::kBytes; line += 64) prefetch(panel + kPrefetch + line);
      block_rows<F, R>(w, scale + b * F::kParts, minimum + b, x, s * F::kBlocks + b, acc);
    }
  }
  for (int r = 0; r < R; ++r) store(out + r * kLanes, acc[r]);
}

// An expanded block: 8 registers of codes, then the scales and the minimum as floats.
template <class F>
constexpr int expanded_bytes() { return 512 + 64 * (F::kParts + (F::kMinimum ? 1 : 0)); }

template <class F>
void expand(const uint8_t* panel, int64_t superblocks, uint8_t* out) {
  for (int64_t s = 0; s < superblocks; ++s) {
    Vec scale[F::kBlocks * F::kParts], minimum[F::kBlocks];
    F::scales(panel, scale, minimum);
    panel += F::kHeader;
    for (int b = 0; b < F::kBlocks; ++b, panel += F::kBytes, out += expanded_bytes<F>()) {
      Codes w[8];
      F::codes(panel, w);
      for (int v = 0; v < 8; ++v) store_codes(out + 64 * v, w[v]);
      auto* floats = reinterpret_cast<float*>(out + 512);
      for (int p = 0; p < F::kParts; ++p) store(floats + 16 * p, scale[b * F::kParts + p]);
      if (F::kMinimum) store(floats + 16 * F::kParts, minimum[b]);
    }
  }
}

template <class F, int R>
void expanded_rows(const uint8_t* scratch, int64_t blocks, const QuantRows& all, int64_t row0, float* out) {
  const Rows x(all, row0);
  Vec acc[R];
  for (auto& a : acc) a = zero();
  for (int64_t b = 0; b < blocks; ++b, scratch += expanded_bytes<F>()) {
    Codes w[8];
    for (int v = 0; v < 8; ++v) w[v] = load_codes(scratch + 64 * v);
    const auto* floats = reinterpret_cast<const float*>(scratch + 512);
    Vec scale[F::kParts], minimum[1];
    for (int p = 0; p < F::kParts; ++p) scale[p] = load(floats + 16 * p);
    if (F::kMinimum) minimum[0] = load(floats + 16 * F::kParts);
    block_rows<F, R>(w, scale, minimum, x, b, acc);
  }
  for (int r = 0; r < R; ++r) store(out + r * kLanes, acc[r]);
}

template <class F>
void quant_panel(const uint8_t* panel, int64_t superblocks, const QuantRows& x, int64_t row0, int rows, float* out,
                 uint8_t* scratch) {
  if (rows == 1) return direct_rows<F, 1>(panel, superblocks, x, row0, out);
  if (rows == 2) return direct_rows<F, 2>(panel, superblocks, x, row0, out);
  if (rows == 4) return direct_rows<F, 4>(panel, superblocks, x, row0, out);
  expand<F>(panel, superblocks, scratch);
  const int64_t blocks = superblocks * F::kBlocks;
  int r = 0;
  for (; r + kRowTile <= rows; r += kRowTile) expanded_rows<F, kRowTile>(scratch, blocks, x, row0 + r, out + r * kLanes);
  for (; r + 2 <= rows; r += 2) expanded_rows<F, 2>(scratch, blocks, x, row0 + r, out + r * kLanes);
  for (; r < rows; ++r) expanded_rows<F, 1>(scratch, blocks, x, row0 + r, out + r * kLanes);
}

void linear_quant(quant::Format format, const uint8_t* panel, int64_t superblocks, const QuantRows& x, int64_t row0,
                  int rows, float* out, uint8_t* scratch) {
  using quant::Format;
  const auto run = [&](auto f) { quant_panel<decltype(f)>(panel, superblocks, x, row0, rows, out, scratch); };
  switch (format) {
    case Format::q8_0: return run(Q8_0{});
    case Format::q4_0: return run(Legacy<false, false>{});
    case Format::q4_1: return run(Legacy<false, true>{});
    case Format::q5_0: return run(Legacy<true, false>{});
    case Format::q5_1: return run(Legacy<true, true>{});
    case Format::q4_k: return run(KQuant<false>{});
    case Format::q5_k: return run(KQuant<true>{});
    case Format::q6_k: return run(Q6_K{});
    default: return;  // pack() gives no other format this layout
  }
}
