#include "a2a/dialect/answer.hpp"

#include "a2a/dialect/enums.hpp"
#include "a2a/dialect/error.hpp"
#include "a2a/dialect/push_config.hpp"
#include "a2a/dialect/walk.hpp"
#include "core/json/json.hpp"
#include "core/json/json_cursor.hpp"

#include <array>
#include <cstdint>
#include <utility>

namespace a2a {
namespace {

using cursor_type = core::json_cursor<core::wide_bytes>;

namespace at {
enum : std::uint8_t { result, error, count };
}

constexpr std::array response_rows{
    member_row{"jsonrpc"},
    member_row{"id"},
    member_row{"result", at::result, member_row::in_all, true},
    member_row{"error", at::error},
};

bool is_success(unsigned status) noexcept
{
    return status >= 200 && status < 300;
}

// `text` without white space around it, if it is one JSON value. Empty: it is not.
std::string_view checked_json(std::string_view text, unsigned depth)
{
    cursor_type cursor{text, depth};
    cursor.skip_space();
    const char* const begin = cursor.position();
    if (!cursor.value()) {
        return {};
    }
    const std::string_view value{begin, static_cast<std::size_t>(cursor.position() - begin)};
    return cursor.finish() ? value : std::string_view{};
}

struct response {
    std::string_view result;
    std::string_view error;
};

// The result or the error of a JSON-RPC response. Where the result is always null, agents leave it out.
bool read_response(walk& w, std::string_view text, operation asked, response& found)
{
    std::array<std::string_view, at::count> values;
    const auto lost = w.lost;
    if (!w.read(text, response_rows, values)) {
        return false;
    }
    w.lost = lost;  // what stands beside the result is no member of A2A
    found = {values[at::result], values[at::error]};
    if (!found.error.empty() && found.result == "null") {
        found.result = {};
    }
    const bool done = found.error.empty() && asked == operation::delete_push;
    return done || found.result.empty() != found.error.empty() || w.fail("is not a JSON-RPC response");
}

// Whether a body that came with an error status is a response all the same.
bool is_rpc_response(std::string_view text)
{
    std::string unused;
    walk w{body_shape::types, body_shape::types, origin_side::agent, unused};
    response found;
    return read_response(w, text, operation::none, found);
}

bool translate_result(walk& w, const exchange& how, std::string_view raw, translated_answer& answer)
{
    std::string_view next_page;
    bool good = true;
    switch (how.asked) {
        case operation::send:
            return translate_send_result(w, raw, answer.facts);
        case operation::stream:
        case operation::subscribe:
            return translate_stream_event(w, raw, answer.facts);
        case operation::get:
        case operation::cancel:
            return translate_task_result(w, raw, answer.facts);
        case operation::create_push:
            return translate_task_push_config(w, raw);
        case operation::get_push:
            return how.first_config ? translate_push_configs(w, raw, true, next_page)
                                    : translate_task_push_config(w, raw);
        case operation::list_push:
            good = translate_push_configs(w, raw, false, next_page);
            answer.next_page = next_page;
            return good;
        case operation::delete_push:
            w.out += w.to == body_shape::types ? "null" : "{}";
            return true;
        case operation::list:
        case operation::extended_card:
            w.out += raw;
            return true;
        case operation::none:
            break;
    }
    return w.fail("answers an operation that A2A does not define");
}

class answering {
public:
    answering(const exchange& how, const answer_options& options, std::string& out)
        : how_{how},
          options_{options},
          out_{out},
          before_{out.size()},
          walk_{shape_of(how.agent), shape_of(how.caller), origin_side::agent, out}
    {
        walk_.without_history = how.without_history;
    }

    translation<translated_answer> result(std::string_view raw)
    {
        const bool enveloped = how_.caller.over == binding::jsonrpc;
        if (enveloped) {
            out_.append("{\"jsonrpc\":\"2.0\",\"id\":").append(options_.id.empty() ? "null" : options_.id);
            out_ += ",\"result\":";
        }
        if (!translate_result(walk_, how_, raw, answer_)) {
            return failure();
        }
        if (enveloped) {
            out_ += '}';
        }
        answer_.lost = walk_.lost;
        return std::move(answer_);
    }

    translation<translated_answer> error(const agent_error& raw)
    {
        answer_.is_error = true;
        answer_.status = append_error(out_, how_.caller, options_.profile, options_.id, raw, answer_.lost);
        return std::move(answer_);
    }

    translation<translated_answer> response_of(std::string_view text)
    {
        response found;
        if (!read_response(walk_, text, how_.asked, found)) {
            return failure();
        }
        if (!found.error.empty()) {
            return error(read_rpc_error(found.error, how_.agent.version));
        }
        return result(found.result);
    }

    translation<translated_answer> failure(std::string_view why)
    {
        walk_.fail(why);
        return failure();
    }

private:
    refusal failure()
    {
        out_.resize(before_);
        return walk_.take_failure();
    }

    const exchange& how_;
    const answer_options& options_;
    std::string& out_;
    std::size_t before_;
    walk walk_;
    translated_answer answer_;
};

// Words for the sentence of a refusal.
std::string sentence(const refusal& why)
{
    const bool agent = why.code == rpc_code::invalid_agent_response;
    std::string text{message_of(why.code)};
    text.append(": ");
    if (why.member.empty()) {
        text.append(agent ? "the answer " : "the request ");
    } else {
        text.append(why.member).append(" ");
    }
    return text.append(why.why);
}

translation<translated_answer>
translate_whole(answering& work, const exchange& how, const agent_answer& in, const translation_limits& limits)
{
    if (in.body.size() > limits.bytes) {
        return work.failure("is larger than the limit");
    }
    const auto text = checked_json(in.body, limits.depth);
    if (how.agent.over == binding::jsonrpc) {
        const bool is_response = is_object(text);
        if (!is_success(in.status) && (!is_response || !is_rpc_response(text))) {
            return work.error(read_rest_error(in.status, in.body, how));
        }
        return is_response ? work.response_of(text) : work.failure("is not a JSON-RPC response");
    }
    if (!is_success(in.status)) {
        return work.error(read_rest_error(in.status, in.body, how));
    }
    if (how.asked == operation::delete_push) {
        return work.result({});
    }
    return text.empty() ? work.failure("is not JSON") : work.result(text);
}

}  // namespace

translation<translated_answer>
translate_answer(const exchange& how, const agent_answer& in, const answer_options& options, std::string& out)
{
    const auto before = out.size();
    answering work{how, options, out};
    auto done = translate_whole(work, how, in, options.limits);
    // Specification 1.0.1 section 3.1.6.
    const bool subscribes = how.asked == operation::subscribe && how.caller.version == generation::v1 &&
                            how.agent.version == generation::v03;
    if (subscribes && done && done->facts.kind == event_kind::task && has_ended(done->facts.state)) {
        out.resize(before);
        return refusal{rpc_code::unsupported_operation, {}, "subscribes to a task that has ended"};
    }
    return done;
}

translation<translated_answer>
translate_event(const exchange& how, std::string_view data, const answer_options& options, std::string& out)
{
    answering work{how, options, out};
    if (data.size() > options.limits.bytes) {
        return work.failure("is larger than the limit");
    }
    const auto text = checked_json(data, options.limits.depth);
    if (text.empty()) {
        return work.failure("is not JSON");
    }
    if (how.agent.over == binding::jsonrpc) {
        return is_object(text) ? work.response_of(text) : work.failure("is not a JSON-RPC response");
    }
    if (is_rest_error(text)) {
        auto failed = work.error(read_rest_error(200, text, how));
        if (failed) {
            failed->status = 200;
        }
        return failed;
    }
    return work.result(text);
}

unsigned append_refusal(std::string& out, dialect caller, const answer_options& options, const refusal& why)
{
    agent_error error;
    error.code = why.code;
    std::string message;
    core::append_json_string(message, sentence(why));
    error.message = message;
    std::string place;
    const bool named = why.code == rpc_code::invalid_params && !why.member.empty();
    if (named && caller.version == generation::v1) {
        place = R"([{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":)";
        core::append_json_string(place, why.member);
        place += R"(,"description":)";
        core::append_json_string(place, why.why);
        place += "}]}]";
        error.details = place;
    } else if (named) {
        place = R"({"field":)";
        core::append_json_string(place, why.member);
        place += '}';
        error.data = place;
    }
    std::size_t lost = 0;
    return append_error(out, caller, options.profile, options.id, error, lost);
}

}  // namespace a2a
