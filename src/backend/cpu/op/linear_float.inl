// Matrix products with float weights: panels [columns][16 outputs]. Each output is four interleaved chains of fused
// multiply-adds (inputs k % 4), added as (0 + 1) + (2 + 3): one order for any number of rows.
inline Vec load_weight(const float* p) { return load(p); }
struct Half { uint16_t bits; };
struct Bf16 { uint16_t bits; };
inline Vec load_weight(const Half* p) { return load_half(&p->bits); }
inline Vec load_weight(const Bf16* p) { return load_bf16(&p->bits); }

template <class T, int R>
inline void float_rows(const T* panel, int64_t columns, const float* x, int64_t stride, float* out) {
  Vec acc[R][4];
  for (auto& row : acc) {
    for (auto& chain : row) chain = zero();
  }
  int64_t k = 0;
  for (; k + 4 <= columns; k += 4) {
    for (int c = 0; c < 4; ++c) {
      const Vec w = load_weight(panel + (k + c) * kLanes);
      for (int r = 0; r < R; ++r) acc[r][c] = fma(w, set(x[r * stride + k + c]), acc[r][c]);
    }
  }
  for (int c = 0; k + c < columns; ++c) {
    const Vec w = load_weight(panel + (k + c) * kLanes);
    for (int r = 0; r < R; ++r) acc[r][c] = fma(w, set(x[r * stride + k + c]), acc[r][c]);
  }
  for (int r = 0; r < R; ++r) {
    store(out + r * kLanes, add(add(acc[r][0], acc[r][1]), add(acc[r][2], acc[r][3])));
  }
}

template <class T>
void float_panel(const void* panel, int64_t columns, const float* x, int64_t stride, int rows, float* out) {
  const T* p = static_cast<const T*>(panel);
  int r = 0;
  for (; r + kFloatTile <= rows; r += kFloatTile) {
    float_rows<T, kFloatTile>(p, columns, x + r * stride, stride, out + r * kLanes);
  }
  for (; r < rows; ++r) float_rows<T, 1>(p, columns, x + r * stride, stride, out + r * kLanes);
}

void linear_float(quant::Format format, const void* panel, int64_t columns, const float* x, int64_t stride, int rows,
                  float* out) {
  switch (format) {
    case quant::Format::f16: return float_panel<Half>(panel, columns, x, stride, rows, out);
    case quant::Format::bf16: return float_panel<Bf16>(panel, columns, x, stride, rows, out);
    default: return float_panel<float>(panel, columns, x, stride, rows, out);
  }
}

void store_tile(const float* tile, int rows, const float* bias, float* out, int64_t stride, int width) {
  const Vec b = bias ? load_part(bias, width) : zero();
  for (int r = 0; r < rows; ++r) {
    const Vec t = load(tile + r * kLanes);
    store_part(out + r * stride, bias ? add(t, b) : t, width);
  }
}

void add_tile(const float* tile, int rows, const float* bias, float* out, int64_t stride, int width) {
  const Vec b = bias ? load_part(bias, width) : zero();
  for (int r = 0; r < rows; ++r) {
    Vec t = load(tile + r * kLanes);
    if (bias) t = add(t, b);
    store_part(out + r * stride, add(load_part(out + r * stride, width), t), width);
  }
}

void swiglu_tile(const float* gate, const float* up, int rows, float* out, int64_t stride, int width) {
  for (int r = 0; r < rows; ++r) {
    store_part(out + r * stride, mul(silu(load(gate + r * kLanes)), load(up + r * kLanes)), width);
  }
}
