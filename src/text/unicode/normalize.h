// Unicode normalization forms (Unicode 9.0, see scripts/unicode-table) and lower case.
#pragma once

#include <string>
#include <string_view>

namespace kapitsa::text {

enum class Form { kNfc, kNfd, kNfkc, kNfkd };

// True where `text` is sure to be in NFC already; false may also be a "perhaps".
bool is_surely_nfc(std::string_view text);

// `text` (valid UTF-8) in `form`. `marks` (may be null) holds one byte for each byte of `text` and
// gets one for each byte of the result: the smallest mark of the characters that it was made from.
std::string normalize(std::string_view text, Form form, std::string* marks);

// Lower case of one character, appended: its full mapping without context (no final sigma).
void append_lower(std::string& out, char32_t c);

}  // namespace kapitsa::text
