#include "gateway/model/agent_record.hpp"

namespace gateway::model {

core::redaction secrets_of(const core::agent& record)
{
    auto given = record.mcp.value_or(core::mcp_server{});
    given.headers.insert(given.headers.end(), record.card_headers.begin(), record.card_headers.end());
    if (!record.bearer.empty()) {
        given.headers.emplace_back("Authorization", core::secret{"Bearer " + record.bearer.reveal()});
    }
    return core::redaction_of(given, record.url);
}

bool same_session(const core::agent& a, const core::agent& b)
{
    // An inline card needs no session.
    if (!a.mcp || !b.mcp || !a.card.empty() || !b.card.empty()) {
        return false;
    }
    auto server = *a.mcp;
    server.stale_if_error = b.mcp->stale_if_error;  // what callers are told without one
    server.walk = b.mcp->walk;                      // runner::set_walk()
    return a.id == b.id && server == *b.mcp && a.speaks == b.speaks && a.url == b.url && a.bearer == b.bearer &&
           a.ca_file == b.ca_file && a.cert_file == b.cert_file && a.key_file == b.key_file;
}

}  // namespace gateway::model
