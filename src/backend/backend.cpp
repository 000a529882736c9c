#include "backend/backend.h"

namespace kapitsa::backend {

int bucket(int rows) {
  for (int b = 1; b <= kMaxDecodeRows; b *= 2) {
    if (rows <= b) return b;
  }
  return (rows + kPage - 1) / kPage * kPage;
}

}  // namespace kapitsa::backend
