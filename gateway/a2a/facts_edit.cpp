#include "gateway/a2a/facts_edit.hpp"

#include "a2a/extension_header.hpp"
#include "net/http1/head_writer.hpp"

#include <utility>

namespace gateway::a2a {

std::string with_facts(const call_facts& facts, std::string answer)
{
    if (facts.text.empty() || answer.size() > facts_edit::longest) {
        return answer;
    }
    auto edited = ::a2a::add_facts(answer, facts.place, ::a2a::gateway_facts_extension, facts.text);
    return edited ? std::move(*edited) : std::move(answer);
}

facts_edit::facts_edit(::a2a::metadata_place place, std::string facts, std::string_view field, std::uint64_t limit)
    : relay::answer_edit{{
          .limit = limit,
          .events = true,
          .too_large = core::errc::event_too_large,
          .unreadable = core::errc::upstream_protocol,
          .unexpected = core::errc::upstream_protocol,
      }},
      place_{place},
      facts_{std::move(facts)},
      field_{field}
{
}

void facts_edit::add_fields(std::string& fields) const
{
    net::http1::head_writer{fields}.field(field_, ::a2a::gateway_facts_extension);
}

net::routine<core::result<model::edited_answer>> facts_edit::edit(std::string text)
{
    auto edited =
        text.size() > longest ? std::nullopt : ::a2a::add_facts(text, place_, ::a2a::gateway_facts_extension, facts_);
    if (!edited) {
        co_return model::edited_answer{std::move(text), false};
    }
    co_return model::edited_answer{std::move(*edited), true};
}

}  // namespace gateway::a2a
