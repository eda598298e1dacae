#include "gateway/wiring/server.hpp"

#include "config/exposure.hpp"
#include "gateway/lifecycle/open_store.hpp"
#include "gateway/management/agent_health.hpp"
#include "gateway/model/version.hpp"
#include "gateway/reload/configuration.hpp"
#include "gateway/responses/answer.hpp"
#include "gateway/telemetry/metric_family.hpp"
#include "gateway/telemetry/process_stats.hpp"
#include "gateway/wiring/access_explainer.hpp"
#include "gateway/wiring/agent_publication.hpp"
#include "gateway/wiring/caller_sessions.hpp"
#include "gateway/wiring/containment_publication.hpp"
#include "gateway/wiring/pin_publication.hpp"
#include "gateway/wiring/worker_settings.hpp"
#include "mcp/transport/stdio_transport.hpp"
#include "net/loop/thrown.hpp"
#include "net/upstream/proxies.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>
#include <iterator>
#include <utility>

namespace gateway::wiring {
namespace {

// 0: one for each core that the process may use.
std::size_t or_cores(std::uint64_t configured)
{
    return configured > 0 ? static_cast<std::size_t>(configured) : telemetry::usable_cores();
}

sessions::program_settings
programs_of(const config::settings& settings, threads::turns& operators, threads::side_thread& long_bodies)
{
    return {::mcp::inherited_environment(), or_cores(settings.limits.program_starts), operators, &long_bodies};
}

std::vector<net::executor> executors_of(worker::worker_list workers)
{
    std::vector<net::executor> all;
    std::ranges::transform(workers, std::back_inserter(all), [](const auto& each) { return each->executor(); });
    return all;
}

std::vector<const net::heartbeat*> pulses_of(net::loop& control, worker::worker_list workers)
{
    std::vector<const net::heartbeat*> all{&control.timers().pulse()};
    for (const auto& each : workers) {
        all.push_back(&each->pulse());
    }
    return all;
}

// Snapshots from now on say with which keys.
core::result<> start_cards(
    const config::settings& settings,
    cards::card_thread& thread,
    management::registry& agents,
    push::push_plane& deliveries,
    const std::string& public_base
)
{
    auto signer = cards::make_signer(settings.cards);
    if (!signer) {
        return std::move(signer).error();
    }
    if (*signer) {
        agents.set_key_set(model::make_card_bytes(model::body_with_strong_etag((*signer)->key_set())));
    }
    const bool can_sign = *signer && (*signer)->can_sign();
    if (can_sign && settings.push_sign) {
        sign_deliveries(deliveries, *signer, public_base);
    }
    thread.start(can_sign ? std::move(*signer) : nullptr, public_base, cards::grpc_terms_of(settings));
    return {};
}

net::task<> fetch_card(cards::card_plane& cards, std::string agent)
{
    auto asked = cards.obtain(std::move(agent));
    static_cast<void>(co_await std::move(asked));
}

// Workers make access lines for them that the log's level leaves out; null: there are none.
void set_viewers(worker::worker_list workers, core::log_sink* viewers)
{
    for (const auto& each : workers) {
        each->post([viewers](worker::worker& on) { on.lines().set_viewers(viewers); });
    }
}

}  // namespace

server::server(
    config::settings settings,
    std::unique_ptr<store::engine> records,
    const core::logger& log,
    log_hooks hooks
)
    : settings_{std::move(settings)},
      log_{log},
      log_hooks_{std::move(hooks)},
      started_{std::chrono::system_clock::now()},
      breakers_{control_, workers_, settings_, log_},
      traces_{control_, workers_, log_},
      overload_{control_.get_executor(), settings_.overload, log_},
      audit_{control_, log_},
      events_{control_, log_hooks_.live, [this](auto* viewers) { set_viewers(workers_, viewers); }},
      store_{std::move(records)},
      status_{
          [this] { return serves_ && !end_->begun(); },
          [this] { return audit_.failing(); },
          [this] { return metrics(); }
      },
      scrapers_{status_, log_},
      listeners_{control_, settings_, shared_, log_},
      reports_{control_.get_executor(), log_},
      upgrade_{control_, log_},
      signals_{control_.get_executor()}
{
    store_.set_longest_wait(settings_.store_options.timeout);
    store_.set_write_timer([this](auto took) { store_times_.observe(took); });
}

server::~server()
{
    static_cast<void>(net::use_proxies({}, {}));  // none cannot be wrong
}

void server::set_service(lifecycle::inherited_listeners sockets, const net::service_manager& manager)
{
    inherited_ = std::move(sockets);
    reports_.set_manager(manager);
}

void server::set_old_process(upgrade::old_process* from, upgrade::upgrade_state passed)
{
    listeners_.certificates().set_tickets(std::exchange(passed.tickets, {}));
    upgrade_.set_old_process(from, std::move(passed));
}

core::result<> server::start()
{
    if (auto used = net::use_proxies(settings_.proxy, settings_.no_proxy); !used) {
        return used;
    }
    if (auto opened = audit_.open(settings_.audit, lifecycle::replica_field_of(settings_)); !opened) {
        return opened;
    }
    fetcher_ = std::make_unique<net::curl_fetcher>(control_, "cardea/" + std::string(model::version()));
    metadata_ = std::make_unique<access::server_metadata>(*fetcher_, std::chrono::steady_clock::now);
    card_thread_ = std::make_unique<cards::card_thread>(settings_.cards, shared_.names);
    source_ = std::make_unique<cards::card_source>(*fetcher_, card_thread_->editor(), settings_);
    cards_ = std::make_unique<cards::card_plane>(control_, *source_, card_thread_->editor(), settings_.cards, log_);
    keeper_ = std::make_unique<cards::card_store>(control_, store_, log_);
    cards_->set_store(*keeper_);
    card_history_ = std::make_unique<cards::card_history>(control_, store_, card_thread_->editor(), log_);
    cards_->set_history(*card_history_);
    cards_->set_pause([this] { return overload_.level() > 0; });
    cards_->set_audit(audit_.trail());
    auto programs = programs_of(settings_, turns_.operators, long_bodies_);
    sessions_ = std::make_unique<sessions::session_plane>(control_, *cards_, log_, settings_.mcp, std::move(programs));
    make_bridge();
    registry_ = std::make_unique<management::registry>(settings_, store_, log_, turns_.operators);
    pins_ = make_pin_book({control_, settings_, *registry_, store_, log_, *cards_, *sessions_});
    pins_->set_audit(audit_.trail());
    agent_tokens_ = make_token_plane(control_, *fetcher_, *registry_, log_);
    supply_tokens(*agent_tokens_, *source_, *sessions_);
    push_ = make_push_plane(control_, {*fetcher_, *registry_, store_, long_bodies_, log_}, settings_);
    credentials_ = std::make_unique<access::credential_verifier>(
        access::key_set_services{*fetcher_, key_set_thread_, log_, std::chrono::steady_clock::now},
        std::chrono::system_clock::now
    );
    make_management();
    directory_ = std::make_unique<management::directory>(*registry_, *cards_, turns_.callers, management_->memory());
    reloader_ = std::make_unique<reload::reloader>(control_, std::move(from_), *registry_, settings_, log_);
    reloader_->set_audit(audit_.trail());
    make_services();
    if (auto bound = open_listeners(); !bound) {
        return bound;
    }
    public_base_ = reload::public_base_of(settings_, listeners_.traffic_address());
    if (auto loaded = load_kept(); !loaded) {
        return loaded;
    }
    session_key_ = own_session_key(store_.engine(), log_);
    tasks_ = std::make_unique<task_keeper>(control_, store_, log_, settings_, session_key_);
    services_->tasks = &tasks_->index();
    upgrade_.give_passed(*sessions_);
    registry_->set_audit(audit_.trail());
    if (auto started = start_cards(settings_, *card_thread_, *registry_, *push_, public_base_); !started) {
        return started;
    }
    worker_settings_ = make_worker_settings({workers_, *push_, session_key_, store_, *callers_, log_hooks_.changed});
    list_planes();
    apply_settings(
        std::vector<std::string_view>{"access", "mcp.bundles", "rate_limits", "mcp.session_keys", "trace.endpoint"}
    );
    breakers_.checks().begin(*fetcher_, *source_);
    publish_agents({workers_, planes_, *registry_, *cards_, *sessions_, *directory_, *bridge_}, public_base_);
    start_reloads();
    make_end();
    return {};
}

void server::make_management()
{
    management_ = std::make_unique<management::management>(settings_, *registry_, *cards_, *sessions_, turns_);
    management_->set_bundles([this](const auto& after) { return bundles_->members().description_after(after); });
    management_->set_sources(
        {[this] { return facts(); },
         [this] { return reloader_->dump(); },
         &public_base_,
         [this](auto asked) {
             explainer_facts now{settings_, *registry_, *credentials_, access_->callers(), containments_->now()};
             return explain_access(std::move(now), std::move(asked));
         },
         [this] { return replicas_ == nullptr ? model::replicas{} : replicas_->listed(); }}
    );
    management_->set_pins(*pins_);
}

// Loads all that the store has, before it is asked for anything else.
core::result<> server::load_kept()
{
    containments_ = make_containment_table(
        {control_, workers_, admin_->guard(), *callers_, *source_, *push_, *registry_, store_, log_}
    );
    management_->set_containments(*containments_);
    auto loaded = pins_->load(store_.engine());
    return loaded ? load_all(*containments_, *registry_, *push_, store_.engine(), upgrade_.unwritten()) : loaded;
}

// A connection within the process goes to the worker that has the caller's, or else the fewest connections.
void server::serve_within(net::accepted_socket from, const net::loop* home)
{
    const auto open = [](const auto& each) { return each->service().open(); };
    const auto own =
        std::ranges::find_if(workers_, [home](const auto& each) { return &each->service().owner() == home; });
    auto& to = own == workers_.end() ? **std::ranges::min_element(workers_, {}, open) : **own;
    to.service().expect_one();
    auto socket = std::make_shared<net::accepted_socket>(std::move(from));
    to.post([socket](worker::worker& on) { on.service().serve(std::move(*socket)); });
}

// What makes calls within the process.
void server::make_bridge()
{
    inner_calls_ = std::make_unique<model::inner_calls>(
        control_,
        inner_,
        [this](net::accepted_socket from, const net::loop* home) { serve_within(std::move(from), home); }
    );
    bridge_ = std::make_unique<bridge::bridge_plane>(bridge::bridge_services{
        control_,
        *inner_calls_,
        inner_,
        log_,
        long_bodies_,
        [this](auto id) { return fetch_card(*cards_, std::move(id)); },
        [this](const auto& id) { return sessions_->known_lists(id); },
        [this](auto id) { return sessions_->refresh(std::move(id)); },
        [this](const auto& id) { return served_agent(*registry_, id); }
    });
    auto& bridged = bridge_->agents();
    callers_ = make_caller_sessions({control_, workers_, *sessions_, bridged, log_}, settings_.mcp);
    bundles_ = std::make_unique<agent_bundles>(
        agent_bundles::parts{control_, workers_, *sessions_, bridged, *inner_calls_, log_}
    );
    callers_->set_observer([this](const std::string& id) { bundles_->members().lists_changed(id); });
}

net::task<bool> server::is_ready() const
{
    co_return status_.ready();
}

// Each function looks a plane up when it is called: those that it names are made by the end of start().
void server::make_services()
{
    registry_->set_bridge([this] { return bridge_->dial(); });
    bundles_->members().set_agent_source(agents_of_bundles(*registry_));
    services_.reset(new model::control_services{
        .executor = control_.get_executor(),
        .card_executor = card_thread_->editor().executor(),
        .credentials = {control_.get_executor(), [this](auto shown) { return credentials_->verify(std::move(shown)); }},
        .long_bodies = long_bodies_,
        .caller_sessions = callers_->over_http(),
        .programs = callers_->programs(),
        .metadata = *metadata_,
        .overload = overload_.level(),
        .bundles = bundles_->services(),
        .inner = inner_,
        .ready = [this] { return is_ready(); },
        .largest_card = [this] { return card_thread_->largest_card(); },
        .card = [this](auto id) { return cards_->obtain(std::move(id)); },
        .directory = [this](auto asked) { return directory_->render(std::move(asked)); },
        .edit = [this](auto answer) { return card_thread_->origins().edit(std::move(answer)); },
        .extend = [this](auto asked) { return card_thread_->origins().extend(std::move(asked)); },
        .move = [this](auto asked) { return card_thread_->origins().move(std::move(asked)); },
        .agent_with_token =
            [this](auto id, auto refused) { return agent_tokens_->agent(std::move(id), std::move(refused)); },
        .exchange = [this](auto asked) { return agent_tokens_->exchange(std::move(asked)); },
        .deliver = [this](auto notification) { return push_->accept(std::move(notification)); },
        .enroll = [this](auto body, auto by) { return management_->enroll(std::move(body), std::move(by)); },
        .manage =
            [this](auto body, auto rights, auto left) {
                return management_->handle(std::move(body), {std::move(rights), std::move(left)});
            },
        .audit = [this](const auto& notes) { audit_.add(notes); },
        .note_calls =
            [this](auto notes) {
                net::asio::post(control_.get_executor(), [this, noted = std::move(notes)] {
                    management_->note_calls(noted, std::chrono::steady_clock::now());
                });
            },
        .note_spans = [this](auto batch) { traces_.take(std::move(batch)); },
        .breaker_changed = [this](auto agent, auto how) { breakers_.changed(std::move(agent), how); },
        .refresh_card =
            [this](auto id) {
                net::asio::post(control_.get_executor(), [this, stale = std::move(id)] {
                    cards_->refresh_stale(stale);
                });
            },
        .note_tools = note_tools_with(control_, pins_),
        .chains = &chains_
    });
    make_admin();
}

void server::make_admin()
{
    admin_.reset(new admin::admin_handler{
        {status_,
         *reloader_,
         [this] { return upgrade_.hand_over(); },
         *management_,
         *services_,
         [this](net::accepted_socket from) { serve_within(std::move(from), nullptr); },
         public_base_,
         events_},
        settings_,
        log_
    });
    access_ = std::make_unique<access_publication>(access_publication::audience{
        workers_,
        admin_->guard(),
        *card_thread_,
        *cards_,
        turns_.operators,
        bundles_->streams(),
        public_base_
    });
}

replication_parts server::replication()
{
    return {
        control_,
        settings_,
        log_,
        turns_.operators,
        long_bodies_,
        workers_,
        *registry_,
        *management_,
        *pins_,
        *containments_,
        *cards_,
        *tasks_,
        *push_,
        *reloader_,
        *worker_settings_
    };
}

// Each plane comes after those that it uses: agents and settings reach them in this order, and they stop in the opposite one.
void server::list_planes()
{
    replicas_ = make_replica_plane(store_.feed(), replication());
    planes_ = {
        &audit_,
        &listeners_,
        &traces_,
        tasks_.get(),
        &chains_,
        keeper_.get(),
        card_history_.get(),
        worker_settings_.get(),
        push_.get(),
        agent_tokens_.get(),
        credentials_.get(),
        card_thread_.get(),
        pins_.get(),
        cards_.get(),
        access_.get(),
        containments_.get(),
        &overload_,
        &breakers_,
        &breakers_.checks(),
        sessions_.get(),
        callers_.get(),
        bridge_.get(),
        bundles_.get(),
        reloader_.get(),
        &events_
    };
    if (replicas_ != nullptr) {
        planes_.push_back(replicas_.get());
    }
}

void server::apply_settings(const model::changed_settings& changed)
{
    for (auto* const each : planes_) {
        each->apply(settings_, changed);
    }
}

void server::start_reloads()
{
    reloader_->start(
        {[this](const auto& next, const auto& settings) { access_->begin(settings_, next, settings); },
         [this](const auto& settings) { apply_settings(settings); },
         [this](bool begins) { reports_.reloading(begins); }}
    );
}

void server::make_end()
{
    const auto send_last = [this](threads::drain_wait& waiting) {
        tasks_->finish();
        return finish_replica(replicas_.get(), replication(), waiting, traces_.finish(waiting));
    };
    end_ = std::make_unique<lifecycle::graceful_shutdown>(lifecycle::graceful_shutdown::parts{
        control_,
        settings_,
        log_,
        workers_,
        listeners_,
        reports_,
        planes_,
        *sessions_,
        callers_->programs(),
        [this] { return callers_->calls(); },
        [this] { fetcher_.reset(); },
        send_last,
        [this] {
            sessions_->reach().close_connections();
            inner_calls_->close();
        },
        signals_
    });
    upgrade::task_owners owners{
        [this] { return tasks_->flush(); },
        [this](auto heir) { tasks_->set_heir(std::move(heir)); },
        [this](const auto& known) { tasks_->learn(known); }
    };
    upgrade::passed_containments contained{
        [this] { return containments_->unwritten(); },
        [this](auto heir) { containments_->set_heir(std::move(heir)); },
        [this](const auto& document) { containments_->learn(document); },
        [this](auto predecessor) { containments_->set_predecessor(std::move(predecessor)); }
    };
    upgrade_.start(
        {control_,
         settings_,
         log_,
         listeners_,
         reports_,
         store_,
         *sessions_,
         std::move(owners),
         std::move(contained),
         *end_}
    );
}

core::result<> server::open_listeners()
{
    std::vector<net::http_service*> services;
    for (std::size_t i = 0; i < or_cores(settings_.workers); ++i) {
        workers_.push_back(std::make_unique<worker::worker>(*services_, settings_, shared_, log_));
        services.push_back(&workers_.back()->service());
    }
    if (auto bound = listeners_.open(std::move(services), *admin_, scrapers_, std::move(inherited_)); !bound) {
        return bound;
    }
    listeners_.certificates().set_client_authorities(config::client_authorities(settings_.access));
    return listeners_.start_tls([this](const net::tls_context& certificates) {
        for (const auto& each : workers_) {
            each->post([certificates](worker::worker& on) { on.service().set_tls(certificates); });
        }
    });
}

void server::handle_signals()
{
    end_->own_process();
    signals_.add(SIGHUP);
    signals_.add(SIGINT);
    signals_.add(SIGTERM);
    signals_.add(SIGUSR2);
    wait_for_signal();
}

void server::run()
{
    for (const auto& each : workers_) {
        each->start();
    }
    listeners_.start();
    serves_ = true;
    if (replicas_ != nullptr) {
        replicas_->start();
    }
    overload_.start(executors_of(workers_));
    upgrade_.serve([this] { begin_reports(); });
    control_.run();
    workers_.clear();  // joins; writes the last access lines
    audit_.end();
    log_.write(core::log_level::info, "stopped", {{"cut", end_->cut()}});
}

// Of a process that takes another one's place: once the service manager knows of it, which hears of nobody else.
void server::begin_reports()
{
    const auto state = [this] {
        return lifecycle::service_state{
            .agents = cards_->agents(),
            .connections = worker::open_connections(workers_),
            .rejected = reloader_->counts().refused_last
        };
    };
    reports_.serving({state, pulses_of(control_, workers_)});
}

void server::wait_for_signal()
{
    signals_.async_wait([this](net::error_code ec, int number) {
        // A signal that came with the end: to wait for another one would keep the loop from ending.
        if (ec || end_->complete()) {
            return;
        }
        log_.write(core::log_level::info, "signal", {{"number", number}});
        wait_for_signal();
        if (number == SIGHUP) {
            audit_.reopen();
            listeners_.certificates().refresh(/*asked=*/true);
            reloader_->begin(reload::reload_trigger::signal);
        } else if (number == SIGUSR2) {
            upgrade_.begin_handover();
        } else {
            begin_end();
        }
    });
}

void server::begin_end()
{
    upgrade_.abort();
    end_->begin();
}

void server::stop()
{
    net::asio::post(control_.get_executor(), [this] { begin_end(); });
}

}  // namespace gateway::wiring
