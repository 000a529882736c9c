// Attention over one block of 64 positions with an online softmax (Milakov and Gimelshein 2018). Lanes are keys in the
// scores, channels in the sum of values: no sum crosses lanes but the maximum and, once at the end, the denominator. The
// order is by position, so it does not depend on how many rows or heads are worked on together.
inline constexpr int kBlockKeys = 64;

inline Vec load_kv(const float* p) { return load(p); }
inline Vec load_kv(const uint16_t* p) { return load_half(p); }
// The last part of a head whose size is no multiple of 16.
inline Vec load_kv_part(const float* p, int n) { return load_part(p, n); }
inline Vec load_kv_part(const uint16_t* p, int n) {
  if (n >= kLanes) return load_half(p);
  uint16_t t[kLanes] = {};
  for (int i = 0; i < n; ++i) t[i] = p[i];
  return load_half(t);
}

template <class T, int Q>
inline void attend_queries(QueryState* queries, const int* first, const int* last, const T* keys, const T* values,
                           int head_dim, float scale) {
  Vec s[Q][4];
  for (auto& row : s) {
    for (auto& v : row) v = zero();
  }
  for (int d = 0; d < head_dim; ++d) {
    Vec k[4];
    for (int c = 0; c < 4; ++c) k[c] = load_kv(keys + d * kBlockKeys + c * kLanes);
    for (int i = 0; i < Q; ++i) {
      const Vec q = set(queries[i].q[d]);
      for (int c = 0; c < 4; ++c) s[i][c] = fma(q, k[c], s[i][c]);
    }
  }
  alignas(64) float p[Q][kBlockKeys];
  float correction[Q];
  int begin = 0, end = kBlockKeys;  // what all queries see
  const Vec minus_infinity = set(-__builtin_inff());
  for (int i = 0; i < Q; ++i) {
    Vec largest = minus_infinity;
    for (int c = 0; c < 4; ++c) {
      const int from = first[i] - c * kLanes, to = last[i] - c * kLanes;
      s[i][c] = blend_head(blend_tail(mul(s[i][c], set(scale)), minus_infinity, to), minus_infinity, from);
      largest = max(largest, s[i][c]);
    }
    const float before = queries[i].max;
    const float now = max(largest);
    queries[i].max = now > before ? now : before;
    float e[kLanes];
    store(e, exp(set(before - queries[i].max)));
    correction[i] = before == -__builtin_inff() ? 0.0f : e[0];
    for (int c = 0; c < 4; ++c) {
      const int from = first[i] - c * kLanes, to = last[i] - c * kLanes;
      s[i][c] = blend_head(blend_tail(exp(sub(s[i][c], set(queries[i].max))), zero(), to), zero(), from);
      store(p[i] + c * kLanes, s[i][c]);
    }
    const Vec block_sum = add(add(s[i][0], s[i][1]), add(s[i][2], s[i][3]));
    store(queries[i].sum, fma(load(queries[i].sum), set(correction[i]), block_sum));
    begin = first[i] > begin ? first[i] : begin;
    end = last[i] < end ? last[i] : end;
  }
  // Keys outside a query's own range are not read for it (their memory may hold anything, and 0 times infinity is no
  // number): the range that all queries share is done together, what one has before and after it alone.
  for (int d = 0; d < head_dim; d += kLanes) {
    const int part = head_dim - d;
    Vec acc[Q];
    for (int i = 0; i < Q; ++i) {
      acc[i] = mul(load(queries[i].acc + d), set(correction[i]));
      for (int j = first[i]; j < (begin < last[i] ? begin : last[i]); ++j) {
        acc[i] = fma(set(p[i][j]), load_kv_part(values + j * head_dim + d, part), acc[i]);
      }
    }
    for (int j = begin; j < end; ++j) {
      const Vec v = load_kv_part(values + j * head_dim + d, part);
      for (int i = 0; i < Q; ++i) acc[i] = fma(set(p[i][j]), v, acc[i]);
    }
    for (int i = 0; i < Q; ++i) {
      for (int j = end > begin ? end : begin; j < last[i]; ++j) {
        acc[i] = fma(set(p[i][j]), load_kv_part(values + j * head_dim + d, part), acc[i]);
      }
    }
    for (int i = 0; i < Q; ++i) store(queries[i].acc + d, acc[i]);
  }
}

template <class T>
void attend_type(QueryState* queries, int count, const int* first, const int* last, const void* keys, const void* values,
                 int head_dim, float scale) {
  const T* k = static_cast<const T*>(keys);
  const T* v = static_cast<const T*>(values);
  int i = 0;
  for (; i + kQueryTile <= count; i += kQueryTile) {
    attend_queries<T, kQueryTile>(queries + i, first + i, last + i, k, v, head_dim, scale);
  }
  for (; i < count; ++i) attend_queries<T, 1>(queries + i, first + i, last + i, k, v, head_dim, scale);
}

void attend(QueryState* queries, int count, const int* first, const int* last, const void* keys, const void* values,
            bool half, int head_dim, float scale) {
  if (half) attend_type<uint16_t>(queries, count, first, last, keys, values, head_dim, scale);
  else attend_type<float>(queries, count, first, last, keys, values, head_dim, scale);
}

inline float exp_of(float x) {
  float e[kLanes];
  store(e, exp(set(x)));
  return x == -__builtin_inff() ? 0.0f : e[0];
}

void merge(QueryState& into, const QueryState& from, int head_dim) {
  // A window may begin after this part: nothing was seen in it, and infinity less infinity is no number.
  if (from.max == -__builtin_inff()) return;
  const float now = into.max > from.max ? into.max : from.max;
  const Vec a = set(exp_of(into.max - now)), b = set(exp_of(from.max - now));
  for (int d = 0; d < head_dim; d += kLanes) store(into.acc + d, fma(load(from.acc + d), b, mul(load(into.acc + d), a)));
  store(into.sum, fma(load(from.sum), b, mul(load(into.sum), a)));
  into.max = now;
}

void finish(QueryState& state, const float* sink, int head_dim, float* out) {
  float denominator = sum(load(state.sum));
  float factor = 1.0f;
  if (sink) {
    const float now = state.max > *sink ? state.max : *sink;
    factor = exp_of(state.max - now);
    denominator = __builtin_fmaf(denominator, factor, exp_of(*sink - now));
  }
  for (int d = 0; d < head_dim; d += kLanes) {
    store_part(out + d, div(mul(load(state.acc + d), set(factor)), set(denominator)), head_dim - d);
  }
}
