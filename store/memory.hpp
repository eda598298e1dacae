// A store that ends with the process.
#pragma once

#include "store/engine.hpp"

#include <memory>

namespace store {

std::unique_ptr<engine> make_memory();

}  // namespace store
