#include "gateway/sessions/server_reach.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

TEST_SUITE_BEGIN("gateway/sessions/server_reach");

namespace {

class no_lines final : public core::log_sink {
public:
    void write(std::string_view /*lines*/) override {}
};

std::shared_ptr<gateway::model::agent_entry> entry_with(const std::string& token)
{
    auto entry = std::make_shared<gateway::model::agent_entry>();
    entry->record.id = "a";
    entry->record.url = "http://h/mcp";
    entry->record.mcp.emplace();
    entry->record.mcp->transport = core::mcp_transport::streamable_http;
    entry->token = core::secret{token};
    return entry;
}

bool hides(const core::redaction& secrets, const std::string& token)
{
    return secrets.apply("it was " + token).find(token) == std::string::npos;
}

}  // namespace

TEST_CASE("A token that an agent gets later is hidden of all its callers' sessions, and so is the one before")
{
    net::loop loop;
    no_lines sink;
    const core::logger log{sink, core::log_level::debug};
    gateway::sessions::server_reach reach{loop, log, {}};
    const auto first = reach.secrets_of_callers(*entry_with("token-one"));
    const auto second = reach.secrets_of_callers(*entry_with("token-one"));
    reach.renew("a", entry_with("token-two"));
    const auto third = reach.secrets_of_callers(*entry_with("token-two"));
    for (const auto& each : {first, second, third}) {
        CHECK(hides(*each, "token-one"));
        CHECK(hides(*each, "token-two"));
        CHECK_FALSE(hides(*each, "token-three"));
    }
    // Those of another record have their own, and the ones before keep theirs.
    const auto changed = entry_with("token-two");
    changed->record.headers = {{"X-Key", core::secret{"a-key-of-it"}}};
    const auto other = reach.secrets_of_callers(*changed);
    CHECK(hides(*other, "a-key-of-it"));
    CHECK_FALSE(hides(*first, "a-key-of-it"));
    CHECK(hides(*first, "token-one"));
}

TEST_SUITE_END();
