#include "gateway/wiring/replication.hpp"

#include "core/json/json.hpp"
#include "gateway/lifecycle/open_store.hpp"
#include "gateway/model/version.hpp"
#include "jose/digest.hpp"
#include "net/tls/tls_context.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::wiring {
namespace {

// Of the values of reload::reloader::dump(), wherever they come from, without those that replicas have for themselves.
std::string hash_of_settings(const std::string& dumped)
{
    std::string all;
    const auto parsed = core::parse_json(dumped);
    const auto* const values = parsed ? core::member(*parsed, "values") : nullptr;
    for (std::size_t i = 0; values != nullptr && i < values->size(); ++i) {
        const auto& each = (*values)[i];
        if (const auto path = core::text_member(each, "path"); !path.starts_with("replica.")) {
            all.append(path).append("=").append(core::to_text(each["value"])).append("\n");
        }
    }
    return jose::sha256_hex(all);
}

net::task<std::string> hash_of_configuration(reload::reloader& reloader, threads::side_thread& thread)
{
    auto dumping = reloader.dump();
    const auto text = co_await std::move(dumping);
    std::function work = [text] { return hash_of_settings(*text); };
    auto hashing = thread.ask(std::move(work));
    co_return co_await std::move(hashing);
}

store::replica_facts own_facts(const config::settings& settings)
{
    store::replica_facts own;
    own.name = lifecycle::replica_name(settings.replica);
    own.url = settings.replica.url;
    own.version = model::version();
    return own;
}

replicas::feed_audience audience_of(const replication_parts& to)
{
    return {
        .agent =
            [to](const store::feed_change& change, const store::record* now, bool own) {
                to.registry.apply(change.what, now, own);
            },
        .agents = [to](auto all) { return to.registry.apply_all(std::move(all)); },
        .documents =
            [to](
                std::string_view kind,
                std::vector<store::document_change> documents,
                store::feed_reload why,
                core::steady_time began
            ) {
                return kind == store::pins_document ? to.pins.learn_kept(std::move(documents), began)
                                                    : to.containments.learn_kept(documents, why, began);
            },
        .card = [to](store::kept_card card) { to.cards.learn(std::move(card)); },
        .tasks = [to](const std::vector<store::kept_task>& tasks) { to.tasks.correct(tasks); },
        .deliveries = [to](std::vector<store::delivery_facts> all) { to.deliveries.take_over(std::move(all)); },
        .live =
            [to](const model::replicas_pointer& now) {
                to.shares.set_replicas(now->live.size(), to.settings.rate_limits);
                for (const auto& each : to.workers) {
                    each->post([now](worker::worker& on) { on.handler().set_replicas(now); });
                }
            }
    };
}

}  // namespace

std::unique_ptr<replicas::replica_plane> make_replica_plane(store::feed* feed, const replication_parts& parts)
{
    if (feed == nullptr) {
        return nullptr;
    }
    const auto& settings = parts.settings;
    auto tls = net::make_client_tls({});
    if (!tls) {
        // Replicas with an https address are not reached.
        parts.log.write(core::log_level::error, "replica_tls_failed", {{"detail", tls.error().detail}});
    }
    auto plane = std::make_unique<replicas::replica_plane>(
        parts.control.timers(),
        replicas::replica_services{
            .where = parts.control.get_executor(),
            .feed = *feed,
            .turns = parts.turns,
            .log = parts.log,
            .now = std::chrono::steady_clock::now,
            .timeout = settings.store_options.timeout,
            .poll = settings.store_options.poll,
            .own = own_facts(settings),
            .tls = tls ? std::move(*tls) : net::tls_context{},
            .configuration = [parts] { return hash_of_configuration(parts.reloader, parts.long_work); }
        },
        audience_of(parts)
    );
    auto& made = *plane;
    parts.registry.set_shared(
        {[&made](std::uint64_t version) { return made.applied(version); }, [&made] { return made.fresh(); }}
    );
    parts.methods.set_refresher([&made] { return made.fresh(); });
    return plane;
}

net::task<> finish_replica(
    replicas::replica_plane* plane,
    replication_parts parts,
    threads::drain_wait& waiting,
    net::task<> before
)
{
    co_await std::move(before);
    if (plane == nullptr) {
        co_return;
    }
    const std::function<bool()> ended = [parts] { return !parts.tasks.busy() && !parts.deliveries.busy(); };
    auto wait = waiting.wait(ended, net::never);
    co_await std::move(wait);
    auto leaving = plane->leave();
    co_await std::move(leaving);
}

}  // namespace gateway::wiring
