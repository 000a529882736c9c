// Rotary position embedding of one head, and the conversion of what goes into the KV cache.
void rotate(float* x, const float* cos, const float* sin, int pairs, bool neighbours) {
  if (neighbours) {
    for (int i = 0; i < pairs; ++i) {
      const float a = x[2 * i], b = x[2 * i + 1];
      x[2 * i] = __builtin_fmaf(-b, sin[i], a * cos[i]);
      x[2 * i + 1] = __builtin_fmaf(a, sin[i], b * cos[i]);
    }
    return;
  }
  for (int i = 0; i < pairs; i += kLanes) {
    const int part = pairs - i;
    const Vec a = load_part(x + i, part), b = load_part(x + pairs + i, part);
    const Vec c = load_part(cos + i, part), s = load_part(sin + i, part);
    store_part(x + i, fnma(b, s, mul(a, c)), part);
    store_part(x + pairs + i, fma(a, s, mul(b, c)), part);
  }
}

void to_half(const float* x, int64_t n, uint16_t* out) {
  for (int64_t i = 0; i < n; i += kLanes) {
    uint16_t t[kLanes];
    const int part = n - i < kLanes ? static_cast<int>(n - i) : kLanes;
    store_half(part == kLanes ? out + i : t, load_part(x + i, part));
    if (part < kLanes) {
      for (int j = 0; j < part; ++j) out[i + j] = t[j];
    }
  }
}

void from_half(const uint16_t* x, int64_t n, float* out) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(out + i, load_half(x + i));
  if (i == n) return;
  uint16_t t[kLanes] = {};
  for (int64_t j = i; j < n; ++j) t[j - i] = x[j];
  store_part(out + i, load_half(t), static_cast<int>(n - i));
}
