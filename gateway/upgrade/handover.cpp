#include "gateway/upgrade/handover.hpp"

#include "gateway/model/version.hpp"
#include "gateway/upgrade/old_process.hpp"
#include "net/loop/thrown.hpp"
#include "store/memory.hpp"
#include "store/sqlite.hpp"

#include <boost/asio/co_spawn.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <exception>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace gateway::upgrade {
namespace {

using core::errc;

constexpr core::duration last_word{1000};  // of a new process that fails
constexpr core::duration patience{3000};   // for a message that the new process need not hear

// The variables of this process and what the new one is told of its service manager.
std::vector<std::string> environment_for(const net::service_manager& manager)
{
    std::vector<std::string> all;
    for (char** each = ::environ; *each != nullptr; ++each) {
        all.emplace_back(*each);
    }
    if (!manager.socket.empty()) {
        all.push_back("NOTIFY_SOCKET=" + manager.socket);
    }
    if (manager.watchdog.count() > 0) {
        all.push_back("WATCHDOG_USEC=" + std::to_string(manager.watchdog.count()));
    }
    return all;
}

core::error of_new_process(std::string what)
{
    return core::gateway_error(errc::internal, std::move(what));
}

std::string frame_of(handover_word word, std::string content = {})
{
    auto frame = framed({word, std::move(content)});
    return frame ? std::move(*frame) : std::string{};  // these are short
}

}  // namespace

struct handover::attempt {
    net::started_successor process;
    std::unique_ptr<handover_channel> channel;
    std::string version;
    std::string step = "start";
    core::steady_time begun = std::chrono::steady_clock::now();
    bool store_closed = false;
    std::vector<store::kept_document> passed{};  // containments that the store has not taken
};

handover::handover(parts all, handover_source from, handover_counts before)
    : all_{std::move(all)},
      from_{std::move(from)},
      counts_{before}
{
}

handover::~handover() = default;

std::string handover::refusal() const
{
    if (all_.end.begun() || done_) {
        return "the gateway is stopping";
    }
    if (busy_) {
        return "a hand-over is under way";
    }
    if (::getpid() == 1) {
        return "the gateway is process 1: the system ends with it";
    }
    return from_.program.empty() ? "the path that the gateway was started from is not known" : "";
}

net::task<model::handover_report> handover::run()
{
    if (auto why = refusal(); !why.empty()) {
        ++counts_.refused;
        all_.log.write(core::log_level::warn, "handover_refused", {{"reason", why}});
        co_return model::handover_report{std::move(why)};
    }
    busy_ = true;
    now_ = std::make_unique<attempt>();
    const auto done = co_await pass(*now_);
    if (done) {
        complete(*now_);
        busy_ = false;
        co_return model::handover_report{{}, now_->process.id, now_->version};
    }
    co_await take_back(*now_, done.error());
    busy_ = false;
    co_return model::handover_report{done.error().detail};
}

void handover::abort()
{
    if (busy_ && now_->channel != nullptr) {
        now_->channel->cancel();
    }
}

core::result<> handover::start(attempt& now)
{
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        return of_new_process("no socket pair: " + std::generic_category().message(errno));
    }
    core::descriptor ours{ends[0]};
    const core::descriptor theirs{ends[1]};
    net::successor_command command{from_.program, from_.arguments, environment_for(from_.manager), {}, {}};
    command.sockets = all_.addresses.sockets();
    command.sockets.emplace_back("handover", theirs.number());
    if (from_.manager.watchdog.count() > 0) {
        command.own_id.emplace_back("WATCHDOG_PID");
    }
    auto process = net::start_successor(command);
    if (!process) {
        return std::move(process).error();
    }
    now.process = std::move(*process);
    now.channel = std::make_unique<handover_channel>(all_.control.get_executor(), std::move(ours));
    return {};
}

// Passes everything that the new process needs before this one may end.
net::task<core::result<>> handover::pass(attempt& now)
{
    if (auto started = start(now); !started) {
        co_return std::move(started).error();
    }
    auto prepared = co_await prepare(now);
    if (!prepared) {
        co_return std::move(prepared).error();
    }
    now.version = prepared->version;
    if (all_.store.durable() && !all_.store.shared() && prepared->schema != store::sqlite_schema()) {
        co_return of_new_process(
            "the new process has schema " + std::to_string(prepared->schema) + " for the store, and this one " +
            std::to_string(store::sqlite_schema()) + "; expected the same, so that either can go on; restart instead"
        );
    }
    auto passed = co_await pass_state(now);
    if (!passed) {
        co_return co_await reason_for(now, std::move(passed).error());
    }
    co_return co_await expect_ready(now);
}

net::task<core::result<handover_prepared>> handover::prepare(attempt& now)
{
    now.step = "prepare";
    const auto silence = all_.settings.handover.timeout;
    auto hello = frame_of(handover_word::hello, content_of(handover_hello{.configured = from_.configured}));
    const auto said = co_await now.channel->send(std::move(hello), silence);
    if (!said) {
        co_return said.error();
    }
    auto heard = co_await now.channel->receive(silence);
    if (!heard) {
        co_return std::move(heard).error();
    }
    if (heard->word == handover_word::failed) {
        co_return of_new_process(std::move(heard->content));
    }
    auto prepared = prepared_in(heard->content);
    if (heard->word != handover_word::prepared || !prepared) {
        co_return of_new_process("the new process said something else than that it is prepared");
    }
    co_return std::move(*prepared);
}

net::task<core::result<>> handover::pass_state(attempt& now)
{
    now.step = "store";
    co_await all_.tasks.flush();
    upgrade_state state;
    state.tickets = all_.addresses.certificates().tickets();
    state.counts = counts_;
    ++state.counts.completed;
    state.lists = all_.sessions.all_lists();
    // All that takes long happens on the store's thread.
    std::vector<std::string> frames;
    std::function last = [&state, &frames](store::engine& records) -> core::result<> {
        if (!records.durable()) {
            auto all = store::contents_of(records);
            if (!all) {
                return std::move(all).error();
            }
            state.memory = std::move(*all);
        }
        auto framed = frames_of(state);
        if (!framed) {
            return std::move(framed).error();
        }
        frames = std::move(*framed);
        return {};
    };
    // Both processes may use a store that replicas share.
    auto ended = all_.store.shared() ? all_.store.ask(std::move(last)) : all_.store.close(std::move(last));
    const auto closed = co_await std::move(ended);
    if (!closed) {
        co_return closed.error();
    }
    now.store_closed = !all_.store.shared();
    now.passed = all_.contained.unwritten();
    std::ranges::transform(now.passed, std::back_inserter(frames), frame_of_unwritten);
    frames.push_back(frame_of(handover_word::store_closed));
    for (auto& each : frames) {
        const auto said = co_await now.channel->send(std::move(each), all_.settings.handover.timeout);
        if (!said) {
            co_return said.error();
        }
    }
    co_return core::result<>{};
}

net::task<core::result<>> handover::expect_ready(attempt& now)
{
    now.step = "ready";
    auto heard = co_await now.channel->receive(all_.settings.handover.timeout);
    if (!heard) {
        co_return std::move(heard).error();
    }
    if (heard->word == handover_word::failed) {
        co_return of_new_process(std::move(heard->content));
    }
    if (heard->word != handover_word::ready) {
        co_return of_new_process("the new process said something else than that it is ready");
    }
    co_return core::result<>{};
}

// A process that takes nothing any more may have said why.
net::task<core::result<>> handover::reason_for(attempt& now, core::error why)
{
    const auto heard = co_await now.channel->receive(last_word);
    if (heard && heard->word == handover_word::failed) {
        co_return of_new_process(heard->content);
    }
    co_return std::move(why);
}

// From here on the new process serves, whatever happens to this one.
void handover::complete(attempt& now)
{
    done_ = true;
    ++counts_.completed;
    all_.store.leave();
    all_.reports.succeeded_by(now.process.id);
    const auto took =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - now.begun);
    all_.log.write(
        core::log_level::info,
        "handover_completed",
        {{"process", now.process.id}, {"version", now.version}, {"milliseconds", took.count()}}
    );
    tell(frame_of(handover_word::settled));
    all_.contained.set_heir([this](const store::kept_document& document) {
        const auto& passed = now_->passed;
        if (std::ranges::find(passed, document) == passed.end()) {
            tell(frame_of_unwritten(document));
        }
    });
    now.channel->listen([this](const handover_message& message) {
        const auto document = message.word == handover_word::unwritten ? document_in(message.content) : std::nullopt;
        if (document) {
            all_.contained.learn(*document);
        }
    });
    all_.tasks.set_heir([this](const model::known_tasks& tasks) {
        for (auto& each : frames_of(tasks)) {
            tell(std::move(each));
        }
    });
}

// In order. A new process that has ended, or takes nothing, hears nothing.
void handover::tell(std::string frame)
{
    to_tell_.push_back(std::move(frame));
    if (!std::exchange(telling_, true)) {
        net::asio::co_spawn(all_.control.get_executor(), tell_all(), [this](const std::exception_ptr& bug) {
            telling_ = false;
            net::log_thrown(bug, all_.log, "handover");
        });
    }
}

net::task<> handover::tell_all()
{
    while (!to_tell_.empty()) {
        auto frame = std::move(to_tell_.front());
        to_tell_.pop_front();
        const auto said = co_await now_->channel->send(std::move(frame), patience);
        if (!said) {
            to_tell_.clear();
        }
    }
}

net::task<> handover::take_back(attempt& now, const core::error& why)
{
    if (now.channel != nullptr) {
        now.channel->cancel();
    }
    if (now.process.id > 0) {
        net::kill_successor(now.process);
    }
    auto reason = why.detail;
    if (now.store_closed) {
        const auto opened = co_await all_.store.open(from_.open_store);
        if (!opened) {
            reason += "; the store does not open again: " + opened.error().detail;
        }
    }
    ++counts_.failed;
    all_.log.write(core::log_level::error, "handover_failed", {{"step", now.step}, {"reason", reason}});
}

void handover::free()
{
    if (!done_ || now_->channel == nullptr) {
        return;
    }
    tell(frame_of(handover_word::free));
}

bool handover::end()
{
    if (!telling_ && now_ != nullptr && now_->channel != nullptr) {
        now_->channel->cancel();
    }
    return !telling_;
}

void process_upgrade::set_old_process(old_process* from, upgrade_state passed)
{
    old_process_ = from;
    passed_ = std::move(passed);
}

void process_upgrade::give_passed(sessions::session_plane& sessions)
{
    if (old_process_ == nullptr) {
        return;
    }
    sessions.set_passed(sessions::by_agent(std::exchange(passed_.lists, {})));
    programs_ = &sessions.turns();
    programs_->hold();  // a server may have what only one of its processes can have
}

void process_upgrade::start(handover::parts all)
{
    end_ = &all.end;
    learn_ = all.tasks.learn;
    contained_ = all.contained;
    handover_ = std::make_unique<handover>(std::move(all), std::move(from_), passed_.counts);
    const auto busy = [this] { return handover_->busy() || (old_process_ != nullptr && old_process_->expected()); };
    end_->set_others({busy, [this] { let_go(); }, [this] { return !handover_->end(); }});
}

// The programs of this process are gone, and so are those of its old process.
void process_upgrade::let_go()
{
    handover_->free();
    if (old_process_ != nullptr) {
        old_process_->stop();
    }
}

void process_upgrade::serve(std::function<void()> report)
{
    if (old_process_ == nullptr) {
        report();
        return;
    }
    const auto let_programs_go = [this] {
        if (programs_ != nullptr) {
            programs_->let_go();
        }
    };
    old_process_->say_ready();
    old_process_->watch(loop_, {learn_, contained_.learn, std::move(report), let_programs_go});
    contained_.set_predecessor([this](const auto& document) { old_process_->tell_contained(document); });
}

net::task<model::handover_report> process_upgrade::hand_over()
{
    auto report = co_await handover_->run();
    if (report.refused.empty()) {
        end_->begin_handed_over();
    }
    co_return report;
}

void process_upgrade::begin_handover()
{
    net::asio::co_spawn(
        loop_.get_executor(),
        hand_over(),
        [this](const std::exception_ptr& bug, const model::handover_report&) { net::log_thrown(bug, log_, "handover"); }
    );
}

void process_upgrade::abort()
{
    handover_->abort();
    if (old_process_ != nullptr) {
        old_process_->stop();
    }
}

}  // namespace gateway::upgrade
