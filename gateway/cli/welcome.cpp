#include "gateway/cli/welcome.hpp"

namespace gateway::cli {
namespace {

constexpr std::string_view default_admin = "127.0.0.1:4001";  // where `cardea agents` asks without --admin

}  // namespace

std::string welcome(const served_addresses& at, std::string_view store)
{
    const auto agents = "cardea agents " + (at.admin == default_admin ? "" : "--admin " + std::string{at.admin} + ' ');
    std::string out = store.empty() ? "Cardea keeps agents in memory: they are lost when it ends.\n"
                                    : "Cardea serves the agents in " + std::string{store} + "\n";
    out += "\n  callers  http://" + std::string{at.traffic} + "/\n";
    out += "  admin    http://" + std::string{at.admin} + "/\n\n";
    out += "Add an agent:     " + agents + "add my-agent http://127.0.0.1:9000/\n";
    out += "List the agents:  " + agents + "list\n";
    return out;
}

}  // namespace gateway::cli
