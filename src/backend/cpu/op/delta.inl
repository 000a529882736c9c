// The gated delta rule on a head's state S of [n][m], lanes along m. Several groups of lanes go side by side, since each
// is one chain of dependent sums over n.
inline constexpr int kSide = 4;

// x / sqrt(sum x^2 + eps) * scale
void l2_norm(const float* x, int64_t n, float eps, float scale, float* out) {
  Vec squares = zero();
  for (int64_t i = 0; i < n; i += kLanes) {
    const Vec v = load_part(x + i, static_cast<int>(n - i));
    squares = fma(v, v, squares);
  }
  const Vec factor = set(scale / __builtin_sqrtf(sum(squares) + eps));
  for (int64_t i = 0; i < n; i += kLanes) {
    const int part = static_cast<int>(n - i);
    store_part(out + i, mul(load_part(x + i, part), factor), part);
  }
}

template <int G>
inline void delta_lanes(float* state, const float* q, const float* k, const float* v, float alpha, float beta, int n, int m,
                        int part, float* out) {
  Vec read[G], change[G], o[G];
  for (int g = 0; g < G; ++g) read[g] = o[g] = zero();
  for (int i = 0; i < n; ++i) {
    for (int g = 0; g < G; ++g) {
      float* s = state + static_cast<int64_t>(i) * m + g * kLanes;
      const Vec decayed = mul(load_part(s, part), set(alpha));
      store_part(s, decayed, part);
      read[g] = fma(decayed, set(k[i]), read[g]);
    }
  }
  for (int g = 0; g < G; ++g) change[g] = mul(sub(load_part(v + g * kLanes, part), read[g]), set(beta));
  for (int i = 0; i < n; ++i) {
    for (int g = 0; g < G; ++g) {
      float* s = state + static_cast<int64_t>(i) * m + g * kLanes;
      const Vec now = fma(set(k[i]), change[g], load_part(s, part));
      store_part(s, now, part);
      o[g] = fma(now, set(q[i]), o[g]);
    }
  }
  for (int g = 0; g < G; ++g) store_part(out + g * kLanes, o[g], part);
}

// The gated delta rule: S = alpha S; S += k (beta (v - S^T k))^T; out = S^T q.
void delta(float* state, const float* q, const float* k, const float* v, float alpha, float beta, int n, int m, float* out) {
  int j = 0;
  for (; j + kSide * kLanes <= m; j += kSide * kLanes) delta_lanes<kSide>(state + j, q, k, v + j, alpha, beta, n, m, kLanes, out + j);
  for (; j < m; j += kLanes) delta_lanes<1>(state + j, q, k, v + j, alpha, beta, n, m, m - j, out + j);
}
