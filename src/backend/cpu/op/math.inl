// Included once an instruction set, inside its namespace: see kernels.inl.

// A part of 16 lanes at the end of a row; the rest is zero.
inline Vec load_part(const float* p, int n) {
  if (n >= kLanes) return load(p);
  float t[kLanes] = {};
  for (int i = 0; i < n; ++i) t[i] = p[i];
  return load(t);
}
inline void store_part(float* p, Vec a, int n) {
  if (n >= kLanes) return store(p, a);
  float t[kLanes];
  store(t, a);
  for (int i = 0; i < n; ++i) p[i] = t[i];
}

// e^x to 2 units in the last place for x in [-87.3, 88.3]; beyond, the value at that edge. Taylor to the seventh power
// after the exponent is taken out: the same multiplications and additions in every instruction set.
inline Vec exp(Vec x) {
  x = min(max(x, set(-87.3f)), set(88.3f));
  const Int n = round(mul(x, set(1.44269504f)));
  const Vec nf = to_float(n);
  Vec r = fnma(nf, set(0.693359375f), x);
  r = fnma(nf, set(-2.12194440e-4f), r);
  Vec p = set(1.0f / 5040);
  p = fma(p, r, set(1.0f / 720));
  p = fma(p, r, set(1.0f / 120));
  p = fma(p, r, set(1.0f / 24));
  p = fma(p, r, set(1.0f / 6));
  p = fma(p, r, set(0.5f));
  p = fma(p, r, set(1.0f));
  p = fma(p, r, set(1.0f));
  return mul(p, exp2(n));
}

inline Vec silu(Vec x) { return div(x, add(set(1.0f), exp(sub(zero(), x)))); }
