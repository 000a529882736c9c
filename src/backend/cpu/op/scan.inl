// Mamba-2's recurrence on a head's state S of [n][m], lanes along m, cut as in delta.inl.
template <int G>
inline void scan_lanes(float* state, const float* x, const float* b, const float* c, float decay, float step, float d, int n, int m,
                       int part, float* out) {
  Vec in[G], y[G];
  for (int g = 0; g < G; ++g) {
    in[g] = mul(load_part(x + g * kLanes, part), set(step));
    y[g] = zero();
  }
  for (int i = 0; i < n; ++i) {
    for (int g = 0; g < G; ++g) {
      float* s = state + static_cast<int64_t>(i) * m + g * kLanes;
      const Vec now = fma(set(b[i]), in[g], mul(load_part(s, part), set(decay)));
      store_part(s, now, part);
      y[g] = fma(now, set(c[i]), y[g]);
    }
  }
  for (int g = 0; g < G; ++g) store_part(out + g * kLanes, fma(set(d), load_part(x + g * kLanes, part), y[g]), part);
}

// Mamba-2's: S = decay S + b (step x)^T; out = S^T c + d x.
void scan(float* state, const float* x, const float* b, const float* c, float decay, float step, float d, int n, int m, float* out) {
  int j = 0;
  for (; j + kSide * kLanes <= m; j += kSide * kLanes) {
    scan_lanes<kSide>(state + j, x + j, b, c, decay, step, d, n, m, kLanes, out + j);
  }
  for (; j < m; j += kLanes) scan_lanes<1>(state + j, x + j, b, c, decay, step, d, n, m, m - j, out + j);
}
