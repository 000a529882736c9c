// Activations to 8 bits in blocks of 32: scale = max|x| / 127, nearest even.
void quantize(const float* x, int64_t columns, QuantRows& out, int64_t row) {
  int8_t* q = out.q + row * out.columns;
  float* scale = out.scale + row * (out.columns / 32);
  float* scaled_sum = out.scaled_sum + row * (out.columns / 32);
  int32_t* sums = out.sum + row * (out.columns / 16);
  for (int64_t b = 0; b * 32 < out.columns; ++b) {
    const int64_t k = b * 32;
    const Vec lo = load_part(x + k, static_cast<int>(columns - k));
    const Vec hi = columns - k > 16 ? load_part(x + k + 16, static_cast<int>(columns - k - 16)) : zero();
    const float largest = max(max(abs(lo), abs(hi)));
    const float inverse = largest > 0 ? 127.0f / largest : 0.0f;
    // An infinite or absurdly large input gives a NaN here; the clamp keeps the integers in range, and the scale
    // carries the infinity into the result.
    const Vec top = set(127.0f), bottom = set(-127.0f);
    const Int a = round(max(min(mul(lo, set(inverse)), top), bottom));
    const Int c = round(max(min(mul(hi, set(inverse)), top), bottom));
    store_signed_bytes(q + k, a);
    store_signed_bytes(q + k + 16, c);
    scale[b] = largest / 127.0f;
    sums[2 * b] = sum(a);
    sums[2 * b + 1] = sum(c);
    scaled_sum[b] = scale[b] * static_cast<float>(sums[2 * b] + sums[2 * b + 1]);
  }
}
