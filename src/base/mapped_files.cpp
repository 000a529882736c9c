#include "base/mapped_files.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <mutex>

namespace kapitsa {
namespace {

struct Slot {
  std::atomic<const std::byte*> begin{nullptr};  // null: free
  std::atomic<size_t> size{0};
  std::atomic<const char*> path{nullptr};
};

// What finds no slot dies of SIGBUS without a word. The largest models come in some hundred files.
std::array<Slot, 512> slots;

void put(const char* text) { [[maybe_unused]] const auto written = write(STDERR_FILENO, text, std::strlen(text)); }

// Only what may be called in a signal handler.
void on_fault(int, siginfo_t* info, void*) {
  const auto* address = static_cast<const std::byte*>(info->si_addr);
  for (const Slot& slot : slots) {
    const std::byte* begin = slot.begin;
    if (begin == nullptr || address < begin || address >= begin + slot.size) continue;
    // Threads read the same file: one says it, the others wait for the end.
    static std::atomic_flag said;
    while (said.test_and_set()) pause();
    put("kapitsa: ");
    put(slot.path);
    put(": the file became shorter or unreadable while it was in use: start again with the whole file\n");
    _exit(1);
  }
  // Somebody else's fault: it comes again when this returns, and ends the process as ever.
  signal(SIGBUS, SIG_DFL);
}

}  // namespace

void watch_mapped_file(std::span<const std::byte> bytes, const char* path) {
  static std::once_flag installed;
  std::call_once(installed, [] {
    struct sigaction action{};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGBUS, &action, nullptr);
  });
  for (Slot& slot : slots) {
    const std::byte* free = nullptr;
    if (!slot.begin.compare_exchange_strong(free, bytes.data())) continue;
    slot.path = path;
    slot.size = bytes.size();  // last: a slot without a size holds no address
    return;
  }
}

void forget_mapped_file(std::span<const std::byte> bytes) {
  for (Slot& slot : slots) {
    if (slot.begin != bytes.data()) continue;
    slot.size = 0;
    slot.begin = nullptr;
    return;
  }
}

}  // namespace kapitsa
