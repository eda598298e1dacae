// A caller's credential about which somebody has to be asked. A value.
#pragma once

#include "core/access.hpp"

#include <cstdint>
#include <string>

namespace gateway::model {

struct presented_credential {
    core::credential_place place = core::credential_place::header;
    std::string field;  // its name at that place; empty: a bearer token
    std::string text;
    std::uint64_t sender = 0;  // which address has sent it (access::number_of())
};

}  // namespace gateway::model
