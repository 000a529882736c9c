#include "hub/select.h"

#include <algorithm>
#include <cctype>

#include "hub/ids.h"

namespace kapitsa::hub {
namespace {

std::string base_name(std::string_view file) {
  const size_t slash = file.rfind('/');
  return std::string(slash == file.npos ? file : file.substr(slash + 1));
}

bool digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// The name without ".gguf" and "-00001-of-00003".
std::string stem(std::string_view file) {
  file.remove_suffix(5);
  constexpr size_t kSplit = 15;
  if (file.size() > kSplit) {
    const std::string_view end = file.substr(file.size() - kSplit);
    if (end[0] == '-' && digits(end.substr(1, 5)) && end.substr(6, 4) == "-of-" &&
        digits(end.substr(10))) {
      file.remove_suffix(kSplit);
    }
  }
  return std::string(file);
}

// True for "Q4_K_M", "IQ2_XXS", "TQ1_0", "BF16", "MXFP4_MOE", ... in upper case.
bool is_quantisation(std::string_view text) {
  for (const std::string_view name : {"BF16", "F16", "F32", "NVFP4", "MXFP4", "MXFP4_MOE"}) {
    if (text == name) return true;
  }
  if (text.starts_with("I") || text.starts_with("T")) text.remove_prefix(1);
  return text.size() >= 2 && text[0] == 'Q' && text[1] >= '0' && text[1] <= '9' &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
         });
}

// Every part of the (perhaps split) GGUF file that `file` belongs to, in order.
std::vector<std::string> with_siblings(const std::vector<std::string>& files,
                                       const std::string& file) {
  std::vector<std::string> parts;
  for (const std::string& other : files) {
    if (other == file || (is_model_gguf(other) && is_model_gguf(file) &&
                          stem(other) == stem(file) && stem(file).size() + 5 != file.size())) {
      parts.push_back(other);
    }
  }
  std::sort(parts.begin(), parts.end());
  return parts;
}

// True for what a folder of safetensors needs beside its weights.
bool is_companion(std::string_view file) {
  constexpr std::string_view kNames[] = {"config.json",
                                         "generation_config.json",
                                         "tokenizer.json",
                                         "tokenizer_config.json",
                                         "tokenizer.model",
                                         "special_tokens_map.json",
                                         "added_tokens.json",
                                         "vocab.json",
                                         "merges.txt",
                                         "chat_template.jinja",
                                         "chat_template.json",
                                         "model.safetensors.index.json",
                                         "preprocessor_config.json",
                                         "hf_quant_config.json",
                                         "quantization_config.json"};
  return std::find(std::begin(kNames), std::end(kNames), file) != std::end(kNames);
}

std::vector<std::string> folder_files(const std::vector<std::string>& files) {
  std::vector<std::string> picked;
  bool config = false;
  bool weights = false;
  for (const std::string& file : files) {
    // "consolidated*" repeats the weights in another layout; subfolders hold other formats.
    const bool weight = file.ends_with(".safetensors") && file.find('/') == file.npos &&
                        !file.starts_with("consolidated") && !file.starts_with("adapter");
    if (weight || is_companion(file)) picked.push_back(file);
    weights |= weight;
    config |= file == "config.json";
  }
  return config && weights ? picked : std::vector<std::string>();
}

std::string names_of(const std::vector<std::string>& files) {
  std::string names;
  size_t shown = 0;
  for (const std::string& file : files) {
    if (!is_model_gguf(file)) continue;
    if (++shown > 12) return names + ", ...";
    names += (names.empty() ? "" : ", ") +
             (quantisation_of(file).empty() ? file : quantisation_of(file));
  }
  return names;
}

}  // namespace

bool is_model_gguf(std::string_view file) {
  const std::string name = to_lower(base_name(file));
  return name.ends_with(".gguf") && name.find("mmproj") == name.npos &&
         name.find("imatrix") == name.npos;
}

std::string quantisation_of(std::string_view file) {
  if (!is_model_gguf(file)) return "";
  std::string name = base_name(stem(file));
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  // The last part of the name; what Unsloth calls its own mixes has a "UD-" before it.
  const size_t cut = name.find_last_of("-.");
  std::string last = cut == name.npos ? name : name.substr(cut + 1);
  if (!is_quantisation(last)) return "";
  return cut != name.npos && cut >= 3 && name.substr(cut - 3, 3) == "-UD" ? "UD-" + last : last;
}

Result<std::vector<std::string>> select_files(const std::vector<std::string>& files,
                                              std::string_view part, std::string_view repo) {
  if (!part.empty()) {
    for (const std::string& file : files) {
      if (file == part) return with_siblings(files, file);
    }
    const std::string wanted = to_lower(part);
    for (const std::string& file : files) {
      if (is_model_gguf(file) && to_lower(quantisation_of(file)) == wanted)
        return with_siblings(files, file);
    }
    // "Q4_K_M" where only "UD-Q4_K_M" is there, and the other way round.
    for (const std::string& file : files) {
      const std::string quantisation = to_lower(quantisation_of(file));
      if (is_model_gguf(file) &&
          (quantisation == "ud-" + wanted || "ud-" + quantisation == wanted)) {
        return with_siblings(files, file);
      }
    }
    const std::string names = names_of(files);
    return error(Code::kNotFound, "{}: has no file or quantisation '{}'{}", repo, part,
                 names.empty() ? "" : "; there are: " + names);
  }
  if (auto folder = folder_files(files); !folder.empty()) return folder;
  for (const std::string_view quantisation :
       {"Q4_K_M", "UD-Q4_K_XL", "UD-Q4_K_M", "Q4_K_S", "Q4_K", "Q5_K_M", "Q4_1", "Q4_0", "Q8_0",
        "Q6_K", "BF16", "F16"}) {
    for (const std::string& file : files) {
      if (quantisation_of(file) == quantisation) return with_siblings(files, file);
    }
  }
  for (const std::string& file : files) {
    if (is_model_gguf(file)) return with_siblings(files, file);
  }
  return error(
      Code::kNotFound,
      "{}: holds neither a GGUF file nor safetensors with a config.json; nothing here to run",
      repo);
}

}  // namespace kapitsa::hub
