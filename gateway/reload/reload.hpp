// A new configuration in a running gateway: read and compared on a thread of its own, carried out on the control loop,
// agent by agent, in one go. One that has problems changes nothing. Everything but the reading is on the control loop.
#pragma once

#include "config/compare.hpp"
#include "config/settings.hpp"
#include "core/json/json.hpp"
#include "core/log.hpp"
#include "gateway/management/registry.hpp"
#include "gateway/model/audit_trail.hpp"
#include "gateway/model/plane.hpp"
#include "gateway/reload/configuration.hpp"
#include "gateway/telemetry/metric_family.hpp"
#include "gateway/threads/side_thread.hpp"
#include "net/loop/directory_watch.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/signal.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::reload {

// From the first sign of a change to the reading: by then an editor has written all of a file.
inline constexpr std::chrono::milliseconds settle_time{200};

enum class reload_trigger : std::uint8_t { request, signal, file };

struct reload_report {
    std::vector<std::string> problems;  // not empty: nothing has changed
    std::vector<config_warning> warnings;
    config::changes changes;
    bool draining = false;  // the gateway ends: nothing was read
};

// The answer to `POST /reload`.
core::json to_json(const reload_report& report);

// A line in the log for each.
void log_warnings(const std::vector<config_warning>& warnings, const core::logger& log);

struct reload_counts {
    core::wall_time last_success{};  // when the configuration in use was taken; at first, the start
    bool refused_last = false;
    bool restart_needed = false;  // settings of the configuration in use take effect with the next start

    // The latest one; at first, the start.
    core::wall_time last{};
    std::string_view trigger = "start";        // static
    std::vector<std::string> problems{};       // why it was refused, the first few
    std::vector<std::string> needs_restart{};  // paths of the settings in use that need one
};

// Where a configuration comes from. `read` blocks; on one thread at a time.
struct configuration_source {
    std::function<configuration()> read;
    std::map<std::string, file_stamp> files;       // of the one that the gateway started with
    std::map<std::string, std::size_t> tls_files;  // of the same
    // The output of `config dump` for settings that were read from this text. Blocks, as `read`. Empty: there is nothing to print.
    std::function<core::json(const config::settings& settings, std::string_view text)> dump = {};
    std::string text = {};  // of the file in use
};

class reloader final : public model::plane {
public:
    // References outlive the reloader. `settings` are those in use: the agents and what applies at once are kept true.
    reloader(
        net::loop& control,
        configuration_source from,
        management::registry& agents,
        config::settings& settings,
        const core::logger& log
    );

    // From now on reloads are noted there; it outlives the reloader.
    void set_audit(const model::audit_trail& audit) noexcept { audit_ = &audit; }

    // Observers of a configuration that changes these settings, named by their paths.
    struct observers {
        // Its agents are about to come; those that are there may go.
        std::function<void(const config::settings& next, const std::vector<std::string_view>& settings)> begins;
        // The settings have just begun to apply, or not: the agents could not be stored, and all is as before `begins`.
        std::function<void(const std::vector<std::string_view>& settings)> ended;
        // Something is about to be read, whatever comes of it, or has been read and carried out; may be null.
        std::function<void(bool begins)> reading;
    };

    // From now on changed files are noticed, if `reload.watch` says so.
    void start(observers told);

    // Reads what is there now. Whoever asks meanwhile gets a reading of their own, afterwards.
    net::task<reload_report> reload(reload_trigger by);

    // Begins a reading for which nobody waits.
    void begin(reload_trigger by);

    // Nothing is read any more; what is under way goes on.
    void stop() override;
    bool busy() const noexcept override { return busy_ || !waiting_.empty(); }

    const reload_counts& counts() const noexcept { return counts_; }

    // The settings in use with their origins, as management::settings_text() writes them. Without the agents if these are more than
    // most_dumped. One is made at a time; those who ask meanwhile get the same text, unless a reload came in between.
    net::task<std::shared_ptr<const std::string>> dump();
    static constexpr std::size_t most_dumped = 200;
    void collect(telemetry::metrics& into) const override;

private:
    struct reading_result {
        configuration now;
        config::changes changes;
        std::vector<core::agent> there;  // added or changed
        std::set<std::string> directories;
        bool files_changed = false;  // a TLS file of an agent
        bool outdated = true;        // false: nothing was read
    };

    reading_result read(reload_trigger by) const;
    net::task<reload_report> carry_out(reload_trigger by);
    void release();
    net::task<std::shared_ptr<const std::string>> make_dump();
    void watch(const std::set<std::string>& directories);
    void on_change();
    void write_refusal(reload_trigger by, const std::vector<std::string>& problems) const;
    void write_success(reload_trigger by, const config::changes& changes) const;

    using timer = net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::executor>;

    net::loop& loop_;
    configuration_source from_;
    management::registry& registry_;
    config::settings& settings_;
    const core::logger& log_;
    observers told_;
    const model::audit_trail* audit_ = nullptr;  // null: nowhere
    net::directory_watch watch_;
    timer settle_;
    std::vector<net::task_signal*> waiting_;
    telemetry::counter_family reloads_{telemetry::metric("cardea_config_reloads_total"), {"ok", "refused"}};
    reload_counts counts_;
    std::vector<net::task_signal*> wait_for_dump_;
    std::shared_ptr<const std::string> dumped_;  // while those who waited for it take it
    std::uint64_t dumped_of_ = 0;                // the value of carried_out_ when it was begun
    std::uint64_t carried_out_ = 0;              // reloads
    bool dumps_ = false;
    bool settling_ = false;
    bool busy_ = false;
    bool stopped_ = false;
    threads::side_thread thread_;  // last: what it still does uses the others
};

}  // namespace gateway::reload
