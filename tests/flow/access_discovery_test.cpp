#include "core/base64.hpp"
#include "core/json/json.hpp"
#include "jose/json_web_key.hpp"
#include "tests/flow/access_fixture.hpp"
#include "tests/unit/jose/signing_keys.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/access discovery");

namespace {

using namespace flow;
using core::base64url;

jose::json_web_key new_key(const std::string& kid)
{
    return jose::json_web_key::from_pem(a2a_test::pem(a2a_test::ec_key("P-256")), kid).value();
}

std::string signed_by(const jose::json_web_key& key, const core::json& claims)
{
    const auto header = R"({"alg":"ES256","kid":")" + key.kid() + "\"}";
    const auto text = base64url(header) + '.' + base64url(core::to_text(claims));
    return text + '.' + base64url(key.sign(text).value());
}

// An issuer with a discovery document and a key set.
struct issuer {
    issuer()
    {
        server.otherwise([this](const auto& asked) { return answer(asked); });
    }

    test_support::script answer(const test_support::recorded_request& asked) const
    {
        if (asked.target == "/realm/.well-known/openid-configuration") {
            return document ? *document : own_document();
        }
        return asked.target == "/keys"
                   ? test_support::answer_json(core::to_text(core::json{{"keys", core::json::array({key.jwk()})}}))
                   : test_support::answer(404, "");
    }

    std::string url() const { return server.url("/realm"); }

    // `signer` may have another key than the issuer.
    std::string token(const std::string& audience, const jose::json_web_key& signer) const
    {
        return signed_by(signer, claims(audience));
    }

    core::json claims(const std::string& audience = "cardea") const
    {
        return {{"iss", url()}, {"aud", audience}, {"sub", "alice"}, {"exp", std::time(nullptr) + 300}};
    }

    std::string token(const std::string& audience = "cardea") const { return token(audience, key); }

    test_support::script own_document() const
    {
        return test_support::answer_json(core::to_text({{"issuer", url()}, {"jwks_uri", server.url("/keys")}}));
    }

    jose::json_web_key key = new_key("first");
    std::optional<test_support::script> document{};  // instead of its own
    test_support::scripted_agent server;             // its thread ends before the others do
};

struct discovering {
    explicit discovering(const issuer& with)
        : gateway{settings(with)}
    {
    }

    config::settings settings(const issuer& with) const
    {
        auto made = quick_settings();
        made.limits.failed_credentials = 100'000;
        made.public_url = "https://agents.example";
        made.hosts = {"127.0.0.1"};
        made.access.providers = {
            {"idp", core::oidc_provider{.issuer = with.url(), .audiences = {"cardea"}, .algorithms = {"ES256"}}},
            token("ops", "token-of-operations-1", {}),
        };
        made.agents = {agent("a", upstream.url("/rpc"), everybody_known, everybody_known)};
        return made;
    }

    unsigned status(const std::string& text) const { return call(gateway.port(), "a", bearer(text)).status; }

    test_support::scripted_agent upstream{answer_of_agent};
    running_gateway gateway;
};

}  // namespace

TEST_CASE("tokens of an issuer with a discovery document are checked with the keys that it names")
{
    const issuer idp;
    const discovering with{idp};
    for (int i = 0; i < 3; ++i) {
        CHECK(with.status(idp.token()) == 200);
    }
    CHECK(with.status(idp.token("another")) == 401);
    CHECK(with.status(idp.token("cardea", new_key("first"))) == 401);
    REQUIRE(idp.server.request_count() == 2);
    CHECK(idp.server.request(0).target == "/realm/.well-known/openid-configuration");
    CHECK(idp.server.request(1).target == "/keys");
}

TEST_CASE("while the discovery document cannot be believed the issuer's tokens get 503")
{
    const auto keys = [](const std::string& url) { return R"(","jwks_uri":")" + url + R"("})"; };
    const std::vector<std::pair<const char*, std::string>> documents{
        {"another issuer", R"({"issuer":"https://other.example)" + keys("https://127.0.0.1:9/keys")},
        {"no issuer", R"({"jwks_uri":"https://127.0.0.1:9/keys"})"},
        {"garbage", "issuer"},
        {"a list", "[]"},
    };
    for (const auto& [name, text] : documents) {
        CAPTURE(name);
        issuer idp;
        idp.document = test_support::answer_json(text);
        const discovering with{idp};
        CHECK(with.status(idp.token()) == 503);
        CHECK(idp.server.request_count() == 1);
    }
    for (const auto& [name, script] : std::vector<std::pair<const char*, test_support::script>>{
             {"500", test_support::answer(500, "")},
             {"404", test_support::answer(404, "")},
             {"302", test_support::redirect("/keys")},
             {"html", test_support::html()},
             {"an end", test_support::close_unanswered()},
             {"half a body", test_support::half_body()},
             {"too much", test_support::huge(2 << 20, true)},
         }) {
        CAPTURE(name);
        issuer idp;
        idp.document = script;
        const discovering with{idp};
        const auto got = call(with.gateway.port(), "a", bearer(idp.token()));
        CHECK(got.status == 503);
        CHECK(got.header("Cardea-Error") == "access_unavailable");
        CHECK(with.upstream.request_count() == 0);
    }
}

TEST_CASE("a document that names keys of another plain address is not followed")
{
    issuer idp;
    const test_support::scripted_agent other;
    idp.document = test_support::answer_json(core::to_text({{"issuer", idp.url()}, {"jwks_uri", other.url("/keys")}}));
    const discovering with{idp};
    CHECK(with.status(idp.token()) == 503);
    CHECK(other.request_count() == 0);
}

TEST_CASE("callers learn where tokens come from, and an agent that is not there cannot be told from one that is")
{
    const issuer idp;
    const discovering with{idp};
    const auto port = with.gateway.port();
    const std::string path = "/.well-known/oauth-protected-resource";
    const auto whole = request(port, "GET", path);
    CHECK(whole.status == 200);
    CHECK(whole.header("Content-Type") == "application/json");
    CHECK(
        parsed(whole.body) ==
        core::json{
            {"resource", "https://agents.example"},
            {"authorization_servers", {idp.url()}},
            {"bearer_methods_supported", {"header"}}
        }
    );
    for (const std::string id : {"a", "none"}) {
        for (const auto& headers : {nobody, unknown, bearer("token-of-operations-1")}) {
            const auto got = request(port, "GET", path + "/agents/" + id, headers);
            CHECK(got.status == 200);
            CHECK(parsed(got.body)["resource"] == "https://agents.example/agents/" + id);
        }
        const auto refused = call(port, id, nobody);
        CHECK(refused.status == 401);
        CHECK(
            refused.header("WWW-Authenticate") ==
            "Bearer realm=\"idp\", resource_metadata=\"https://agents.example" + path + "/agents/" + id + "\""
        );
    }
    CHECK(
        call(port, "a", unknown).header("WWW-Authenticate") ==
        "Bearer realm=\"idp\", error=\"invalid_token\", resource_metadata=\"https://agents.example" + path +
            "/agents/a\""
    );
    CHECK(
        request(port, "GET", "/agents").header("WWW-Authenticate") ==
        "Bearer realm=\"idp\", resource_metadata=\"https://agents.example" + path + "\""
    );
    CHECK(request(port, "POST", path).status == 405);
    CHECK(request(port, "GET", path + "/agents/a/b").status == 401);
    CHECK(request(port, "GET", path + "s").status == 401);
}

TEST_CASE("Callers learn which scopes an agent needs if anyone may know of it, and of no other that it exists")
{
    const issuer idp;
    test_support::scripted_agent upstream{answer_of_agent};
    auto settings = quick_settings();
    settings.limits.failed_credentials = 100'000;
    settings.public_url = "https://agents.example";
    settings.hosts = {"127.0.0.1"};
    settings.access.providers = {
        {"idp",
         core::oidc_provider{
             .issuer = idp.url(),
             .audiences = {"cardea"},
             .algorithms = {"ES256"},
             .scope_prefix = "api://cardea/"
         }},
        token("ops", "token-of-operations-1", {}),
    };
    const core::access_policy needs_scopes{
        .anyone = false,
        .any_of = {{.scopes = {"words"}}, {.scopes = {"tools"}, .methods = {"tasks/cancel"}}}
    };
    settings.agents = {
        agent("public", upstream.url("/rpc"), anyone, needs_scopes),
        agent("hidden", upstream.url("/rpc"), only({.principals = {"ci"}}), needs_scopes),
        agent("seen", upstream.url("/rpc"), everybody_known, needs_scopes),
    };
    const running_gateway gateway{settings};
    const auto port = gateway.port();
    const std::string metadata = "/.well-known/oauth-protected-resource/agents/";
    const auto address = [&](const std::string& id) {
        return ", resource_metadata=\"https://agents.example" + metadata + id + "\"";
    };
    const std::string scopes = "scope=\"api://cardea/words api://cardea/tools\"";

    CHECK(
        call(port, "public", nobody).header("WWW-Authenticate") == "Bearer realm=\"idp\", " + scopes + address("public")
    );
    CHECK(
        call(port, "public", unknown).header("WWW-Authenticate") ==
        "Bearer realm=\"idp\", error=\"invalid_token\", " + scopes + address("public")
    );
    CHECK(
        parsed(request(port, "GET", metadata + "public").body)["scopes_supported"] ==
        core::json{"api://cardea/words", "api://cardea/tools"}
    );

    // A caller that may know of the agent is told what it lacks for this method.
    const auto alice = bearer(idp.token());
    for (const std::string id : {"public", "seen"}) {
        const auto refused = call(port, id, alice);
        CHECK(refused.status == 403);
        CHECK(
            refused.header("WWW-Authenticate") ==
            "Bearer realm=\"idp\", error=\"insufficient_scope\", scope=\"api://cardea/words api://cardea/tools\"" +
                address(id)
        );
    }
    auto reads = idp.claims();
    reads["scope"] = "tools";
    const auto of_tools = bearer(signed_by(idp.key, reads));
    CHECK(call(port, "public", of_tools, "tasks/cancel").status == 200);
    const auto sends = call(port, "public", of_tools);
    CHECK(sends.status == 403);
    CHECK(
        sends.header("WWW-Authenticate") ==
        "Bearer realm=\"idp\", error=\"insufficient_scope\", scope=\"api://cardea/words\"" + address("public")
    );
    CHECK(call(port, "public", bearer("token-of-operations-1")).header("WWW-Authenticate").empty());

    // Byte for byte.
    const auto text = [&](const std::string& method, std::string target, const std::string& id, field_list headers) {
        target.replace(target.find("{}"), 2, id);
        headers.emplace_back("Content-Type", "application/json");
        const auto got = request(
            port,
            method,
            target,
            headers,
            method == "POST" ? R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{}})" : ""
        );
        auto all = std::to_string(got.status) + ' ' + got.reason + '\n';
        for (const auto& [name, value] : got.headers) {
            all += name == "Date" ? "" : name + ": " + value + '\n';
        }
        all += got.body;
        for (auto at = all.find(id); at != std::string::npos; at = all.find(id, at)) {
            all.replace(at, id.size(), "{}");
        }
        return all;
    };
    for (const auto& [method, target] : std::vector<std::pair<std::string, std::string>>{
             {"POST", "/agents/{}"},
             {"GET", "/agents/{}"},
             {"GET", "/agents/{}/.well-known/agent-card.json"},
             {"POST", "/agents/{}/mcp"},
             {"GET", "/agents/{}/mcp/server-card"},
             {"POST", "/agents/{}/mcp/server-card"},
             {"POST", "/agents/{}/rest/v1/message:send"},
             {"GET", "/agents/{}/files/a"},
             {"GET", metadata + "{}"},
             {"GET", metadata + "{}/mcp"},
             {"GET", "/v0.1/servers/example.agents%2F{}/versions"},
             {"GET", "/v0.1/servers/example.agents%2F{}/versions/latest"},
         }) {
        CAPTURE(method);
        CAPTURE(target);
        for (const auto& who : {nobody, unknown, alice, bearer("token-of-operations-1")}) {
            CHECK(text(method, target, "hidden", who) == text(method, target, "absent", who));
        }
    }
}

TEST_CASE("A token of an issuer without audiences is accepted for its client, and only if it is an access token")
{
    const issuer idp;
    test_support::scripted_agent upstream{answer_of_agent};
    auto settings = quick_settings();
    settings.limits.failed_credentials = 100'000;
    settings.access.providers = {
        {"pool",
         core::oidc_provider{.issuer = idp.url(), .audiences = {}, .algorithms = {"ES256"}, .client_ids = {"7lk3"}}}
    };
    settings.agents = {agent("a", upstream.url("/rpc"), everybody_known, everybody_known)};
    const running_gateway gateway{settings};
    const auto status = [&](const core::json& members) {
        auto claims = idp.claims();
        claims.erase("aud");
        claims.update(members);
        return call(gateway.port(), "a", bearer(signed_by(idp.key, claims))).status;
    };
    CHECK(status({{"client_id", "7lk3"}, {"token_use", "access"}}) == 200);
    CHECK(status({{"client_id", "7lk4"}, {"token_use", "access"}}) == 401);
    CHECK(status({{"client_id", "7lk3"}, {"token_use", "id"}}) == 401);
    CHECK(status({{"client_id", "7lk3"}}) == 401);
    CHECK(status({{"token_use", "access"}}) == 401);
    CHECK(status(core::json::object()) == 401);
    CHECK(status({{"aud", "7lk3"}, {"token_use", "id"}}) == 401);
    CHECK(status({{"aud", "elsewhere"}, {"client_id", "7lk3"}, {"token_use", "access"}}) == 401);
}

TEST_CASE("MCP clients learn of tokens at the address of exactly their endpoint, which each 401 names")
{
    const issuer idp;
    const discovering with{idp};
    const auto port = with.gateway.port();
    const std::string path = "/.well-known/oauth-protected-resource";
    const auto got = request(port, "GET", path + "/agents/a/mcp");
    CHECK(got.status == 200);
    CHECK(parsed(got.body)["resource"] == "https://agents.example/agents/a/mcp");
    for (const std::string method : {"POST", "GET", "DELETE"}) {
        const auto refused = request(port, method, "/agents/a/mcp");
        CHECK(refused.status == 401);
        CHECK(
            refused.header("WWW-Authenticate") ==
            "Bearer realm=\"idp\", resource_metadata=\"https://agents.example" + path + "/agents/a/mcp\""
        );
    }
}

TEST_CASE("without an issuer there is no metadata about tokens")
{
    guarded_gateway with;
    CHECK(request(with.gateway.port(), "GET", "/.well-known/oauth-protected-resource").status == 404);
    auto settings = quick_settings();
    running_gateway open{settings};
    CHECK(request(open.port(), "GET", "/.well-known/oauth-protected-resource/agents/a").status == 404);
}

TEST_SUITE_END();
