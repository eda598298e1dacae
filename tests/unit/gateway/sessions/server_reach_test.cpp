#include "gateway/sessions/server_reach.hpp"

#include "mcp/protocol/list_page.hpp"
#include "mcp/transport/stdio_transport.hpp"
#include "tests/support/script.hpp"
#include "tests/unit/gateway/sessions/listener.hpp"

#include <doctest/doctest.h>

#include <chrono>
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

TEST_CASE("What a server says at length is read away from the loop, to the gateway itself with the items of its lists")
{
    net::loop loop;
    no_lines sink;
    const core::logger log{sink, core::log_level::debug};
    gateway::threads::side_thread thread;
    gateway::sessions::server_reach reach{loop, log, mcp::inherited_environment(), &thread};
    auto agent = entry_with("");
    agent->record.mcp->transport = core::mcp_transport::stdio;
    agent->record.mcp->command = "sh";
    agent->record.mcp->arguments = {
        "-c",
        R"(printf '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"'; head -c 300000 /dev/zero | tr '\0' a;)"
        R"(printf '"}]}}\n'; exec sleep 60)"
    };
    for (const bool of_gateway : {true, false}) {
        CAPTURE(of_gateway);
        sessions_test::listener told;
        const auto make =
            of_gateway ? reach.of_gateway(*agent, reach.secrets_of_callers(*agent)) : reach.of_callers(*agent);
        const auto wire = make(told);
        wire->open();
        const auto by = std::chrono::steady_clock::now() + test_support::patience;
        while (told.pages.empty() && told.short_texts == 0 && std::chrono::steady_clock::now() < by) {
            loop.io().restart();
            loop.io().run_for(std::chrono::milliseconds{2});
        }
        CHECK(told.short_texts == 0);
        REQUIRE(told.pages.size() == 1);
        REQUIRE((told.pages[0] != nullptr) == of_gateway);
        if (of_gateway) {
            CHECK(told.pages[0]->lists[mcp::index_of(mcp::list_kind::tools)]->count == 1);
        }
    }
}

TEST_SUITE_END();
