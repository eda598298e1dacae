#include "gateway/reload/configuration.hpp"

#include "config/agents.hpp"
#include "config/exposure.hpp"
#include "config/file.hpp"
#include "config/load.hpp"
#include "config/mcp_flag.hpp"
#include "config/url.hpp"
#include "config/values.hpp"
#include "core/url.hpp"
#include "gateway/management/agent_factory.hpp"
#include "jose/digest.hpp"
#include "mcp/pins/lock_file.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

namespace gateway::reload {
namespace {

namespace fs = std::filesystem;

class reader {
public:
    reader(const config::environment& variables, reading turn, const inherited_addresses& inherited)
        : variables_{variables},
          turn_{turn},
          inherited_{inherited}
    {
    }

    configuration read(const cli::command_line& asked)
    {
        if (!asked.config_file.empty()) {
            read_file(asked.config_file);
        }
        for (const auto& flag : asked.agents) {
            add_agent("--agent: ", config::parse_agent_flag(flag));
        }
        for (const auto& flag : asked.mcp) {
            add_agent("--mcp: ", config::parse_mcp_flag(flag));
        }
        read_endpoint("--listen", asked.listen, out_.settings.listen);
        read_endpoint("--admin", asked.admin, out_.settings.admin);
        take_inherited();
        if (out_.problems.empty() && out_.settings.admin_programs && !config::is_loopback(out_.settings.admin)) {
            complain(
                std::string{inherited_.admin ? "inherited socket admin" : "--admin"} +
                ": `admin_programs` requires a loopback address"
            );
        }
        read_store(asked.store);
        check_exposure(asked);
        warn_of_loops(asked.config_file);
        return std::move(out_);
    }

private:
    void complain(std::string problem) { out_.problems.push_back(std::move(problem)); }
    void warn(std::string text) { out_.warnings.push_back({.text = std::move(text)}); }

    // Before it is read: what changes meanwhile will look changed.
    core::result<> note(const std::string& path)
    {
        out_.files.emplace(path, stamp_of(path));
        std::error_code ignored;
        if (turn_ == reading::again && fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) {
            return core::gateway_error(core::errc::config_invalid, "is no file that can be read twice");
        }
        return {};
    }

    void read_file(const std::string& path)
    {
        auto text = core::result<std::string>{""};
        if (const auto usable = note(path); !usable) {
            text = usable.error();
        } else {
            text = config::read_file(path);
        }
        if (!text) {
            complain(path + ": " + text.error().detail);
            return;
        }
        out_.sha256 = jose::sha256_hex(*text);
        const auto secrets = [this](const std::string& file) -> core::result<std::string> {
            if (const auto usable = note(file); !usable) {
                return usable.error();
            }
            return config::read_secret_file(file);
        };
        auto loaded = config::load(*text, path, variables_, secrets, management::tls_checks());
        for (const auto& problem : loaded.problems) {
            complain(config::to_text(problem));
        }
        for (const auto& warning : loaded.warnings) {
            warn(config::to_text(warning));
        }
        out_.settings = std::move(loaded.value);
        listen_at_ = loaded.listen_at;
        admin_at_ = loaded.admin_at;
        agent_urls_at_ = std::move(loaded.agent_urls_at);
        out_.text = std::move(*text);
        for (const auto& agent : out_.settings.agents) {
            look_at(agent.ca_file);
            look_at(agent.cert_file);
            look_at(agent.key_file);
        }
        check_lock_file();
    }

    // Its content is read again when it counts; here it only has to be usable.
    void check_lock_file()
    {
        const auto& path = out_.settings.pins.file;
        if (path.empty()) {
            return;
        }
        auto text = core::result<std::string>{""};
        if (const auto usable = note(path); !usable) {
            text = usable.error();
        } else {
            text = config::read_file(path);
        }
        if (!text) {
            complain("pins.file: " + path + ": " + text.error().detail);
        } else if (const auto read = ::mcp::read_lock_file(*text); !read) {
            complain("pins.file: " + path + ": " + read.error().detail);
        }
    }

    void look_at(const std::string& tls_file)
    {
        if (!tls_file.empty() && !out_.tls_files.contains(tls_file) && note(tls_file)) {
            const auto content = config::read_file(tls_file);
            out_.tls_files.emplace(tls_file, content ? std::hash<std::string>{}(*content) : 0);
        }
    }

    void add_agent(const std::string& flag, core::result<core::agent> agent)
    {
        auto& agents = out_.settings.agents;
        if (!agent) {
            complain(flag + agent.error().detail);
        } else if (std::any_of(agents.begin(), agents.end(), [&](const auto& each) { return each.id == agent->id; })) {
            complain(flag + "there is an agent with the id '" + agent->id + "' already");
        } else {
            agents.push_back(std::move(*agent));
        }
    }

    void read_endpoint(std::string_view option, const std::string& text, config::endpoint& into)
    {
        if (text.empty()) {
            return;
        }
        const auto parsed = config::parse_endpoint(text);
        if (parsed) {
            into = *parsed;
        } else {
            complain(std::string(option) + ": " + parsed.error().detail);
        }
    }

    void take_inherited()
    {
        auto& settings = out_.settings;
        out_.written = {settings.listen, settings.admin, settings.metrics};
        settings.listen = inherited_.listen.value_or(settings.listen);
        settings.admin = inherited_.admin.value_or(settings.admin);
        settings.metrics = inherited_.metrics.value_or(settings.metrics);
    }

    // An address, the name of the socket or the option that may have replaced it, and where the file has it.
    struct told_address {
        std::string key;
        std::string_view inherited;  // empty: it is not
        const std::string& option;
        const config::endpoint& value;
        const std::optional<config::place>& at;
    };

    static std::string
    complaint(const std::string& file, const told_address& of, std::string_view predicate, bool warning)
    {
        const auto what = config::to_text(of.value) + ' ' + std::string{predicate};
        if (!of.inherited.empty()) {
            return (warning ? "warning: inherited socket " : "inherited socket ") + std::string{of.inherited} + ": " +
                   what;
        }
        if (!of.option.empty() || !of.at) {
            return (warning ? "warning: --" : "--") + of.key + ": " + what;
        }
        return config::to_text(config::problem{file, of.at->line, of.at->column, of.key, what, warning});
    }

    // The settings have a loopback address unless the file or the command line gives another one.
    void check_exposure(const cli::command_line& asked)
    {
        if (!out_.problems.empty()) {
            return;
        }
        const auto& settings = out_.settings;
        const auto tell = [&](std::string_view predicate, bool warning) {
            const auto* const socket = inherited_.listen ? "traffic" : "";
            const told_address of{"listen", socket, asked.listen, settings.listen, listen_at_};
            return complaint(asked.config_file, of, predicate, warning);
        };
        const auto tell_of_admin = [&](std::string_view predicate, bool warning) {
            const auto* const socket = inherited_.admin ? "admin" : "";
            const told_address of{"admin", socket, asked.admin, settings.admin, admin_at_};
            return complaint(asked.config_file, of, predicate, warning);
        };
        if (const auto idle = config::idle_policy(settings); !idle.empty()) {
            complain(idle + ": guards nothing without access.providers; expected a provider, or no policy");
        }
        if (const auto idle = config::idle_exchange(settings); !idle.empty()) {
            complain(
                idle +
                ": has no caller's token to exchange; expected a provider of type jwt, oidc, azure_ad or "
                "http_verifier, or client_credentials"
            );
        }
        if (const auto unreachable = config::unreachable_logins(settings); !unreachable.empty()) {
            complain(
                unreachable +
                ": leaves callers no field for the gateway, whose rules ask for a credential; expected a provider of "
                "type "
                "api_key or mtls, or `call: anyone`"
            );
        }
        if (const auto open = config::open_admin(settings)) {
            complain(tell_of_admin(*open, false));
        } else if (const auto clear = config::admin_credentials_in_clear(settings)) {
            warn(tell_of_admin(*clear, true));
        } else if (const auto exposed = config::exposed_admin(settings)) {
            out_.warnings.push_back({tell_of_admin(*exposed, true), "admin_exposed"});
        }
        if (const auto unseen = config::unseen_certificates(settings.tls, settings.access)) {
            complain(tell(*unseen, false));
        }
        if (const auto open = config::open_without_credentials(settings.listen, settings.access)) {
            complain(tell(*open, false));
        } else if (const auto clear = config::credentials_in_clear(settings)) {
            warn(tell(*clear, true));
        }
    }

    void warn_of_loops(const std::string& file)
    {
        for (const auto& agent : out_.settings.agents) {
            for (const auto& [name, url] : {std::pair{".url", &agent.url}, std::pair{".grpc_url", &agent.grpc_url}}) {
                if (is_own_address(core::http_form(*url), out_.settings)) {
                    warn_of_loop(file, "agents." + agent.id + name);
                }
            }
        }
    }

    void warn_of_loop(const std::string& file, const std::string& key)
    {
        const std::string why = "leads back to this gateway; calls fail with loop_detected";
        const auto at = agent_urls_at_.find(key);
        const bool of_file = at != agent_urls_at_.end();
        warn(
            of_file ? config::to_text({file, at->second.line, at->second.column, key, why, /*warning=*/true})
                    : "warning: " + key + ": " + why
        );
    }

    void read_store(const std::string& text)
    {
        if (text.empty()) {
            return;
        }
        auto parsed = config::parse_store(text);
        if (parsed) {
            out_.settings.store = std::move(*parsed);
        } else {
            complain("--store: " + parsed.error().detail + "; expected " + std::string{config::expected_store});
        }
    }

    const config::environment& variables_;
    reading turn_;
    const inherited_addresses& inherited_;
    std::optional<config::place> listen_at_;
    std::optional<config::place> admin_at_;
    std::map<std::string, config::place> agent_urls_at_;
    configuration out_;
};

// The parts that are still to be walked, the next one last.
void push_parts(const fs::path& path, std::vector<fs::path>& left)
{
    const std::vector<fs::path> parts{path.begin(), path.end()};
    left.insert(left.end(), parts.rbegin(), parts.rend());
}

// Follows the links of one path by hand, as the kernel does (path_resolution(7)).
void add_directories_of(const fs::path& file, std::set<std::string>& into)
{
    constexpr int most_links = 40;
    std::error_code ec;
    fs::path done = "/";
    std::vector<fs::path> left;
    push_parts(fs::absolute(file, ec), left);
    for (int links = 0; !left.empty() && links < most_links;) {
        const auto part = std::move(left.back());
        left.pop_back();
        if (part == "/" || part == "..") {
            done = part == "/" ? part : done.parent_path();
        } else if (!part.empty() && part != ".") {
            const auto next = done / part;
            const auto status = fs::symlink_status(next, ec);
            if (fs::is_symlink(status)) {
                into.insert(done.string());
                push_parts(fs::read_symlink(next, ec), left);
                ++links;
            } else if (fs::is_directory(status)) {
                done = next;
            } else {
                into.insert(done.string());
                return;
            }
        }
    }
}

bool is_every_address(const std::string& host)
{
    return host == "0.0.0.0" || host == "::";
}

std::string_view path_of(std::string_view url)
{
    const auto path = url.substr(config::path_begin(url));
    return path.substr(0, path.find_last_not_of('/') + 1);
}

bool leads_to(const config::endpoint& listener, const config::endpoint& address)
{
    if (listener.port == 0 || listener.port != address.port) {
        return false;
    }
    const bool on_loopback = config::is_loopback(listener) || is_every_address(listener.host);
    return listener.host == address.host || (on_loopback && config::is_loopback(address));
}

}  // namespace

std::string shown(const config_warning& warning)
{
    const bool own = warning.event != config_warning{}.event;
    return own ? warning.text + " [" + std::string{warning.event} + ']' : warning.text;
}

bool outdated(const std::map<std::string, file_stamp>& files)
{
    return std::any_of(files.begin(), files.end(), [](const auto& each) {
        return stamp_of(each.first) != each.second;
    });
}

configuration read_configuration(
    const cli::command_line& asked,
    const config::environment& variables,
    reading turn,
    const inherited_addresses& inherited
)
{
    return reader{variables, turn, inherited}.read(asked);
}

std::map<std::string, std::string> flags_of(const cli::command_line& asked)
{
    std::map<std::string, std::string> flags;
    for (const auto& [path, given, flag] :
         {std::tuple{"listen", &asked.listen, "--listen"},
          std::tuple{"admin", &asked.admin, "--admin"},
          std::tuple{"store", &asked.store, "--store"}}) {
        if (!given->empty()) {
            flags.emplace(path, flag);
        }
    }
    for (const auto& [all, flag] : {std::pair{&asked.agents, "--agent"}, std::pair{&asked.mcp, "--mcp"}}) {
        for (const auto& each : *all) {
            flags.emplace("agents." + each.substr(0, each.find('=')), flag);
        }
    }
    return flags;
}

std::set<std::string> directories_of(const std::map<std::string, file_stamp>& files)
{
    std::set<std::string> all;
    for (const auto& [path, stamp] : files) {
        std::error_code ec;
        const auto status = fs::status(path, ec);
        if (!fs::exists(status) || fs::is_regular_file(status)) {  // a pipe is read once
            add_directories_of(path, all);
        }
    }
    return all;
}

std::string public_base_of(const config::settings& settings, const std::string& bound)
{
    const std::string own = (settings.tls.empty() ? "http://" : "https://") + bound;
    return settings.public_url.empty() ? own : settings.public_url;
}

bool is_own_address(const std::string& url, const config::settings& settings)
{
    const auto origin = core::origin_of(url);
    if (origin.empty()) {
        return false;
    }
    // Below the same origin other things than the gateway may live.
    if (origin == core::origin_of(settings.public_url) && path_of(url).starts_with(path_of(settings.public_url))) {
        return true;
    }
    const auto address = config::parse_endpoint(origin.substr(origin.find("//") + 2));
    return address && (leads_to(settings.listen, *address) || leads_to(settings.admin, *address) ||
                       leads_to(settings.metrics, *address));
}

}  // namespace gateway::reload
