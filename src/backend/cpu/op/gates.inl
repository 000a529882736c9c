// Gates and weighted sums, element by element.
inline Vec sigmoid_of(Vec x) { return div(set(1.0f), add(set(1.0f), exp(sub(zero(), x)))); }

void sigmoid(const float* x, int64_t n, float* out) {
  for (int64_t i = 0; i < n; i += kLanes) {
    const int part = static_cast<int>(n - i);
    store_part(out + i, sigmoid_of(load_part(x + i, part)), part);
  }
}

void sigmoid_mul(const float* gate, int64_t n, float* out) {
  for (int64_t i = 0; i < n; i += kLanes) {
    const int part = static_cast<int>(n - i);
    store_part(out + i, mul(load_part(out + i, part), sigmoid_of(load_part(gate + i, part))), part);
  }
}

void silu_mul(const float* gate, const float* x, int64_t n, float* out) {
  for (int64_t i = 0; i < n; i += kLanes) {
    const int part = static_cast<int>(n - i);
    store_part(out + i, mul(load_part(x + i, part), silu(load_part(gate + i, part))), part);
  }
}

void axpy(float a, const float* x, int64_t n, float* out) {
  for (int64_t i = 0; i < n; i += kLanes) {
    const int part = static_cast<int>(n - i);
    store_part(out + i, fma(set(a), load_part(x + i, part), load_part(out + i, part)), part);
  }
}

void relu2_tile(const float* tile, int rows, float* out, int64_t stride, int width) {
  for (int r = 0; r < rows; ++r) {
    const Vec x = max(load(tile + r * kLanes), zero());
    store_part(out + r * stride, mul(x, x), width);
  }
}
