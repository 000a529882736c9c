#include "app/program.h"

int main(int argc, char** argv) {
  return kapitsa::app::run_program(argc, argv);
}
