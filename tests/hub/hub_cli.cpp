// The commands pull, list and rm alone, for tests that drive them from end to end as a process.
#include <cstdio>

#include "app/command.h"

int main(int argc, char** argv) {
  CLI::App app("hub_cli");
  app.require_subcommand(1);
  kapitsa::app::Run run;
  kapitsa::app::add_pull(app, run);
  kapitsa::app::add_list(app, run);
  kapitsa::app::add_rm(app, run);
  CLI11_PARSE(app, argc, argv);
  return run();
}
