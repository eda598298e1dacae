#include "jose/digest.hpp"
#include "tests/flow/reload_fixture.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("flow/audit");

namespace {

using namespace flow;
using core::json;
using test_support::read_whole;
using test_support::request;
using test_support::write_whole;

constexpr std::string_view access_part =
    "access:\n"
    "  providers:\n"
    "    - {type: static_token, name: ops, token: operator-token-0123, scopes: [\"cardea:read\", \"cardea:write\"]}\n"
    "    - {type: static_token, name: bob, token: token-of-bob-01234567}\n"
    "    - type: api_key\n"
    "      name: keys\n"
    "      keys:\n"
    "        - name: alice\n"
    "          sha256: f52fbd32b2b3b86ff88ef6c490628285f482af15ddcb29541f94bcf526a3f6c7\n"
    "  rules: [{discover: {principals: ops}, call: {principals: ops}}]\n";

struct audited_gateway {
    explicit audited_gateway(const std::string& agents = inline_agent("a", "Words"))
    {
        write(agents);
        gateway.emplace(config);
    }

    void write(const std::string& agents) const
    {
        write_whole(
            config,
            "audit: \"file:" + audit + "\"\nlog: {level: \"off\"}\nreload: {watch: false}\n" +
                std::string{access_part} + "agents:\n" + agents
        );
    }

    std::vector<json> lines(std::string_view event) const
    {
        std::vector<json> out;
        std::istringstream in{read_whole(audit)};
        for (std::string line; std::getline(in, line);) {
            auto members = parsed(line);
            if (members["event"] == event) {
                out.push_back(std::move(members));
            }
        }
        return out;
    }

    // The line with this number of this event, waited for.
    json line(std::string_view event, std::size_t number = 0) const
    {
        REQUIRE(becomes_true([&] { return lines(event).size() > number; }));
        return lines(event)[number];
    }

    test_support::http_response get(std::string_view target, std::string_view token) const
    {
        test_support::field_list headers;
        if (!token.empty()) {
            headers.emplace_back("Authorization", "Bearer " + std::string{token});
        }
        return request(gateway->port, "GET", target, headers);
    }

    test_support::scratch_directory directory;
    std::string audit = directory.file("audit.ndjson");
    std::string config = directory.file("cardea.yml");
    std::optional<reloading_gateway> gateway;
};

constexpr std::string_view ops = "operator-token-0123";
constexpr std::string_view bob = "token-of-bob-01234567";

std::string rpc_body(std::string_view method, std::string_view params)
{
    return managing(method, params);
}

}  // namespace

TEST_CASE("a published card is told with the hash and the size of what callers get")
{
    const audited_gateway with;
    const auto line = with.line("agent_card_published");
    const auto served = with.get(card_target("a"), ops);
    REQUIRE(served.status == 200);
    CHECK(line["agent"] == "a");
    CHECK(line["name"] == "Words");
    CHECK(line["card_sha256"] == jose::sha256_hex(served.body));
    CHECK(line["card_size_bytes"] == served.body.size());
    CHECK(line["skill_count"] == 0);
    CHECK(line["capabilities"] == json::array());
    CHECK(line["security_schemes"].is_array());
    CHECK(line["streaming"] == false);
    CHECK(line["signed"] == false);
    CHECK(line["url"].get<std::string>().ends_with("/agents/a"));
}

TEST_CASE("every change of an agent is told with who made it, and one hash leads to the next")
{
    audited_gateway with;
    const auto upsert = [](std::string_view url) {
        return rpc_body("agents/upsert", R"({"id":"new","agent":{"url":")" + std::string{url} + R"(","bearer":"t"}})");
    };
    const auto admin_port = with.gateway->admin_port;
    CHECK(post_json(admin_port, "/rpc", upsert("http://127.0.0.1:9/")).status == 200);
    const auto created = with.line("agent_created");
    CHECK(created["agent"] == "new");
    CHECK(created["by"] == "admin 127.0.0.1");
    CHECK_FALSE(created.contains("before_sha256"));
    const auto changed = request(
        with.gateway->port,
        "POST",
        "/rpc",
        {{"Authorization", "Bearer " + std::string{ops}}, {"Content-Type", "application/json"}},
        upsert("http://127.0.0.1:10/")
    );
    CHECK(changed.status == 200);
    const auto updated = with.line("agent_updated");
    CHECK(updated["by"] == "ops ops");
    CHECK(updated["before_sha256"] == created["after_sha256"]);
    CHECK(updated["after_sha256"] != created["after_sha256"]);
    CHECK(post_json(admin_port, "/rpc", rpc_body("agents/delete", R"({"id":"new"})")).status == 200);
    const auto deleted = with.line("agent_deleted");
    CHECK(deleted["before_sha256"] == updated["after_sha256"]);
    CHECK_FALSE(deleted.contains("after_sha256"));

    with.write(inline_agent("b", "Other"));
    CHECK(with.gateway->reload().status == 200);
    CHECK(with.line("agent_created", 1)["agent"] == "b");
    CHECK(with.line("agent_created", 1)["by"] == "configuration");
    CHECK(with.line("agent_deleted", 1)["agent"] == "a");
    const auto reloaded = with.line("configuration_reloaded");
    CHECK(reloaded["outcome"] == "ok");
    CHECK(reloaded["trigger"] == "request");
    CHECK(reloaded["sha256"] == jose::sha256_hex(read_whole(with.config)));
    write_whole(with.config, "agents: 7\n");
    CHECK(with.gateway->reload().status == 422);
    const auto refused = with.line("configuration_reloaded", 1);
    CHECK(refused["outcome"] == "refused");
    CHECK(refused["problems"] > 0);
}

TEST_CASE("denied callers are told by reason, folded, and every one is counted")
{
    audited_gateway with;
    for (int i = 0; i < 20; ++i) {
        CHECK(with.get(card_target("a"), "").status == 401);
        CHECK(with.get(card_target("a"), bob).status == 404);
    }
    CHECK(with.get(card_target("a"), "no-such-token-01234567").status == 401);
    CHECK(with.get("/agents", ops).status == 200);
    with.gateway->process.signal(SIGTERM);
    REQUIRE(with.gateway->process.wait() == 0);
    std::map<std::string, std::uint64_t> counts;
    std::map<std::string, int> told;
    for (const auto& each : with.lines("access_denied")) {
        const auto reason = each["reason"].get<std::string>();
        counts[reason] += each["count"].get<std::uint64_t>();
        ++told[reason];
        CHECK(each["address"] == "127.0.0.1");
        if (reason == "hidden") {
            CHECK(each["principal"] == "bob");
            CHECK(each["provider"] == "bob");
            CHECK(each["agent"] == "a");
        } else {
            CHECK_FALSE(each.contains("principal"));
        }
    }
    CHECK(counts == std::map<std::string, std::uint64_t>{{"hidden", 20}, {"refused", 1}, {"unauthenticated", 20}});
    CHECK(told["hidden"] <= 3);  // at once, perhaps after ten seconds, and at the end
    CHECK(told["unauthenticated"] <= 3);
    std::map<std::string, int> keys;
    for (const auto& each : with.lines("key_first_used")) {
        ++keys[each["provider"].get<std::string>() + ' ' + each["key"].get<std::string>()];
    }
    CHECK(keys == std::map<std::string, int>{{"bob bob", 1}, {"ops ops", 1}});
}

TEST_CASE("A denial names its rule where the latest configuration has it, and the method that was asked")
{
    const audited_gateway with;
    const auto call = [&] {
        const test_support::field_list headers{
            {"Authorization", "Bearer " + std::string{bob}},
            {"Content-Type", "application/json"}
        };
        const auto* const body = R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{}})";
        return request(with.gateway->port, "POST", "/agents/a", headers, body).status;
    };
    CHECK(call() == 404);
    const auto first = with.line("access_denied");
    CHECK(first["reason"] == "hidden");
    CHECK(first["method"] == "message/send");
    CHECK(first["rule"] == with.config + ":13:22 access.rules[0].discover");
    // Nothing changes but the places.
    write_whole(with.config, "# one\n# two\n" + read_whole(with.config));
    CHECK(with.gateway->reload().status == 200);
    CHECK(call() == 404);
    CHECK(with.line("access_denied", 1)["rule"] == with.config + ":15:22 access.rules[0].discover");
}

TEST_CASE("The first use of a key is written once, and that of a wrong one never")
{
    const audited_gateway with;
    const auto get_with_key = [&](std::string_view key) {
        return request(with.gateway->port, "GET", card_target("a"), {{"X-API-Key", std::string{key}}}).status;
    };
    CHECK(get_with_key("hunter3") == 401);
    CHECK(get_with_key("hunter2") == 404);
    CHECK(get_with_key("hunter2") == 404);
    const auto line = with.line("key_first_used");
    CHECK(line["provider"] == "keys");
    CHECK(line["key"] == "alice");
    static_cast<void>(with.line("access_denied", 1));
    CHECK(with.lines("key_first_used").size() == 1);
}

TEST_CASE("on SIGHUP lines go to a new file")
{
    audited_gateway with;
    static_cast<void>(with.line("agent_card_published"));
    std::filesystem::rename(with.audit, with.audit + ".1");
    with.gateway->process.signal(SIGHUP);
    REQUIRE(becomes_true([&] { return std::filesystem::exists(with.audit); }));
    CHECK(with.get(card_target("a"), "").status == 401);
    CHECK(with.line("access_denied")["reason"] == "unauthenticated");
    CHECK(read_whole(with.audit + ".1").find("agent_card_published") != std::string::npos);
    struct ::stat status{};
    REQUIRE(::stat(with.audit.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777U) == 0600U);
}

TEST_CASE("an audit that cannot be opened is a problem of the configuration")
{
    const test_support::scratch_directory directory;
    const auto file = directory.file("cardea.yml");
    write_whole(file, "audit: file:" + directory.file("no/such/file") + "\n");
    child_process process{CARDEA_BIN, {"run", "-c", file, "--store", "memory", "--listen", "127.0.0.1:0"}};
    CHECK(process.wait() == 2);
    CHECK(process.err().find("audit: " + directory.file("no/such/file") + ": No such file") != std::string::npos);
}

TEST_CASE("while the audit cannot be written traffic goes on, and /readyz warns")
{
    const test_support::scratch_directory directory;
    const auto file = directory.file("cardea.yml");
    write_whole(file, "audit: stdout\nagents:\n" + inline_agent("a", "Words"));
    child_process process{
        "/bin/sh",
        {"-c",
         "exec " CARDEA_BIN " run -c " + file + " --store memory --listen 127.0.0.1:0 --admin 127.0.0.1:0 > /dev/full"}
    };
    const auto line = process.wait_for_line([](auto text) { return text.find("\"listening\"") != text.npos; });
    REQUIRE(line);
    const auto admin_port = listening_port(*line, "admin");
    CHECK(becomes_true([&] {
        const auto ready = request(admin_port, "GET", "/readyz");
        return ready.status == 200 && ready.body == "ready\nwarning: the audit cannot be written\n";
    }));
    CHECK(request(listening_port(*line, "traffic"), "GET", card_target("a")).status == 200);
    CHECK(request(admin_port, "GET", "/metrics").body.find("\ncardea_audit_dropped_total 1\n") != std::string::npos);
    process.signal(SIGTERM);
    CHECK(process.wait().has_value());
}

TEST_SUITE_END();
