#include "gateway/management/record_page.hpp"

#include "core/json/json.hpp"
#include "core/json/jsonrpc_server.hpp"

#include <utility>

namespace gateway::management {
namespace {

constexpr std::size_t room_for_end = 256;  // `next` with the longest id, and a summary

}  // namespace

record_page::record_page(std::string_view id, std::size_t limit, std::size_t most)
    : text_{core::begin_result(id) + R"({"agents":[)"},
      limit_{limit},
      most_{most}
{
}

bool record_page::add(std::string_view agent, std::string_view record)
{
    if (full()) {
        return false;
    }
    if (count_ > 0) {
        if (text_.size() + 1 + record.size() + room_for_end > most_) {
            cut_ = true;
            return false;
        }
        text_ += ',';
    }
    text_ += record;
    last_ = agent;
    ++count_;
    return true;
}

std::string record_page::finish(bool more, std::string_view members)
{
    text_ += ']';
    if (more) {
        text_ += R"(,"next":)";
        core::append_json_string(text_, last_);
    }
    text_ += members;
    text_ += "}}";
    return std::move(text_);
}

}  // namespace gateway::management
