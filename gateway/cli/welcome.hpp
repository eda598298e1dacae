// Text that `cardea run` prints if it was given no agents: where it serves, and how agents are added. Pure.
#pragma once

#include <string>
#include <string_view>

namespace gateway::cli {

struct served_addresses {
    std::string_view traffic;  // HOST:PORT, as bound
    std::string_view admin;
};

// `store` is the path of the store's file; empty: agents are kept in memory. Lines, each with its end.
std::string welcome(const served_addresses& at, std::string_view store);

}  // namespace gateway::cli
