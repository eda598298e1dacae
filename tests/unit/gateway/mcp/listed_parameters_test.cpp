// Header fields of clients of the modern era whose servers do not get them.
#include "gateway/mcp/eras/modern_program.hpp"
#include "tests/unit/gateway/mcp/modern_client_rig.hpp"
#include "tests/unit/gateway/mcp/translated_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/mcp/eras/listed_parameters");

using namespace mcp_path_test;

namespace {

using fields = std::vector<std::pair<std::string, std::string>>;

class parameters_rig : public translated_rig {
public:
    // What the tool `t` wants repeated.
    void list(const std::string& header)
    {
        lists = std::make_shared<mcp::server_lists>();
        lists->server.protocol_version = "2025-06-18";
        lists->lists[mcp::index_of(mcp::list_kind::tools)].push_back(
            {"t",
             R"({"name":"t","inputSchema":{"properties":{"region":{"type":"string","x-mcp-header":")" + header +
                 "\"}}}}"}
        );
    }

    // What came of a call with region `eu`.
    std::string call(const fields& sent, const std::string& method = "tools/call")
    {
        auto what = modern_client_rig::asked(
            mcp_path_test::modern("1", method, R"("name":"t","arguments":{"region":"eu"})"),
            "d"
        );
        what.fields = sent;
        return all(std::move(what));
    }

    // Calls that any program was sent.
    std::size_t sent() const
    {
        std::size_t count = 0;
        for (const auto& each : programs.lines) {
            count += static_cast<std::size_t>(std::ranges::count_if(each, [](const std::string& line) {
                return line.find(R"("region":"eu")") != std::string::npos;
            }));
        }
        return count;
    }
};

const fields right{{"Mcp-Param-Region", "eu"}};
const fields wrong{{"Mcp-Param-Region", "us"}};

}  // namespace

TEST_CASE("A call whose header says something else than its arguments is refused, and no program hears of it")
{
    parameters_rig x;
    x.list("Region");
    SUBCASE("a program of the modern era")
    {
        x.modern = true;
    }
    SUBCASE("a program of the legacy era")
    {
        x.server.era = core::mcp_era::legacy;
        x.publish();
    }
    SUBCASE("a control session that all share")
    {
        x.server.era = core::mcp_era::automatic;
        x.server.sessions = core::mcp_sessions::shared;
        x.publish();
    }
    CHECK(x.call(wrong) == "header_mismatch");
    CHECK(x.call({}) == "header_mismatch");
    CHECK(x.programs.started.empty());
    CHECK(x.call(right).empty());
    CHECK(x.sent() == 1);
}

TEST_CASE("Nothing is compared before the tools are known, and what is known changes with the list")
{
    parameters_rig x;
    x.modern = true;
    CHECK(x.call(wrong).empty());
    x.list("Region");
    CHECK(x.call(wrong) == "header_mismatch");
    x.list("Zone");
    CHECK(x.call({{"Mcp-Param-Zone", "eu"}, {"Mcp-Param-Region", "us"}}).empty());
    CHECK(x.call(right) == "header_mismatch");
    x.list("Region");
    CHECK(x.call(wrong) == "header_mismatch");
    x.lists = nullptr;
    CHECK(x.call(wrong).empty());
    CHECK(x.sent() == 3);
}

TEST_CASE("Requests that call no tool have nothing to repeat")
{
    parameters_rig x;
    x.modern = true;
    x.list("Region");
    CHECK(x.call(wrong, "prompts/get").empty());
    CHECK(x.sent() == 1);
}

TEST_SUITE_END();
