#include "gateway/a2a/card_edit.hpp"

#include "net/loop/ask.hpp"

#include <utility>

namespace gateway::a2a {

card_edit::card_edit(model::control_services& control, net::executor here, model::answered_card card)
    : relay::answer_edit{{.limit = control.largest_card() + model::card_envelope, .events = card.where.in_result}},
      control_{control},
      here_{std::move(here)},
      card_{std::move(card)}
{
}

net::routine<core::result<model::edited_answer>> card_edit::edit(std::string text)
{
    auto card = card_;
    card.text = std::move(text);
    auto question = control_.edit(std::move(card));
    co_return co_await net::ask(control_.card_executor(), here_, std::move(question));
}

}  // namespace gateway::a2a
