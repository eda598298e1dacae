#include "a2a/card/card_signature.hpp"
#include "gateway/cards/card_editor.hpp"
#include "gateway/cards/card_plane.hpp"
#include "gateway/cards/card_store.hpp"
#include "store/sqlite.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/jose/signing_keys.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

TEST_SUITE_BEGIN("gateway/kept_cards");

namespace {

using namespace std::chrono_literals;
using core::errc;
using gateway::model::card_answer;
using test_support::write_whole;

// One agent with one card, which is down when a test says so.
class agent_stub final : public net::fetcher {
public:
    boost::asio::awaitable<core::result<net::fetch_response>, executor_type> fetch(net::fetch_request) override
    {
        if (down) {
            co_return core::upstream_error(errc::upstream_refused, "down");
        }
        co_return net::fetch_response{.status = 200, .headers = {}, .body = card};
    }

    bool down = false;
    std::string card = R"({"name":"unsigned"})";
};

// Has cards made by the editor, but the first making of all throws.
class throwing_maker final : public gateway::cards::card_maker {
public:
    explicit throwing_maker(gateway::cards::card_editor& editor)
        : editor_{editor}
    {
    }

    net::task<core::result<gateway::cards::served_card>>
    make(std::shared_ptr<const core::agent> agent, gateway::cards::card_document document) override
    {
        if (!std::exchange(has_thrown_, true)) {
            throw std::runtime_error{"no memory"};  // beside the editor, which makes an error of it
        }
        return editor_.make(std::move(agent), std::move(document));
    }

    net::task<core::result<gateway::cards::served_card>>
    make_of_lists(std::shared_ptr<const core::agent> agent, gateway::cards::listed_card listed) override
    {
        return editor_.make_of_lists(std::move(agent), std::move(listed));
    }

    net::task<core::result<std::string>>
    compare(std::shared_ptr<const core::agent> agent, gateway::cards::card_pair cards) override
    {
        return editor_.compare(std::move(agent), std::move(cards));
    }

    net::task<core::result<std::string>>
    explain(std::shared_ptr<const core::agent> agent, gateway::cards::shown_card card) override
    {
        return editor_.explain(std::move(agent), std::move(card));
    }

private:
    gateway::cards::card_editor& editor_;
    bool has_thrown_ = false;
};

class no_log final : public core::log_sink {
public:
    void write(std::string_view) override {}
};

net::task<> obtain_into(gateway::cards::card_plane& plane, std::optional<card_answer>& out)
{
    out = co_await plane.obtain("a");
}

// A store that outlives the gateways, of which each test starts several.
struct rig {
    rig()
    {
        auto opened = store::open_sqlite({.path = files.file("store.db"), .ballast = 0});
        REQUIRE(opened.has_value());
        store.emplace(std::move(*opened));
        const auto key = jose::json_web_key::from_pem(a2a_test::pem(a2a_test::ec_key("P-256")), "k");
        REQUIRE(key.has_value());
        const auto set = core::to_text(core::json{{"keys", core::json::array({key->jwk()})}});
        for (const auto* const name : {"keys.json", "other-keys.json"}) {
            write_whole(files.file(name), set);
        }
        core::json card = {{"name", "signed"}};
        REQUIRE(a2a::sign_card(card, *key, {}).has_value());
        agent.card = core::to_text(card);
    }

    static config::settings settings(const config::card_settings& cards)
    {
        config::settings settings;
        settings.cards = cards;
        core::agent record;
        record.id = "a";
        record.url = "http://agent/";
        settings.agents.push_back(std::move(record));
        return settings;
    }

    config::card_settings verified(const std::string& trusted_keys) const
    {
        config::card_settings cards;
        cards.signatures = core::signature_policy::verify;
        cards.trusted_keys = files.file(trusted_keys);
        return cards;
    }

    // The answer to the last of some first callers of a gateway that has just been started.
    card_answer started_with(const config::card_settings& cards, bool first_throws = false)
    {
        const auto all = settings(cards);
        auto& loop = *loops.emplace_back(std::make_unique<net::loop>());
        no_log sink;
        core::logger log{sink, core::log_level::error};
        gateway::cards::card_editor editor{loop.io(), agent, all.cards};
        gateway::cards::card_source source{agent, editor, all};
        gateway::cards::card_store keeper{loop, *store, log};
        throwing_maker throwing{editor};
        auto& maker = first_throws ? static_cast<gateway::cards::card_maker&>(throwing) : editor;
        gateway::cards::card_plane plane{loop, source, maker, all.cards, log};
        editor.start(nullptr, "http://gateway");
        plane.set_publisher([](const std::string&, const auto&) {});
        plane.set_store(keeper);
        const auto snapshot = gateway::model::make_snapshot(all, "http://gateway");
        REQUIRE(snapshot.has_value());
        plane.set_agents(*snapshot);
        std::optional<card_answer> answer;
        if (first_throws) {  // this caller has the exception; the other one waits for its end
            net::asio::co_spawn(loop.get_executor(), plane.obtain("a"), net::asio::detached);
        }
        net::asio::co_spawn(loop.get_executor(), obtain_into(plane, answer), net::asio::detached);
        const auto end = std::chrono::steady_clock::now() + 30s;
        while ((!answer || keeper.busy()) && std::chrono::steady_clock::now() < end) {
            loop.io().run_for(1ms);
        }
        REQUIRE(answer.has_value());
        REQUIRE_FALSE(keeper.busy());
        return *answer;
    }

    bool recalled_with(const config::card_settings& cards)
    {
        agent.down = true;
        return started_with(cards).card != nullptr;
    }

    test_support::scratch_directory files;
    std::vector<std::unique_ptr<net::loop>> loops;  // outlive the store's thread, which lets go of one after its answer
    std::optional<gateway::threads::store_thread> store;
    agent_stub agent;
};

}  // namespace

TEST_CASE("A kept card that was verified is recalled by a gateway with the same keys")
{
    rig x;
    REQUIRE(x.started_with(x.verified("keys.json")).card != nullptr);
    CHECK(x.recalled_with(x.verified("keys.json")));
}

TEST_CASE("A kept card that was verified with other keys is not recalled")
{
    rig x;
    REQUIRE(x.started_with(x.verified("keys.json")).card != nullptr);
    CHECK_FALSE(x.recalled_with(x.verified("other-keys.json")));
    auto more_origins = x.verified("keys.json");
    more_origins.key_set_origins.emplace_back("https://keys.example.com");
    CHECK_FALSE(x.recalled_with(more_origins));
}

TEST_CASE("A kept card that nobody verified is not recalled once cards have to be verified")
{
    rig x;
    REQUIRE(x.started_with({}).card != nullptr);
    CHECK_FALSE(x.recalled_with(x.verified("keys.json")));
    CHECK(x.recalled_with({}));
}

TEST_CASE("A kept card whose making throws is as good as none: whoever waits for it gets the agent's")
{
    rig x;
    REQUIRE(x.started_with({}).card != nullptr);
    CHECK(x.started_with({}, /*first_throws=*/true).card != nullptr);
}

TEST_SUITE_END();
