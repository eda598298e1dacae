#include "gateway/grpc/caller_messages.hpp"

#include "a2a/dialect/error.hpp"
#include "a2a/protobuf/fields.hpp"
#include "core/ascii.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "gateway/grpc/head_lines.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <coroutine>
#include <exception>
#include <utility>

namespace gateway::grpc {
namespace {

using core::errc;
using reader = net::grpc::message_reader;

constexpr std::string_view first_lines = "HTTP/1.1 200 OK\r\nContent-Type: application/grpc\r\n";

// Answers about the connection or the request itself, which no call has.
bool stays_http(errc code) noexcept
{
    return code == errc::misdirected_request || code == errc::method_not_allowed ||
           code == errc::unsupported_media_type;
}

std::string_view bytes_of(const net::pieces::value_type& piece)
{
    return {static_cast<const char*>(piece.data()), piece.size()};
}

// To be awaited: the work is done. The loop runs until then.
struct work_elsewhere {
    const poster& by;
    net::executor here;
    std::function<void()> work;
    std::exception_ptr failed{};

    static bool await_ready() noexcept { return false; }
    void await_suspend(std::coroutine_handle<> who)
    {
        by([this, who, loop = net::asio::make_work_guard(here)] {
            try {
                work();
            } catch (...) {
                failed = std::current_exception();
            }
            net::asio::post(loop.get_executor(), [who] { who.resume(); });
        });
    }
    void await_resume() const
    {
        if (failed) {
            std::rethrow_exception(failed);
        }
    }
};

// A stream may be silent for days.
void give_up(std::string& text)
{
    text.clear();
    if (text.capacity() > net::small_block) {
        std::string{}.swap(text);
    }
}

}  // namespace

caller_messages::caller_messages(net::caller_exchange& caller, const terms& of)
    : caller_{caller},
      terms_{of},
      share_{caller.bodies()},
      reader_{of.limit}
{
    caller_.set_filter(this);
}

outcome_terms caller_messages::outcome() const noexcept
{
    const auto what = terms_.method == nullptr ? ::a2a::operation::none : terms_.method->what;
    return {terms_.version, what, terms_.profile};
}

core::result<net::answer_part> caller_messages::pass(const net::answer_part& part)
{
    if (!part.head.empty()) {
        begin(part.head);
    }
    give_up(out_);
    if (form_ == form::messages) {
        return pass_messages(part);
    }
    if (form_ == form::nothing || form_ == form::http) {
        return part;
    }
    bool works = part.last;
    std::string_view whole;  // what is converted at once need not be kept
    for (const auto& each : part.body) {
        const auto piece = bytes_of(each);
        if (form_ == form::events) {
            works = works || piece.find('\n') != piece.npos || piece.find('\r') != piece.npos;  // else it is only kept
            events_->feed(piece);
        } else if (part.last && piece.size() == part.body.size() && text_.empty() &&
                   piece.size() <= converted_at_once) {
            whole = piece;
        } else {
            text_ += piece;
        }
    }
    if (works && terms_.elsewhere != nullptr && held() > converted_at_once) {
        if (!share_.set(held())) {
            return core::gateway_error(errc::overloaded, "bodies");
        }
        put_off_ = std::make_unique<net::answer_part>();
        put_off_->last = part.last;
        return net::answer_part{};
    }
    auto done = works ? convert(part.last, whole.empty() ? text_ : whole) : core::result<>{};
    return converted(std::move(done), part.last);
}

net::routine<core::result<net::answer_part>> caller_messages::later()
{
    const bool messages = form_ == form::messages;
    core::result<> done;
    std::function<void()> work = [&] { done = messages ? see(*put_off_) : convert(put_off_->last, text_); };
    work_elsewhere over{*terms_.elsewhere, caller_.owner().get_executor(), std::move(work)};
    co_await over;
    const auto part = std::exchange(put_off_, nullptr);
    if (messages) {
        co_return seen(std::move(done), *part);
    }
    co_return converted(std::move(done), part->last);
}

// Makes messages, or the outcome, of as much of the body as has come. It may run on any thread: nothing else is done meanwhile.
core::result<> caller_messages::convert(bool last, std::string_view text)
{
    if (form_ == form::events) {
        return read_events(last);
    }
    if (!last) {
        return {};
    }
    core::result<> done;
    if (form_ == form::failure) {
        fail(status_of_json(http_status_, text, own_, outcome()));
    } else if (const auto json = result_in(text); !failure_) {
        done = add_message(json);
    }
    std::string{}.swap(text_);
    return done;
}

core::result<net::answer_part> caller_messages::converted(core::result<> done, bool last)
{
    if (std::exchange(commented_, false)) {
        caller_.ping();
    }
    if (done && !share_.set(held() + out_.size())) {
        done = core::gateway_error(errc::overloaded, "bodies");
    }
    if (!done) {
        return std::move(done).error();
    }
    return take(last);
}

// `head` is that of the handler's answer: the status line and the fields, with the empty line.
void caller_messages::begin(std::string_view head)
{
    constexpr std::string_view version = "HTTP/1.1 ";
    std::string_view type;
    for (auto rest = head; !rest.empty();) {
        const auto line = take_line(rest);
        if (type.empty() && names(line, "content-type")) {
            type = value_in(line, "content-type");
        }
        outcome_in_head_ = outcome_in_head_ || names(line, "grpc-status");
    }
    if (net::grpc::media_of(type) == net::grpc::media::grpc) {
        form_ = form::messages;
        return;
    }
    http_status_ = 0;
    for (const char digit : head.substr(version.size(), 3)) {
        http_status_ = http_status_ * 10 + static_cast<unsigned>(digit - '0');
    }
    head_.reserve(head.size() + first_lines.size());
    head_ = first_lines;
    take_line(head);
    while (!head.empty()) {
        const auto line = take_line(head);
        if (line.empty()) {
            break;
        }
        const char first = core::lower(line.front());
        if (first == 'c' && !own_ && names(line, "cardea-error")) {
            own_ = own_code(value_in(line, "cardea-error"));
        }
        const bool of_grpc =
            first == 'g' && core::equal_ignoring_case(line.substr(0, 5), "grpc-");  // the outcome is ours to say
        const bool of_body = first == 'c' && (names(line, "content-type") || names(line, "content-length") ||
                                              names(line, "cache-control"));
        if (!of_grpc && !of_body) {
            head_.append(line).append("\r\n");
        }
    }
    if (own_ && stays_http(*own_)) {
        form_ = form::http;
        head_.clear();
        return;
    }
    const bool events = core::equal_ignoring_case(type.substr(0, type.find(';')), "text/event-stream");
    const bool good = http_status_ < 300 && !own_;
    form_ = !good ? form::failure : events ? form::events : form::document;
    if (form_ == form::events) {
        events_ = std::make_unique<net::sse_splitter>(terms_.limit * 6 + 4096);  // JSON may write a byte as six
    }
}

// An answer of an agent by gRPC. What comes of its messages passes in the pieces in which it comes.
core::result<net::answer_part> caller_messages::pass_messages(const net::answer_part& part)
{
    if (observed_ != nullptr && terms_.elsewhere != nullptr &&
        observed_->message.size() + part.body.size() > converted_at_once) {
        put_off_ = std::make_unique<net::answer_part>(part);
        return net::answer_part{};
    }
    return seen(see(part), part);
}

core::result<net::answer_part> caller_messages::seen(core::result<> done, const net::answer_part& part)
{
    if (observed_ != nullptr) {
        if (done && !share_.set(observed_->message.size() + observed_->noted.size())) {
            done = core::gateway_error(errc::overloaded, "bodies");
        }
        std::size_t begin = 0;
        for (const auto end : observed_->ends) {
            observed_->to(std::string_view{observed_->noted}.substr(begin, end - begin));
            begin = end;
        }
        observed_->ends.clear();
        give_up(observed_->noted);
        share_.set(observed_->message.size());
    }
    if (!done) {
        return std::move(done).error();
    }
    auto out = part;
    const bool is_head_alone = part.last && part.body.size() == 0 && part.trailers.empty();
    if (!is_head_alone && outcome_in_head_) {
        return core::upstream_error(errc::upstream_protocol, "the answer has a grpc-status before its end");
    }
    if (!part.last) {
        headed_ = headed_ || !part.head.empty();
        open_ = !reader_.between_messages();
        return out;
    }
    const auto lines = part.trailers.empty() ? part.head : part.trailers;
    const auto said = status_in(lines);
    if (!said || !reader_.between_messages()) {
        return core::upstream_error(
            errc::upstream_protocol,
            said ? "the answer ends within a message" : "the answer has no grpc-status, or two"
        );
    }
    status_ = said->code;
    said_ = headed_ = true;
    return out;
}

// On any thread: nothing else is done meanwhile.
core::result<> caller_messages::see(const net::answer_part& part)
{
    for (const auto& each : part.body) {
        if (auto good = see_piece(bytes_of(each)); !good) {
            return good;
        }
    }
    return {};
}

core::result<> caller_messages::see_piece(std::string_view piece)
{
    while (!piece.empty()) {
        const auto part = reader_.next(piece);
        if (reader_.problem() == reader::fault::too_large) {
            return core::upstream_error(errc::message_too_large, std::to_string(reader_.size()) + " bytes");
        }
        if (reader_.problem() == reader::fault::malformed) {
            return core::upstream_error(errc::upstream_protocol, "a message of gRPC has an unknown flag");
        }
        if (observed_ == nullptr) {
            continue;
        }
        if (part.begins && reader_.compressed()) {
            return core::upstream_error(errc::upstream_protocol, "a message is compressed, which nobody has asked for");
        }
        const bool whole = part.ends && observed_->message.empty();
        if (!whole) {
            observed_->message += part.data;
        }
        if (part.ends) {
            if (auto noted = note(whole ? part.data : observed_->message); !noted) {
                return noted;
            }
            give_up(observed_->message);
        }
    }
    return {};
}

core::result<> caller_messages::note(std::string_view message)
{
    // Otherwise nobody knew whose the task is.
    if (!::a2a::protobuf::append_shown(*terms_.method->response, message, observed_->noted)) {
        return core::upstream_error(errc::answer_untranslatable, "a message that is none");
    }
    observed_->ends.push_back(observed_->noted.size());
    return {};
}

// The part of a whole JSON answer that is a message; empty: the answer is an error, which becomes the outcome.
std::string_view caller_messages::result_in(std::string_view json)
{
    const auto terms = outcome();
    if (as_json(terms.version).over == ::a2a::binding::rest) {
        if (!::a2a::is_rest_error(json)) {
            return json.find_first_not_of(" \t\r\n") == json.npos ? "{}" : json;
        }
    } else if (const auto read = core::scan_answer(json); read && !read->result.empty()) {
        return read->result;
    }
    fail(status_of_json(http_status_, json, own_, terms));
    return {};
}

core::result<> caller_messages::add_message(std::string_view json)
{
    if (terms_.method == nullptr) {
        return core::gateway_error(errc::internal, "JSON answers a call that is none of A2A's");
    }
    const auto begin = out_.size();
    out_.append(net::grpc::prefix_size, '\0');
    const ::a2a::protobuf::codec_options options{.from_agent = true, .bytes = terms_.limit};
    const auto made = ::a2a::protobuf::to_protobuf(*terms_.method->response, json, options, out_);
    if (!made) {
        out_.resize(begin);
        const auto& why = made.error();
        const bool large = why.code == ::a2a::rpc_code::invalid_request;
        auto detail = why.member + ' ' + std::string{why.why};
        return core::upstream_error(large ? errc::message_too_large : errc::answer_untranslatable, std::move(detail));
    }
    net::grpc::set_prefix(out_, begin);
    rounded_ += made->rounded;
    lost_ += made->lost;
    return {};
}

core::result<> caller_messages::read_events(bool last)
{
    while (!failure_) {
        auto event = events_->next();
        if (!event && last) {
            event = events_->take_rest();
        }
        if (!event) {
            break;
        }
        const auto data = net::take_sse_data(std::move(*event));
        if (!data) {
            commented_ = true;
            continue;
        }
        const auto json = result_in(*data);
        if (failure_ || json.empty()) {
            continue;
        }
        if (auto added = add_message(json); !added) {
            return added;
        }
    }
    return events_->too_large() ? core::result<>{core::upstream_error(errc::message_too_large, "an event")}
                                : core::result<>{};
}

void caller_messages::fail(net::grpc::status with)
{
    failure_ = std::make_unique<net::grpc::status>(std::move(with));
}

// The part that goes out now. The head waits for the first message, so that an error comes alone.
net::answer_part caller_messages::take(bool last)
{
    net::answer_part out{.last = last || failure_ != nullptr};
    if (said_) {
        return {};  // an error has ended the stream
    }
    if (out_.empty() && !out.last) {
        return {};
    }
    // An agent's metadata never get into a head: browsers obey some of its fields, and nobody looks at these.
    const bool has_metadata = metadata_ != nullptr && !metadata_->empty();
    const bool alone = !headed_ && out_.empty() && failure_ != nullptr && !has_metadata;
    if (out.last) {
        const net::grpc::status good;
        status_ = failure_ ? failure_->code : good.code;
        said_ = true;
        auto& lines = alone ? head_ : trailers_;
        lines += has_metadata ? std::string_view{*metadata_} : std::string_view{};
        lines += own_ == errc::grpc_compressed ? "grpc-accept-encoding: identity\r\n" : "";
        net::grpc::append_status(lines, failure_ ? *failure_ : good);
    }
    if (!std::exchange(headed_, true)) {
        head_ += "\r\n";
        out.head = head_;
    }
    out.body.add(out_);
    out.trailers = trailers_;
    return out;
}

net::routine<> caller_messages::end(core::errc why)
{
    if (said_ || open_ || form_ == form::http || (form_ == form::nothing && caller_.answered())) {
        caller_.cut();
        co_return;
    }
    out_.clear();
    if (head_.empty() && !headed_) {
        head_ = first_lines;
    }
    fail(own_status(why, {}, outcome()));
    const auto part = take(true);
    auto sent = caller_.try_send(part);
    if (!sent) {
        sent = co_await caller_.finish_send();
    }
}

}  // namespace gateway::grpc
