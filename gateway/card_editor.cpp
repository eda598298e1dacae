#include "gateway/card_editor.hpp"

#include "config/signatures.hpp"
#include "gateway/card_variants.hpp"
#include "gateway/version.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace gateway {

using core::errc;

card_editor::card_editor(const config::settings& settings)
    : settings_{settings},
      work_{io_.get_executor()},
      fetcher_{std::make_unique<net::curl_fetcher>(io_, "cardea/" + std::string{version()})},
      source_{*fetcher_, settings_}
{
}

card_editor::~card_editor()
{
    work_.reset();
    if (thread_.joinable()) {
        thread_.join();
    }
}

void card_editor::start(std::shared_ptr<const card_signer> signer, std::string public_base)
{
    signer_ = std::move(signer);
    public_base_ = std::move(public_base);
    thread_ = std::thread{[this] { io_.run(); }};
}

void card_editor::stop()
{
    stopped_ = true;
    net::asio::post(io_, [this] {
        source_.stop();
        fetcher_.reset();
    });
}

net::task<core::result<std::string>>
card_editor::edit_card(std::shared_ptr<const agent_entry> agent, std::string document, a2a::card_dialect dialect)
{
    const auto& record = agent->record;
    const auto parsed = a2a::parse_card(document, {.bytes = settings_.cards.max_size, .depth = 64});
    if (!parsed) {
        co_return parsed.error();
    }
    auto verified = co_await source_.verify(record, std::move(document));
    if (!verified) {
        co_return std::move(verified).error();
    }
    const a2a::public_address at{public_address(public_base_, record.id)};
    const a2a::upstream_address upstream{.url = record.url, .card_url = record.card_url};
    const auto rewritten = a2a::rewrite_extended_card(*parsed, at, upstream, dialect);
    if (!rewritten) {
        co_return rewritten.error();
    }
    const bool signs = dialect == a2a::card_dialect::v1 && config::signature_rules_of(record, settings_.cards).sign;
    const signing how{signs ? signer_.get() : nullptr, public_base_};
    // What is signed is a card of 1.0 and nothing else.
    const auto shape = how.by != nullptr ? core::card_shape::v1 : rewritten->shape;
    co_return make_body(rewritten->document, shape, at, how);
}

net::task<core::result<edited_answer>> card_editor::edit(answered_card what)
{
    // Asio sends what never waited to the end of the queue before it answers, behind all who wait.
    co_await net::asio::post(net::use_task);
    if (stopped_) {
        co_return core::gateway_error(errc::draining);
    }
    core::jsonrpc_answer place{core::answer_kind::result, {}, what.text, {}};
    if (what.where.in_result) {
        auto found = a2a::find_answered_card(what.text);
        if (!found) {
            co_return std::move(found).error();
        }
        place = *found;
    }
    if (place.kind != core::answer_kind::result) {
        co_return edited_answer{std::move(what.text), false};
    }
    std::string document{place.result};
    auto card = co_await edit_card(what.agent, std::move(document), what.where.dialect);
    if (!card) {
        co_return std::move(card).error();
    }
    std::string text;
    text.reserve(place.before.size() + card->size() + place.after.size());
    text.append(place.before).append(*card).append(place.after);
    co_return edited_answer{std::move(text), true};
}

}  // namespace gateway
