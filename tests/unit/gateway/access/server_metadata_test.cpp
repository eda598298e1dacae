#include "gateway/access/server_metadata.hpp"

#include "tests/unit/gateway/access/key_set_rig.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using core::errc;
using gateway::access::challenge_parameter;
using gateway::access::metadata_places;
using gateway::access::server_metadata;
using places = std::vector<std::string>;

const std::string well_known = "/.well-known/oauth-protected-resource";

net::fetch_response document(const std::string& text, std::string type = "application/json")
{
    return {200, {{"content-type", std::move(type)}}, text};
}

std::shared_ptr<const gateway::model::agent_entry> server_at(const std::string& url)
{
    auto entry = std::make_shared<gateway::model::agent_entry>();
    entry->record.id = "m";
    entry->record.url = url;
    entry->record.mcp.emplace();
    entry->record.headers = {{"X-Secret", core::secret{"planted"}}};
    return entry;
}

struct rig : access_test::key_set_rig {
    core::result<gateway::access::server_login> find(const std::string& url = "https://mcp.example/a/mcp")
    {
        return run(metadata.find(server_at(url)));
    }

    server_metadata metadata{fetcher, [this] { return now; }};
};

TEST_SUITE("access server_metadata")
{
    TEST_CASE("A parameter of a challenge is found by its whole name, in quotes or not, unless it could end the quotes")
    {
        const std::string challenge =
            R"(Bearer realm="a", x_scope="no", resource_metadata="https://h/x?y=1", scope="read write:all",error=invalid_token)";
        CHECK(challenge_parameter(challenge, "resource_metadata") == "https://h/x?y=1");
        CHECK(challenge_parameter(challenge, "scope") == "read write:all");
        CHECK(challenge_parameter(challenge, "error") == "invalid_token");
        CHECK(challenge_parameter(challenge, "metadata").empty());
        CHECK(challenge_parameter(R"(Bearer error_description="a \" scope=no b", scope=yes)", "scope") == "yes");
        for (const auto* const odd :
             {"",
              "scope",
              "Bearer scope",
              "Bearer scope=\"open",
              "Bearer scope=\"a\\\"b\"",
              "Bearer scope=\"a\x01\"",
              "Bearer scope=\"\""}) {
            CAPTURE(odd);
            CHECK(challenge_parameter(odd, "scope").empty());
        }
    }

    TEST_CASE("The metadata of a server is where its challenge says, on its origin, else below its well-known path")
    {
        const auto usual = places{"https://mcp.example" + well_known + "/a/mcp", "https://mcp.example" + well_known};
        CHECK(metadata_places("https://mcp.example/a/mcp/?k=1", "") == usual);
        CHECK(metadata_places("https://mcp.example/a/mcp", "https://other.example/x") == usual);
        CHECK(metadata_places("https://mcp.example/a/mcp", "http://mcp.example/x") == usual);
        CHECK(metadata_places("https://mcp.example/a/mcp", usual[0]) == usual);
        CHECK(
            metadata_places("https://mcp.example/a/mcp", "https://mcp.example/own") ==
            places{"https://mcp.example/own", usual[0], usual[1]}
        );
        CHECK(metadata_places("https://mcp.example", "") == places{"https://mcp.example" + well_known});
        CHECK(metadata_places("no url", "").empty());
    }

    TEST_CASE("A document names authorization servers, and what is no URL and no scope in it is left out")
    {
        const auto login = gateway::access::login_in(document(
            R"({"authorization_servers":["https://as.example","no url",1],"scopes_supported":["read","a b","",2,"w\"x"]})"
        ));
        REQUIRE(login.has_value());
        CHECK(login->authorization_servers == places{"https://as.example"});
        CHECK(login->scopes == places{"read"});
        CHECK(
            gateway::access::login_in(document(R"({"authorization_servers":[]})")).error().code ==
            errc::upstream_protocol
        );
        CHECK(gateway::access::login_in(document("{}", "text/html")).error().code == errc::upstream_status);
        std::string many;
        for (std::size_t i = 0; i <= server_metadata::most_named; ++i) {
            many += std::string{many.empty() ? "" : ","} + "\"https://as.example/" + std::to_string(i) + '"';
        }
        const auto bounded = gateway::access::login_in(document(R"({"authorization_servers":[)" + many + "]}"));
        CHECK(bounded->authorization_servers.size() == server_metadata::most_named);
    }

    TEST_CASE(
        "A document is fetched without the server's credentials, once for 5 minutes, and again 10 s after a failure"
    )
    {
        rig x;
        CHECK(x.find().error().code == errc::upstream_status);
        CHECK(x.fetcher.fetches == 3);  // the challenge, and two places
        x.now += server_metadata::failure_kept - 1ms;
        CHECK(x.find().has_error());
        CHECK(x.fetcher.fetches == 3);
        x.now += 1ms;
        x.fetcher.answers = {
            {"https://mcp.example/a/mcp",
             {401, {{"www-authenticate", R"(Bearer resource_metadata="https://mcp.example/own")"}}, ""}},
            {"https://mcp.example/own", document(R"({"authorization_servers":["https://as.example"]})")}
        };
        CHECK(x.find()->authorization_servers == places{"https://as.example"});
        CHECK(x.fetcher.fetches == 5);
        CHECK(x.fetcher.asked.max_size == server_metadata::longest_document);
        for (const auto& [name, value] : x.fetcher.asked.headers) {
            CHECK(value.find("planted") == std::string::npos);
        }
        x.now += server_metadata::kept - 1ms;
        CHECK(x.find().has_value());
        CHECK(x.fetcher.fetches == 5);
        x.now += 1ms;
        CHECK(x.find().has_value());
        CHECK(x.fetcher.fetches == 7);
    }
}

}  // namespace
