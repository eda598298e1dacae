// The cost of several replicas on one PostgreSQL, and how soon they know of each other's writes. Starts its own PostgreSQL, three gateways,
// and agents. bench/README.md says how to read it.
//   bench_replicas [--agents N] [--seconds S]
#include "tests/replicas/faults.hpp"
#include "tests/replicas/steady_load.hpp"
#include "tests/support/plain_agent.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

namespace {

using namespace replicas;
using steady = std::chrono::steady_clock;

struct choices {
    unsigned agents = 100'000;
    unsigned seconds = 10;
};

double ms_since(steady::time_point begin)
{
    return std::chrono::duration<double, std::milli>(steady::now() - begin).count();
}

void print_times(const char* what, std::vector<double> times)
{
    std::ranges::sort(times);
    const auto at = [&](double part) {
        return times[static_cast<std::size_t>(part * static_cast<double>(times.size() - 1))];
    };
    std::printf(
        "%-44s %6zu times: p50 %7.1f  p99 %7.1f  max %7.1f ms\n",
        what,
        times.size(),
        at(0.5),
        at(0.99),
        times.back()
    );
    std::fflush(stdout);
}

// With agents that are declared or stored later; all run when it returns.
fleet start_all(const shared_store& store, std::size_t count, const std::string& more)
{
    fleet all;
    for (std::size_t i = 0; i < count; ++i) {
        all.push_back(std::make_unique<replica>("r" + std::to_string(i + 1), store.url(i), more));
        all.back()->start();
    }
    for (const auto& each : all) {
        if (!each->wait_until_ready()) {
            throw std::runtime_error{each->log()};
        }
    }
    return all;
}

std::string agent_params(const std::string& id, const std::string& url)
{
    return R"({"id":")" + id + R"(","agent":{"url":")" + url + R"(","card":{"name":"A"}}})";
}

// The rows that so many writes would have left.
void fill(const shared_store& store, unsigned agents)
{
    const auto count = std::to_string(agents);
    store.database.sql(
        store.name,
        "INSERT INTO cardea.agents (id, definition, version, written) SELECT 'a' || n, "
        R"('{"url":"http://127.0.0.1:9/' || n || '","card":{"name":"A"}}', n, 1700000000000 FROM generate_series(1, )" +
            count +
            ") AS n;"
            "INSERT INTO cardea.changes (version, at, who, action, agent, replica, token) "
            "SELECT n, 1700000000000, 'bench', 0, 'a' || n, 1, decode(lpad(to_hex(n), 32, '0'), 'hex') "
            "FROM generate_series(1, " +
            count + ") AS n; UPDATE cardea.feeds SET number = " + count + " WHERE name = 'agents'; ANALYZE"
    );
}

void measure_start(const choices& wanted)
{
    shared_store store{1};
    fleet all = start_all(store, 1, "workers: 1\n");
    all[0]->kill();
    fill(store, wanted.agents);
    std::vector<double> times;
    for (int i = 0; i < 3; ++i) {
        const auto begin = steady::now();
        all[0]->start();
        all[0]->wait_until_ready(60s);
        times.push_back(ms_since(begin));
        all[0]->kill();
    }
    print_times(("start with " + std::to_string(wanted.agents) + " stored agents").c_str(), times);
}

void measure_writes(const fleet& all, const choices& wanted)
{
    constexpr unsigned writers_each = 3;
    std::atomic<std::uint64_t> written = 0;
    std::atomic<std::uint64_t> other = 0;
    const auto end = steady::now() + std::chrono::seconds{wanted.seconds};
    std::vector<std::thread> writers;
    writers.reserve(all.size() * writers_each);
    for (std::size_t i = 0; i < all.size() * writers_each; ++i) {
        writers.emplace_back([&, i] {
            manager to{all[i % all.size()]->admin()};
            for (unsigned n = 0; steady::now() < end; ++n) {
                const auto told = to.ask(
                    "agents/upsert",
                    agent_params("w" + std::to_string(i), "http://127.0.0.1:9/" + std::to_string(n))
                );
                ++(told.code.empty() ? written : other);
            }
        });
    }
    for (auto& each : writers) {
        each.join();
    }
    std::printf(
        "acknowledged writes over %zu replicas          %7.0f /s, %llu others\n",
        all.size(),
        static_cast<double>(written) / wanted.seconds,
        static_cast<unsigned long long>(other)
    );
}

// From the answer of a write on one replica until another one serves it.
void measure_latency(const fleet& all, const choices& wanted, const char* what)
{
    manager writer{all[0]->admin()};
    manager reader{all[1]->admin()};
    std::vector<double> visible;
    std::vector<double> writes;
    const auto end = steady::now() + std::chrono::seconds{wanted.seconds};
    for (unsigned n = 0; steady::now() < end; ++n) {
        const auto begin = steady::now();
        const auto told = writer.ask("agents/upsert", agent_params("seen", "http://127.0.0.1:9/" + std::to_string(n)));
        if (!told.code.empty()) {
            throw std::runtime_error{told.code};
        }
        writes.push_back(ms_since(begin));
        const auto version = told.result.at("version").get<std::uint64_t>();
        for (;;) {
            const auto seen = reader.ask("agents/get", R"({"id":"seen"})");
            if (seen.code.empty() && seen.result.at("stored").at("version").get<std::uint64_t>() >= version) {
                break;
            }
            std::this_thread::sleep_for(500us);
        }
        visible.push_back(ms_since(begin));
        std::this_thread::sleep_for(std::chrono::milliseconds{n % 17});
    }
    print_times((std::string{"a write"} + what).c_str(), writes);
    print_times((std::string{"until another replica serves it"} + what).c_str(), visible);
}

void measure_fresh(const fleet& all)
{
    constexpr int reads = 500;
    manager reader{all[1]->admin()};
    for (const bool fresh : {false, true}) {
        std::vector<double> times;
        for (int i = 0; i < reads; ++i) {
            const auto begin = steady::now();
            reader.ask("agents/get", fresh ? R"({"id":"seen","fresh":true})" : R"({"id":"seen"})");
            times.push_back(ms_since(begin));
        }
        print_times(fresh ? "agents/get, fresh" : "agents/get", times);
    }
}

// How often an agent is asked for its card while it is asked for at all replicas all the time.
void measure_cards(const choices& wanted)
{
    constexpr unsigned agents = 100;
    constexpr unsigned lifetime = 10;  // seconds
    std::atomic<std::uint64_t> fetched = 0;
    const test_support::plain_agent server{[&](const test_support::plain_exchange& call) {
        ++fetched;
        const std::string body =
            R"({"name":"A","version":"1","url":"http://127.0.0.1:9/","skills":[],"capabilities":{},)"
            R"("defaultInputModes":[],"defaultOutputModes":[],"description":"d","protocolVersion":"0.3.0"})";
        return call.write(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCache-Control: max-age=" + std::to_string(lifetime) +
            "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body
        );
    }};
    shared_store store{3};
    std::string declared = "cards: {min_ttl: 1s}\nagents:\n";
    for (unsigned i = 0; i < agents; ++i) {
        declared += "  c" + std::to_string(i) + ": {url: \"" + server.url("/" + std::to_string(i)) + "\"}\n";
    }
    const fleet all = start_all(store, 3, declared);
    const auto lifetimes = std::max(3U, wanted.seconds / lifetime);
    const auto ask_until = [&](steady::time_point end) {
        std::vector<std::thread> callers;
        for (const auto& each : all) {
            callers.emplace_back([&, end] {
                for (unsigned i = 0; steady::now() < end; ++i) {
                    test_support::request(
                        each->traffic(),
                        "GET",
                        "/agents/c" + std::to_string(i % agents) + "/.well-known/agent-card.json"
                    );
                    std::this_thread::sleep_for(2ms);
                }
            });
        }
        for (auto& each : callers) {
            each.join();
        }
    };
    ask_until(steady::now() + std::chrono::seconds{lifetime});  // the first ones come all at once
    const auto first = fetched.exchange(0);
    ask_until(steady::now() + std::chrono::seconds{lifetime * lifetimes});
    std::printf(
        "card fetches of an agent of three replicas    %7.2f in a lifetime of %u s; %.2f at the start\n",
        static_cast<double>(fetched) / agents / lifetimes,
        lifetime,
        static_cast<double>(first) / agents
    );
}

// An MCP server over HTTP with one session.
bool answer_mcp(const test_support::plain_exchange& call)
{
    const auto from = call.body.find(R"("id":)");
    if (from == std::string::npos) {
        return call.write("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
    }
    const auto id = call.body.substr(from + 5, call.body.find_first_of(",}", from) - from - 5);
    const bool begins = call.body.find(R"("initialize")") != std::string::npos;
    const std::string result = begins ? R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},)"
                                        R"("serverInfo":{"name":"bench","version":"1"}})"
                                      : R"({"content":[{"type":"text","text":"yes"}]})";
    const auto body = R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":)" + result + "}";
    return call.write(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nMcp-Session-Id: one\r\nContent-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body
    );
}

// The CPU time of all its threads.
double cpu_us_of(const replica& of)
{
    double ns = 0;
    for (const auto& thread : std::filesystem::directory_iterator{"/proc/" + std::to_string(of.id()) + "/task"}) {
        double used = 0;
        std::ifstream{thread.path() / "schedstat"} >> used;
        ns += used;
    }
    return ns / 1000;
}

// A session of callers at one replica, for an agent.
class mcp_session {
public:
    mcp_session(const replica& begun_at, const std::string& agent)
        : target_{"/agents/" + agent + "/mcp"}
    {
        test_support::http_client caller{begun_at.traffic()};
        const auto begun = post(
            caller,
            R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},)"
            R"("clientInfo":{"name":"bench","version":"1"}}})"
        );
        id_ = begun.header("Mcp-Session-Id");
        post(caller, R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    }

    // The CPU time that a replica takes for one call from a client.
    double cost_at(const replica& at) const
    {
        constexpr int calls = 4000;
        std::optional<test_support::http_client> caller;
        const auto before = cpu_us_of(at);
        for (int i = 0; i < calls; ++i) {
            if (!caller) {
                caller.emplace(at.traffic());
            }
            const auto told = post(
                *caller,
                R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"question":"why"}}})"
            );
            if (told.status != 200 || told.body.find("result") == std::string::npos) {
                throw std::runtime_error{std::to_string(told.status) + ' ' + told.body};
            }
            if (told.header("Connection") == "close") {
                caller.reset();
            }
        }
        return (cpu_us_of(at) - before) / calls;
    }

private:
    test_support::http_response post(test_support::http_client& caller, std::string_view body) const
    {
        test_support::field_list fields{
            {"Content-Type", "application/json"},
            {"Accept", "application/json, text/event-stream"}
        };
        if (!id_.empty()) {
            fields.emplace_back("Mcp-Session-Id", id_);
        }
        caller.send(test_support::request_text("POST", target_, fields, body));
        return caller.read_response();
    }

    std::string target_;
    std::string id_;
};

void measure_forwarding()
{
    constexpr int rounds = 5;
    const test_support::plain_agent server{answer_mcp};
    shared_store store{2};
    const auto program = std::filesystem::path{CARDEA_BIN}.parent_path() / "bench_program";
    const fleet all = start_all(
        store,
        2,
        "workers: 1\nagents:\n  http: {url: \"" + server.url("/mcp") +
            "\", protocol: mcp}\n  program: {transport: {type: stdio, command: " + program.string() + "}}\n"
    );
    const mcp_session relayed{*all[1], "http"};
    const mcp_session elsewhere{*all[0], "program"};
    std::vector<double> ratios;
    for (int i = 0; i < rounds; ++i) {
        const auto to_agent = relayed.cost_at(*all[1]);
        ratios.push_back(elsewhere.cost_at(*all[1]) / to_agent);
    }
    std::ranges::sort(ratios);
    std::printf(
        "a forwarded call by one to an MCP server      %7.2f (%.2f to %.2f)\n",
        ratios[rounds / 2],
        ratios.front(),
        ratios.back()
    );
}

choices read(int count, char** words)
{
    choices out;
    for (int i = 1; i < count; i += 2) {
        const std::string_view name{words[i]};
        const std::string_view text{i + 1 < count ? words[i + 1] : ""};
        auto& into = name == "--agents" ? out.agents : out.seconds;
        const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), into);
        if ((name != "--agents" && name != "--seconds") || failed != std::errc{} || end != text.data() + text.size()) {
            throw std::runtime_error{"bench_replicas [--agents N] [--seconds S]"};
        }
    }
    return out;
}

void measure(const choices& wanted)
{
    measure_start(wanted);
    {
        shared_store store{3};
        const fleet all = start_all(store, 3, "workers: 1\n");
        measure_writes(all, wanted);
        measure_latency(all, wanted, "");
        measure_fresh(all);
    }
    {
        shared_store store{3};
        const fleet all = start_all(store, 3, "workers: 1\nstore_options: {notify: false}\n");
        measure_latency(all, wanted, ", without NOTIFY");
    }
    measure_forwarding();
    measure_cards(wanted);
}

}  // namespace

int main(int count, char** words)
{
    try {
        measure(read(count, words));
        return 0;
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "bench_replicas: %s\n", problem.what());
        return 1;
    }
}
