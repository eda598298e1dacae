// A caller's credential about which somebody has to be asked. A value.
#pragma once

#include "core/access.hpp"

#include <string>

namespace gateway::model {

struct presented_credential {
    core::credential_place place = core::credential_place::header;
    std::string field;  // its name at that place; empty: a bearer token
    std::string text;
};

}  // namespace gateway::model
