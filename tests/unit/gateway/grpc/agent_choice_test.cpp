#include "gateway/grpc/agent_choice.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace gateway::grpc;

namespace {

// `dice` has the tenant acme, and acme/east.
bool knows(std::string_view agent, std::string_view tenant)
{
    return agent == "dice" && (tenant == "acme" || tenant == "acme/east");
}

// The parts of named_agents, of which most tests need one or two.
struct places {
    std::string_view host{};
    std::string_view tenant{};
    std::string_view metadata{};
    std::string_view default_agent{};
};

// `id`, `id with tenant`, `id without it`; or the name of a code.
std::string chosen(const places& from)
{
    const auto choice = choose_agent({from.host, from.tenant, from.metadata, from.default_agent}, knows);
    if (!choice) {
        return std::string{core::name(choice.error().code)};
    }
    auto out = choice->id;
    out += choice->tenant.empty() ? "" : " with " + choice->tenant;
    return choice->removed ? out + ", shortened" : out;
}

}  // namespace

TEST_CASE("each place names an agent alone")
{
    CHECK(chosen({.host = "dice"}) == "dice");
    CHECK(chosen({.tenant = "dice"}) == "dice, shortened");
    CHECK(chosen({.metadata = "dice"}) == "dice");
    CHECK(chosen({.default_agent = "dice"}) == "dice");
    CHECK(chosen({}) == "agent_unnamed");
}

TEST_CASE("a tenant names an agent, and behind a slash a tenant of the agent's own")
{
    CHECK(chosen({.tenant = "dice/acme"}) == "dice with acme, shortened");
    CHECK(chosen({.tenant = "dice/acme/east"}) == "dice with acme/east, shortened");
    CHECK(chosen({.tenant = "dice/"}) == "dice, shortened");
    CHECK(chosen({.tenant = "other/x"}) == "other with x, shortened");
    CHECK(chosen({.tenant = "/dice"}) == "agent_unnamed");
    CHECK(chosen({.tenant = "/"}) == "agent_unnamed");
}

TEST_CASE("places that name the same agent agree")
{
    CHECK(
        chosen({.host = "dice", .tenant = "dice", .metadata = "dice", .default_agent = "other"}) == "dice, shortened"
    );
    CHECK(chosen({.tenant = "dice/acme", .metadata = "dice"}) == "dice with acme, shortened");
}

TEST_CASE("a later place must not contradict an earlier one")
{
    CHECK(chosen({.host = "dice", .tenant = "other"}) == "agent_unnamed");
    CHECK(chosen({.host = "dice", .metadata = "other"}) == "agent_unnamed");
    CHECK(chosen({.tenant = "dice", .metadata = "other"}) == "agent_unnamed");
    CHECK(chosen({.host = "dice", .tenant = "dice", .metadata = "other"}) == "agent_unnamed");
}

TEST_CASE("the default agent is one only if nothing else is named")
{
    CHECK(chosen({.tenant = "other", .default_agent = "dice"}) == "other, shortened");
    CHECK(chosen({.metadata = "other", .default_agent = "dice"}) == "other");
}

TEST_CASE("a tenant of the agent's own passes where the agent is named otherwise")
{
    CHECK(chosen({.host = "dice", .tenant = "acme"}) == "dice with acme");
    CHECK(chosen({.tenant = "acme/east", .metadata = "dice"}) == "dice with acme/east");
    CHECK(chosen({.tenant = "acme", .default_agent = "dice"}) == "dice with acme");
    CHECK(chosen({.tenant = "acme", .default_agent = "other"}) == "acme, shortened");
}
