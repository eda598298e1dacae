// The files that a configuration consists of. Blocking: for the start and the control side only.
#pragma once

#include "core/error.hpp"

#include <cstddef>
#include <string>

namespace config {

// The content of a regular file (or a pipe, such as /dev/stdin) of at most `most` bytes. Fails with
// errc::config_invalid; the detail is a predicate: "cannot be opened: No such file or directory", "is a directory".
core::result<std::string> read_file(const std::string& path, std::size_t most = 16 * 1024 * 1024);

// read_file() for regular files only: a pipe or a device never makes the reader wait.
core::result<std::string> read_regular_file(const std::string& path, std::size_t most = 16 * 1024 * 1024);

// A credential in a file, at most 64 KiB, without the line breaks at its end.
core::result<std::string> read_secret_file(const std::string& path);

}  // namespace config
