#include "gateway/mcp_path/program_exchange.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace gateway::mcp_path {

class program_exchange::caller_end final : public model::program_reader {
public:
    explicit caller_end(std::shared_ptr<program_exchange> of)
        : of_{std::move(of)}
    {
    }

    ~caller_end() override
    {
        of_->wake_ = nullptr;
        if (!of_->over_ || of_->begins_) {
            const auto there = of_->there_;
            net::asio::post(there, [of = std::move(of_)] { of->left(); });
        }
    }
    caller_end(const caller_end&) = delete;
    caller_end& operator=(const caller_end&) = delete;

    std::optional<model::program_batch> take() override { return std::exchange(of_->batch_, std::nullopt); }

    void next() override
    {
        if (of_->over_) {
            of_->begins_ = false;
        }
        net::asio::post(of_->there_, [of = of_] { of->reached(); });
    }

private:
    std::shared_ptr<program_exchange> of_;
};

std::unique_ptr<model::program_reader> program_exchange::reader()
{
    return std::make_unique<caller_end>(shared_from_this());
}

void program_exchange::follow(std::shared_ptr<text_queue> queue)
{
    queue_ = std::move(queue);
    queue_->set_wake([this] { look(); });
    look();
}

void program_exchange::follow(std::shared_ptr<text_queue> queue, std::string handle, std::function<void()> unheard)
{
    handle_ = std::move(handle);
    unheard_ = std::move(unheard);
    follow(std::move(queue));
}

void program_exchange::listen(std::shared_ptr<text_queue> queue)
{
    wanted_ = false;
    follow(std::move(queue));
    send({});
}

void program_exchange::finish(core::result<> outcome)
{
    model::program_batch batch;
    batch.over = true;
    if (!outcome) {
        batch.failure = std::move(outcome).error();
    }
    send(std::move(batch));
}

void program_exchange::look()
{
    if (!wanted_ || queue_ == nullptr) {
        return;
    }
    model::program_batch batch;
    while (auto text = queue_->take()) {
        batch.texts.push_back(std::move(*text));
    }
    batch.over = queue_->over();
    if (batch.texts.empty() && !batch.over) {
        return;
    }
    batch.failure = queue_->failure();
    batch.handle = std::exchange(handle_, {});
    batch.translated = translated_;
    wanted_ = false;
    if (batch.over) {
        // Nobody says that the last batch has arrived.
        queue_->arrived();
        let_go();
    }
    send(std::move(batch));
}

// A session may keep the queue of a request that waits for its program.
void program_exchange::let_go()
{
    if (const auto queue = std::exchange(queue_, nullptr)) {
        queue->set_wake({});
    }
}

// The batch that was sent last.
void program_exchange::reached()
{
    wanted_ = true;
    if (queue_ == nullptr) {
        unheard_ = nullptr;
        return;
    }
    queue_->arrived();
    look();
}

void program_exchange::left()
{
    let_go();
    if (const auto unheard = std::exchange(unheard_, nullptr)) {
        unheard();
    }
}

void program_exchange::send(model::program_batch batch)
{
    net::asio::post(here_, [self = shared_from_this(), sent = std::move(batch)]() mutable {
        self->came(std::move(sent));
    });
}

// The reader may be destroyed while it is woken.
void program_exchange::came(model::program_batch batch)
{
    over_ = batch.over;
    begins_ = begins_ || !batch.handle.empty();
    if (wake_ != nullptr) {
        batch_ = std::move(batch);
        wake_->set();
    }
}

}  // namespace gateway::mcp_path
