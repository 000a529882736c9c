// The hub's foreign bytes: lists of files, catalogues, journals, names and redirects; the first
// byte chooses.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "hub/catalogue.h"
#include "hub/hub_api.h"
#include "hub/ids.h"
#include "hub/ranges.h"
#include "hub/select.h"
#include "hub/url.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kapitsa::hub;
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 5) {
    case 0: {
      auto listing = parse_listing(text, "org/name");
      if (!listing.ok()) break;
      std::vector<std::string> names;
      for (const RemoteFile& file : listing->files) {
        if (!valid_file(file.name)) abort();
        names.push_back(file.name);
      }
      (void)select_files(names, "Q4_K_M", "org/name");
      (void)select_files(names, "", "org/name");
      break;
    }
    case 1:
      (void)Catalogue::parse(text, "fuzz");
      break;
    case 2: {
      const RangeSet set = parse_journal(journal_head(1000, "e") + text, 1000, "e");
      uint64_t missing = 0;
      for (const ByteRange gap : set.missing(1000, 64)) missing += gap.end - gap.begin;
      if (set.bytes() + missing != 1000) abort();
      break;
    }
    case 3:
      if (auto id = parse_hub_id(text); id.ok() && id->repo.find("..") != std::string::npos)
        abort();
      break;
    default:
      (void)redirect_target("https://a.example/x", text);
  }
  return 0;
}
