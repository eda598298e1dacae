// Cards of MCP servers that are too large, and those of agents whose record changes while their session runs.
#include "tests/flow/reload_fixture.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <sstream>
#include <string>

TEST_SUITE_BEGIN("flow/session_cards");

namespace {

using core::json;
using flow::becomes_true;
using flow::parsed;
using flow::reloading_gateway;
using test_support::read_whole;
using test_support::write_whole;

// A server in the shell's own words. Each of its processes leaves its id in the file `starts`; while there is a pipe `gate` it
// answers the handshake only once something has come through it. Its tools are the content of the file `tools`.
constexpr const char* shell_server = R"(
echo $$ >> starts
while read -r line; do
  id=${line#*'"id":'}
  id=${id%%[!0-9]*}
  case "$line" in
    *'"initialize"'*)
      [ ! -p gate ] || read -r go < gate
      echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"shell","version":"1.5"}}}';;
    *'"tools/list"'*)
      printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":' "$id"
      cat tools
      echo '}}';;
    *'"id"'*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"no"}}';;
  esac
done
)";

class rig {
public:
    rig()
    {
        write_whole(folder_.file("server.sh"), shell_server);
        configure("64KiB");
    }

    ~rig()
    {
        if (gate_ >= 0) {
            ::close(gate_);
        }
    }
    rig(const rig&) = delete;
    rig& operator=(const rig&) = delete;

    std::string file() const { return folder_.file("c.yml"); }

    // `more` is YAML in flow style.
    void configure(const std::string& max_size, const std::string& more = "") const
    {
        write_whole(
            file(),
            "reload: {watch: false}\nworkers: 1\ncards: {max_size: " + max_size +
                "}\nagents:\n  m: {era: legacy, transport: {type: stdio, command: sh, args: [server.sh], cwd: \"" +
                folder_.path().string() + "\"}" + more + "}\n"
        );
    }

    // So many tools, each described in so many letters.
    void list(int tools, std::size_t letters) const
    {
        std::string text{"["};
        for (int i = 0; i < tools; ++i) {
            text += (i == 0 ? "" : ",") + std::string{R"({"name":"t)"} + std::to_string(i) + R"(","description":")" +
                    std::string(letters, 'd') + R"(","inputSchema":{}})";
        }
        write_whole(folder_.file("tools"), text + "]");
    }

    void make_gate() const { REQUIRE(::mkfifo(folder_.file("gate").c_str(), 0600) == 0); }

    void open_gate()
    {
        gate_ = ::open(folder_.file("gate").c_str(), O_RDWR | O_CLOEXEC);
        REQUIRE(gate_ >= 0);
        REQUIRE(::write(gate_, "go\n", 3) == 3);
    }

    long starts() const { return std::ranges::count(read_whole(folder_.file("starts")), '\n'); }

    void kill() const
    {
        std::istringstream ids{read_whole(folder_.file("starts"))};
        pid_t latest = 0;
        while (ids >> latest) {
        }
        REQUIRE(latest > 0);
        REQUIRE(::kill(latest, SIGKILL) == 0);
    }

private:
    test_support::scratch_directory folder_;
    int gate_ = -1;  // open until the end, so that what went through is not lost with it
};

bool fails(const reloading_gateway& gateway, std::string_view code)
{
    return becomes_true([&] { return gateway.card("m").header("Cardea-Error") == code; });
}

bool serves(const reloading_gateway& gateway)
{
    return becomes_true([&] { return gateway.card("m").status == 200; });
}

test_support::http_response card_of(const reloading_gateway& gateway, const char* version)
{
    return test_support::request(gateway.port, "GET", flow::card_target("m"), {{"A2A-Version", version}});
}

}  // namespace

TEST_CASE("a card that was too large is there once cards.max_size lets it be, and gone once it does not any more")
{
    const rig x;
    x.list(100, 1000);
    const reloading_gateway gateway{x.file()};
    REQUIRE(fails(gateway, "card_too_large"));
    CHECK(gateway.card("m").status == 502);
    x.configure("1MiB");
    CHECK(gateway.reloaded()["settings"] == json::array({"cards.max_size"}));
    REQUIRE(serves(gateway));
    CHECK(parsed(gateway.card("m").body)["skills"].size() == 100);
    x.configure("64KiB");
    gateway.reloaded();
    CHECK(fails(gateway, "card_too_large"));
    CHECK(x.starts() == 1);
}

TEST_CASE("a card that was too large is there too when the limit is raised while its server is away")
{
    rig x;
    x.list(100, 1000);
    const reloading_gateway gateway{x.file()};
    REQUIRE(fails(gateway, "card_too_large"));
    x.make_gate();
    x.kill();
    REQUIRE(fails(gateway, "session_not_ready"));
    x.configure("1MiB");
    gateway.reloaded();
    CHECK(gateway.card("m").status == 503);
    x.open_gate();
    CHECK(serves(gateway));
}

TEST_CASE("a version of a card that is too large is refused to who names it, and nobody else")
{
    const rig x;
    x.list(100, 1000);
    x.configure("1MiB");
    reloading_gateway gateway{x.file()};
    REQUIRE(serves(gateway));
    const auto own = gateway.card("m").body.size();
    const auto v1 = card_of(gateway, "1.0").body.size();
    const auto v03 = card_of(gateway, "0.3").body.size();
    const auto larger = std::max(v1, v03);
    const auto smaller = std::min(v1, v03);
    const auto* larger_name = v1 > v03 ? "1.0" : "0.3";
    const auto* smaller_name = v1 > v03 ? "0.3" : "1.0";
    REQUIRE(own < smaller);
    REQUIRE(smaller < larger);
    CHECK(larger - own < 100 * 200);  // what is said of each tool stands in it once
    const auto limit = [&](std::size_t bytes) {
        x.configure(std::to_string(bytes));
        gateway.reloaded();
    };

    limit(larger - 1);
    REQUIRE(becomes_true([&] { return card_of(gateway, larger_name).status == 502; }));
    CHECK(gateway.card("m").status == 200);
    CHECK(gateway.card("m").header("Vary") == "A2A-Version");
    CHECK(card_of(gateway, smaller_name).status == 200);
    const auto refused = card_of(gateway, larger_name);
    CHECK(refused.header("Cardea-Error") == "card_too_large");
    CHECK(refused.header("ETag").empty());
    CHECK(parsed(refused.body)["error"]["agent"] == "m");
    const std::string shape = v1 > v03 ? "v1" : "v0.3";
    CHECK(gateway.event(
        "card_shape_failed",
        R"("served":")" + shape + R"(","code":"card_too_large","detail":")" + shape + " card of " +
            std::to_string(larger) + " bytes, over " + std::to_string(larger - 1) + ": 100 tools of "
    ));

    limit(smaller - 1);
    REQUIRE(becomes_true([&] { return card_of(gateway, smaller_name).status == 502; }));
    CHECK(card_of(gateway, larger_name).status == 502);
    CHECK(gateway.card("m").status == 200);

    limit(larger);
    REQUIRE(becomes_true([&] { return card_of(gateway, larger_name).status == 200; }));
    CHECK(card_of(gateway, smaller_name).status == 200);

    limit(own - 1);
    CHECK(fails(gateway, "card_too_large"));
    CHECK(gateway.event("card_fetch_failed", R"("detail":"auto card of )"));
}

TEST_CASE("what of an agent's record does not reach its server is changed without an end of its session")
{
    const rig x;
    x.list(2, 10);
    x.configure("1MiB");
    const reloading_gateway gateway{x.file()};
    REQUIRE(serves(gateway));
    const auto etag = gateway.card("m").header("ETag");
    for (const auto* more : {", metadata: {tags: [new]}", ", version: \"7\", timeout: 9s", ", stale_if_error: true"}) {
        CAPTURE(more);
        x.configure("1MiB", more);
        CHECK(gateway.reloaded()["agents"]["changed"].size() == 1);
        CHECK(gateway.card("m").status == 200);
        CHECK(gateway.card("m").header("ETag") == etag);
    }
    x.configure("1MiB", ", shape: v1");
    gateway.reloaded();
    CHECK(becomes_true([&] { return !parsed(gateway.card("m").body).contains("protocol"); }));
    CHECK(gateway.card("m").status == 200);
    CHECK(x.starts() == 1);
    x.configure("1MiB", ", shape: v1, timeouts: {request: 9s}");
    gateway.reloaded();
    REQUIRE(becomes_true([&] { return x.starts() == 2; }));
    CHECK(serves(gateway));
}

TEST_CASE("what changes while a server is away is in the card once it is back")
{
    rig x;
    x.list(2, 10);
    x.configure("1MiB");
    const reloading_gateway gateway{x.file()};
    REQUIRE(serves(gateway));
    x.make_gate();
    x.kill();
    REQUIRE(fails(gateway, "session_not_ready"));
    x.configure("1MiB", ", shape: v1");
    gateway.reloaded();
    CHECK(gateway.card("m").header("Cardea-Error") == "session_not_ready");
    x.open_gate();
    REQUIRE(serves(gateway));
    CHECK(becomes_true([&] { return !parsed(gateway.card("m").body).contains("protocol"); }));
    CHECK(x.starts() == 2);
}

TEST_SUITE_END();
