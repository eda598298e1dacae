// What the worst cards cost the card thread: CPU time of one thread for a card of 1 MiB of each kind.
//   bench_cards [--bytes N] [--runs N] [KIND...]
// Exit code 1 if a piece of work takes over 200 ms; the least of the runs counts, since other work on the machine only adds.
#include "a2a/card_lint.hpp"
#include "a2a/card_signature.hpp"
#include "bench/hostile_cards.hpp"
#include "core/json_patch.hpp"
#include "gateway/made_card.hpp"
#include "tests/unit/a2a/signing_keys.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

constexpr double longest_piece = 200;  // ms

double thread_time()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

struct options {
    std::size_t bytes = 1024 * 1024;
    unsigned runs = 3;
    std::vector<std::string> kinds;
};

// What cards are made with, and 16 keys that may fit their signatures.
struct keys {
    keys()
    {
        auto own = a2a::jose_key::from_pem(a2a_test::pem(a2a_test::ec_key("P-256")), "own");
        signer =
            std::make_shared<const gateway::card_signer>(std::make_shared<const a2a::jose_key>(std::move(*own)), "{}");
        for (unsigned i = 0; i < a2a::max_verifications; ++i) {
            const auto key = a2a::jose_key::from_pem(a2a_test::pem(a2a_test::ec_key("P-256")), "k");
            fitting.push_back(*a2a::jose_key::from_jwk(key->jwk()));
        }
    }

    std::shared_ptr<const gateway::card_signer> signer;
    std::vector<a2a::jose_key> fitting;
};

class table {
public:
    explicit table(unsigned runs)
        : runs_{runs}
    {
        std::printf(
            "%-24s %9s %9s %9s %9s %9s %9s\n",
            "kind",
            "bytes",
            "read ms",
            "verify ms",
            "make ms",
            "diff ms",
            "lint ms"
        );
    }

    void begin(const std::string& kind, std::size_t bytes) { std::printf("%-24s %9zu", kind.c_str(), bytes); }

    // Which is one piece on the card thread.
    void piece(const std::function<void()>& work, bool on_card_thread = true)
    {
        double least = 1e9;
        for (unsigned i = 0; i < runs_; ++i) {
            const auto begun = thread_time();
            work();
            least = std::min(least, thread_time() - begun);
        }
        std::printf(" %9.1f", least);
        worst_ = on_card_thread ? std::max(worst_, least) : worst_;
    }

    // Work that is done in pieces: all of it is shown, the longest piece counts.
    void pieces(const std::function<std::vector<double>()>& work)
    {
        double least = 1e9;
        double longest = 1e9;
        for (unsigned i = 0; i < runs_; ++i) {
            const auto times = work();
            least = std::min(least, std::accumulate(times.begin(), times.end(), 0.0));
            longest = std::min(longest, *std::ranges::max_element(times));
        }
        std::printf(" %9.1f", least);
        worst_ = std::max(worst_, longest);
    }

    void none() { std::printf(" %9s", "-"); }
    void end(const char* said) { std::printf("%s%s\n", *said == '\0' ? "" : "  ", said); }
    double worst() const noexcept { return worst_; }

private:
    unsigned runs_;
    double worst_ = 0;
};

core::agent agent()
{
    core::agent made;
    made.id = "x";
    made.url = "http://agent.internal/";
    made.signatures = core::signature_policy::verify_and_sign;
    return made;
}

void measure_card(table& out, const bench::hostile_card& kind, const options& asked, const keys& with)
{
    const auto text = kind.text(asked.bytes);
    const config::card_settings settings;
    const std::string base = "http://gateway";
    const auto record = agent();
    const gateway::card_making how{settings, with.signer.get(), base};
    out.begin(std::string{kind.name}, text.size());
    auto card = gateway::read_card(text, settings);
    out.piece([&] { card = gateway::read_card(text, settings); });
    if (!card) {
        out.end(card.error().detail.c_str());
        return;
    }
    out.piece([&] {
        const auto document = core::parse_json(text);
        static_cast<void>(a2a::ambiguity(text));
        static_cast<void>(a2a::verify_card(*document, with.fitting));
    });
    auto made = gateway::make_card(*card, record, how);
    out.pieces([&] {
        std::vector<double> times;
        auto source = *card;
        auto begun = thread_time();
        const auto lap = [&] { times.push_back(thread_time() - std::exchange(begun, thread_time())); };
        gateway::card_work work{record};
        bool more = work.begin(std::move(source), how).has_value();
        lap();
        while (more) {
            const auto stepped = work.step();
            more = stepped && *stepped;
            lap();
        }
        return times;
    });
    if (made) {
        out.piece([&] {
            const auto after = core::parse_json(made->bytes->body, {.bytes = made->bytes->body.size()});
            auto before = *after;
            before["x"] = nullptr;
            before["skills"] = core::json::array();
            static_cast<void>(core::json_patch(before, *after));
        });
    } else {
        out.none();
    }
    out.piece([&] { static_cast<void>(a2a::lint_card(text)); }, /*on_card_thread=*/false);
    out.end(made ? "" : made.error().detail.substr(0, 60).c_str());
}

mcp::snapshot lists(mcp::list_kind list, std::size_t bytes, const std::function<std::string(std::size_t)>& item)
{
    mcp::snapshot made;
    made.server.name = "s";
    made.server.offers.set();
    auto& items = made.lists[mcp::index_of(list)];
    std::size_t size = 0;
    for (std::size_t i = 0; i < 10000; ++i) {
        auto raw = item(i);
        size += raw.size() + 1;
        if (size > bytes) {
            break;
        }
        items.push_back({std::to_string(i), std::move(raw)});
    }
    return made;
}

std::string tool(std::size_t i, const std::string& rest)
{
    return R"({"name":")" + std::to_string(i) + '"' + rest + '}';
}

void measure_lists(table& out, const char* kind, const mcp::snapshot& from, const keys& with)
{
    const config::card_settings settings;
    const std::string base = "http://gateway";
    const auto record = agent();
    std::size_t bytes = 0;
    for (const auto& list : from.lists) {
        for (const auto& item : list) {
            bytes += item.raw.size();
        }
    }
    out.begin(kind, bytes);
    out.none();
    out.none();
    core::result<gateway::made_card> made = core::gateway_error(core::errc::internal);
    out.piece([&] { made = gateway::make_card(from, record, {settings, with.signer.get(), base}); });
    out.end(made ? "" : made.error().detail.substr(0, 60).c_str());
}

std::string wide_members()
{
    std::string members;
    for (int i = 0; i < 900; ++i) {
        members += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":{}";
    }
    return members;
}

void measure_tools(table& out, const options& asked, const keys& with)
{
    const auto fitting = asked.bytes - asked.bytes / 8;
    using enum mcp::list_kind;
    measure_lists(out, "tools", lists(tools, asked.bytes / 4, [](auto i) { return tool(i, ""); }), with);
    measure_lists(
        out,
        "tools-with-schemas",
        lists(
            tools,
            fitting / 2,
            [](auto i) {
                return tool(
                    i,
                    R"(,"description":"What it does","inputSchema":{"type":"object","properties":{"a":{"type":"string"}}})"
                );
            }
        ),
        with
    );
    measure_lists(
        out,
        "tools-with-wide-schemas",
        lists(
            tools,
            fitting,
            [&](auto i) { return tool(i, R"(,"inputSchema":{"properties":{)" + wide_members() + "}}"); }
        ),
        with
    );
    measure_lists(
        out,
        "tools-with-long-texts",
        lists(
            tools,
            fitting / 2,
            [](auto i) { return tool(i, R"(,"description":")" + std::string(100000, 'd') + '"'); }
        ),
        with
    );
}

void measure_resources(table& out, const options& asked, const keys& with)
{
    const auto fitting = asked.bytes - asked.bytes / 8;
    using enum mcp::list_kind;
    measure_lists(
        out,
        "resources",
        lists(
            resources,
            fitting,
            [](auto i) {
                return R"({"uri":"r:)" + std::to_string(i) + R"(","name":"n","icons":[{"src":"https://h/i.png"}]})";
            }
        ),
        with
    );
    measure_lists(
        out,
        "too-many-resources",
        lists(
            resources,
            16 * asked.bytes,
            [](auto i) {
                return R"({"uri":"r:)" + std::to_string(i) + R"(","name":")" + std::string(1500, 'n') + "\"}";
            }
        ),
        with
    );
}

bool is_number(const char* text)
{
    return *text != '\0' && std::string_view{text}.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

int main(int count, char** arguments)
{
    options asked;
    for (int i = 1; i < count; ++i) {
        const std::string_view argument{arguments[i]};
        if (argument == "--bytes" && i + 1 < count && is_number(arguments[i + 1])) {
            asked.bytes = std::strtoull(arguments[++i], nullptr, 10);
        } else if (argument == "--runs" && i + 1 < count && is_number(arguments[i + 1])) {
            asked.runs = std::max(1U, static_cast<unsigned>(std::strtoul(arguments[++i], nullptr, 10)));
        } else if (argument.starts_with('-')) {
            std::fprintf(stderr, "usage: bench_cards [--bytes N] [--runs N] [KIND...]\n");
            return 2;
        } else {
            asked.kinds.emplace_back(argument);
        }
    }
    const keys with;
    table out{asked.runs};
    for (const auto& kind : bench::hostile_cards()) {
        if (asked.kinds.empty() || std::ranges::find(asked.kinds, kind.name) != asked.kinds.end()) {
            measure_card(out, kind, asked, with);
        }
    }
    if (asked.kinds.empty()) {
        measure_tools(out, asked, with);
        measure_resources(out, asked, with);
    }
    std::printf("the longest piece of work takes %.1f ms; the bar is %.0f ms\n", out.worst(), longest_piece);
    return out.worst() <= longest_piece ? 0 : 1;
}
