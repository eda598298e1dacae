#include "gateway/upgrade/takeover.hpp"

#include "gateway/model/snapshot.hpp"
#include "gateway/model/version.hpp"
#include "store/sqlite.hpp"

#include <sys/auxv.h>

#include <filesystem>
#include <system_error>
#include <utility>

namespace gateway::upgrade {

core::result<taken_over> greet_predecessor(core::descriptor end)
{
    taken_over out;
    if (end.open()) {
        out.from = std::make_unique<predecessor>(std::move(end));
        auto hello = out.from->greet();
        if (!hello) {
            return std::move(hello).error();
        }
        out.hello = std::move(*hello);
    }
    return out;
}

reload::configuration read_configuration_for(
    lifecycle::inherited_listeners& sockets,
    const std::optional<handover_hello>& hello,
    const cli::command_line& asked,
    const config::environment& variables
)
{
    auto configured = reload::read_configuration(asked, variables, reload::reading::first, sockets.addresses());
    if (hello && sockets.keep_unchanged(configured.written, hello->configured)) {
        configured = reload::read_configuration(asked, variables, reload::reading::first, sockets.addresses());
    }
    return configured;
}

core::result<> take_over(taken_over& all, const reload::configuration& configured)
{
    if (all.from == nullptr) {
        return {};
    }
    if (auto agents = model::make_snapshot(configured.settings, "http://localhost"); !agents) {
        return std::move(agents).error();
    }
    auto state = all.from->prepare({store::sqlite_schema(), std::string{model::version()}});
    if (!state) {
        return std::move(state).error();
    }
    all.state = std::move(*state);
    return {};
}

reload::inherited_addresses written_addresses(
    reload::inherited_addresses written,
    const lifecycle::inherited_listeners& sockets,
    const std::optional<handover_hello>& hello
)
{
    const auto before = hello ? hello->configured : reload::inherited_addresses{};
    const auto forget_fixed = [](auto& address, const auto& socket, const auto& was) {
        if (socket && !was) {
            address.reset();
        }
    };
    forget_fixed(written.listen, sockets.traffic, before.listen);
    forget_fixed(written.admin, sockets.admin, before.admin);
    forget_fixed(written.metrics, sockets.metrics, before.metrics);
    return written;
}

handover_source
how_started(const std::vector<std::string>& words, const net::service_manager& manager, const std::string& store)
{
    handover_source out;
    // What execve() was given; a name from the PATH is already a path here.
    if (const auto* const program = reinterpret_cast<const char*>(::getauxval(AT_EXECFN)); program != nullptr) {
        std::error_code failed;
        const auto path = std::filesystem::absolute(program, failed);
        out.program = failed ? std::string{} : path.string();
    }
    out.arguments = words;
    out.manager = manager;
    out.open_store = [store] { return store::open_sqlite({.path = store}); };
    return out;
}

}  // namespace gateway::upgrade
