// Says what happened when a mapped file goes away under its reader.
//
// A page of a file that became shorter, or whose disk failed, is a SIGBUS to whoever touches it, and there is nothing to
// give in its place: the process ends, but with one sentence that names the file.
#pragma once

#include <cstddef>
#include <span>

namespace kapitsa {

// `path` stays where it is until the file is forgotten. The first call takes over SIGBUS.
void watch_mapped_file(std::span<const std::byte> bytes, const char* path);
void forget_mapped_file(std::span<const std::byte> bytes);

}  // namespace kapitsa
