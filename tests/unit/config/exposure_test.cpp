#include "config/exposure.hpp"

#include "config/load.hpp"
#include "tests/unit/config/support.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace config::testing;

TEST_SUITE_BEGIN("config/exposure");

namespace {

const std::string with_provider = "access: {providers: [{type: static_token, name: a, token: 0123456789abcdef}]}\n";

std::string open_problem(const std::string& text)
{
    const auto settings = right(text);
    return std::string{config::open_without_credentials(settings.listen, settings.access).value_or("")};
}

std::string clear_warning(const std::string& text)
{
    return std::string{config::credentials_in_clear(right(text)).value_or("")};
}

}  // namespace

TEST_CASE("A policy that nobody is asked about is found")
{
    config::settings settings;
    CHECK(config::idle_policy(settings).empty());
    settings.agents.resize(2);
    settings.agents[0].id = "a";
    settings.agents[1].id = "b";
    CHECK(config::idle_policy(settings).empty());
    settings.mcp.bundles.emplace_back().name = "staff";
    CHECK(config::idle_policy(settings).empty());
    settings.mcp.bundles.front().call.emplace();
    CHECK(config::idle_policy(settings) == "mcp.bundles.staff.call");
    settings.agents[1].call.emplace();
    CHECK(config::idle_policy(settings) == "agents.b.call");
    settings.agents[0].discover.emplace();
    CHECK(config::idle_policy(settings) == "agents.a.discover");
    settings.access.rules.emplace_back();
    CHECK(config::idle_policy(settings) == "access.rules");
    settings.access.open = true;
    CHECK(config::idle_policy(settings) == "access.rules");
    settings.access.providers.emplace_back();
    CHECK(config::idle_policy(settings).empty());
}

TEST_CASE("An exchange of tokens that no caller has is found")
{
    config::settings settings;
    settings.agents.resize(2);
    settings.agents[1].id = "b";
    core::oauth_client client;
    settings.agents[1].credentials = client;
    CHECK(config::idle_exchange(settings).empty());
    client.grant = core::oauth_grant::token_exchange;
    settings.agents[1].credentials = client;
    CHECK(config::idle_exchange(settings) == "agents.b.credentials.oauth2.grant");
    settings.access.providers = {
        {"fixed", core::static_token_provider{}},
        {"keys", core::api_key_provider{}},
        {"proxy", core::gcp_iap_provider{}},
        {"aws", core::aws_sigv4_provider{}},
        {"certs", core::mtls_provider{}},
    };
    CHECK(config::idle_exchange(settings) == "agents.b.credentials.oauth2.grant");
    for (const core::provider_settings& type :
         {core::provider_settings{core::jwt_provider{}},
          core::provider_settings{core::oidc_provider{}},
          core::provider_settings{core::azure_ad_provider{}},
          core::provider_settings{core::http_verifier_provider{}}}) {
        settings.access.providers.back().type = type;
        CHECK(config::idle_exchange(settings).empty());
    }
}

TEST_CASE("A server with logins whose callers would need a second Authorization is found")
{
    config::settings settings;
    settings.agents.resize(2);
    settings.agents[1].id = "b";
    settings.agents[1].mcp.emplace();
    settings.agents[1].of_callers.names = {"Authorization"};
    settings.access.providers = {{"fixed", core::static_token_provider{}}};
    CHECK(config::unreachable_logins(settings).empty());  // nobody may call it
    const core::access_policy anyone{.anyone = true, .any_of = {}};
    const core::access_policy known{.anyone = false, .any_of = {{}}};
    settings.access.rules = {
        {.agents = {"a*"}, .discover = {}, .call = anyone},
        {.agents = {}, .discover = {}, .call = known}
    };
    CHECK(config::unreachable_logins(settings) == "agents.b.caller_credentials");
    settings.agents[1].call = anyone;
    CHECK(config::unreachable_logins(settings).empty());
    settings.agents[1].call = known;
    CHECK(config::unreachable_logins(settings) == "agents.b.caller_credentials");
    settings.access.providers.push_back({"keys", core::api_key_provider{}});
    CHECK(config::unreachable_logins(settings).empty());
    settings.access.providers.back().type = core::mtls_provider{};
    CHECK(config::unreachable_logins(settings).empty());
    settings.access.providers.pop_back();
    settings.agents[1].of_callers = {};
    CHECK(config::unreachable_logins(settings).empty());
}

TEST_CASE("A server with logins that not everybody may discover is found")
{
    core::agent server;
    server.id = "b";
    server.mcp.emplace();
    server.of_callers.names = {"Authorization"};
    core::access_settings access;
    CHECK_FALSE(config::hides_logins(server, access));  // everybody may discover it
    access.providers = {{"keys", core::api_key_provider{}}};
    CHECK(config::hides_logins(server, access));  // nobody may
    const core::access_policy anyone{.anyone = true, .any_of = {}};
    const core::access_policy known{.anyone = false, .any_of = {{}}};
    access.rules = {
        {.agents = {"a*"}, .discover = anyone, .call = {}},
        {.agents = {}, .discover = known, .call = anyone}
    };
    CHECK(config::hides_logins(server, access));
    server.discover = anyone;
    CHECK_FALSE(config::hides_logins(server, access));
    server.discover = std::nullopt;
    access.rules[0].agents = {"b*"};
    CHECK_FALSE(config::hides_logins(server, access));
    server.discover = known;
    CHECK(config::hides_logins(server, access));
    server.of_callers = {};
    CHECK_FALSE(config::hides_logins(server, access));
    server.of_callers.names = {"Authorization"};
    server.mcp.reset();
    CHECK_FALSE(config::hides_logins(server, access));
}

TEST_CASE("Client certificates need a listener with TLS")
{
    config::settings settings;
    settings.access.providers.emplace_back();
    const auto unseen = [&] { return config::unseen_certificates(settings.tls, settings.access).has_value(); };
    CHECK_FALSE(unseen());
    CHECK(config::client_authorities(settings.access).empty());
    settings.access.providers.push_back({"certs", core::mtls_provider{.ca_file = "clients.pem"}});
    CHECK(unseen());
    CHECK(config::client_authorities(settings.access) == "clients.pem");
    settings.tls.emplace_back();
    CHECK_FALSE(unseen());
}

TEST_CASE("Without providers only a loopback address may be listened on, unless access is open")
{
    for (const std::string loopback : {"127.0.0.1:1", "127.9.9.9:1", "localhost:1", "\"[::1]:1\""}) {
        CAPTURE(loopback);
        CHECK(open_problem("listen: " + loopback) == "");
    }
    CHECK(open_problem("{}") == "");
    for (const std::string other : {"0.0.0.0:1", "\"[::]:1\"", "10.0.0.1:1", "gateway.example:1"}) {
        CAPTURE(other);
        CHECK(
            open_problem("listen: " + other) ==
            "is open to other machines and no caller needs a credential; expected access.providers, `access: open`, or "
            "a "
            "loopback address"
        );
        CHECK(open_problem("access: open\nlisten: " + other) == "");
        CHECK(open_problem("access: {open: true}\nlisten: " + other) == "");
        CHECK(open_problem(with_provider + "listen: " + other) == "");
    }
}

TEST_CASE("Credentials that arrive in the clear are worth a warning")
{
    CHECK(
        clear_warning(with_provider + "listen: 0.0.0.0:1") ==
        "has no TLS, so that callers' credentials arrive in the clear; expected `tls`, or a proxy with TLS in front of "
        "a "
        "loopback address"
    );
    CHECK(clear_warning(with_provider + "listen: 127.0.0.1:1") == "");
    CHECK(clear_warning(with_provider + "listen: 0.0.0.0:1\ntls: {cert: c, key: k}") == "");
    CHECK(clear_warning("access: open\nlisten: 0.0.0.0:1") == "");
}

TEST_CASE("The place of listen is known if the file has it")
{
    CHECK(config::load("workers: 1\nlisten: 0.0.0.0:1", "c.yml", variables).listen_at == config::place{2, 9});
    CHECK_FALSE(config::load("workers: 1", "c.yml", variables).listen_at.has_value());
}

TEST_SUITE_END();
