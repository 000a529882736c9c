// Broken and hostile templates cost one clear error: never a crash, a hang or a giant allocation.
#include <gtest/gtest.h>

#include <random>

#include "tests/text/template/corpus.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace kapitsa::text {
namespace {

TemplateInput chat(std::string content) {
  TemplateInput input;
  input.messages = {{{"role", "user"}, {"content", std::move(content)}}};
  return input;
}

std::string failure_of(std::string_view source, const TemplateInput& input = chat("hi")) {
  const auto compiled = ChatTemplate::compile(source);
  if (!compiled.ok()) return compiled.message();
  const auto text = (*compiled)->render(input);
  return text.ok() ? "no failure: " + text->substr(0, 200) : text.message();
}

void expect_in(std::string_view part, const std::string& text) {
  EXPECT_NE(text.find(part), std::string::npos) << "wanted " << part << " in: " << text;
}

TEST(TemplateErrors, NameTheLineAndTheCause) {
  expect_in("line 2: syntax error", failure_of("a\n{% if %}"));
  expect_in("line 3", failure_of("a\n\n{{ messages | nosuchfilter }}"));
  expect_in("nosuchfilter", failure_of("a\n\n{{ messages | nosuchfilter }}"));
  expect_in("line 2: undefined value", failure_of("\n{{ nothing.at.all }}"));
  expect_in("line 1", failure_of("{{ 'a' + 1 }}"));
  expect_in("unclosed", failure_of("{% for m in messages %}\n\n").empty() ? "" : "unclosed");
}

TEST(TemplateErrors, RaiseExceptionGivesItsOwnText) {
  const auto compiled = ChatTemplate::compile("\n{{ raise_exception('No ' + messages[0].content) }}");
  ASSERT_TRUE(compiled.ok());
  EXPECT_EQ((*compiled)->render(chat("<x>")).message(), "the chat template refuses the messages: No <x>");
  EXPECT_EQ((*compiled)->render_spans(chat("<x>")).message(),
            "the chat template refuses the messages: No <x>");
  // From inside a macro as well.
  expect_in("refuses the messages: deep",
            failure_of("{% macro m() %}{{ raise_exception('deep') }}{% endmacro %}{{ m() ~ '' }}"));
}

TEST(TemplateLimits, LoopsEnd) {
  const std::string nested = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}";
  expect_in("does not come to an end", failure_of(nested));
  expect_in("line", failure_of("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"));
  expect_in("range", failure_of("{% for a in range(999999999) %}{% endfor %}"));
}

// What one step of the engine may take long for, in loops that its count of steps lets run for minutes.
TEST(TemplateLimits, TimeEndsWhatStepsDoNot) {
  const std::string loop = "{% set s = 'a' * 1000000 %}{% set l = range(99999) | list %}{% for i in range(99999) %}";
  for (const char* body : {"{% if l | sort == l %}{% endif %}", "{% set x = s.upper() %}", "{% set x = s.find('b') %}",
                           "{% if s in s ~ 'b' %}{% endif %}", "{% if 'b' in l %}{% endif %}", "{% set x = l | map('string') | list %}",
                           "{% set x = l | tojson %}", "{% if s is lower %}{% endif %}", "{% if l == (l + [1]) %}{% endif %}",
                           "{% set x = l | unique | list %}", "{% set x = s | title %}", "{% set x = l | sum %}",
                           "{% set x = s[::-1] %}", "{% set x = l | reverse | list %}",
                           "{% set x = s | escape %}", "{% set x = (l | select('eq', 1)) | list %}", "{% set x = l | groupby('a') %}"}) {
    TemplateInput input = chat("hi");
    input.cancel = Cancel::within(std::chrono::milliseconds(100));
    EXPECT_EQ(failure_of(loop + body + "{% endfor %}", input).substr(0, 42), "the chat template took longer than the 0.1") << body;
  }
}

TEST(TemplateLimits, TextDoesNotGrowWithoutEnd) {
  const std::string loop = "{% set ns = namespace(x='aaaaaaaa') %}{% for i in range(64) %}";
  expect_in("grew over", failure_of(loop + "{% set ns.x = ns.x + ns.x %}{% endfor %}"));
  expect_in("grew over", failure_of(loop + "{% set ns.x = ns.x ~ ns.x %}{% endfor %}"));
  expect_in("too much text", failure_of(loop + "{% set ns.x %}{{ ns.x }}{{ ns.x }}{% endset %}{% endfor %}"));
  expect_in("grew over", failure_of(loop + "{% set ns.x = ns.x.replace('a', ns.x) %}{% endfor %}"));
  expect_in("grew over", failure_of(loop + "{% set ns.x = [ns.x, ns.x] | join('') %}{% endfor %}"));
  expect_in("grew over", failure_of(loop + "{% set ns.x = ns.x.join([ns.x, ns.x, ns.x]) %}{% endfor %}"));
  expect_in("grew over", failure_of(loop + "{% set ns.x = '{0}{0}{0}'.format(ns.x) %}{% endfor %}"));
  expect_in("grew over", failure_of("{{ '{:>999999999}'.format(1) }}"));
  expect_in("too large", failure_of("{{ 'abc' * 999999999 }}"));
  expect_in("grew over", failure_of("{% set ns = namespace(x=[1, 2]) %}{% for i in range(64) %}"
                                    "{% set ns.x = ns.x + ns.x %}{% endfor %}"));
}

TEST(TemplateLimits, ValuesDoNotNestWithoutEnd) {
  const std::string loop = "{% set ns = namespace(x=[]) %}{% for i in range(99999) %}";
  expect_in("nested deeper", failure_of(loop + "{% set ns.x = [ns.x] %}{% endfor %}"));
  expect_in("nested deeper", failure_of(loop + "{% set ns.x = {'a': ns.x} %}{% endfor %}"));
  expect_in("nested deeper", failure_of(loop + "{% set ns.x = dict(a=ns.x) %}{% endfor %}"));
  for (const char* use : {"{{ ns }}", "{{ ns|tojson }}", "{% if ns == ns %}{% endif %}", "{{ ns|string|length }}"}) {
    expect_in("a namespace cannot be kept", failure_of(std::string("{% set ns = namespace() %}{% set ns.l = ns %}") + use));
    expect_in("a namespace cannot be kept", failure_of(std::string("{% set ns = namespace() %}{% set ns.l = [ns] %}") + use));
    expect_in("a namespace cannot be kept", failure_of(std::string("{% set ns = namespace() %}{% set l = {'a': ns} %}") + use));
    expect_in("a namespace cannot be kept",
              failure_of(std::string("{% set ns = namespace() %}{% set ns.l %}{{ ns }}{% endset %}{% for x in [ns] %}{% set ns.l = x %}{% endfor %}") + use));
  }
  const std::string deep = std::string(50000, '[') + std::string(50000, ']');
  expect_in("line 1", failure_of("{{ " + deep + " }}"));
  expect_in("line 1", failure_of("{{ " + std::string(50000, '(') + " }}"));
  expect_in("line 1", failure_of("{{ " + std::string(50000, '-') + "1 }}"));
  // Just below the limit on a block the stack must hold.
  for (const char* piece : {"-", "not ", "(", "[", "1 + ", "1 ~ ", "a.", "a|string|", "a if a else ", "a and "}) {
    std::string many;
    while (many.size() / std::string_view(piece).size() < 950) many += piece;
    failure_of("{{ " + many + "a }}");
  }
  std::string elifs = "{% if a %}", blocks;
  for (int i = 0; i < 1999; ++i) elifs += "{% elif a %}";
  for (int i = 0; i < 20000; ++i) blocks += "{% if a %}";
  EXPECT_EQ(failure_of(elifs + "{% endif %}"), "no failure: ");
  expect_in("line 1", failure_of(blocks));
}

TEST(TemplateLimits, DeepMessagesAreRefused) {
  TemplateInput input = chat("x");
  Json deep = 1;
  for (int i = 0; i < 200; ++i) deep = Json::array({deep});
  input.messages[0]["content"] = deep;
  expect_in("recursion limit", failure_of("{{ messages | tojson }}", input));
}

TEST(TemplateLimits, TextThatIsNotUtf8IsRefused) {
  expect_in("not UTF-8 from byte 2", failure_of("ab\xff"));
  expect_in("not UTF-8", failure_of("{{ messages[0].content }}", chat("\xc3(")));
}

TEST(TemplateFuzz, MutatedTemplatesNeverCrash) {
  const auto paths = template_paths();
  ASSERT_GE(paths.size(), 60u) << "run scripts/fixtures";
  std::mt19937 random(7);
  const std::string_view pieces[] = {"{{", "}}", "{%", "%}", "'", "\"", "(", ")", "[", "]", "|", "~", "+",
                                     "in", "for", ":", "-", "not ", "endfor", "set ", "=", "\xff", "\n", "#}"};
  for (int i = 0; i < 3000; ++i) {
    std::string source = read_text(paths[random() % paths.size()]);
    const size_t from = random() % source.size();
    switch (random() % 4) {
      case 0: source.resize(from); break;
      case 1: source.erase(from, 1 + random() % 40); break;
      case 2: source.insert(from, pieces[random() % std::size(pieces)]); break;
      case 3: source[from] = static_cast<char>(random()); break;
    }
    source += '\0';
    source += "<|im_end|> </think> \xf0\x9f\x99\x82";
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(source.data()), source.size());
  }
}

}  // namespace
}  // namespace kapitsa::text
