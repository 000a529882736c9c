#include "base/plain_text.h"

#include <gtest/gtest.h>

namespace kapitsa {
namespace {

TEST(PlainText, ControlCharactersAreShownNotObeyed) {
  EXPECT_EQ(without_controls("a\tb\nc"), "a\tb\nc");
  EXPECT_EQ(without_controls("a\r\nb"), "a\nb");
  EXPECT_EQ(without_controls("\x1b[2J\x07"), "\xEF\xBF\xBD[2J\xEF\xBF\xBD");
  EXPECT_EQ(without_controls("\xC2\x9B"
                             "2Jwörld 🙂"),
            "\xEF\xBF\xBD"
            "2Jwörld 🙂");
}

TEST(PlainText, DirectionsAreNotTurned) {
  EXPECT_EQ(without_controls("a\u202Eb\u2066c\u2070"), "a\uFFFDb\uFFFDc\u2070");
}

TEST(PlainText, OneLineIsOneLine) {
  EXPECT_EQ(one_line("name\nINFO all is well\t!\x1b"), "name INFO all is well !\xEF\xBF\xBD");
}

}  // namespace
}  // namespace kapitsa
