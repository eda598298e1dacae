#include "config/dump.hpp"
#include "config/json_schema.hpp"
#include "config/values.hpp"
#include "core/log.hpp"
#include "gateway/cli/access_table.hpp"
#include "gateway/cli/agents_command.hpp"
#include "gateway/cli/call_command.hpp"
#include "gateway/cli/card_lint_command.hpp"
#include "gateway/cli/command_line.hpp"
#include "gateway/cli/explain_command.hpp"
#include "gateway/cli/gateway_command.hpp"
#include "gateway/cli/key_command.hpp"
#include "gateway/lifecycle/listeners.hpp"
#include "gateway/lifecycle/open_store.hpp"
#include "gateway/lifecycle/waiting_room.hpp"
#include "gateway/model/terminal_text.hpp"
#include "gateway/model/version.hpp"
#include "gateway/reload/configuration.hpp"
#include "gateway/reload/reload.hpp"
#include "gateway/telemetry/live_log.hpp"
#include "gateway/telemetry/log_output.hpp"
#include "gateway/upgrade/old_process.hpp"
#include "gateway/wiring/server.hpp"
#include "net/loop/descriptor_budget.hpp"
#include "net/loop/loop.hpp"
#include "net/process/service_manager.hpp"
#include "store/copy.hpp"
#include "store/postgres.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace cli = gateway::cli;
namespace lifecycle = gateway::lifecycle;
namespace model = gateway::model;
namespace reload = gateway::reload;
namespace telemetry = gateway::telemetry;
namespace upgrade = gateway::upgrade;
namespace wiring = gateway::wiring;

namespace {

// Stable: scripts depend on them.
constexpr int exit_failure = 1;
constexpr int exit_unusable = 2;

std::optional<std::string> environment_variable(std::string_view name)
{
    // Nothing in this process changes the environment once it has several threads (take_service()).
    const char* value = std::getenv(std::string(name).c_str());  // NOLINT(concurrency-mt-unsafe)
    return value == nullptr ? std::nullopt : std::optional<std::string>{value};
}

// A descriptor below 3 that was closed at the start would be given to the next socket, and log lines written into it.
void open_standard_descriptors()
{
    for (int descriptor = 0; descriptor <= 2; ++descriptor) {
        if (::fcntl(descriptor, F_GETFD) == -1 && ::open("/dev/null", O_RDWR) != descriptor) {
            std::abort();
        }
    }
}

// Output may quote a file, a card, a peer or an argument: what a terminal would obey is escaped.
void say(std::string_view lines)
{
    std::cout << model::printable(lines, /*lines=*/true);
}

// In one write: the log, whose lines a thread of its own writes, comes between two.
void say_line(std::string line)
{
    line.push_back('\n');
    std::cerr << line;
}

void complain(std::string_view message)
{
    say_line("cardea: " + model::printable(message));
}

core::json dump_of(const cli::command_line& asked, const config::settings& effective, std::string_view text)
{
    return config::dump(effective, {text, asked.config_file, environment_variable, reload::flags_of(asked)});
}

// The words of the service manager to this process, and the sockets from it.
struct service {
    net::service_manager manager;
    lifecycle::inherited_listeners sockets;
};

// Once, and before there is another thread: it was said to this process only, so that the variables are gone afterwards.
core::result<service> take_service()
{
    const auto passed = net::inherited_descriptors(environment_variable, ::getpid());
    service out{net::service_manager_of(environment_variable, ::getpid()), {}};
    for (const auto* name :
         {"LISTEN_PID",
          "LISTEN_FDS",
          "LISTEN_FDNAMES",
          "LISTEN_PIDFDID",
          "NOTIFY_SOCKET",
          "WATCHDOG_USEC",
          "WATCHDOG_PID"}) {
        ::unsetenv(name);  // NOLINT(concurrency-mt-unsafe)
    }
    if (!passed) {
        return passed.error();
    }
    auto sockets = lifecycle::take_inherited_listeners(*passed);
    if (!sockets) {
        return std::move(sockets).error();
    }
    out.sockets = std::move(*sockets);
    return out;
}

std::string counted(std::size_t number, const std::string& what)
{
    return std::to_string(number) + ' ' + what + (number == 1 ? "" : "s");
}

void print_warnings(const reload::configuration& configured)
{
    for (const auto& warning : configured.warnings) {
        say_line(model::printable(reload::shown(warning)));
    }
}

reload::configuration
read_configuration_again(const cli::command_line& asked, const reload::inherited_addresses& inherited)
{
    return reload::read_configuration(asked, environment_variable, reload::reading::again, inherited);
}

// Prints the problems; false if there are any.
bool usable(const reload::configuration& configured, const std::string& file)
{
    for (const auto& problem : configured.problems) {
        const bool has_line = problem.starts_with(file + ':') && !problem.starts_with(file + ": ");
        say_line((has_line ? "" : "cardea: ") + model::printable(problem));
    }
    return configured.problems.empty();
}

// Off: no core dump is left, and no process of the same user may attach or read our memory. Programs that we start have it on
// again, by execve().
void set_dumpable(bool on)
{
    if (::prctl(PR_SET_DUMPABLE, on ? 1 : 0) != 0) {
        throw std::system_error{errno, std::generic_category(), "PR_SET_DUMPABLE"};
    }
}

std::string listening_line(const lifecycle::listeners& bound)
{
    const auto now = std::chrono::system_clock::now();
    const auto traffic = bound.traffic_address();
    const auto admin = bound.admin_address();
    const auto metrics = bound.metrics_address();
    const core::log_field version{"version", model::version()};
    if (metrics.empty()) {
        return core::format_log_line(
            now,
            core::log_level::info,
            "listening",
            {{"traffic", traffic}, {"admin", admin}, version}
        );
    }
    return core::format_log_line(
        now,
        core::log_level::info,
        "listening",
        {{"traffic", traffic}, {"admin", admin}, {"metrics", metrics}, version}
    );
}

// Whoever starts the gateway without naming an agent sees what it does. Nobody has to read it: past std::cout, whose failures
// end with exit code 1.
void greet(const cli::command_line& asked, const lifecycle::listeners& bound, const std::string& store)
{
    if (!asked.config_file.empty() || !asked.agents.empty() || !asked.mcp.empty()) {
        return;
    }
    const auto traffic = bound.traffic_address();
    const auto admin = bound.admin_address();
    const auto text = model::printable(cli::welcome({traffic, admin}, store), /*lines=*/true);
    [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, text.data(), text.size());
}

// A viewer of the log that goes on with the next process after a hand-over has seen lower numbers.
std::uint64_t first_line()
{
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    constexpr std::uint64_t a_millisecond = 1000;  // lines
    return a_millisecond *
           static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

// Whatever the level: whoever starts a gateway on port 0 needs this line.
void announce(core::log_sink& output, const lifecycle::listeners& bound)
{
    output.write(listening_line(bound));
}

void warn_of_memory(const lifecycle::opened_store& store, const core::logger& log)
{
    if (!store.unusable_place.empty()) {
        log.write(core::log_level::warn, "store_in_memory", {{"reason", store.unusable_place}});
    }
}

int give_up(const upgrade::taken_over& all, const std::string& why)
{
    // The process that serves meanwhile hears of it first: nobody may be reading what we print.
    if (all.from != nullptr) {
        all.from->say_failed(why);
    }
    complain(why);
    return exit_unusable;
}

// For problems that were said already.
int give_up(const upgrade::taken_over& all, const std::vector<std::string>& problems)
{
    if (all.from != nullptr) {
        all.from->say_failed(problems.front());
    }
    return exit_unusable;
}

// The store, and the sockets that listen meanwhile if they have changed. A process that takes another one's place does not wait: that one goes
// on.
core::result<lifecycle::awaited_store>
opened_store(service& from, upgrade::taken_over& taken, const config::settings& settings, const core::logger& log)
{
    const auto open = [&] {
        return lifecycle::open_store(settings, environment_variable, std::move(taken.state.memory), log);
    };
    if (taken.from == nullptr && store::names_postgres(settings.store)) {
        return lifecycle::await_store({settings, open, from.manager, log}, std::move(from.sockets));
    }
    auto opened = open();
    if (!opened) {
        return std::move(opened).error();
    }
    warn_of_memory(*opened, log);
    return lifecycle::awaited_store{std::move(*opened), std::move(from.sockets)};
}

reload::configuration_source source_of(
    const cli::command_line& asked,
    const reload::inherited_addresses& inherited,
    const reload::configuration& configured
)
{
    return {
        [asked, inherited] { return read_configuration_again(asked, inherited); },
        configured.files,
        configured.tls_files,
        [asked](const config::settings& effective, std::string_view text) { return dump_of(asked, effective, text); },
        configured.text
    };
}

void prepare_process(const config::settings& settings)
{
    set_dumpable(settings.debug.core);
    // A peer that leaves while we write is an error of that write, and a log reader that leaves costs lines.
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);  // so is a file that may not grow
    net::raise_descriptor_limit();
}

int run(const cli::command_line& asked, const std::vector<std::string>& words)
{
    std::set_new_handler(net::end_without_memory);
    std::signal(SIGUSR2, SIG_IGN);  // until there is something to hand over
    auto service = take_service();
    if (!service) {
        complain(service.error().detail);
        return exit_unusable;
    }
    auto taken = upgrade::greet_old_process(std::move(service->sockets.handover));
    if (!taken) {
        complain(taken.error().detail);
        return exit_unusable;
    }
    auto configured = upgrade::read_configuration_for(service->sockets, taken->hello, asked, environment_variable);
    const auto inherited = service->sockets.addresses();
    if (!usable(configured, asked.config_file)) {
        return give_up(*taken, configured.problems);
    }
    if (auto passed = upgrade::take_over(*taken, configured); !passed) {
        return give_up(*taken, passed.error().detail);
    }
    auto& settings = configured.settings;
    prepare_process(settings);
    telemetry::log_output output;
    const auto place = telemetry::place_of(STDERR_FILENO, environment_variable);
    output.set_form(telemetry::form_at(place, settings.log_format));
    telemetry::live_log live{output, first_line()};
    live.set_replica(lifecycle::replica_field_of(settings));
    core::logger log{live, settings.log_level};
    reload::log_warnings(configured.warnings, log);
    auto configured_addresses = upgrade::written_addresses(configured.written, service->sockets, taken->hello);
    auto opened = opened_store(*service, *taken, settings, log);
    if (!opened) {
        return give_up(*taken, opened.error().detail);
    }
    auto& store = opened->store;
    if (!store) {
        return EXIT_SUCCESS;
    }
    const auto log_changed = [&](core::log_level level, core::log_format format) {
        log.set_level(level);
        output.set_form(telemetry::form_at(place, format));
    };
    const auto dropped = [&output] { return output.dropped(); };
    wiring::server server{std::move(settings), std::move(store->engine), log, {live, dropped, log_changed}};
    auto started_as = upgrade::how_started(words, service->manager, store->path);
    started_as.configured = std::move(configured_addresses);
    server.set_handover(std::move(started_as));
    server.set_old_process(taken->from.get(), std::move(taken->state));
    server.set_service(std::move(opened->sockets), service->manager);
    server.set_configuration_source(source_of(asked, inherited, configured));
    if (const auto started = server.start(); !started) {
        return give_up(*taken, started.error().detail);
    }
    server.handle_signals();  // before the line that tells whoever started us that there is something to stop
    announce(live, server.addresses());
    if (taken->from == nullptr) {
        greet(asked, server.addresses(), store->path);
    }
    server.run();
    return EXIT_SUCCESS;
}

int validate(const cli::command_line& asked)
{
    const auto configured = reload::read_configuration(asked, environment_variable, reload::reading::first);
    if (!usable(configured, asked.config_file)) {
        return exit_unusable;
    }
    const auto& settings = configured.settings;
    const auto snapshot = model::make_snapshot(settings, "http://localhost");
    if (!snapshot) {
        complain(snapshot.error().detail);
        return exit_unusable;
    }
    print_warnings(configured);
    const auto& warnings = configured.warnings;
    say(model::printable(asked.config_file) + ": " + counted(settings.agents.size(), "agent") + ", " +
        (warnings.empty() ? "no problems" : counted(warnings.size(), "warning")) + "\n\n" +
        cli::access_table(settings));
    return EXIT_SUCCESS;
}

int dump(const cli::command_line& asked)
{
    const auto configured = reload::read_configuration(asked, environment_variable, reload::reading::first);
    if (!usable(configured, asked.config_file)) {
        return exit_unusable;
    }
    print_warnings(configured);
    const auto dumped = dump_of(asked, configured.settings, configured.text);
    if (asked.format == cli::dump_format::json) {
        std::cout << model::shown_json(dumped);
    } else {
        say(config::dump_text(dumped));
    }
    return EXIT_SUCCESS;
}

int lint_card(const cli::command_line& asked)
{
    const auto text = cli::read_card(asked.card);
    if (!text) {
        complain(asked.card + ": " + text.error().detail);
        return exit_unusable;
    }
    const auto report = cli::lint_found_card(*text, asked.card);
    std::cout << cli::lint_text(report, asked.card, asked.explain);
    return report.count(::a2a::problem_severity::error) == 0 ? EXIT_SUCCESS : exit_failure;
}

int make_key(const cli::command_line& asked)
{
    const auto text = cli::new_key(asked.key);
    if (!text) {
        complain(text.error().detail);
        return exit_unusable;
    }
    say(*text);
    return EXIT_SUCCESS;
}

// The store that an option names; nothing: the problem is reported.
std::optional<std::string> named_store(const std::string& option, const std::string& text)
{
    auto parsed = config::parse_store(text);
    if (!parsed) {
        complain(option + ": " + parsed.error().detail + "; expected " + std::string{config::expected_store});
        return std::nullopt;
    }
    return std::move(*parsed);
}

int report_of_store(const core::error& why)
{
    complain(why.detail);
    return why.code == core::errc::config_invalid ? exit_unusable : exit_failure;
}

int migrate_store(const cli::command_line& asked)
{
    const auto url = named_store("--store", asked.store);
    if (!url) {
        return exit_unusable;
    }
    if (!store::names_postgres(*url)) {
        complain("--store: names no database; expected a URL such as postgresql://cardea@db/cardea");
        return exit_unusable;
    }
    const auto done = store::migrate_postgres({.url = *url, .password_file = asked.password_file});
    if (!done) {
        return report_of_store(done.error());
    }
    say("The schema is up to date.\n");
    return EXIT_SUCCESS;
}

// A place to copy from or to, as named_store().
std::optional<store::place>
place_of_store(const std::string& option, const std::string& text, const std::string& password)
{
    const auto named = named_store(option, text);
    if (!named) {
        return std::nullopt;
    }
    constexpr std::string_view file = "sqlite:";
    if (named->starts_with(file)) {
        return store::place{named->substr(file.size()), {}};
    }
    if (store::names_postgres(*named)) {
        return store::place{{}, {.url = *named, .password_file = password}};
    }
    complain(option + ": keeps nothing; expected sqlite:PATH or a URL such as postgresql://cardea@db/cardea");
    return std::nullopt;
}

int copy_store(const cli::command_line& asked)
{
    const auto from = place_of_store("--from", asked.store, asked.password_file);
    const auto to = place_of_store("--to", asked.copy_to, asked.password_file);
    if (!from || !to) {
        return exit_unusable;
    }
    const auto done = store::copy(*from, *to);
    if (!done) {
        return report_of_store(done.error());
    }
    say("Copied " + counted(done->agents, "agent") + ", " + counted(done->changes, "change") + " and " +
        (done->deliveries == 1 ? "1 delivery" : std::to_string(done->deliveries) + " deliveries") + ".\n");
    return EXIT_SUCCESS;
}

// By a running gateway, or by the file that the arguments name.
int explain(const cli::command_line& asked)
{
    if (asked.config_file.empty()) {
        return static_cast<int>(cli::run_explain_command(asked.explain_request, environment_variable));
    }
    const auto configured = reload::read_configuration(asked, environment_variable, reload::reading::first);
    if (!usable(configured, asked.config_file)) {
        return exit_unusable;
    }
    return static_cast<int>(cli::explain_by(configured.settings, asked.explain_request));
}

// A verb that asks a running gateway.
int ask_gateway(const cli::command_line& asked)
{
    // In the background of a script the signal is ignored, and stays so.
    const auto end = [](int /*signal*/) { ::_exit(static_cast<int>(cli::exit_code::interrupted)); };
    if (std::signal(SIGINT, end) == SIG_IGN) {
        std::signal(SIGINT, SIG_IGN);
    }
    const auto code =
        asked.verb == cli::top_verb::gateway ? cli::run_gateway_command(asked.gateway_request, environment_variable)
        : asked.verb == cli::top_verb::call  ? cli::run_call_command(asked.call_request, environment_variable)
                                             : cli::run_agents_command(asked.agents_request, environment_variable);
    return static_cast<int>(code);
}

int carry_out(const cli::command_line& asked, const std::vector<std::string>& words)
{
    if (!asked.problem.empty()) {
        complain(asked.problem);
        return exit_unusable;
    }
    switch (asked.verb) {
        case cli::top_verb::run:
            return run(asked, words);
        case cli::top_verb::validate:
            return validate(asked);
        case cli::top_verb::config_schema:
            std::cout << config::json_schema().dump(2) << '\n';
            return EXIT_SUCCESS;
        case cli::top_verb::config_dump:
            return dump(asked);
        case cli::top_verb::lint_card:
            return lint_card(asked);
        case cli::top_verb::new_key:
            return make_key(asked);
        case cli::top_verb::agents:
        case cli::top_verb::gateway:
        case cli::top_verb::call:
            return ask_gateway(asked);
        case cli::top_verb::explain:
            return explain(asked);
        case cli::top_verb::migrate_store:
            return migrate_store(asked);
        case cli::top_verb::copy_store:
            return copy_store(asked);
        case cli::top_verb::version:
            std::cout << "cardea " << model::version() << '\n';
            return EXIT_SUCCESS;
        case cli::top_verb::help:
            std::cout << asked.help;
            return EXIT_SUCCESS;
    }
    return exit_failure;
}

}  // namespace

int main(int argc, char** argv)
{
#if defined(__GLIBC__)
    ::mallopt(
        M_MMAP_THRESHOLD,
        1024 * 1024
    );  // else the first large text that is freed has all others kept by the process
#endif
    open_standard_descriptors();
    ::unsetenv("PGSERVICE");  // NOLINT(concurrency-mt-unsafe): libpq would let it name another host than `store` does
    try {
        set_dumpable(false);  // before there is a secret
        const auto code = carry_out(cli::parse_command_line({argv + 1, argv + argc}), {argv, argv + argc});
        std::cout.flush();
        if (!std::cout) {
            complain("the output could not be written to stdout");
            return code == EXIT_SUCCESS ? exit_failure : code;
        }
        return code;
    } catch (const std::exception& bug) {
        complain(bug.what());
        return exit_failure;
    }
}
