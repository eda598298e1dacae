#include "gateway/grpc/agent_messages.hpp"

#include "core/ascii.hpp"
#include "gateway/grpc/head_lines.hpp"
#include "net/http1/head_writer.hpp"
#include "net/loop/buffer_pool.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <exception>
#include <utility>

namespace gateway::grpc {
namespace {

using core::errc;
using reader = net::grpc::message_reader;

constexpr std::string_view prefix = "grpc-";

// Fields that speak of messages of gRPC, or of the outcome.
bool is_of_grpc(const net::http1::field& each) noexcept
{
    return core::equal_ignoring_case(each.name.substr(0, prefix.size()), prefix) ||
           core::equal_ignoring_case(each.name, "content-type") ||
           core::equal_ignoring_case(each.name, "content-length") ||
           core::equal_ignoring_case(each.name, "transfer-encoding") || net::http1::hop_by_hop(each.id);
}

std::string_view field_value(const net::http1::field_list& fields, std::string_view name)
{
    const auto* const value = net::http1::find(fields, name);
    return value == nullptr ? std::string_view{} : *value;
}

}  // namespace

agent_messages::agent_messages(net::agent_side& inner, std::shared_ptr<terms> of)
    : inner_{inner},
      terms_{std::move(of)},
      reader_{terms_->limit},
      share_{terms_->bodies},
      parser_{{.bytes = 1024 * 1024, .fields = 1'000, .value = 1024 * 1024}}
{
}

agent_messages::~agent_messages()
{
    if (under_way_) {
        under_way_->owner = nullptr;
    }
}

outcome_terms agent_messages::outcome() const noexcept
{
    return {.version = terms_->method->version, .what = terms_->method->what};
}

core::result<bool> agent_messages::read_head(net::http1::method to)
{
    if (!began_) {
        auto here = inner_.read_head(to);
        if (!here || !*here) {
            return here;
        }
        began_ = true;
        if (auto begun = begin(); !begun) {
            return std::move(begun).error();
        }
    }
    if (headed_) {
        return true;
    }
    // A stream of 1.0 begins with a message, so that an error can come alone (specification 1.0.1 section 11.7).
    const bool silent = terms_->method->streams && terms_->method->version == ::a2a::generation::v03;
    if (silent && !inner_.body_done() && !outcome_) {
        auto written = write_head(200, "text/event-stream");
        return written ? core::result<bool>{true} : std::move(written).error();
    }
    if (auto gathered = gather(); !gathered) {
        return std::move(gathered).error();
    }
    return headed_;
}

// The agent's head: all that is needed of it is kept.
core::result<> agent_messages::begin()
{
    const auto& head = inner_.head();
    net::http1::head_writer fields{fields_};
    const bool whole = inner_.body_done();  // no other head says how the answer ends
    std::string said;
    for (const auto& each : head.fields) {
        if (!is_of_grpc(each)) {
            fields.field(each.name, each.value);
        } else if (whole && (each.name.starts_with("grpc-status") || each.name == "grpc-message")) {
            net::http1::head_writer{said}.field(each.name, each.value);
        }
    }
    if (head.status != 200) {
        outcome_ = net::grpc::status{
            core::grpc_code_of_http(head.status),
            "The agent has answered with HTTP " + std::to_string(head.status) + '.',
            {}
        };
    } else if (net::grpc::media_of(field_value(head.fields, "content-type")) != net::grpc::media::grpc) {
        return core::upstream_error(errc::upstream_protocol, "the answer is not gRPC");
    } else {
        outcome_ = status_in(said);
    }
    inner_.consume_head();
    return {};
}

// Waits for the whole answer, or for the first message of a stream.
core::result<> agent_messages::gather()
{
    for (bool more = true; more;) {
        const auto next = read_more();
        if (!next) {
            return next.error();
        }
        if (terms_->method->streams && !out_.empty()) {
            return write_head(200, "text/event-stream");
        }
        more = *next;
    }
    if (!under_way_ && inner_.body_done()) {
        return end();
    }
    if (!under_way_ && inner_.ended() && !inner_.ready()) {
        return core::upstream_error(errc::upstream_reset, inner_.end_reason().message());
    }
    return {};
}

// Reads on. False: nothing more is there, or a conversion is under way.
core::result<bool> agent_messages::read_more()
{
    auto idle = take_conversion();
    if (!idle || !*idle) {
        return idle;
    }
    const auto piece = inner_.body_done() ? core::result<std::string_view>{} : inner_.take();
    if (!piece) {
        return piece.error();
    }
    if (piece->empty()) {
        return false;
    }
    if (!outcome_) {
        if (auto done = read(*piece); !done) {
            return std::move(done).error();
        }
    }
    inner_.release();
    return true;
}

core::result<> agent_messages::read(std::string_view piece)
{
    while (!piece.empty()) {
        const auto part = reader_.next(piece);
        if (reader_.problem() == reader::fault::too_large) {
            return core::upstream_error(errc::message_too_large, std::to_string(reader_.size()) + " bytes");
        }
        if (reader_.problem() == reader::fault::malformed || (part.begins && reader_.compressed())) {
            return core::upstream_error(errc::upstream_protocol, "a message is malformed, or compressed unasked");
        }
        const bool whole = part.ends && message_.empty();
        if (!whole) {
            message_ += part.data;
        }
        if (!part.ends) {
            continue;
        }
        if (!terms_->method->streams && reader_.count() > 1) {
            return core::upstream_error(errc::upstream_protocol, "a call that is no stream has two answers");
        }
        if (terms_->elsewhere && reader_.size() > converted_at_once) {
            convert_elsewhere(whole ? std::string{part.data} : std::exchange(message_, {}));
            behind_ = piece;
            break;
        }
        const auto added = append_message(*terms_, whole ? part.data : message_, out_);
        if (!added) {
            return added.error();
        }
        count(*added);
        message_.clear();
    }
    return share_.set(held()) ? core::result<>{} : core::gateway_error(errc::overloaded, "bodies");
}

std::size_t agent_messages::held() const noexcept
{
    return message_.size() + out_.size() + behind_.size() + (under_way_ ? under_way_->message.size() : 0);
}

void agent_messages::count(const ::a2a::protobuf::conversion& made) noexcept
{
    terms_->rounded += made.rounded;
    terms_->lost += made.lost;
}

core::result<::a2a::protobuf::conversion>
agent_messages::append_message(const terms& of, std::string_view message, std::string& out)
{
    const auto& method = *of.method;
    const bool rpc = as_json(method.version).over == ::a2a::binding::jsonrpc;
    out += method.streams ? "data: " : "";
    if (rpc) {
        out.append(R"({"jsonrpc":"2.0","id":)").append(of.id).append(R"(,"result":)");
    }
    const ::a2a::protobuf::codec_options options{.from_agent = true, .bytes = of.limit * 6 + 4096};
    const auto made = ::a2a::protobuf::to_json(*method.response, message, options, out);
    if (!made) {
        const auto& why = made.error();
        return core::upstream_error(errc::answer_untranslatable, why.member + ' ' + std::string{why.why});
    }
    out += rpc ? "}" : "";
    out += method.streams ? "\n\n" : "";
    return *made;
}

// Nothing else is read of the answer until it is over.
void agent_messages::convert_elsewhere(std::string message)
{
    under_way_ = std::make_shared<conversion>();
    under_way_->owner = this;
    under_way_->message = std::move(message);
    // The loop runs until it has heard of the end.
    auto loop = net::asio::make_work_guard(*terms_->here);
    terms_->elsewhere([work = under_way_, of = terms_, loop = std::move(loop)] {
        try {
            work->made = append_message(*of, work->message, work->out);
        } catch (const std::exception& bug) {
            work->made = core::gateway_error(errc::internal, bug.what());
        }
        net::asio::post(loop.get_executor(), [work] {
            work->done = true;
            if (work->owner != nullptr && work->owner->listener_ != nullptr) {
                work->owner->listener_->set();
            }
        });
    });
}

// Takes what a conversion has made, and reads on. False: it is not over, or another one has begun.
core::result<bool> agent_messages::take_conversion()
{
    if (under_way_ && under_way_->done) {
        const auto over = std::exchange(under_way_, nullptr);
        if (!over->made) {
            return over->made.error();
        }
        count(*over->made);
        if (out_.empty()) {
            out_.swap(over->out);
        } else {
            out_ += over->out;
        }
        const auto behind = std::exchange(behind_, {});
        if (auto done = read(behind); !done) {
            return std::move(done).error();
        }
    }
    return under_way_ == nullptr;
}

// The answer is whole, with its trailers.
core::result<> agent_messages::end()
{
    auto lines = inner_.trailers();
    if (!outcome_) {
        outcome_ = status_in(lines);
    }
    terms_->trailers.clear();
    while (!lines.empty()) {
        const auto line = take_line(lines);
        if (!core::equal_ignoring_case(line.substr(0, prefix.size()), prefix)) {
            terms_->trailers.append(line).append("\r\n");
        }
    }
    if (!outcome_ || !reader_.between_messages()) {
        return core::upstream_error(
            errc::upstream_protocol,
            outcome_ ? "the answer ends within a message" : "the answer has no grpc-status, or two"
        );
    }
    over_ = true;
    if (outcome_->code != core::grpc_code::ok) {
        return add_failure(*outcome_);
    }
    if (headed_) {
        return {};
    }
    if (terms_->method->streams) {
        return write_head(200, "text/event-stream");  // of no event
    }
    if (reader_.count() == 0) {
        return core::upstream_error(errc::upstream_protocol, "the answer has a status alone, which is OK");
    }
    return write_head(200, "application/json");
}

// An error within a stream is an event, else the answer.
core::result<> agent_messages::add_failure(const net::grpc::status& why)
{
    auto made = json_of_status(why, outcome(), terms_->id);
    if (headed_) {
        out_.append("data: ").append(made.body).append("\n\n");
        return {};
    }
    out_ = std::move(made.body);
    const bool rpc = as_json(terms_->method->version).over == ::a2a::binding::jsonrpc;
    const bool told = made.http == 401 || made.http == 403 || made.http == 429 || made.http >= 503;
    return write_head(rpc && !told ? 200 : made.http, "application/json");
}

core::result<> agent_messages::write_head(unsigned status, std::string_view type)
{
    net::http1::head_writer out{head_};
    out.status_line(status);
    out.field("Content-Type", type);
    head_ += fields_;
    if (over_) {
        out.field("Content-Length", out_.size());
    } else {
        out.field("Transfer-Encoding", "chunked");
    }
    out.end();
    auto parsed = parser_.parse(head_, net::http1::method::post);
    if (!parsed) {
        return std::move(parsed).error();
    }
    headed_ = true;
    return {};
}

core::result<std::string_view> agent_messages::take()
{
    if (taken_ == 0 && out_.empty() && !over_) {
        for (bool more = true; more && out_.empty();) {
            const auto next = read_more();
            if (!next) {
                return next.error();
            }
            more = *next;
        }
        if (!under_way_ && inner_.body_done()) {
            if (auto done = end(); !done) {
                return std::move(done).error();
            }
        }
    }
    const auto rest = std::string_view{out_}.substr(taken_);
    taken_ = out_.size();
    return rest;
}

bool agent_messages::release()
{
    if (taken_ == out_.size()) {
        out_.clear();
        if (out_.capacity() > net::small_block) {
            std::string{}.swap(out_);
        }
        taken_ = 0;
        share_.set(held());
    }
    return inner_.release();
}

}  // namespace gateway::grpc
