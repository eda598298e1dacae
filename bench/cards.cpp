// What the worst cards cost the card thread: CPU time of one thread for a card of 1 MiB of each kind, by the gateway's own
// card_editor. Of each work: all of it, and after the slash the longest piece, behind which others wait.
//   bench_cards [--bytes N] [--runs N] [KIND...]
// Exit code 1 if a piece of work takes over 200 ms; the least of the runs counts, since other work on the machine only adds.
#include "a2a/card/card_lint.hpp"
#include "a2a/card/card_signature.hpp"
#include "bench/card_pieces.hpp"
#include "bench/hostile_cards.hpp"
#include "bench/hostile_lists.hpp"
#include "gateway/model/snapshot.hpp"
#include "tests/unit/jose/signing_keys.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using bench::work_times;

constexpr double longest_piece = 200;  // ms

struct options {
    std::size_t bytes = 1024 * 1024;
    unsigned runs = 3;
    std::vector<std::string> kinds;

    bool wants(std::string_view kind) const { return kinds.empty() || std::ranges::find(kinds, kind) != kinds.end(); }
};

// As many keys as are tried, all of which may fit the signatures of cards, in a file while this lives.
class key_file {
public:
    key_file()
        : path_{std::filesystem::temp_directory_path() / ("bench_cards." + std::to_string(getpid()) + ".json")}
    {
        auto keys = core::json::array();
        for (unsigned i = 0; i < a2a::max_verifications; ++i) {
            keys.push_back(jose::json_web_key::from_pem(a2a_test::pem(a2a_test::ec_key("P-256")), "k")->jwk());
        }
        std::ofstream{path_} << core::to_text(core::json{{"keys", std::move(keys)}});
    }
    ~key_file() { std::filesystem::remove(path_); }
    key_file(const key_file&) = delete;
    key_file& operator=(const key_file&) = delete;

    std::string path() const { return path_.string(); }

private:
    std::filesystem::path path_;
};

std::shared_ptr<const gateway::cards::card_signer> signer()
{
    auto own = jose::json_web_key::from_pem(a2a_test::pem(a2a_test::ec_key("P-256")), "own");
    return std::make_shared<const gateway::cards::card_signer>(
        std::make_shared<const jose::json_web_key>(std::move(*own)),
        "{}"
    );
}

core::agent agent(core::card_shape shape, const std::string& trusted_keys = {})
{
    core::agent made;
    made.id = "x";
    made.url = "http://agent.internal/";
    made.shape = shape;
    made.trusted_keys = trusted_keys;
    made.signatures = trusted_keys.empty() ? core::signature_policy::sign : core::signature_policy::verify_and_sign;
    return made;
}

constexpr auto by_version = core::card_shape::automatic;

class table {
public:
    explicit table(unsigned runs)
        : runs_{runs}
    {
        std::printf("%-24s %9s", "ms: all/longest piece", "bytes");
        for (const auto* work : {"make", "hybrid", "verify", "answer", "compare", "lint"}) {
            std::printf(" %11s", work);
        }
        std::printf("\n");
    }

    void begin(std::string_view kind, std::size_t bytes)
    {
        std::printf("%-24s %9zu", std::string{kind}.c_str(), bytes);
    }

    void work(const std::function<work_times()>& run)
    {
        auto times = run();
        for (unsigned i = 1; i < runs_; ++i) {
            times = least(times, run());
        }
        std::printf(" %11s", (rounded(times.all) + '/' + rounded(times.longest)).c_str());
        std::fflush(stdout);
        worst_ = std::max(worst_, times.longest);
    }

    // Work that is not the card thread's.
    void aside(const std::function<void()>& run)
    {
        const auto begun = bench::thread_time();
        run();
        std::printf(" %11s", rounded(bench::thread_time() - begun).c_str());
    }

    void none() { std::printf(" %11s", "-"); }
    void end(const std::string& said) { std::printf("  %s\n", said.substr(0, 60).c_str()); }
    double worst() const noexcept { return worst_; }

private:
    static std::string rounded(double value) { return std::to_string(std::lround(value)); }

    unsigned runs_;
    double worst_ = 0;
};

class measurement {
public:
    explicit measurement(const options& asked)
        : asked_{asked},
          workshop_{settings_, signer()},
          out_{asked.runs}
    {
    }

    void card(const bench::hostile_card& kind);
    void lists(std::string_view kind, const mcp::server_lists& from);
    double worst() const noexcept { return out_.worst(); }

private:
    using made_card = core::result<gateway::cards::served_card>;

    made_card make(const std::string& text, core::agent record);
    made_card make_of_lists(const mcp::server_lists& from, core::card_shape shape);
    work_times answer(const std::string& text, a2a::card_dialect dialect);
    void verify(const bench::hostile_card& kind);
    void compare(const gateway::cards::served_card& made);

    const options& asked_;
    key_file keys_;
    config::card_settings settings_;
    bench::card_workshop workshop_;
    table out_;
};

measurement::made_card measurement::make(const std::string& text, core::agent record)
{
    made_card made = core::gateway_error(core::errc::internal);
    const auto by = std::make_shared<const core::agent>(std::move(record));
    out_.work([&] {
        const bool verified = !by->trusted_keys.empty();
        auto [came, times] =
            workshop_.done(workshop_.editor().make(by, {.text = text, .url = by->url, .verified = verified}));
        made = std::move(came);
        return times;
    });
    return made;
}

measurement::made_card measurement::make_of_lists(const mcp::server_lists& from, core::card_shape shape)
{
    made_card made = core::gateway_error(core::errc::internal);
    const auto by = std::make_shared<const core::agent>(agent(shape));
    const gateway::cards::listed_card listed{std::make_shared<const mcp::server_lists>(from)};
    out_.work([&] {
        auto [came, times] = workshop_.done(workshop_.editor().make_of_lists(by, listed));
        made = std::move(came);
        return times;
    });
    return made;
}

// Signatures that none of the keys has made: all of them are tried.
void measurement::verify(const bench::hostile_card& kind)
{
    // {"alg":"ES256","kid":"k"}
    std::string signatures = R"({"signatures":[{"protected":"eyJhbGciOiJFUzI1NiIsImtpZCI6ImsifQ","signature":")" +
                             std::string(86, 'A') + "\"}],";
    const auto text = kind.text(asked_.bytes - std::min(asked_.bytes, signatures.size()));
    const bool has_some = text.find("\"signatures\"") != std::string::npos;
    make(has_some ? text : signatures + text.substr(1), agent(by_version, keys_.path()));
}

work_times measurement::answer(const std::string& text, a2a::card_dialect dialect)
{
    auto entry = std::make_shared<gateway::model::agent_entry>();
    entry->record = agent(by_version);
    return workshop_.done(workshop_.editor().edit({std::move(entry), text, {dialect, false}})).second;
}

// Which differ in many places.
void measurement::compare(const gateway::cards::served_card& made)
{
    const auto by = std::make_shared<const core::agent>(agent(by_version));
    const gateway::cards::card_pair both{made.bytes->v03, made.bytes};
    out_.work([&] { return workshop_.done(workshop_.editor().compare(by, both)).second; });
}

void measurement::card(const bench::hostile_card& kind)
{
    if (!asked_.wants(kind.name)) {
        return;
    }
    const auto text = kind.text(asked_.bytes);
    out_.begin(kind.name, text.size());
    const auto made = make(text, agent(by_version));
    static_cast<void>(make(text, agent(core::card_shape::hybrid)));
    verify(kind);
    out_.work([&] {
        const auto old = answer(text, a2a::card_dialect::v03);
        const auto modern = answer(text, a2a::card_dialect::v1);
        return work_times{std::max(old.all, modern.all), std::max(old.longest, modern.longest)};
    });
    if (made) {
        compare(*made);
    } else {
        out_.none();
    }
    out_.aside([&] { static_cast<void>(a2a::lint_card(text)); });
    out_.end(made ? "" : made.error().detail);
}

void measurement::lists(std::string_view kind, const mcp::server_lists& from)
{
    if (!asked_.wants(kind)) {
        return;
    }
    std::size_t bytes = 0;
    for (const auto& list : from.lists) {
        for (const auto& item : list) {
            bytes += item.raw.size();
        }
    }
    out_.begin(kind, bytes);
    const auto made = make_of_lists(from, by_version);
    static_cast<void>(make_of_lists(from, core::card_shape::hybrid));
    out_.none();
    out_.none();
    if (made) {
        compare(*made);
    }
    out_.end(made ? "" : made.error().detail);
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
    measurement cost{asked};
    for (const auto& kind : bench::hostile_cards()) {
        cost.card(kind);
    }
    for (const auto& kind : bench::hostile_lists()) {
        cost.lists(kind.name, kind.make(asked.bytes));
    }
    std::printf("the longest piece of work takes %.1f ms; the bar is %.0f ms\n", cost.worst(), longest_piece);
    return cost.worst() <= longest_piece ? 0 : 1;
}
