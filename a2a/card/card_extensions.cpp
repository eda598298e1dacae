#include "a2a/card/card_extensions.hpp"

#include <utility>

namespace a2a {

using core::json;

void declare_gateway_facts(json& card, const std::string& id)
{
    const auto capabilities = card.find("capabilities");
    if (capabilities == card.end() || !capabilities->is_object()) {
        return;
    }
    const auto written = capabilities->find("extensions");
    json::array_t extensions;
    if (written != capabilities->end()) {
        auto* const list = written->get_ptr<json::array_t*>();
        if (list == nullptr) {
            return;
        }
        extensions = std::move(*list);
    }
    std::erase_if(extensions, [](const json& each) {
        const auto* const uri = core::string_member(each, "uri");
        return uri != nullptr && *uri == gateway_facts_extension;
    });
    extensions.push_back(json{
        {"uri", std::string{gateway_facts_extension}},
        {"description", "The gateway in front of this agent: which agent it is there, and facts about each answer"},
        {"required", false},
        {"params", json{{"agent", id}}},
    });
    (*capabilities)["extensions"] = std::move(extensions);
}

}  // namespace a2a
