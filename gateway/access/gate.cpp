#include "gateway/access/gate.hpp"

#include "net/loop/ask.hpp"
#include "net/server/timed_ask.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <exception>
#include <utility>

namespace gateway::access {
namespace {

model::presented_credential presented_as(const credential& found)
{
    model::presented_credential presented;
    presented.text = found.text();
    if (found.field != nullptr) {
        presented.place = found.field->place;
        presented.field = found.field->name;
    }
    return presented;
}

}  // namespace

void gate::set_plan(std::shared_ptr<const access_plan> plan, std::shared_ptr<failure_limit> failures)
{
    plan_ = std::move(plan);
    failures_ = std::move(failures);
    accepted_.clear();
    questions_.clear();
}

std::optional<core::result<caller>>
gate::identify(net::caller_exchange& connection, std::string_view address, bool for_agent)
{
    const auto read = plan_->reader().read(connection.head(), for_agent);
    if (!read) {
        return read.error();
    }
    const std::optional<credential>& found = *read;
    if (!found) {
        return owner_of(connection);
    }
    const auto hash = hash_of(*found);
    const auto now = connection.owner().now();
    if (const auto* known = accepted_.find(hash, now)) {
        return *known;
    }
    // A credential that was good lately is not a guess: others who share its address do not keep it out.
    if (!accepted_.remembers(hash) && !failures_->allows(address, now)) {
        return core::caller_error(core::errc::rate_limited, "credentials of the address failed too often");
    }
    auto judged = plan_->judge(*found, std::chrono::system_clock::now());
    if (!judged) {
        return std::nullopt;
    }
    if (!*judged) {
        accepted_.forget(hash);
        failures_->note_failure(address, now);
        return std::move(*judged).error();
    }
    if (observer_) {
        observer_(*(**judged).owner);
    }
    return keep(hash, std::move(**judged), now);
}

net::routine<core::result<caller>>
gate::ask(net::caller_exchange& connection, std::string_view address, core::steady_time due, bool for_agent)
{
    const auto failures = failures_;
    const auto read = plan_->reader().read(connection.head(), for_agent);
    const auto found = read ? *read : std::nullopt;
    if (!found) {
        // identify() has said so already.
        co_return core::gateway_error(core::errc::internal, "a question about no credential");
    }
    const auto hash = hash_of(*found);
    const auto same = questions_.find(hash);
    const bool shares = same != questions_.end();
    const auto about = shares ? same->second : begin(*found, hash, address, connection.owner());
    const auto now = connection.owner().now();
    const auto* const known = accepted_.find_kept(hash, now);
    const auto kept = known == nullptr ? caller{} : *known;
    if (kept) {
        due = std::min(due, about->begun + longest_wait);
        if (due <= now && !about->answered()) {
            co_return kept;
        }
    }
    const auto owner = co_await question::wait(about, connection, due);
    about->is_left = about->is_left || (!owner && !shares);
    if (kept && (!owner || (!*owner && owner->error().code == core::errc::access_unavailable))) {
        co_return kept;
    }
    if (!owner) {
        co_return net::gave_up(connection);
    }
    if (shares && !*owner && owner->error().code == core::errc::unauthenticated) {
        failures->note_failure(address, connection.owner().now());
    }
    co_return *owner;
}

std::shared_ptr<gate::question>
gate::begin(const credential& found, const core::hash_value& hash, std::string_view address, net::loop& here)
{
    auto about = std::make_shared<question>(here.now());
    auto presented = presented_as(found);
    presented.sender = number_of(address);
    asking what{about, hash, std::move(presented), std::string{address}, here};
    net::start(settle(std::move(what)), [about](const std::exception_ptr& failure) {
        if (failure && !about->answered()) {
            about->fail(failure);
        }
    });
    return about;
}

// Asks the question, and answers it to those who still wait, or to nobody: the next request has the answer too, and what is refused
// was a guess all the same.
net::routine<> gate::settle(asking what)
{
    const auto failures = failures_;
    // Many calls with one token are no guesses: they take one place of their address.
    const failure_limit::question under_way{*failures, what.address};
    const asked_question asked{*this, what};
    auto owner = co_await verify(std::move(what.presented), what.hash, what.here);
    if (!owner && owner.error().code == core::errc::unauthenticated) {
        accepted_.forget(what.hash);
        failures->note_failure(what.address, what.here.now());
        if (what.about->is_left && refusal_observer_) {
            refusal_observer_(what.address);
        }
    }
    what.about->answer(std::move(owner));
}

net::routine<core::result<caller>>
gate::verify(model::presented_credential presented, core::hash_value hash, net::loop& here)
{
    const auto plan = plan_;
    auto asked = control_.verify(std::move(presented));
    auto accepted = co_await net::ask(control_.executor, here.get_executor(), std::move(asked));
    if (!accepted) {
        co_return std::move(accepted).error();
    }
    if (observer_ && accepted->is_key) {
        observer_(*accepted->owner);
    }
    if (plan != plan_) {
        co_return std::move(accepted->owner);  // of settings that have ended: not for the next request
    }
    co_return keep(hash, std::move(*accepted), here.now());
}

gate::asked_question::asked_question(gate& of, const asking& what)
    : gate_{of},
      what_{what}
{
    gate_.questions_.emplace(what_.hash, what_.about);
}

gate::asked_question::~asked_question()
{
    // Another plan may have begun, with questions of its own.
    const auto own = gate_.questions_.find(what_.hash);
    if (own != gate_.questions_.end() && own->second == what_.about) {
        gate_.questions_.erase(own);
    }
}

// The owner of the connection itself, by the certificate that its caller has shown.
core::result<caller> gate::owner_of(net::caller_exchange& connection)
{
    const auto* shown = connection.certificate();
    if (shown == nullptr) {
        return caller{};
    }
    const auto hash = hash_("certificate", shown->fingerprint);
    const auto now = connection.owner().now();
    if (const auto* known = accepted_.find(hash, now)) {
        return *known;
    }
    auto judged = plan_->judge(*shown, std::chrono::system_clock::now());
    if (!judged) {
        return caller{};
    }
    return *judged ? core::result<caller>{keep(hash, std::move(**judged), now)} : std::move(*judged).error();
}

core::hash_value gate::hash_of(const credential& found)
{
    if (found.field == nullptr) {
        return hash_({}, found.text());
    }
    // Its number says where it was found: another plan, with other fields, forgets what is known of credentials.
    const auto number = static_cast<std::uint64_t>(found.field - plan_->reader().fields().data());
    const auto bytes = std::bit_cast<std::array<char, sizeof number>>(number);
    return hash_({bytes.data(), bytes.size()}, found.text());
}

caller gate::keep(const core::hash_value& hash, model::accepted_credential accepted, core::steady_time now)
{
    // An accepted credential that has expired meanwhile is remembered too: it was not a guess.
    const auto left = std::clamp<core::wall_time::duration>(
        accepted.until - std::chrono::system_clock::now(),
        core::wall_time::duration::zero(),
        model::longest_acceptance
    );
    const auto ends = std::clamp<core::wall_time::duration>(
        accepted.ends - std::chrono::system_clock::now(),
        core::wall_time::duration::zero(),
        2 * left
    );
    const auto since_now = [now](core::wall_time::duration time) {
        return now + std::chrono::duration_cast<core::steady_time::duration>(time);
    };
    accepted_.insert(hash, accepted.owner, since_now(left), since_now(ends));
    return std::move(accepted.owner);
}

model::access_outcome outcome_of(const core::result<caller>& owner) noexcept
{
    if (owner) {
        return *owner ? model::access_outcome::accepted : model::access_outcome::anonymous;
    }
    switch (owner.error().code) {
        case core::errc::bad_request:
            return model::access_outcome::ambiguous;
        case core::errc::access_unavailable:
        case core::errc::upstream_timeout:  // the caller waited no longer
        case core::errc::draining:
            return model::access_outcome::unavailable;
        case core::errc::rate_limited:
            return model::access_outcome::limited;
        default:
            return model::access_outcome::refused;
    }
}

std::optional<model::denial> denial_of(model::access_outcome outcome, core::errc code) noexcept
{
    using model::access_outcome;
    using model::denial;
    switch (outcome) {
        case model::access_outcome::refused:
            return model::denial::refused;
        case model::access_outcome::ambiguous:
            return model::denial::ambiguous;
        case model::access_outcome::limited:
            return model::denial::limited;
        case model::access_outcome::unavailable:
            return model::denial::unavailable;
        case model::access_outcome::accepted:
        case model::access_outcome::anonymous:
            break;
    }
    if (code == core::errc::unauthenticated) {
        return model::denial::unauthenticated;
    }
    return code == core::errc::forbidden ? std::optional{model::denial::forbidden} : std::nullopt;
}

}  // namespace gateway::access
