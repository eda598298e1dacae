#include "jose/digest.hpp"
#include "tests/flow/reload_fixture.hpp"
#include "tests/support/scripted_agent.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/planted_secrets");

namespace {

using namespace flow;
using test_support::field_list;
using test_support::read_whole;
using test_support::write_whole;

// What stands in every secret of this file, and nowhere else.
constexpr std::string_view mark = "planted";

std::string configuration(const std::string& agent_url, const std::string& audit)
{
    return "audit: \"file:" + audit +
           "\"\n"
           "log: {level: debug}\n"
           "limits: {failed_credentials: 1000000}\n"
           "access:\n"
           "  providers:\n"
           "    - {type: static_token, name: ops, token: planted-operator-0123, scopes: [\"cardea:write\", "
           "\"cardea:read\"]}\n"
           "    - {type: api_key, name: keys, keys: [{name: ci, sha256: " +
           jose::sha256_hex("planted-key-of-ci") +
           "}]}\n"
           "    - {type: api_key, name: cookies, cookie: session, keys: []}\n"
           "    - {type: api_key, name: hooks, in: query, parameter: key, keys: []}\n"
           "  rules: [{discover: {principals: [ci, ops]}, call: {principals: [ci]}}]\n"
           "agents:\n"
           "  a: {url: \"" +
           agent_url +
           "\", bearer: planted-bearer-of-a, card_headers: {X-Key: planted-header-of-a}, relay_paths: [/files/*]}\n"
           "  dead: {url: \"http://127.0.0.1:1/\", bearer: planted-bearer-of-dead}\n";
}

test_support::script answer_plainly(const test_support::recorded_request& asked)
{
    return test_support::answer_json(
        asked.method == "POST" ? R"({"jsonrpc":"2.0","id":1,"result":{}})" : R"({"name":"A","skills":[]})"
    );
}

// Every credential that a caller can send, in every place.
std::vector<field_list> credentials()
{
    const std::string token =
        "eyJhbGciOiJSUzI1NiIsImtpZCI6InBsYW50ZWQifQ.eyJpc3MiOiJwbGFudGVkIn0.planted-signature-of-a-token";
    return {
        {},
        {{"Authorization", "Bearer planted-operator-0123"}},
        {{"Authorization", "Bearer planted-of-nobody-0123"}},
        {{"Authorization", "Bearer " + token}},
        {{"Authorization", "Basic cGxhbnRlZDpwbGFudGVk planted"}},
        {{"Authorization", "planted"}},
        {{"Authorization", "Bearer planted-one"}, {"Authorization", "Bearer planted-two"}},
        {{"X-API-Key", "planted-key-of-ci"}},
        {{"X-API-Key", "planted-key-of-nobody"}},
        {{"X-API-Key", "planted-one"}, {"Authorization", "Bearer planted-two"}},
        {{"Cookie", "session=planted-session; other=planted-other"}},
        {{"Proxy-Authorization", "Basic planted"}},
    };
}

class whatever_is_seen {
public:
    void add(const test_support::http_response& answer)
    {
        for (const auto& [name, value] : answer.headers) {
            text_ += name + ": " + value + '\n';
        }
        text_ += answer.body + '\n';
    }
    void add(std::string_view text) { text_ += text; }

    // Where it is, for the message.
    std::string around_mark() const
    {
        const auto at = text_.find(mark);
        return at == text_.npos ? "" : text_.substr(at < 200 ? 0 : at - 200, 400);
    }

private:
    std::string text_;
};

constexpr std::string_view call_body = R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{}})";

void ask_everything(std::uint16_t port, whatever_is_seen& seen)
{
    for (const auto& credential : credentials()) {
        auto with_type = credential;
        with_type.emplace_back("Content-Type", "application/json");
        for (const std::string agent : {"a", "dead", "none"}) {
            seen.add(test_support::request(port, "GET", card_target(agent), credential));
            seen.add(test_support::request(port, "POST", "/agents/" + agent, with_type, call_body));
            seen.add(
                test_support::request(port, "POST", "/agents/" + agent + "?key=planted-query", with_type, call_body)
            );
            seen.add(test_support::request(port, "GET", "/agents/" + agent + "/files/x?key=planted-query", credential));
        }
        seen.add(test_support::request(port, "GET", "/agents?key=planted-query&cursor=1", credential));
        seen.add(test_support::request(port, "GET", "/nothing?access_token=planted-query", credential));
        seen.add(test_support::request(
            port,
            "POST",
            "/rpc",
            with_type,
            managing(
                "agents/upsert",
                R"({"id":"b","agent":{"url":"http://user:planted-url@127.0.0.1:1/","bearer":"planted-b"}})"
            )
        ));
        for (const auto* method : {"agents/list", "agents/get", "agents/changes", "agents/refreshCard"}) {
            seen.add(test_support::request(port, "POST", "/rpc", with_type, managing(method, R"({"id":"a"})")));
        }
    }
    test_support::http_client raw{port};
    raw.send(
        "GET http://user:planted-url@127.0.0.1/agents HTTP/1.1\r\nHost: user:planted-host@127.0.0.1\r\n"
        "Connection: close\r\n\r\n"
    );
    seen.add(raw.read_until_closed());
}

}  // namespace

TEST_CASE("no secret that is planted anywhere comes out: log, audit, metrics, answers, command line")
{
    const test_support::scripted_agent agent{answer_plainly};
    const test_support::scratch_directory directory;
    const auto file = directory.file("cardea.yml");
    const auto audit = directory.file("audit.ndjson");
    write_whole(file, configuration(agent.url("/rpc"), audit));
    reloading_gateway gateway{file};
    whatever_is_seen known;
    known.add(read_whole(file));
    REQUIRE(known.around_mark() != "");
    whatever_is_seen seen;
    ask_everything(gateway.port, seen);
    const auto admin = gateway.admin_port;
    for (const auto* method :
         {"agents/list", "agents/get", "agents/changes", "agents/refreshCard", "agents/previewCard"}) {
        seen.add(post_json(admin, "/rpc", managing(method, R"({"id":"a"})")));
    }
    seen.add(post_json(
        admin,
        "/rpc",
        managing("agents/upsert", R"({"id":"c","agent":{"url":"http://127.0.0.1:1/","bearer":"planted-bearer-of-c"}})")
    ));
    write_whole(file, configuration(agent.url("/rpc"), audit) + "  broken: {url: \"http://u:planted-url@h/x y\"}\n");
    seen.add(gateway.reload());
    seen.add(test_support::request(admin, "GET", "/metrics"));
    seen.add(test_support::request(admin, "GET", "/readyz"));
    seen.add(read_whole("/proc/" + std::to_string(gateway.process.id()) + "/cmdline"));
    gateway.process.signal(SIGTERM);
    REQUIRE(gateway.process.wait() == 0);
    seen.add(gateway.process.err());
    seen.add(gateway.process.out());
    const auto lines = read_whole(audit);
    seen.add(lines);

    // That all of it was there to be seen.
    REQUIRE(agent.request(0).header("Authorization") == "Bearer planted-bearer-of-a");
    CHECK(lines.find("agent_card_published") != std::string::npos);
    CHECK(lines.find("access_denied") != std::string::npos);
    CHECK(lines.find(R"("key_first_used","provider":"keys","key":"ci")") != std::string::npos);
    CHECK(gateway.process.err().find(R"("status":403)") != std::string::npos);
    CHECK(gateway.process.err().find("config_rejected") != std::string::npos);
    CHECK(seen.around_mark() == "");
}

namespace {

// Who may read the memory of a process owns its directory: root, if nobody of its own user may.
bool belongs_to_root(pid_t process)
{
    struct ::stat status{};
    REQUIRE(::stat(("/proc/" + std::to_string(process) + "/environ").c_str(), &status) == 0);
    return status.st_uid == 0;
}

// As another user than root, for whom the question has an answer.
child_process unprivileged(const std::string& file)
{
    std::vector<std::string> arguments{
        CARDEA_BIN,
        "run",
        "-c",
        file,
        "--store",
        "memory",
        "--listen",
        "127.0.0.1:0",
        "--admin",
        "127.0.0.1:0"
    };
    if (::geteuid() != 0) {
        arguments.erase(arguments.begin());
        return {CARDEA_BIN, std::move(arguments)};
    }
    arguments.insert(arguments.begin(), {"--reuid=65534", "--regid=65534", "--clear-groups"});
    return {"/usr/bin/setpriv", std::move(arguments)};
}

}  // namespace

TEST_CASE("nobody of the same user may read the memory of the gateway, unless debug.core says so")
{
    const test_support::scratch_directory directory;
    REQUIRE(::chmod(directory.path().c_str(), 0755) == 0);
    const auto file = directory.file("cardea.yml");
    for (const bool core : {false, true}) {
        CAPTURE(core);
        write_whole(file, core ? "debug: {core: true}\n" : "{}\n");
        auto process = unprivileged(file);
        const auto line = process.wait_for_line([](auto text) { return text.find("\"listening\"") != text.npos; });
        REQUIRE_MESSAGE(line.has_value(), process.err());
        CHECK(belongs_to_root(process.id()) == !core);
        // What it reads of itself is there all the same.
        const auto page = test_support::request(listening_port(*line, "admin"), "GET", "/metrics").body;
        CHECK(page.find("\nprocess_open_fds ") != std::string::npos);
        CHECK(page.find("\nprocess_cpu_seconds_total ") != std::string::npos);
        process.signal(SIGTERM);
        CHECK(process.wait() == 0);
    }
}

TEST_SUITE_END();
