#include "tests/flow/child_process.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/scripted_agent.hpp"
#include "tests/support/test_ca.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("flow/binary");

namespace {

using flow::child_process;
using flow::parsed;
using test_support::scripted_agent;

using arguments = std::vector<std::string>;

// A file of its own, gone with the object.
class written_file {
public:
    explicit written_file(std::string_view text)
    {
        std::string pattern = (std::filesystem::temp_directory_path() / "cardea-test-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) {
            throw std::runtime_error{"mkdtemp"};
        }
        directory_ = pattern;
        std::ofstream{path()} << text;
    }
    ~written_file()
    {
        std::error_code ignored;
        std::filesystem::remove_all(directory_, ignored);
    }
    written_file(const written_file&) = delete;
    written_file& operator=(const written_file&) = delete;

    std::string path() const { return (directory_ / "cardea.yml").string(); }

private:
    std::filesystem::path directory_;
};

struct outcome {
    int code = -1;
    std::string out;
    std::string err;
};

// Runs to its end.
outcome cardea(const arguments& given)
{
    child_process child{CARDEA_BIN, given};
    const auto code = child.wait();
    REQUIRE(code.has_value());
    return {*code, child.out(), child.err()};
}

// Runs until it is told to end; its addresses are those of its first log line.
class running_binary {
public:
    explicit running_binary(arguments given)
        : process{CARDEA_BIN, with_free_ports(std::move(given))}
    {
        const auto line = process.wait_for_line([](auto each) {
            return each.find(R"("event":"listening")") != std::string_view::npos;
        });
        if (!line) {
            throw std::runtime_error{"no listening line: " + process.err()};
        }
        listening = parsed(*line);
    }

    std::uint16_t port(const char* which) const
    {
        const auto address = listening[which].get<std::string>();
        return static_cast<std::uint16_t>(std::stoul(address.substr(address.rfind(':') + 1)));
    }

    child_process process;
    core::json listening;

private:
    static arguments with_free_ports(arguments given)
    {
        given.insert(given.begin(), "run");
        given.insert(given.end(), {"--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"});
        return given;
    }
};

std::vector<std::string> lines_of(const std::string& text)
{
    std::vector<std::string> out;
    std::istringstream in{text};
    for (std::string line; std::getline(in, line);) {
        out.push_back(line);
    }
    return out;
}

constexpr const char* good_file = "agents:\n  weather:\n    url: http://127.0.0.1:1/rpc\n";
constexpr const char* broken_file =
    "agnets: {}\ncards:\n  ttl: soon\nagents:\n  c:\n    url: 7\n    bearer: ${CARDEA_NO_SUCH_VARIABLE}\n";

}  // namespace

TEST_CASE("version and help go to stdout and succeed")
{
    const auto version = cardea({"version"});
    CHECK(version.code == 0);
    CHECK(std::regex_match(version.out, std::regex{R"(cardea [0-9]+\.[0-9]+\.[0-9]+(\+g[0-9a-f]{12}(\.changed)?)?\n)"})
    );
    CHECK(version.err.empty());
    CHECK(cardea({"--version"}).out == version.out);
    for (const auto& asked : {arguments{"--help"}, {"-h"}, {"help"}, {}, {"run", "--help"}}) {
        const auto help = cardea(asked);
        CHECK(help.code == 0);
        CHECK(help.out.find("Usage: cardea ") != std::string::npos);
        CHECK(help.out.find("-c FILE") != std::string::npos);
        CHECK(help.err.empty());
    }
}

TEST_CASE("config schema and config dump print to stdout, and a configuration with problems is not dumped")
{
    const auto schema = cardea({"config", "schema"});
    CHECK(schema.code == 0);
    CHECK(parsed(schema.out)["properties"].contains("agents"));
    const written_file good{good_file};
    const auto dump = cardea({"config", "dump", "-c", good.path(), "--admin", "127.0.0.1:1", "--output", "json"});
    CHECK(dump.code == 0);
    CHECK(parsed(dump.out)["agents"]["weather"]["url"]["origin"] == good.path() + ":3");
    CHECK(parsed(dump.out)["admin"]["origin"] == "flag --admin");
    CHECK(cardea({"config", "dump", "-c", good.path()}).out.find("  # " + good.path() + ":3\n") != std::string::npos);
    const written_file broken{broken_file};
    const auto refused = cardea({"config", "dump", "-c", broken.path()});
    CHECK(refused.code == 2);
    CHECK(refused.out.empty());
    CHECK(refused.err.starts_with(broken.path() + ":1:1: agnets: "));
}

TEST_CASE("Wrong arguments are reported on stderr in one line, with exit code 2")
{
    struct row {
        arguments given;
        const char* said;
    };
    for (const auto& each : std::vector<row>{
             {{"serve"}, "cardea: unknown verb 'serve'; see cardea --help\n"},
             {{"run", "--agent"}, "cardea: --agent needs a value; see cardea run --help\n"},
             {{"validate"}, "cardea: --config is required; see cardea validate --help\n"},
             {{"card", "polish"}, "cardea: unknown verb 'polish'; see cardea card --help\n"},
             {{"card", "lint"}, "cardea: FILE|URL is required; see cardea card lint --help\n"},
             {{"card", "lint", "a", "b"}, "cardea: unexpected argument 'b'; see cardea card lint --help\n"},
             {{"version", "now"}, "cardea: unexpected argument 'now'; see cardea version --help\n"},
         }) {
        const auto done = cardea(each.given);
        CHECK(done.code == 2);
        CHECK(done.err == each.said);
        CHECK(done.out.empty());
    }
}

TEST_CASE("options of run that cannot be read name the option, and nothing is started")
{
    struct row {
        arguments given;
        const char* option;
    };
    for (const auto& each : std::vector<row>{
             {{"run", "--agent", "weather"}, "--agent"},
             {{"run", "--agent", "a/b=http://127.0.0.1:1"}, "--agent"},
             {{"run", "--agent", "a=ftp://127.0.0.1:1"}, "--agent"},
             {{"run", "--agent", "a=http://127.0.0.1:1", "--agent", "a=http://127.0.0.1:2"}, "--agent"},
             {{"run", "--agent", "a=http://127.0.0.1:1", "--listen", "nonsense:port"}, "--listen"},
             {{"run", "--agent", "a=http://127.0.0.1:1", "--admin", "127.0.0.1:65536"}, "--admin"},
             {{"run", "--agent", "a=http://127.0.0.1:1", "--store", "disk"}, "--store"},
             {{"run", "--store", "sqlite:"}, "--store"},
         }) {
        const auto done = cardea(each.given);
        CAPTURE(done.err);
        CHECK(done.code == 2);
        CHECK(done.err.starts_with("cardea: " + std::string(each.option) + ": "));
        CHECK(lines_of(done.err).size() == 1);
    }
}

TEST_CASE("a good file is valid and says how many agents it has")
{
    const written_file file{good_file};
    for (const auto* option : {"-c", "--config"}) {
        const auto done = cardea({"validate", option, file.path()});
        CHECK(done.code == 0);
        CHECK(done.out.starts_with(file.path() + ": 1 agent, no problems\n\nlistener "));
        CHECK(done.err.empty());
    }
}

TEST_CASE("validate warns on stderr of what has no effect, and a client's own file is valid")
{
    const test_support::scratch_directory here;
    const auto file = here.file("claude_desktop_config.json");
    test_support::write_whole(
        file,
        "{\n  // mine\n  \"mcpServers\": {\"time\": {\"command\": \"true\", \"autoApprove\": []},},\n"
        "  \"globalShortcut\": \"x\"\n}\n"
    );
    const auto done = cardea({"validate", "-c", file});
    CHECK(done.code == 0);
    CHECK(done.out.starts_with(file + ": 1 agent, 2 warnings\n\nlistener "));
    const std::string no_effect = "has no effect: only MCP clients use it";
    CHECK(
        lines_of(done.err) ==
        arguments{
            file + ":3:46: warning: mcpServers.time.autoApprove: " + no_effect,
            file + ":4:3: warning: globalShortcut: " + no_effect
        }
    );
    const auto dumped = cardea({"config", "dump", "-c", file});
    CHECK(dumped.code == 0);
    CHECK(dumped.out.find("autoApprove") == std::string::npos);
    CHECK(dumped.err == done.err);
}

TEST_CASE("an open admin outside loopback is admin_exposed, in what validate says and in the log of the start")
{
    // An address of nobody's (RFC 5737): it is read, and cannot be bound.
    const written_file file{"admin: 192.0.2.1:4001\nadmin_access: open\nstore: memory\nlisten: 127.0.0.1:0\n"};
    const auto warning = file.path() +
                         ":1:8: warning: admin: 192.0.2.1:4001 lets everyone who reaches it change and "
                         "delete agents; expected `admin_access: scopes`, or `metrics` for those who "
                         "only watch";
    const auto validated = cardea({"validate", "-c", file.path()});
    CHECK(validated.code == 0);
    CHECK(validated.err == warning + " [admin_exposed]\n");
    CHECK(validated.out.starts_with(file.path() + ": 0 agents, 1 warning\n\nlistener "));
    const auto started = cardea({"run", "-c", file.path()});
    CHECK(started.code == 2);
    const auto lines = lines_of(started.err);
    REQUIRE(!lines.empty());
    const auto logged = std::ranges::find_if(lines, [](const auto& line) {
        return line.find(R"("event":"admin_exposed")") != std::string::npos;
    });
    REQUIRE(logged != lines.end());
    CHECK(parsed(*logged)["level"] == "warn");
    CHECK(parsed(*logged)["reason"] == warning);
}

TEST_CASE("every problem of a file is a line with its place, its key and what was expected, and exit code 2")
{
    const written_file file{broken_file};
    const auto done = cardea({"validate", "-c", file.path()});
    CHECK(done.code == 2);
    CHECK(done.out.empty());
    const auto lines = lines_of(done.err);
    REQUIRE(lines.size() == 4);
    CHECK(lines[0] == file.path() + ":1:1: agnets: is not a known key; did you mean `agents`?");
    CHECK(lines[1].starts_with(file.path() + ":3:8: cards.ttl: "));
    CHECK(lines[2].starts_with(file.path() + ":6:10: agents.c.url: "));
    CHECK(lines[3].starts_with(file.path() + ":7:13: agents.c.bearer: "));
}

TEST_CASE("certificates and authorities that cannot be used are problems of the file, with their place")
{
    test_support::test_ca ca;
    const auto one = ca.issue({"a.test"});
    const auto other = ca.issue({"b.test"});
    const written_file file{
        "tls: {cert: " + one.cert_file + ", key: " + other.key_file +
        "}\nagents:\n  a:\n    url: https://h\n    tls:\n      ca_file: /none.pem\n      cert: " + one.cert_file +
        "\n      key: " + one.cert_file + "\n"
    };
    for (const auto* command : {"validate", "run"}) {
        const auto done = cardea({command, "-c", file.path()});
        CHECK(done.code == 2);
        const auto lines = lines_of(done.err);
        REQUIRE(lines.size() == 3);
        CHECK(lines[0].starts_with(file.path() + ":1:"));
        CHECK(lines[0].find("tls.key: ") != std::string::npos);
        CHECK(lines[0].find(" is not the key of the certificate") != std::string::npos);
        CHECK(
            lines[1] == file.path() +
                            ":6:16: agents.a.tls.ca_file: \"/none.pem\" cannot be opened: No such file or directory; "
                            "expected the path of a PEM file"
        );
        CHECK(lines[2].starts_with(file.path() + ":8:12: agents.a.tls.key: "));
        CHECK(lines[2].find(" has no private key in PEM") != std::string::npos);
    }
}

TEST_CASE("card lint says what is wrong with a card, and ends with 1 if there are errors")
{
    const written_file sound{
        R"({"name":"n","description":"d","version":"1","supportedInterfaces":[{"url":"http://a:1/","protocolBinding":"JSONRPC",
            "protocolVersion":"1.0"}],"capabilities":{},"defaultInputModes":["text/plain"],"defaultOutputModes":["text"],
            "skills":[{"id":"s","name":"S","description":"d","tags":["t"]}]})"
    };
    const auto warned = cardea({"card", "lint", sound.path()});
    CHECK(warned.code == 0);
    CHECK(warned.err.empty());
    CHECK(
        warned.out == "warning: defaultOutputModes[0]: not a media type\n" + sound.path() +
                          ": a card of shape v1; 0 errors, 1 warning, 0 notes\n"
    );
    const written_file unsound{R"({"name":"n","url":"http://a:1/","protocolVersion":"0.3.0","x":1,"description":"d",
        "version":"1","capabilities":{},"defaultInputModes":["a/b"],"defaultOutputModes":["a/b"],"skills":[{"id":"s",
        "name":"S","description":"d"}]})"};
    const auto explained = cardea({"card", "lint", "--explain", unsound.path()});
    CHECK(explained.code == 1);
    CHECK(explained.err.empty());
    CHECK(
        explained.out ==
        "error: skills[0].tags: missing\n    A2A 0.3.0, section 5.5.4 (AgentSkill)\n"
        "note: x: not in the specification; most readers ignore it\n"
        "    A2A 0.3.0, section 5.5 (AgentCard)\n" +
            unsound.path() + ": a card of shape v0.3; 1 error, 0 warnings, 1 note\n"
    );
    const written_file text{"no card"};
    const auto refused = cardea({"card", "lint", text.path(), "--explain"});
    CHECK(refused.code == 1);
    CHECK(refused.out == "error: card: not JSON\n" + text.path() + ": not a card; 1 error, 0 warnings, 0 notes\n");
}

TEST_CASE("card lint fetches a card by its URL, within the limits of card fetches")
{
    scripted_agent agent{[](const auto& request) {
        if (request.target != "/card?v=1") {
            return test_support::script{test_support::message{.status = 404, .headers = {}, .body = {}}};
        }
        return test_support::answer_json(R"({"name":"Fetched"})");
    }};
    const auto done = cardea({"card", "lint", agent.url("/card?v=1")});
    CHECK(done.code == 1);
    CHECK(done.out.find("error: description: missing\n") != std::string::npos);
    CHECK(done.out.find(agent.url("/card?v=1") + ": a card of shape v0.2; ") != std::string::npos);

    const auto nothing = cardea({"card", "lint", agent.url("/")});
    CHECK(nothing.code == 2);
    CHECK(nothing.err == "cardea: " + agent.url("/") + ": answered with status 404\n");
    CHECK(nothing.out.empty());
    scripted_agent large{[](const auto&) {
        return test_support::answer_json('"' + std::string(1024 * 1024, 'x') + '"');
    }};
    const auto beyond = cardea({"card", "lint", large.url("/")});
    CHECK(beyond.code == 2);
    CHECK(beyond.err.starts_with("cardea: " + large.url("/") + ": "));
    for (const auto* where : {"/no/such/card.json", "http://127.0.0.1:1/"}) {
        const auto unread = cardea({"card", "lint", where});
        CHECK(unread.code == 2);
        CHECK(unread.err.starts_with("cardea: " + std::string{where} + ": "));
    }
}

TEST_CASE("a broken or missing file starts nothing")
{
    const written_file file{broken_file};
    const auto broken = cardea({"run", "-c", file.path(), "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"});
    CHECK(broken.code == 2);
    CHECK(broken.err == cardea({"validate", "-c", file.path()}).err);
    for (const auto* command : {"run", "validate"}) {
        const auto missing = cardea({command, "-c", "/no/such/file.yml"});
        CHECK(missing.code == 2);
        CHECK(missing.err.starts_with("cardea: /no/such/file.yml: "));
    }
}

TEST_CASE("an address that is taken is said with exit code 2")
{
    scripted_agent there;
    const auto taken = "127.0.0.1:" + std::to_string(there.port());
    for (const auto& [listen, admin] : {std::pair{taken, std::string{"127.0.0.1:0"}}, {"127.0.0.1:0", taken}}) {
        const auto done = cardea({"run", "--agent", "a=http://127.0.0.1:1", "--listen", listen, "--admin", admin});
        CHECK(done.code == 2);
        CHECK(done.err.starts_with("cardea: cannot listen on 127.0.0.1 port " + std::to_string(there.port()) + ": "));
        CHECK(done.err.find("listening\"") == std::string::npos);
    }
}

TEST_CASE("on port 0 the first line names the addresses, which serve until the process is told to end")
{
    scripted_agent agent{[](const auto&) { return test_support::answer_json(R"({"name":"Alone"})"); }};
    for (const int number : {SIGTERM, SIGINT}) {
        CAPTURE(number);
        running_binary gateway{{"--agent", "weather=" + agent.url()}};
        CHECK(gateway.listening["level"] == "info");
        CHECK(gateway.listening["traffic"].get<std::string>().starts_with("127.0.0.1:"));
        CHECK(gateway.port("traffic") != 0);
        CHECK(gateway.port("admin") != 0);
        const auto card = test_support::request(gateway.port("traffic"), "GET", flow::card_target("weather"));
        CHECK(card.status == 200);
        CHECK(
            parsed(card.body)["url"] == "http://" + gateway.listening["traffic"].get<std::string>() + "/agents/weather"
        );
        CHECK(test_support::request(gateway.port("admin"), "GET", "/readyz").status == 200);

        gateway.process.signal(number);
        CHECK(gateway.process.wait() == 0);
        CHECK(gateway.process.out().empty());
        const auto lines = lines_of(gateway.process.err());
        REQUIRE(lines.size() >= 5);
        for (const auto& line : lines) {
            CHECK(parsed(line)["event"].is_string());
        }
        CHECK(parsed(lines.front())["event"] == "listening");
        CHECK(parsed(lines.back())["event"] == "stopped");
        CHECK(gateway.process.err().find(R"("event":"request")") != std::string::npos);
    }
}

TEST_CASE("run without agents serves those of the default store, and says where and how to add one")
{
    const test_support::scratch_directory state;
    for (const bool again : {false, true}) {
        CAPTURE(again);
        child_process process{
            "/bin/sh",
            {"-c",
             "XDG_STATE_HOME=" + state.path().string() +
                 " exec " CARDEA_BIN " run --listen 127.0.0.1:0 --admin 127.0.0.1:0"}
        };
        const auto line =
            process.wait_for_line([](auto text) { return text.find(R"("event":"listening")") != text.npos; });
        REQUIRE(line);
        const auto traffic = flow::listening_port(*line, "traffic");
        const auto admin = flow::listening_port(*line, "admin");
        if (!again) {
            const auto added =
                flow::managing("agents/upsert", R"({"id":"kept","agent":{"url":"http://127.0.0.1:9/"}})");
            const auto answer =
                test_support::request(admin, "POST", "/rpc", {{"Content-Type", "application/json"}}, added);
            CHECK(parsed(answer.body).contains("result"));
        }
        CHECK(test_support::request(traffic, "GET", "/agents").body.find(R"("kept")") != std::string::npos);
        process.signal(SIGTERM);
        CHECK(process.wait() == 0);
        CHECK(process.out().starts_with("Cardea serves the agents in " + state.file("cardea/store.db") + "\n"));
        CHECK(
            process.out().find("  callers  http://127.0.0.1:" + std::to_string(traffic) + "/\n") != std::string::npos
        );
        const auto at_admin = "127.0.0.1:" + std::to_string(admin);
        CHECK(process.out().find("  admin    http://" + at_admin + "/\n") != std::string::npos);
        CHECK(process.out().find("cardea agents --admin " + at_admin + " add my-agent ") != std::string::npos);
    }
}

TEST_CASE("nobody has to read the welcome: with a full stdout the gateway serves and ends in order")
{
    child_process process{
        "/bin/sh",
        {"-c", "exec " CARDEA_BIN " run --store memory --listen 127.0.0.1:0 --admin 127.0.0.1:0 > /dev/full"}
    };
    const auto line = process.wait_for_line([](auto text) { return text.find(R"("event":"listening")") != text.npos; });
    REQUIRE(line);
    CHECK(test_support::request(flow::listening_port(*line, "admin"), "GET", "/readyz").status == 200);
    process.signal(SIGTERM);
    CHECK(process.wait() == 0);
}

TEST_CASE("the configuration file of a process is what it serves")
{
    scripted_agent agent{[](const auto&) { return test_support::answer_json(R"({"name":"Filed"})"); }};
    const written_file file{
        "public_url: https://agents.example.com\nlog:\n  level: error\nagents:\n  filed:\n    url: " + agent.url() +
        "\n"
    };
    running_binary gateway{{"-c", file.path()}};
    const auto card = test_support::request(gateway.port("traffic"), "GET", flow::card_target("filed"));
    CHECK(parsed(card.body)["url"] == "https://agents.example.com/agents/filed");
    gateway.process.signal(SIGTERM);
    CHECK(gateway.process.wait() == 0);
    CHECK(lines_of(gateway.process.err()).size() == 1);
}

TEST_CASE("SIGHUP reads the certificates again and ends nothing")
{
    test_support::test_ca ca;
    const auto shown = ca.issue({"127.0.0.1"});
    scripted_agent agent{[](const auto&) { return test_support::answer_json(R"({"name":"Secure"})"); }};
    const written_file file{
        "tls: {cert: " + shown.cert_file + ", key: " + shown.key_file + "}\nagents: {a: {url: \"" + agent.url() +
        "\"}}\n"
    };
    running_binary gateway{{"-c", file.path()}};
    const test_support::tls_caller how{ca.ca_file()};
    test_support::http_client before{gateway.port("traffic"), how};
    gateway.process.signal(SIGHUP);
    const auto read = gateway.process.wait_for_line([](auto each) {
        return each.find(R"("event":"certificates_reloaded","listener":"traffic","count":1)") != std::string_view::npos;
    });
    CHECK(read.has_value());
    test_support::http_client after{gateway.port("traffic"), how};
    for (auto* const caller : {&before, &after}) {
        caller->send(test_support::request_text("GET", flow::card_target("a")));
        CHECK(caller->read_response().status == 200);
    }
    gateway.process.signal(SIGTERM);
    CHECK(gateway.process.wait() == 0);
}

TEST_CASE("what could not be written to stdout is a failure")
{
    for (const std::string what : {"version", "--help", "config schema"}) {
        CAPTURE(what);
        flow::child_process process{"/bin/sh", {"-c", CARDEA_BIN " " + what + " > /dev/full"}};
        CHECK(process.wait() == 1);
        CHECK(process.err().find("could not be written") != std::string::npos);
    }
}

TEST_CASE("a signal that comes with the listening line is not lost")
{
    for (int i = 0; i < 5; ++i) {
        running_binary gateway{{"--agent", "a=http://127.0.0.1:1"}};
        gateway.process.signal(SIGTERM);
        CHECK(gateway.process.wait() == 0);
    }
}

TEST_CASE("several signals at once end the process like one")
{
    for (int i = 0; i < 10; ++i) {
        running_binary gateway{{"--agent", "a=http://127.0.0.1:1"}};
        gateway.process.signal(SIGINT);
        gateway.process.signal(SIGTERM);
        gateway.process.signal(SIGINT);
        CHECK(gateway.process.wait() == 0);
    }
}

TEST_CASE("a call in flight is finished before the process ends")
{
    test_support::gate held;
    scripted_agent agent{[&](const auto& asked) {
        if (asked.method != "POST") {
            return test_support::answer(404, "");  // its card, which is fetched without being asked for
        }
        return test_support::then({test_support::pass_gate{held.shared()}}, test_support::answer_json(R"({"done":1})"));
    }};
    running_binary gateway{{"--agent", "a=" + agent.url()}};
    test_support::http_client caller{gateway.port("traffic")};
    caller.send(test_support::request_text(
        "POST",
        "/agents/a",
        {{"Content-Type", "application/json"}},
        R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{}})"
    ));
    REQUIRE(held.wait_until_reached());
    gateway.process.signal(SIGTERM);
    REQUIRE(gateway.process.wait_for_line([](auto line) { return line.find("draining") != std::string_view::npos; }));
    held.release();
    const auto answer = caller.read_response();
    CHECK(answer.status == 200);
    CHECK(answer.body == R"({"done":1})");
    CHECK(gateway.process.wait() == 0);
}

TEST_SUITE_END();
