// Moves everything that a store keeps to another one: `cardea store copy`. No gateway may use them meanwhile.
#pragma once

#include "core/error.hpp"
#include "store/postgres.hpp"

#include <cstddef>
#include <string>

namespace store {

// One of the two.
struct place {
    std::string sqlite;  // the path of a file
    postgres_options postgres;
};

struct copied {
    std::size_t agents = 0;
    std::size_t changes = 0;
    std::size_t deliveries = 0;
};

// All of it or nothing; versions and numbers stay. Makes the target's file or schema. Fails with config_invalid: the source is missing, the
// target is not empty, or a place cannot be used; else as the engines do. The detail begins with the place.
core::result<copied> copy(const place& from, const place& to);

}  // namespace store
