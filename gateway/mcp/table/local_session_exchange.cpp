#include "gateway/mcp/table/local_session_exchange.hpp"

#include "net/loop/outbox.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace gateway::mcp::table {

class local_session_exchange::caller_end final : public model::program_reader {
public:
    explicit caller_end(std::shared_ptr<local_session_exchange> of)
        : of_{std::move(of)}
    {
    }

    ~caller_end() override
    {
        of_->wake_ = nullptr;
        if (!of_->over_ || of_->begins_) {
            const auto there = of_->there_;
            // Behind what was asked, and also from a loop that no longer runs.
            net::tell_now(of_->here_, there);
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
        net::tell(of_->here_, of_->there_, [of = of_] { of->reached(); });
    }

    void stream() override
    {
        net::tell(of_->here_, of_->there_, [of = of_] { of->begin_stream(); });
    }

    void end_listening() override
    {
        net::tell(of_->here_, of_->there_, [of = of_] { of->end_listening(); });
    }

private:
    std::shared_ptr<local_session_exchange> of_;
};

std::unique_ptr<model::program_reader> local_session_exchange::reader(bool answers_only)
{
    answers_only_ = answers_only;
    return std::make_unique<caller_end>(shared_from_this());
}

void local_session_exchange::keep(resumable_streams& streams, stream_terms terms)
{
    kept_ = &streams;
    terms_ = std::move(terms);
}

void local_session_exchange::follow(std::shared_ptr<text_queue> queue)
{
    watch(std::move(queue));
    look();
}

void local_session_exchange::watch(std::shared_ptr<text_queue> queue)
{
    queue_ = std::move(queue);
    if (answers_only_) {
        queue_->take_answers_only();
    }
    queue_->set_wake([this] { look(); });
}

void local_session_exchange::follow(
    std::shared_ptr<text_queue> queue,
    std::string handle,
    std::function<void()> unheard
)
{
    handle_ = std::move(handle);
    unheard_ = std::move(unheard);
    follow(std::move(queue));
}

void local_session_exchange::listen(std::shared_ptr<text_queue> queue)
{
    watch(std::move(queue));
    model::program_batch begun;
    begun.place = open_stream();
    wanted_ = false;
    send(std::move(begun));
}

void local_session_exchange::resume(resumable_streams& streams, resumable_streams::resumed from)
{
    if (from.queue != nullptr) {
        kept_ = &streams;
        stream_ = from.stream;
        of_call_ = !from.unasked;
        kept_->set_reader(stream_, weak_from_this());
        watch(std::move(from.queue));
    }
    wanted_ = false;
    send(std::move(from.batch));
}

void local_session_exchange::finish(core::result<> outcome)
{
    model::program_batch batch;
    batch.over = true;
    if (!outcome) {
        batch.failure = std::move(outcome).error();
    }
    send(std::move(batch));
}

void local_session_exchange::look()
{
    if (!wanted_ || queue_ == nullptr || (answers_only_ && !queue_->closed())) {
        return;
    }
    auto batch = take_batch(*queue_);
    if (ends_ && !batch.over) {
        batch.over = true;
        batch.failure = core::gateway_error(core::errc::draining, "a stream of what is said unasked");
    }
    if (batch.texts.empty() && !batch.over) {
        return;
    }
    batch.handle = std::exchange(handle_, {});
    wanted_ = false;
    translated_ = translated_ || queue_->translated();
    if (batch.over) {
        // Nobody says that the last batch has arrived.
        queue_->arrived();
        let_go();
    }
    if (kept_ != nullptr) {
        keep(batch);
    }
    send(std::move(batch));
}

// A whole answer is not a stream, and nobody comes back for it.
void local_session_exchange::keep(model::program_batch& batch)
{
    const auto messages = batch.texts.size() + (batch.failure ? 1 : 0);
    if (stream_ == 0 && batch.over && messages <= 1) {
        return;
    }
    if (stream_ == 0) {
        batch.place = open_stream();
    }
    kept_->keep(stream_, batch);
}

// The place where the stream begins; empty: it is not kept.
std::string local_session_exchange::open_stream()
{
    if (kept_ == nullptr) {
        return {};
    }
    stream_ = kept_->open(std::move(terms_), weak_from_this());
    return kept_->place(stream_);
}

// The caller has written nothing yet.
void local_session_exchange::begin_stream()
{
    if (!wanted_ || queue_ == nullptr) {
        return;
    }
    model::program_batch begun;
    begun.place = open_stream();
    wanted_ = false;
    send(std::move(begun));
}

void local_session_exchange::end_listening()
{
    ends_ = !of_call_;
    if (ends_) {
        look();
    }
}

// A session may keep the queue of a request that waits for its program.
std::shared_ptr<text_queue> local_session_exchange::let_go()
{
    auto queue = std::exchange(queue_, nullptr);
    if (queue != nullptr) {
        queue->set_wake({});
    }
    return queue;
}

// The caller's stream ends, whether or not the last batch has reached it.
std::shared_ptr<text_queue> local_session_exchange::give_up()
{
    auto queue = let_go();
    stream_ = 0;
    finish({});
    return queue;
}

// The batch that was sent last.
void local_session_exchange::reached()
{
    wanted_ = true;
    if (queue_ == nullptr) {
        unheard_ = nullptr;
        return;
    }
    queue_->arrived();
    look();
}

void local_session_exchange::left()
{
    if (auto queue = let_go(); queue != nullptr && stream_ != 0) {
        kept_->park(stream_, std::move(queue));
    }
    if (const auto unheard = std::exchange(unheard_, nullptr)) {
        unheard();
    }
}

void local_session_exchange::send(model::program_batch batch)
{
    batch.translated = translated_;
    net::tell(there_, here_, [self = shared_from_this(), sent = std::move(batch)]() mutable {
        self->came(std::move(sent));
    });
}

// The reader may be destroyed while it is woken.
void local_session_exchange::came(model::program_batch batch)
{
    over_ = batch.over;
    begins_ = begins_ || !batch.handle.empty();
    if (wake_ != nullptr) {
        batch_ = std::move(batch);
        wake_->set();
    }
}

}  // namespace gateway::mcp::table
