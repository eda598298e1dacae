// Extended cards that the gateway makes, as the card thread does it.
#include "gateway/cards/managed_card.hpp"

#include "gateway/cards/card_editor.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/jose/signing_keys.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/managed_card");

namespace {

using core::errc;
using core::json;
using gateway::cards::card_editor;
using gateway::model::extended_request;

class no_fetcher final : public net::fetcher {
public:
    boost::asio::awaitable<core::result<net::fetch_response>, executor_type> fetch(net::fetch_request) override
    {
        co_return core::upstream_error(errc::upstream_refused);
    }
};

net::task<> extend_into(card_editor& editor, extended_request asked, std::optional<core::result<std::string>>& out)
{
    out = co_await editor.extend(std::move(asked));
}

struct rig {
    explicit rig(bool sign = false)
    {
        if (sign) {
            settings.signing_key = files.file("own.pem");
            test_support::write_whole(settings.signing_key, a2a_test::pem(a2a_test::ec_key("P-256")));
            settings.signatures = core::signature_policy::sign;
        }
        entry->record.id = "a";
        entry->record.url = "http://agent.internal/";
        entry->record.extended_card = core::extended_card_access::managed;
        entry->record.skills = {{"gold-*", core::skill_visibility::extended, {"gold"}}};
        editor.emplace(io, fetcher, settings);
        auto signer = gateway::cards::make_signer(settings);
        REQUIRE(signer.has_value());
        editor->start(std::move(*signer), "https://gw.example");
        editor->set_settings(settings, true);
    }

    extended_request request(std::vector<std::string> scopes = {}) const
    {
        core::principal caller;
        caller.scopes = std::move(scopes);
        extended_request asked;
        asked.agent = entry;
        asked.card = std::make_shared<const gateway::model::whole_card>(gateway::model::whole_card{card, lists});
        asked.caller = std::make_shared<const core::principal>(std::move(caller));
        asked.dialect = a2a::card_dialect::v1;
        for (std::size_t i = 0; i < entry->record.overlays.size(); ++i) {
            asked.overlays.push_back(i);
        }
        return asked;
    }

    // What all of these are answered, asked at once.
    std::vector<core::result<std::string>> ask(std::vector<extended_request> all)
    {
        std::vector<std::optional<core::result<std::string>>> answers(all.size());
        io.restart();
        for (std::size_t i = 0; i < all.size(); ++i) {
            net::asio::co_spawn(io, extend_into(*editor, std::move(all[i]), answers[i]), net::asio::detached);
        }
        io.run();
        std::vector<core::result<std::string>> out;
        for (auto& each : answers) {
            REQUIRE(each.has_value());
            out.push_back(std::move(*each));
        }
        return out;
    }

    json extended(std::vector<std::string> scopes = {})
    {
        auto answer = ask({request(std::move(scopes))}).front();
        REQUIRE_MESSAGE(answer.has_value(), (answer ? "" : answer.error().detail));
        auto read = core::parse_json(*answer);
        REQUIRE(read.has_value());
        return std::move(*read);
    }

    test_support::scratch_directory files;
    config::card_settings settings;
    net::asio::io_context io{1};
    no_fetcher fetcher;
    std::shared_ptr<gateway::model::agent_entry> entry = std::make_shared<gateway::model::agent_entry>();
    std::string card =
        R"({"name":"n","description":"d","version":"1","capabilities":{},"defaultInputModes":["text/plain"],)"
        R"("defaultOutputModes":["text/plain"],"skills":[{"id":"free","name":"f","description":"d","tags":["t"]},)"
        R"({"id":"gold-1","name":"g","description":"d","tags":["t"]}],)"
        R"("supportedInterfaces":[{"url":"http://agent.internal/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]})";
    std::shared_ptr<const mcp::server_lists> lists;
    std::optional<card_editor> editor;
};

}  // namespace

TEST_CASE("One explanation of a card is made at a time, few wait for it, and none is made for who has left")
{
    rig x;
    const auto agent = std::make_shared<const core::agent>(x.entry->record);
    auto served = std::make_shared<gateway::model::card_bytes>();
    served->body = R"({"name":"n"})";
    std::stop_source left;
    std::vector<core::result<std::string>> told;
    const auto ask = [&](std::stop_token stop) {
        gateway::cards::shown_card card{x.card, x.entry->record.url, {}, served, std::move(stop)};
        net::asio::co_spawn(
            x.io,
            x.editor->explain(agent, std::move(card)),
            [&](const std::exception_ptr& bug, core::result<std::string> text) {
                CHECK_FALSE(bug);
                told.push_back(std::move(text));
            }
        );
    };
    for (std::size_t i = 0; i < card_editor::most_explained + 2; ++i) {
        ask({});
    }
    x.io.run();
    REQUIRE(told.size() == card_editor::most_explained + 2);
    const auto refused = std::ranges::find_if(told, [](const auto& each) { return !each.has_value(); });
    REQUIRE(refused != told.end());
    CHECK(refused->error().code == errc::overloaded);
    CHECK(std::ranges::count_if(told, [](const auto& each) {
              return each.has_value();
          }) == card_editor::most_explained + 1);
    told.clear();
    x.io.restart();
    ask({});
    ask(left.get_token());
    ask({});
    left.request_stop();
    x.io.run();
    REQUIRE(told.size() == 3);
    const auto gone = std::ranges::find_if(told, [](const auto& each) { return !each.has_value(); });
    REQUIRE(gone != told.end());
    CHECK(gone->error().code == errc::caller_gone);
    CHECK(std::ranges::count_if(told, [](const auto& each) { return each.has_value(); }) == 2);
}

TEST_CASE("An extended card has the skills of its caller and the gateway's address")
{
    rig x;
    CHECK(x.extended().at("skills").size() == 1);
    const auto of_gold = x.extended({"gold"});
    CHECK(of_gold.at("skills").size() == 2);
    CHECK(of_gold.at("supportedInterfaces").at(0).at("url") == "https://gw.example/agents/a");
    CHECK(of_gold.at("capabilities").at("extendedAgentCard") == true);
    CHECK_FALSE(of_gold.contains("signatures"));
}

TEST_CASE("An overlay that names another address is served with the gateway's")
{
    rig x;
    x.entry->record.overlays.push_back(
        {{},
         R"({"supportedInterfaces":[{"url":"http://other.internal/x","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],)"
         R"("url":"http://other.internal/y"})"}
    );
    const auto card = x.extended();
    CHECK(core::to_text(card).find("internal") == std::string::npos);
    CHECK(card.at("supportedInterfaces").at(0).at("url") == "https://gw.example/agents/a");
}

TEST_CASE("With the policy sign an extended card is signed as a public one is, over what this caller sees")
{
    rig x{/*sign=*/true};
    const auto of_plain = x.extended();
    const auto of_gold = x.extended({"gold"});
    CHECK(of_plain.at("signatures").size() >= 1);
    CHECK(of_gold.at("signatures").size() >= 1);
    CHECK(of_plain.at("skills").size() == 1);
    CHECK(of_gold.at("skills").size() == 2);
}

TEST_CASE("Overlays that leave no name end in extended_card_incomplete")
{
    rig x;
    x.entry->record.overlays.push_back({{}, R"({"name":null})"});
    const auto answer = x.ask({x.request()}).front();
    REQUIRE(answer.has_error());
    CHECK(answer.error().code == errc::extended_card_incomplete);
}

TEST_CASE("Of one agent so many extended cards wait, and one more is refused")
{
    rig x;
    for (const auto count :
         {card_editor::most_extended - 1, card_editor::most_extended, card_editor::most_extended + 1}) {
        CAPTURE(count);
        std::vector<extended_request> all;
        for (std::size_t i = 0; i < count; ++i) {
            all.push_back(x.request());
        }
        const auto answers = x.ask(std::move(all));
        std::size_t refused = 0;
        for (const auto& each : answers) {
            refused += each.has_error() && each.error().code == errc::overloaded ? 1 : 0;
        }
        CHECK(refused == (count > card_editor::most_extended ? 1 : 0));
    }
}

TEST_CASE("A principal has at most half of the extended cards of an agent that wait, and another one's is made")
{
    rig x;
    const auto of = [&](const std::string& id) {
        auto asked = x.request();
        core::principal caller;
        caller.provider = "keys";
        caller.id = id;
        asked.caller = std::make_shared<const core::principal>(std::move(caller));
        return asked;
    };
    std::vector<extended_request> all;
    for (std::size_t i = 0; i < card_editor::most_extended; ++i) {
        all.push_back(of("one"));
    }
    all.push_back(of("two"));
    for (int again = 0; again < 2; ++again) {
        auto answers = x.ask(all);
        CHECK(answers.back().has_value());
        answers.pop_back();
        const auto made = std::ranges::count_if(answers, [](const auto& each) { return each.has_value(); });
        CHECK(made == card_editor::most_extended / 2);
    }
}

TEST_CASE("What is asked once the gateway ends fails with draining")
{
    rig x;
    x.editor->stop();
    const auto answer = x.ask({x.request()}).front();
    REQUIRE(answer.has_error());
    CHECK(answer.error().code == errc::draining);
}

TEST_CASE(
    "Of an MCP server's lists the tools and prompts are left out that the caller may not see, and all lists stay if "
    "none is"
)
{
    auto lists = std::make_shared<mcp::server_lists>();
    lists->lists[mcp::index_of(mcp::list_kind::tools)] = {
        {"free", R"({"name":"free","inputSchema":{}})"},
        {"gold-1", R"({"name":"gold-1","inputSchema":{}})"}
    };
    const auto prompts = mcp::index_of(mcp::list_kind::prompts);
    lists->lists[prompts] = {{"gold-2", R"({"name":"gold-2"})"}, {"free", R"({"name":"free"})"}};
    const gateway::cards::server_lists_pointer all = lists;
    const std::vector<core::skill_rule> none;
    CHECK(gateway::cards::visible_lists(all, {none, nullptr}) == all);
    const std::vector<core::skill_rule> rules{
        {.id = "gold-*", .visibility = core::skill_visibility::extended, .required_scopes = {"gold"}}
    };
    const std::vector<std::string> scopes{"gold"};
    CHECK(gateway::cards::visible_lists(all, {rules, nullptr})->lists[prompts].size() == 1);
    CHECK(gateway::cards::visible_lists(all, {rules, &scopes})->lists[prompts].size() == 2);
    rig x;
    x.lists = all;
    x.entry->record.speaks = core::protocol::mcp;
    x.entry->record.url.clear();
    const auto of_plain = x.extended();
    CHECK(core::to_text(of_plain).find("gold-1") == std::string::npos);
    CHECK(of_plain.at("skills").size() == 1);
    CHECK(x.extended({"gold"}).at("skills").size() == 2);
}

TEST_SUITE_END();
