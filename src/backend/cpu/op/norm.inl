// RMSNorm. The squares are summed in sixteen lanes along the row, then across.
void rms_norm(const float* x, const float* weight, float eps, int64_t n, float* out) {
  Vec squares = zero();
  for (int64_t i = 0; i < n; i += kLanes) {
    const Vec v = load_part(x + i, static_cast<int>(n - i));
    squares = fma(v, v, squares);
  }
  const Vec factor = set(1.0f / __builtin_sqrtf(sum(squares) / static_cast<float>(n) + eps));
  for (int64_t i = 0; i < n; i += kLanes) {
    const int part = static_cast<int>(n - i);
    store_part(out + i, mul(mul(load_part(x + i, part), factor), load_part(weight + i, part)), part);
  }
}
