#include "gateway/cards/card_origins.hpp"

#include "tests/support/scratch.hpp"
#include "tests/unit/jose/signing_keys.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

TEST_SUITE_BEGIN("gateway/card_origins");

namespace {

using core::errc;
using gateway::cards::card_origins;
using gateway::model::card_bytes;
using card_pointer = std::shared_ptr<const card_bytes>;

class no_fetcher final : public net::fetcher {
public:
    boost::asio::awaitable<core::result<net::fetch_response>, executor_type> fetch(net::fetch_request) override
    {
        co_return core::upstream_error(errc::upstream_refused);
    }
};

net::task<>
move_into(card_origins& origins, gateway::model::rebased_card asked, std::optional<core::result<card_pointer>>& out)
{
    out = co_await origins.move(std::move(asked));
}

std::string card_text(const std::string& more = "")
{
    return R"({"name":"A","url":"https://gw.test/agents/a")" + more + "}";
}

card_pointer plain_card(const std::string& more = "")
{
    return gateway::model::make_card_bytes(gateway::model::body_with_strong_etag(card_text(more)));
}

struct rig {
    explicit rig(bool sign = false, std::size_t most = card_origins::most_bytes)
    {
        entry->record.id = "a";
        editor.emplace(io, fetcher, settings);
        origins.emplace(*editor, most);
        if (sign) {
            settings.signing_key = files.file("own.pem");
            test_support::write_whole(settings.signing_key, a2a_test::pem(a2a_test::ec_key("P-256")));
        }
        auto made = gateway::cards::make_signer(settings);
        REQUIRE(made.has_value());
        signer = *made;
        origins->start(signer, "https://gw.test");
    }

    void begin(
        card_pointer bytes,
        std::optional<core::result<card_pointer>>& out,
        const std::string& origin = "https://a.test"
    )
    {
        gateway::model::rebased_card asked{entry, std::move(bytes), origin};
        net::asio::co_spawn(io, move_into(*origins, std::move(asked), out), net::asio::detached);
    }

    // How many pieces of work there were, each of which others may come before.
    std::size_t run()
    {
        io.restart();
        std::size_t pieces = 0;
        while (io.run_one() != 0) {
            ++pieces;
        }
        return pieces;
    }

    core::result<card_pointer> ask(card_pointer bytes, const std::string& origin = "https://a.test")
    {
        std::optional<core::result<card_pointer>> out;
        begin(std::move(bytes), out, origin);
        run();
        REQUIRE(out.has_value());
        return std::move(*out);
    }

    card_pointer moved(card_pointer bytes, const std::string& origin = "https://a.test")
    {
        auto answer = ask(std::move(bytes), origin);
        REQUIRE(answer.has_value());
        return *answer;
    }

    test_support::scratch_directory files;
    config::card_settings settings;
    net::asio::io_context io{1};
    no_fetcher fetcher;
    std::shared_ptr<gateway::model::agent_entry> entry = std::make_shared<gateway::model::agent_entry>();
    std::shared_ptr<const gateway::cards::card_signer> signer;
    std::optional<gateway::cards::card_editor> editor;
    std::optional<card_origins> origins;
};

}  // namespace

TEST_CASE("A card at an origin has another ETag, and is the same object as long as it is kept")
{
    rig x;
    const auto card = plain_card();
    const auto there = x.moved(card);
    CHECK(there->body == R"({"name":"A","url":"https://a.test"})");
    CHECK(there->etag != card->etag);
    CHECK(there->etag.starts_with('"'));
    CHECK(there->fields.find("Content-Length: " + std::to_string(there->body.size())) != std::string::npos);
    CHECK(x.moved(card) == there);
    const auto elsewhere = x.moved(card, "https://b.test");
    CHECK(elsewhere->body == R"({"name":"A","url":"https://b.test"})");
    CHECK(x.moved(card) == there);
}

TEST_CASE("A long card is moved in pieces, and once for all who ask for it meanwhile")
{
    rig x{/*sign=*/true};
    const auto pieces_of = [&](std::size_t bytes) {
        std::optional<core::result<card_pointer>> one;
        std::optional<core::result<card_pointer>> other;
        auto document = core::parse_json(card_text(R"(,"description":")" + std::string(bytes, 'x') + '"'));
        REQUIRE(document.has_value());
        auto body = gateway::cards::signed_body(std::move(*document), {x.signer.get(), "https://gw.test"});
        REQUIRE(body.has_value());
        const auto card = gateway::model::make_card_bytes(std::move(*body));
        x.begin(card, one);
        x.begin(card, other);
        const auto pieces = x.run();
        REQUIRE(one.has_value());
        REQUIRE(other.has_value());
        REQUIRE(one->has_value());
        REQUIRE(other->has_value());
        CHECK(**one == **other);
        CHECK((**one)->body.starts_with(R"({"name":"A","url":"https://a.test",)"));
        return pieces;
    };
    CHECK(pieces_of(gateway::cards::longest_in_one_piece) > pieces_of(1));
}

TEST_CASE("A new card of the agent replaces the one at its origin")
{
    rig x;
    const auto before = x.moved(plain_card());
    const auto next = plain_card(R"(,"version":"2")");
    const auto there = x.moved(next);
    CHECK(there != before);
    CHECK(there->body == R"({"name":"A","url":"https://a.test","version":"2"})");
    CHECK(x.moved(next) == there);
}

TEST_CASE("The versions of a card move with it, those that are the same and those that are refused too")
{
    rig x;
    gateway::model::version_bodies versions{
        gateway::model::body_with_strong_etag(card_text(R"(,"v":1)")),
        core::upstream_error(errc::card_too_large, "too large")
    };
    const auto there =
        x.moved(gateway::model::make_card_bytes(gateway::model::body_with_strong_etag(card_text()), std::move(versions))
        );
    CHECK(there->by_version);
    REQUIRE(there->v1 != nullptr);
    CHECK(there->v1->body == R"({"name":"A","url":"https://a.test","v":1})");
    REQUIRE(there->v03 != nullptr);
    REQUIRE(there->v03->refused.has_value());
    CHECK(there->v03->refused->code == errc::card_too_large);

    auto same = gateway::model::body_with_strong_etag(card_text());
    const auto all_same = x.moved(gateway::model::make_card_bytes(same, {same, same}));
    CHECK(all_same->by_version);
    CHECK(all_same->v1 == nullptr);
    CHECK(all_same->v03 == nullptr);
}

TEST_CASE("A signed card is signed again for its origin, and another one is not signed")
{
    rig x{/*sign=*/true};
    auto document = core::parse_json(card_text());
    REQUIRE(document.has_value());
    auto body = gateway::cards::signed_body(std::move(*document), {x.signer.get(), "https://gw.test"});
    REQUIRE(body.has_value());
    const auto card = gateway::model::make_card_bytes(std::move(*body));
    const auto there = x.moved(card);
    auto read = core::parse_json(there->body);
    auto original = core::parse_json(card->body);
    REQUIRE(read.has_value());
    REQUIRE(original.has_value());
    CHECK((*read)["url"] == "https://a.test");
    CHECK_FALSE((*read)["signatures"].empty());
    CHECK((*read)["signatures"] != (*original)["signatures"]);
    CHECK(there->etag.starts_with("W/"));
    CHECK(there->etag != card->etag);
    CHECK(x.moved(plain_card())->body.find("signatures") == std::string::npos);
}

TEST_CASE("What is kept has a limit: the card that was asked for least lately is made again")
{
    const auto card = plain_card();
    const auto size = rig{}.moved(card)->body.size();
    for (const auto most : {2 * size - 1, 2 * size, 2 * size + 1}) {
        CAPTURE(most - 2 * size);
        rig x{/*sign=*/false, most};
        const auto first = x.moved(card);
        const auto second = x.moved(card, "https://b.test");
        CHECK((x.moved(card) == first) == (most >= 2 * size));
        // A third one takes the place of the one before the last.
        const auto again = x.moved(card);
        const auto third = x.moved(card, "https://c.test");
        CHECK(x.moved(card, "https://c.test") == third);
        CHECK((x.moved(card) == again) == (most >= 2 * size));
    }
    rig none{/*sign=*/false, size - 1};
    CHECK(none.moved(card) != none.moved(card));
}

TEST_CASE("A card that cannot be read fails with internal")
{
    rig x;
    const auto answer = x.ask(gateway::model::make_card_bytes(gateway::model::body_with_strong_etag("{")));
    REQUIRE(answer.has_error());
    CHECK(answer.error().code == errc::internal);
}

TEST_SUITE_END();
