// Quantised matrices as MLX, ModelOpt, compressed-tensors and the models' makers store them (make_planes.py).
#include "weights/join.h"

#include <gtest/gtest.h>

#include <bit>

#include "base/json.h"
#include "tests/weights/temporary_folder.h"

namespace kapitsa::weights {
namespace {

constexpr char kPlanes[] = "tests/weights/planes";

std::vector<float> all_of(const Tensor& t) {
  std::vector<float> out(static_cast<size_t>(t.rows() * t.columns()));
  for (int64_t r = 0; r < t.rows(); ++r) t.decode_row(r, out.data() + r * t.columns());
  return out;
}

TEST(Join, GivesEachLibrarysOwnValuesBitForBit) {
  const auto checkpoint = Checkpoint::open(kPlanes);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.message();
  int compared = 0;
  for (const auto& [name, want] : checkpoint->tensors()) {
    if (!name.ends_with(".want")) continue;
    const std::string base = name.substr(0, name.size() - 5);
    const Tensor* got = checkpoint->find(base + ".weight");
    ASSERT_NE(got, nullptr) << base;
    ASSERT_EQ(got->shape, want.shape) << base;
    EXPECT_EQ(got->format, quant::Format::planes) << base;
    const std::vector<float> a = all_of(*got), b = all_of(want);
    for (size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(std::bit_cast<uint32_t>(a[i]), std::bit_cast<uint32_t>(b[i])) << base << " " << i << ": " << a[i] << " for " << b[i];
    }
    ++compared;
  }
  EXPECT_EQ(compared, 38);
  // Nothing of the parts is left over.
  EXPECT_EQ(checkpoint->tensors().size(), 2 * 38u);
  EXPECT_TRUE(checkpoint->unread().empty());
}

TEST(Join, NamesTheFormats) {
  const auto checkpoint = Checkpoint::open(kPlanes);
  ASSERT_TRUE(checkpoint.ok());
  const std::pair<const char*, const char*> names[] = {
      {"mlx.3.32", "3-bit affine g32"}, {"mlx.nvfp4", "NVFP4"}, {"mlx.mxfp4", "MXFP4"}, {"mlx.mxfp8", "MXFP8"},
      {"ct.nvfp4", "NVFP4"},            {"fp8.block", "FP8"},   {"ct.int4", "4-bit integer g32"}};
  for (const auto& [base, name] : names) EXPECT_EQ(checkpoint->find(std::string(base) + ".weight")->format_name(), name);
  // 4 bits, and two bytes of scale and of bias for 64 weights.
  const Tensor* mlx = checkpoint->find("mlx.bf16.weight");
  EXPECT_EQ(mlx->stored_bytes(), 3u * (64 + 2 * 4));
}

// A part of a row, a row of a matrix in a stack and rows further down are the same values.
TEST(Join, DecodesAnyPartAlike) {
  const auto checkpoint = Checkpoint::open(kPlanes);
  ASSERT_TRUE(checkpoint.ok());
  for (const char* base : {"mlx.3.32", "mlx.5.64", "mlx.6.128", "mlx.stack", "fp8.block", "ct.nvfp4", "bytes.twos"}) {
    const Tensor& t = *checkpoint->find(std::string(base) + ".weight");
    const std::vector<float> whole = all_of(t);
    const int64_t rows = t.shape[t.shape.size() - 2], columns = t.columns();
    for (int64_t matrix = 0; matrix < t.rows() / rows; ++matrix) {
      for (int64_t row = 0; row < rows; ++row) {
        const quant::Planes below = t.planes->matrix(matrix, rows).from(row);
        for (const auto& [from, count] : {std::pair<int64_t, int64_t>{0, columns}, {16, 16}, {3, 30}, {columns - 5, 5}}) {
          std::vector<float> part(static_cast<size_t>(count));
          below.decode(0, from, count, part.data());
          for (int64_t k = 0; k < count; ++k) ASSERT_EQ(part[k], whole[(matrix * rows + row) * columns + from + k]) << base;
        }
      }
    }
  }
}

struct Wrong {
  const char* header;
  size_t data;
  const char* config;
  const char* message;
};

TEST(Join, SaysWhatIsWrongWithParts) {
  constexpr char kFour[] = R"({"quantization":{"group_size":64,"bits":4}})";
  const Wrong cases[] = {
      {R"({"x.weight":{"dtype":"U32","shape":[2,8],"data_offsets":[0,64]},"x.scales":{"dtype":"F16","shape":[2,1],"data_offsets":[64,68]}})", 68, kFour,
       "'x.biases' is missing"},
      {R"({"x.weight":{"dtype":"U32","shape":[2,8],"data_offsets":[0,64]},"x.scales":{"dtype":"F16","shape":[2,1],"data_offsets":[64,68]},)"
       R"("x.biases":{"dtype":"F16","shape":[2,1],"data_offsets":[68,72]}})", 72, "{}", "config.json has no \"quantization\""},
      {R"({"x.weight":{"dtype":"U32","shape":[2,8],"data_offsets":[0,64]},"x.scales":{"dtype":"F16","shape":[2,1],"data_offsets":[64,68]},)"
       R"("x.biases":{"dtype":"F16","shape":[2,1],"data_offsets":[68,72]}})", 72, R"({"quantization":{"group_size":32,"bits":4}})",
       "'x.scales' has the shape [2, 1]; [2, 2] was expected for 64 columns in groups of 32"},
      {R"({"x.weight":{"dtype":"U32","shape":[2,8],"data_offsets":[0,64]},"x.scales":{"dtype":"F16","shape":[2,1],"data_offsets":[64,68]},)"
       R"("x.biases":{"dtype":"F16","shape":[2,1],"data_offsets":[68,72]}})", 72, R"({"quantization":{"group_size":64,"bits":7}})", "7 bits a weight"},
      {R"({"x.weight":{"dtype":"U8","shape":[2,8],"data_offsets":[0,16]},"x.weight_scale":{"dtype":"F8_E4M3","shape":[2,2],"data_offsets":[16,20]}})", 20,
       "{}", "[2, 1] was expected"},
      {R"({"x.weight":{"dtype":"U8","shape":[2,8],"data_offsets":[0,16]},"x.weight_scale":{"dtype":"F8_E4M3","shape":[2,1],"data_offsets":[16,18]},)"
       R"("x.weight_scale_2":{"dtype":"F32","shape":[2],"data_offsets":[18,26]}})", 26, "{}", "'x.weight_scale_2' is not one finite number"},
      {R"({"x.weight":{"dtype":"F8_E4M3","shape":[2,8],"data_offsets":[0,16]},"x.weight_scale":{"dtype":"F32","shape":[3],"data_offsets":[16,28]}})", 28,
       "{}", "'x.weight_scale' has the shape [3]"},
      {R"({"x.weight_packed":{"dtype":"I32","shape":[2,1],"data_offsets":[0,8]},"x.weight_scale":{"dtype":"F16","shape":[2,1],"data_offsets":[8,12]}})", 12,
       "{}", "'x.weight_shape' is missing"},
      {R"({"x.weight":{"dtype":"U8","shape":[2,8],"data_offsets":[0,16]},"x.weight_scale":{"dtype":"F16","shape":[4,1],"data_offsets":[16,24]}})", 24, "{}",
       "two rows a byte"},
      {R"({"x.qweight":{"dtype":"I32","shape":[2,1],"data_offsets":[0,8]}})", 8, "{}", "GPTQ, AWQ or bitsandbytes"},
  };
  for (const Wrong& wrong : cases) {
    const TemporaryFolder folder;
    const uint64_t length = std::string_view(wrong.header).size();
    std::string file(reinterpret_cast<const char*>(&length), sizeof(length));
    folder.write("model.safetensors", file.append(wrong.header).append(wrong.data, '\x01'));
    folder.write("config.json", wrong.config);
    const auto checkpoint = Checkpoint::open(folder.path());
    ASSERT_FALSE(checkpoint.ok()) << wrong.message;
    EXPECT_NE(checkpoint.message().find(wrong.message), std::string::npos) << checkpoint.message();
  }
}

}  // namespace
}  // namespace kapitsa::weights
