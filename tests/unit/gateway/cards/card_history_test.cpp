#include "gateway/cards/card_history.hpp"

#include "jose/digest.hpp"
#include "store/memory.hpp"
#include "store/sqlite.hpp"
#include "tests/support/scratch.hpp"

#include <boost/asio/co_spawn.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/card_history");

namespace {

using namespace std::chrono_literals;
using versions = std::vector<store::card_version>;

constexpr core::wall_time noon{std::chrono::hours{500'000}};

// Its patches are what a test says, or say what was compared.
class patching_maker final : public gateway::cards::card_maker {
public:
    net::task<core::result<gateway::cards::served_card>>
    make(std::shared_ptr<const core::agent>, gateway::cards::card_document) override
    {
        co_return core::gateway_error(core::errc::internal);
    }

    net::task<core::result<gateway::cards::served_card>>
    make_of_lists(std::shared_ptr<const core::agent>, gateway::cards::listed_card) override
    {
        co_return core::gateway_error(core::errc::internal);
    }

    net::task<core::result<std::string>> compare(std::shared_ptr<const core::agent>, gateway::cards::card_pair cards)
        override
    {
        co_return patch.empty() ? '"' + cards.before->body + " to " + cards.after->body + '"' : patch;
    }

    net::task<core::result<std::string>> explain(std::shared_ptr<const core::agent>, gateway::cards::shown_card)
        override
    {
        co_return core::gateway_error(core::errc::internal);
    }

    std::string patch;
};

class kept_lines final : public core::log_sink {
public:
    void write(std::string_view lines) override { all += lines; }

    std::string all;
};

net::task<> versions_into(gateway::cards::card_history& history, std::optional<core::result<versions>>& out)
{
    out = co_await history.versions("a");
}

std::shared_ptr<const gateway::model::card_bytes> bytes(std::string body)
{
    return gateway::model::make_card_bytes(gateway::model::body_with_strong_etag(std::move(body)));
}

// One process with a store. The parts that it uses go in reverse.
struct process {
    explicit process(std::unique_ptr<store::engine> engine)
        : store{std::move(engine)}
    {
    }

    void publish(std::string body, const std::shared_ptr<const gateway::model::card_bytes>& before = nullptr)
    {
        auto record = std::make_shared<core::agent>();
        record->id = "a";
        const auto digest = jose::sha256_hex(body);
        history.note({record, {before, bytes(std::move(body))}, digest, noon});
        const auto end = std::chrono::steady_clock::now() + 30s;
        while (history.busy() && std::chrono::steady_clock::now() < end) {
            loop.io().restart();
            loop.io().run_for(1ms);
        }
        REQUIRE_FALSE(history.busy());
    }

    versions kept()
    {
        std::optional<core::result<versions>> out;
        net::asio::co_spawn(loop.get_executor(), versions_into(history, out), [](const std::exception_ptr&) {});
        const auto end = std::chrono::steady_clock::now() + 30s;
        while (!out && std::chrono::steady_clock::now() < end) {
            loop.io().restart();
            loop.io().run_for(1ms);
        }
        REQUIRE(out.has_value());
        return out->value();
    }

    net::loop loop;
    gateway::threads::store_thread store;
    patching_maker maker;
    kept_lines lines;
    core::logger log{lines, core::log_level::warn};
    gateway::cards::card_history history{loop, store, maker, log};
};

std::unique_ptr<store::engine> opened(const std::string& path)
{
    return store::open_sqlite({.path = path, .ballast = 0}).value();
}

}  // namespace

TEST_CASE("Each published card is kept with the patch from the card before")
{
    process x{store::make_memory()};
    x.publish("1");
    x.publish("2", bytes("1"));
    const auto all = x.kept();
    REQUIRE(all.size() == 2);
    CHECK(all[0].patch == "\"1 to 2\"");
    CHECK(all[0].sha256 == jose::sha256_hex("2"));
    CHECK(all[0].size == 1);
    CHECK(all[0].at == noon);
    CHECK_FALSE(all[1].patch.has_value());
    CHECK(all[0].document.empty());  // memory has the card itself
}

TEST_CASE("The history goes on after a restart, and the same card is no new version")
{
    const test_support::scratch_directory files;
    const auto path = files.file("s.db");
    {
        process x{opened(path)};
        x.publish("1");
    }
    {
        process x{opened(path)};
        x.publish("1");
        CHECK(x.kept().size() == 1);
    }
    process x{opened(path)};
    x.publish("3");
    const auto all = x.kept();
    REQUIRE(all.size() == 2);
    CHECK(all[0].patch == "\"1 to 3\"");
    CHECK(all[0].document == "3");
}

TEST_CASE("A card that another process has signed again is no new version, but a new signature of this one is")
{
    const test_support::scratch_directory files;
    const auto path = files.file("s.db");
    {
        process x{opened(path)};
        x.publish("1");
    }
    process x{opened(path)};
    x.maker.patch = R"([{"op":"replace","path":"/signatures/0/signature","value":"b"}])";
    x.publish("2");
    CHECK(x.kept().size() == 1);
    x.publish("3", bytes("2"));
    CHECK(x.kept().size() == 2);
    x.maker.patch = R"([{"op":"add","path":"/signatures-of-mine","value":1}])";
    x.publish("4");
    CHECK(x.kept().size() == 3);
}

TEST_CASE("A patch over 16 KiB is not kept")
{
    constexpr std::size_t longest = gateway::cards::card_history::longest_patch;
    static_assert(longest == 16 * 1024);
    process x{store::make_memory()};
    for (const auto size : {longest - 1, longest, longest + 1}) {
        x.maker.patch = std::string(size, ' ');
        x.publish(std::to_string(size), bytes("before"));
        CHECK(x.kept().front().patch.has_value() == (size <= longest));
    }
}

TEST_SUITE_END();
