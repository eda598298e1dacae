#include "gateway/mcp/eras/listed_parameters.hpp"

#include <utility>

namespace gateway::mcp::eras {

::mcp::parameter_fields* listed_parameters::of(const std::string& agent_id)
{
    auto lists = services_.listed ? services_.listed(agent_id) : nullptr;
    if (lists == nullptr) {
        return nullptr;
    }
    auto& known = known_[agent_id];
    if (known.lists.lock() != lists) {
        known.lists = lists;
        known.fields = std::make_unique<::mcp::parameter_fields>(std::move(lists));
    }
    return known.fields.get();
}

core::result<> listed_parameters::check(const model::program_request& asked)
{
    if (asked.read.whole.empty() || asked.read.method != ::mcp::client_method::tools_call) {
        return {};
    }
    auto* const tools = of(asked.agent);
    if (tools == nullptr) {
        return {};
    }
    const auto text = asked.message.view().text;
    std::string room;
    const auto tool = asked.read.text(::mcp::routed::name, text, room).value_or("");
    if (!tools->agree(tool, asked.read.raw(::mcp::routed::arguments, text), asked.fields)) {
        return core::caller_error(core::errc::header_mismatch, "Mcp-Param-* is not what the arguments say");
    }
    return {};
}

}  // namespace gateway::mcp::eras
