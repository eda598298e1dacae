// The writes of a book of pins, and what other replicas have written.
#include "gateway/management/pin_book.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace gateway::management {

void pin_book::put(const std::string& id, std::shared_ptr<const std::string> text)
{
    unwritten_.insert_or_assign(id, unwritten_document{std::move(text), ++documents_});
}

void pin_book::begin_write()
{
    if (!stopped_ && !unwritten_.empty() && !std::exchange(writing_, true)) {
        spawn(write());
    }
}

net::task<> pin_book::write()
{
    bool goes_on = true;
    while (goes_on && !unwritten_.empty()) {
        const auto done = co_await write_latest(unwritten_.begin()->first);
        goes_on = done.has_value();
    }
    writing_ = false;
}

// The store carries out in order what it is asked, so that it has the latest at last; `unwritten_` has the agent.
net::task<core::result<>> pin_book::write_latest(std::string id)
{
    const auto what = unwritten_.at(id);
    std::function work = [id, text = what.text](store::engine& engine) {
        const std::string kind{store::pins_document};
        return text == nullptr ? engine.drop_document(kind, id) : engine.keep_document({kind, id, id, *text});
    };
    auto done = co_await services_.store.write(std::move(work));
    if (const auto found = agents_.find(id); services_.store.shared() && found != agents_.end()) {
        found->second->touched = services_.now();
        if (done && what.text != nullptr) {
            thread_.post([desk = desk_, id, text = what.text] { desk->note_kept(id, *text); });
        }
    }
    if (const auto found = unwritten_.find(id);
        done && found != unwritten_.end() && found->second.number == what.number) {
        unwritten_.erase(found);
    }
    if (!done) {
        set_due(std::min(due(), services_.now() + retry_pause));
    }
    if (!done && !failing_) {
        services_.log.write(
            core::log_level::warn,
            "pins_persist_failed",
            {{"agent", id}, {"code", core::name(done.error().code)}, {"detail", done.error().detail}}
        );
    }
    failing_ = !done;
    co_return done;
}

// The agent's record counts for a learnt document, too. Tombstones say nothing: they come with the end of the agent.
bool pin_book::learn_kept(std::vector<store::document_change> documents, core::steady_time began)
{
    bool taken = true;
    for (auto& each : documents) {
        if (!each.now || unwritten_.contains(each.name)) {
            continue;  // what is still to be written here comes after it
        }
        const auto of = known(each.name);
        if (of->touched >= began) {
            taken = false;
        } else {
            spawn(learn(each.name, std::move(each.now->text)));
        }
    }
    return taken;
}

net::task<> pin_book::learn(std::string id, std::string text)
{
    const auto* const agent = services_.agents.find(id);
    const auto of = known(id);
    // Else callers get the card as it comes, and need not wait for another fetch.
    const bool enforces = agent != nullptr && mode_of(agent->entry->record) == core::pin_mode::enforce;
    begun_ = true;
    std::function work = [desk = desk_,
                          id,
                          text = std::move(text),
                          terms = terms_of(agent == nullptr ? core::agent{} : agent->entry->record)] {
        return desk->learn(id, text, terms);
    };
    auto learnt = co_await thread_.ask(std::move(work));
    if (!learnt) {
        services_.log
            .write(core::log_level::error, "pins_unusable", {{"agent", id}, {"detail", learnt.error().detail}});
        co_return;
    }
    auto& news = *learnt;
    if (news && take(id, of, std::move(news->outcome)) && news->card && enforces) {
        services_.card_changed(id);
    }
}

}  // namespace gateway::management
