#include "gateway/push/push_plane.hpp"

#include "core/base64.hpp"
#include "gateway/telemetry/metric_family.hpp"
#include "net/loop/thrown.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <exception>
#include <span>
#include <utility>

namespace gateway::push {
namespace {

using telemetry::metric;

constexpr std::string_view retried = "retried";  // the attempt failed and is made again

std::vector<std::string_view> attempt_outcomes()
{
    std::vector<std::string_view> all{retried};
    for (std::size_t i = 0; i < push_ends; ++i) {
        all.push_back(name(static_cast<push_end>(i)));
    }
    return all;
}

using core::errc;

constexpr std::chrono::seconds contained_pause{2};  // until one that cannot be tried is looked at again
constexpr std::chrono::seconds drop_pause{1};       // until the store is asked again to forget what has ended
// A body of numbers and brackets of this size takes a few milliseconds.
constexpr std::size_t made_at_once = 256 * 1024;

net::task<core::result<std::optional<std::uint64_t>>>
keep_in(threads::store_thread& store, store::kept_delivery delivery)
{
    std::function work = [kept = std::move(delivery)](store::engine& engine) { return engine.keep_delivery(kept); };
    co_return co_await store.write(std::move(work));
}

net::task<core::result<std::optional<store::kept_delivery>>> read_in(threads::store_thread& store, std::uint64_t number)
{
    std::function work = [number](store::engine& engine) { return engine.delivery(number); };
    co_return co_await store.ask(std::move(work));
}

net::task<core::result<>> drop_in(threads::store_thread& store, std::uint64_t number)
{
    std::function work = [number](store::engine& engine) { return engine.drop_delivery(number); };
    co_return co_await store.write(std::move(work));
}

queue_limits limits_of(const config::limit_settings& limits) noexcept
{
    return {limits.push_queue, limits.push_queue_agent, limits.push_queue_bytes};
}

// Place of a delivery that is being written; given back at the end, also of a write that throws, unless it is used.
class reserved_place {
public:
    reserved_place(push_queue& queue, std::size_t& under_way, const store::delivery_facts& of) noexcept
        : queue_{queue},
          under_way_{under_way},
          of_{of}
    {
        ++under_way_;
    }
    ~reserved_place()
    {
        --under_way_;
        if (!used_) {
            queue_.give_up(of_.agent, of_.size);
        }
    }
    reserved_place(const reserved_place&) = delete;
    reserved_place& operator=(const reserved_place&) = delete;

    void use() noexcept { used_ = true; }

private:
    push_queue& queue_;
    std::size_t& under_way_;
    const store::delivery_facts& of_;
    bool used_ = false;
};

push_verdict verdict_of(push_end end, std::string why)
{
    push_verdict verdict;
    verdict.end = end;
    verdict.why = std::move(why);
    return verdict;
}

push_verdict later(std::string why)
{
    push_verdict verdict;
    verdict.why = std::move(why);
    return verdict;
}

}  // namespace

delivery_store deliveries_in(threads::store_thread& store)
{
    return {
        [&store](store::kept_delivery delivery) { return keep_in(store, std::move(delivery)); },
        [&store](std::uint64_t number) { return read_in(store, number); },
        [&store](std::uint64_t number) { return drop_in(store, number); },
        store.shared()
    };
}

push_plane::push_plane(net::deadlines& by, push_services services, const config::settings& settings)
    : services_{std::move(services)},
      settings_{settings},
      queue_{limits_of(settings.limits)},
      attempts_{metric("cardea_push_attempts_total"), attempt_outcomes()}
{
    by.add(*this);
}

core::result<> push_plane::load(store::engine& records)
{
    auto found = records.deliveries();
    if (!found) {
        return std::move(found).error();
    }
    const auto now = services_.now();
    for (auto& each : *found) {
        queue_.restore(std::move(each), now);
    }
    return {};
}

void push_plane::take_over(std::vector<store::delivery_facts> deliveries)
{
    const auto now = services_.now();
    for (auto& each : deliveries) {
        const bool ended = std::ranges::find(undropped_, each.number) != undropped_.end();
        if (!stopped_ && !ended && !queue_.has(each.number)) {
            queue_.restore(std::move(each), now);
        }
    }
}

net::task<core::result<std::string>> push_plane::accept(model::push_delivery delivery)
{
    if (stopped_) {
        co_return core::gateway_error(errc::draining);
    }
    store::kept_delivery kept;
    kept.id = new_id();
    kept.agent = std::move(delivery.agent);
    kept.lane = std::move(delivery.lane);
    kept.address = std::move(delivery.address);
    kept.body = std::move(delivery.body);
    kept.received = store::whole_milliseconds(services_.clock());
    store::delivery_facts facts{0, kept.id, kept.agent, kept.lane, kept.body.size(), kept.received};
    auto shares = queue_.reserve(facts);
    if (!shares) {
        co_return std::move(shares).error();
    }
    reserved_place place{queue_, under_way_, facts};
    auto keeping = services_.store.keep(std::move(kept));
    const auto number = co_await std::move(keeping);
    if (!number) {
        co_return number.error();
    }
    auto id = facts.id;
    const auto& ours = *number;
    if (!ours) {
        co_return id;  // the replica that has its lane hears of it
    }
    if (queue_.has(*ours)) {
        co_return id;  // the store was faster to say so elsewhere
    }
    place.use();
    facts.number = *ours;
    queue_.add(std::move(facts), std::move(*shares), services_.now());
    co_return id;
}

std::string push_plane::new_id() const
{
    std::array<unsigned char, 16> bytes{};
    services_.random_bytes(bytes);
    return core::base64url({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void push_plane::start_due(core::steady_time now)
{
    while (!stopped_ && addresses_ != nullptr) {
        auto next = queue_.next(now);
        if (!next) {
            return;
        }
        ++under_way_;
        const auto lane = next->lane;
        auto delivering = deliver(std::move(*next));
        net::asio::co_spawn(services_.where, std::move(delivering), [this, lane](const std::exception_ptr& bug) {
            --under_way_;
            if (bug) {
                queue_.try_again(lane, services_.now() + longest_pause);
            }
            net::log_thrown(bug, services_.log, "push");
            start_due(services_.now());  // the next of its lane
        });
    }
}

net::task<> push_plane::deliver(store::delivery_facts delivery)
{
    push_verdict verdict;
    if (is_contained(delivery.agent, delivery.lane)) {
        verdict = later("contained");
    } else if (queue_.failures(delivery.lane) < settings_.limits.push_attempts) {
        auto trying = attempt(delivery);
        verdict = co_await std::move(trying);
    } else {
        // give_up_late() has not seen the last attempt: it has thrown.
        verdict = verdict_of(push_end::exhausted, "the attempts were broken off");
    }
    if (stopped_) {
        // The answer may be that the fetcher has ended. What was delivered is delivered again by the next process.
        const bool delivered = verdict.end == push_end::delivered;
        if (!delivered) {
            co_return;
        }
    }
    if (verdict.elsewhere) {
        queue_.finish(delivery.lane, services_.now());
        co_return;
    }
    if (!verdict.end && (verdict.untried || is_contained(delivery.agent, delivery.lane))) {
        if (verdict.untried || !is_too_old(delivery)) {
            queue_.put_back(delivery.lane, services_.now() + contained_pause);
            co_return;
        }
        verdict.end = push_end::expired;
    }
    if (!verdict.end) {
        give_up_late(verdict, delivery);
    }
    if (!verdict.end) {
        attempts_.count(retried);
        const auto failures = queue_.failures(delivery.lane) + 1;
        const auto pause = pause_after(failures, verdict.patience, services_.random());
        services_.log.write(
            core::log_level::debug,
            "push_retried",
            {{"agent", delivery.agent}, {"delivery", delivery.id}, {"reason", verdict.why}, {"attempts", failures}}
        );
        queue_.try_again(delivery.lane, services_.now() + pause);
        co_return;
    }
    const bool answers = *verdict.end != push_end::exhausted && *verdict.end != push_end::expired;
    note(*verdict.end, verdict, delivery);
    auto dropping = services_.store.drop(delivery.number);
    const auto dropped = co_await std::move(dropping);
    if (!dropped && services_.store.shared) {
        undropped_.push_back(delivery.number);
    }
    if (!dropped) {
        services_.log.write(
            core::log_level::warn,
            "push_persist_failed",
            {{"agent", delivery.agent}, {"delivery", delivery.id}, {"detail", dropped.error().detail}}
        );
    }
    queue_.finish(delivery.lane, services_.now(), answers);
}

// Else another replica would deliver again what has ended, once this one is gone.
net::task<> push_plane::drop_again()
{
    while (!undropped_.empty()) {
        const auto number = undropped_.back();
        auto dropping = services_.store.drop(number);
        const auto dropped = co_await std::move(dropping);
        if (!dropped) {
            break;
        }
        std::erase(undropped_, number);
    }
    drop_at_ = services_.now() + drop_pause;
}

void push_plane::on_sweep(core::steady_time now)
{
    start_due(now);
    if (undropped_.empty() || now < drop_at_ || std::exchange(dropping_, true)) {
        return;
    }
    net::asio::co_spawn(services_.where, drop_again(), [this](const std::exception_ptr& bug) {
        dropping_ = false;
        net::log_thrown(bug, services_.log, "push");
    });
}

void push_plane::set_containments(const model::containments_pointer& now)
{
    contained_ = now;
    contained_owners_.clear();
    if (now != nullptr) {
        for (const auto& [name, terms] : now->principals) {
            contained_owners_.insert(model::push_owner(name.provider, name.principal));
        }
    }
}

bool push_plane::is_contained(const std::string& agent, std::string_view lane) const
{
    return contained_ != nullptr &&
           (contained_->find_agent(agent) != nullptr || contained_owners_.contains(model::names_in(lane).owner));
}

bool push_plane::is_too_old(const store::delivery_facts& delivery) const
{
    return services_.clock() - delivery.received >= settings_.timeouts.push_age;
}

// Whether it has been tried for long enough.
void push_plane::give_up_late(push_verdict& verdict, const store::delivery_facts& delivery) const
{
    if (is_too_old(delivery)) {
        verdict.end = push_end::expired;
    } else if (queue_.failures(delivery.lane) + 1 >= settings_.limits.push_attempts) {
        verdict.end = push_end::exhausted;
    }
}

void push_plane::note(push_end end, const push_verdict& verdict, const store::delivery_facts& delivery)
{
    attempts_.count(name(end));
    if (end == push_end::delivered) {
        return;
    }
    services_.log.write(
        core::log_level::warn,
        "push_failed",
        {{"agent", delivery.agent},
         {"delivery", delivery.id},
         {"reason", name(end)},
         {"detail", verdict.why},
         {"attempts", queue_.failures(delivery.lane) + 1}}
    );
}

net::task<push_verdict> push_plane::attempt(store::delivery_facts delivery)
{
    auto reading = services_.store.read(delivery.number);
    auto kept = co_await std::move(reading);
    if (!kept) {
        auto verdict = later(std::string{core::name(kept.error().code)});
        verdict.untried = kept.error().code == errc::store_unreachable;
        co_return verdict;
    }
    auto& stored = *kept;
    if (!stored && services_.store.shared) {
        push_verdict gone;
        gone.elsewhere = true;
        co_return gone;
    }
    if (!stored) {
        co_return verdict_of(push_end::unreadable, "the record is damaged");
    }
    auto& found = *stored;
    auto receiver = addresses_->open(found.agent, found.address);
    if (!receiver) {
        co_return verdict_of(push_end::unreadable, "no key opens the address");
    }
    auto sending = send(std::move(found), std::move(*receiver));
    co_return co_await std::move(sending);
}

net::task<push_verdict> push_plane::send(store::kept_delivery delivery, model::push_receiver receiver)
{
    const auto agent = services_.find(delivery.agent);
    if (agent == nullptr) {
        co_return later("agent_not_found");  // disabled for a while, perhaps
    }
    auto making = body_for(delivery, receiver.version);
    auto body = co_await std::move(making);
    if (!body) {
        const bool mended_later = body.error().from != core::side::gateway;
        auto why = std::string{core::name(body.error().code)} + ": " + body.error().detail;
        co_return mended_later ? later(std::move(why)) : verdict_of(push_end::unreadable, std::move(why));
    }
    std::string signature;
    if (sign_) {
        auto signing = sign_(*body, delivery.id);
        auto made = co_await std::move(signing);
        if (!made) {
            co_return later("signature: " + made.error().detail);
        }
        signature = std::move(*made);
    }
    if (stopped_ || is_contained(delivery.agent, delivery.lane)) {
        co_return later(stopped_ ? "draining" : "contained");
    }
    auto request = make_delivery(receiver, std::move(*body), delivery.id, settings_);
    if (!can_be_sent(request)) {
        co_return verdict_of(push_end::unreadable, "the URL or a field cannot be sent");
    }
    if (!signature.empty()) {
        request.headers.emplace_back("Cardea-Signature", std::move(signature));
    }
    const auto answer = co_await services_.fetcher.fetch(std::move(request));
    co_return judge(answer);
}

net::task<core::result<std::string>> push_plane::body_for(store::kept_delivery delivery, ::a2a::generation version)
{
    auto making = make_there(delivery.body, version);
    auto made = co_await std::move(making);
    if (made && made->missing_task) {
        auto asking = whole_task(delivery.agent, *made->missing_task);
        auto task = co_await std::move(asking);
        if (!task) {
            co_return std::move(task).error();
        }
        auto again = make_there(std::move(*task), version);
        made = co_await std::move(again);
    }
    if (!made) {
        co_return std::move(made).error();
    }
    co_return std::move(made->text);
}

// make_body(), of a long one on another thread.
net::task<core::result<outgoing_body>> push_plane::make_there(std::string notification, ::a2a::generation version)
{
    if (services_.long_bodies == nullptr || notification.size() <= made_at_once) {
        co_return make_body(notification, version);
    }
    std::function work = [text = std::move(notification), version] { return make_body(text, version); };
    co_return co_await services_.long_bodies->ask(std::move(work));
}

// 0.3 notifies of tasks only: an update of 1.0 goes out as the task that the agent has now.
net::task<core::result<std::string>> push_plane::whole_task(std::string agent, std::string task)
{
    const auto entry = services_.find(agent);
    if (entry == nullptr) {
        co_return core::upstream_error(errc::agent_not_found);
    }
    if (stopped_) {
        co_return core::upstream_error(errc::draining);
    }
    auto request = make_task_request(*entry, task, settings_);
    if (!request) {
        co_return std::move(request).error();
    }
    const bool rest = !request->body.has_value();
    const auto answer = co_await services_.fetcher.fetch(std::move(*request));
    if (!answer) {
        co_return core::upstream_error(answer.error().code, "GetTask");
    }
    co_return read_task_answer(*answer, rest);
}

void push_plane::collect(telemetry::metrics& into) const
{
    attempts_.collect(into);
    core::duration oldest{};
    if (const auto since = queue_.oldest()) {
        oldest = std::max(std::chrono::duration_cast<core::duration>(services_.clock() - *since), oldest);
    }
    into.add(metric("cardea_push_queue"), std::uint64_t{queue_.size()});
    into.add(metric("cardea_push_queue_bytes"), std::uint64_t{queue_.bytes()});
    into.add(metric("cardea_push_oldest_seconds"), telemetry::seconds(oldest));
}

}  // namespace gateway::push
