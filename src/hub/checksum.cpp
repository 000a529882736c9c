#include "hub/checksum.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

namespace kapitsa::hub {
namespace {

struct FreeDigest {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

Result<std::string> digest(const std::string& path, const EVP_MD* kind, bool git_header,
                           const HashProgress& progress) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return error(Code::kUnavailable, "{}: {}", path, std::strerror(errno));
  const std::unique_ptr<EVP_MD_CTX, FreeDigest> context(EVP_MD_CTX_new());
  EVP_DigestInit_ex(context.get(), kind, nullptr);
  struct stat info {};
  fstat(fd, &info);
  if (git_header) {
    std::string head = fmt::format("blob {}", info.st_size);
    EVP_DigestUpdate(context.get(), head.c_str(), head.size() + 1);
  }
  std::vector<char> buffer(size_t{4} << 20);
  Status status;
  for (uint64_t done = 0;;) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) status = error(Code::kUnavailable, "{}: {}", path, std::strerror(errno));
    if (got <= 0) break;
    EVP_DigestUpdate(context.get(), buffer.data(), static_cast<size_t>(got));
    done += static_cast<uint64_t>(got);
    if (progress && !progress(done)) {
      status = error(Code::kCancelled, "{}: stopped", path);
      break;
    }
  }
  close(fd);
  KAPITSA_RETURN_IF_ERROR(status);
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  EVP_DigestFinal_ex(context.get(), bytes, &length);
  std::string hex;
  for (unsigned i = 0; i < length; ++i) hex += fmt::format("{:02x}", bytes[i]);
  return hex;
}

}  // namespace

Result<std::string> sha256_file(const std::string& path, const HashProgress& progress) {
  return digest(path, EVP_sha256(), false, progress);
}

Result<std::string> git_blob_id(const std::string& path, const HashProgress& progress) {
  return digest(path, EVP_sha1(), true, progress);
}

}  // namespace kapitsa::hub
