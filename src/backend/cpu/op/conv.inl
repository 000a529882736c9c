// One position of a causal depthwise convolution, oldest tap first, then SiLU.
void conv(const float* const* taps, int kernel, const float* weight, int64_t stride, const float* bias, int64_t n, float* out) {
  for (int64_t c = 0; c < n; c += kLanes) {
    const int part = static_cast<int>(n - c);
    Vec acc = bias ? load_part(bias + c, part) : zero();
    for (int j = 0; j < kernel; ++j) acc = fma(load_part(weight + j * stride + c, part), load_part(taps[j] + c, part), acc);
    store_part(out + c, silu(acc), part);
  }
}
