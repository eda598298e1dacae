// Edits of the answers to calls of A2A: cards, push configurations, lists of tasks, and the facts of the gateway's own extension. One
// thread, that of the caller's loop.
#pragma once

#include "a2a/dialect/push_edit.hpp"
#include "a2a/gateway_facts.hpp"
#include "gateway/a2a/task_guard.hpp"
#include "gateway/model/answered_card.hpp"
#include "gateway/model/push_addresses.hpp"
#include "gateway/relay/answer_edit.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::model {
struct control_services;
}

namespace gateway::a2a {

// An answer that holds an agent's card, which has to point at the gateway.
class card_edit final : public relay::answer_edit {
public:
    // `card` but for its text; `here`: of the caller's loop. `control` outlives the edit.
    card_edit(model::control_services& control, net::executor here, model::answered_card card);

    // Fails as control_services::edit().
    net::routine<core::result<model::edited_answer>> edit(std::string text) override;

private:
    model::control_services& control_;
    net::executor here_;
    model::answered_card card_;
};

struct call_facts {
    ::a2a::metadata_place place = ::a2a::metadata_place::none;
    std::string text;        // a JSON object; empty: the caller wants none
    std::string_view field;  // the name of the field in which the caller hears of extensions; static
};

// The answer or event with the facts in it; as it is if it has no place for them, or is too long to be read on a loop.
std::string with_facts(const call_facts& facts, std::string answer);

// An answer to a caller that has activated the gateway's own extension.
class facts_edit final : public relay::answer_edit {
public:
    // Longer answers and events pass without facts: reading them would hold the loop up.
    static constexpr std::size_t longest = 1024 * 1024;

    // `limit`: of an answer, or of an event, in bytes.
    facts_edit(call_facts facts, std::uint64_t limit);

    void add_fields(std::string& fields) const override;
    net::routine<core::result<model::edited_answer>> edit(std::string text) override;

private:
    call_facts facts_;
};

inline constexpr std::uint64_t longest_push_answer = 1024 * 1024;  // bytes: hundreds of configurations

// An answer about push configurations that the gateway has put its own addresses into: callers read theirs. Text that is not a result, or
// has no address of the gateway's, stays as it is.
class push_answer_edit final : public relay::text_edit {
public:
    struct question {
        std::string agent;  // its id
        ::a2a::dialect caller;
        ::a2a::operation asked = ::a2a::operation::none;
    };

    push_answer_edit(question about, std::shared_ptr<const model::push_addresses> addresses, means with)
        : text_edit{std::move(with)},
          about_{std::move(about)},
          addresses_{std::move(addresses)}
    {
    }

private:
    core::result<model::edited_answer> edit_here(std::string text) const override;

    question about_;
    std::shared_ptr<const model::push_addresses> addresses_;
};

// A list of tasks of which a caller sees its own alone, if callers need credentials.
class task_list_edit final : public relay::text_edit {
public:
    // `guard` knows the caller, for as long as its request lasts.
    task_list_edit(::a2a::dialect caller, const task_guard& guard, means with)
        : text_edit{std::move(with)},
          caller_{caller},
          guard_{guard}
    {
    }

private:
    core::result<model::edited_answer> edit_here(std::string text) const override;

    ::a2a::dialect caller_;
    task_guard guard_;
};

}  // namespace gateway::a2a
