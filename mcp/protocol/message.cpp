#include "mcp/protocol/message.hpp"

#include "core/json/json.hpp"
#include "core/json/json_bytes.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace mcp {
namespace {

core::error refused(std::string_view why)
{
    return core::upstream_error(core::errc::upstream_protocol, "message: " + std::string{why});
}

bool is_null(std::string_view raw) noexcept
{
    return raw == "null";
}

// Raw text, or empty if the member says nothing.
std::string_view said(const raw_object& envelope, std::string_view name) noexcept
{
    const auto raw = envelope.find(name);
    return is_null(raw) ? std::string_view{} : raw;
}

// Nothing: no id that JSON-RPC knows.
std::optional<id_type> type_of(std::string_view id) noexcept
{
    if (id.empty()) {
        return id_type::absent;
    }
    if (is_null(id)) {
        return id_type::null;
    }
    if (is_string(id)) {
        return id_type::string;
    }
    const bool number = id.front() == '-' || core::is(id.front(), core::byte_class::digit);
    return number ? std::optional{id_type::number} : std::nullopt;
}

core::result<message> read_call(const raw_object& envelope, message read)
{
    if (!said(envelope, "result").empty() || !said(envelope, "error").empty()) {
        return refused("a method and an answer in one");
    }
    auto method = text_of(envelope.find("method"));
    if (!method || method->empty()) {
        return refused("method is not a name");
    }
    if (read.id_is == id_type::null) {
        return refused("a request with the id null");
    }
    read.kind = read.id_is == id_type::absent ? message_kind::notification : message_kind::request;
    read.method = std::move(*method);
    read.params = said(envelope, "params");
    if (!read.params.empty() && !is_object(read.params) && !is_array(read.params)) {
        return refused("params is not an object or an array");
    }
    return read;
}

core::result<rpc_failure> read_failure(std::string_view raw)
{
    if (!is_object(raw)) {
        return refused("error is not an object");
    }
    const auto members = raw_object::read(raw);
    if (!members) {
        return refused("error: " + members.error().detail);
    }
    const auto code = integer_of<std::int64_t>(members->find("code"));
    if (!code) {
        return refused("error.code is not an integer");
    }
    return rpc_failure{*code, members->text("message"), members->find("data")};
}

core::result<message> read_answer(const raw_object& envelope, message read)
{
    read.result = envelope.find("result");
    const auto error = said(envelope, "error");
    if (error.empty()) {
        if (read.result.empty()) {
            return refused("neither a method, a result nor an error");
        }
        if (!names_request(read.id)) {
            return refused("a result without an id");
        }
        read.kind = message_kind::result;
        return read;
    }
    if (!said(envelope, "result").empty()) {
        return refused("a result and an error in one");
    }
    read.result = {};
    auto failure = read_failure(error);
    if (!failure) {
        return failure.error();
    }
    read.kind = message_kind::failure;
    read.failure = std::move(*failure);
    return read;
}

// A request or notification under construction: its params are given member by member.
class outgoing {
public:
    outgoing(std::string_view method, std::optional<std::uint64_t> id)
    {
        if (id) {
            append_member(text_, "id", std::to_string(*id));
        }
        append_text_member(text_, "method", method);
    }

    outgoing& param(std::string_view name, std::string_view raw)
    {
        append_member(params_, name, raw);
        return *this;
    }

    outgoing& text_param(std::string_view name, std::string_view value)
    {
        append_text_member(params_, name, value);
        return *this;
    }

    std::string done()
    {
        if (!params_.empty()) {
            close(params_, '}');
            append_member(text_, "params", "{" + params_);
        }
        close(text_, '}');
        return R"({"jsonrpc":"2.0",)" + text_;
    }

private:
    std::string text_;
    std::string params_;
};

std::string info(const client_info& client)
{
    std::string out{"{"};
    append_text_member(out, "name", client.name);
    append_text_member(out, "version", client.version);
    close(out, '}');
    return out;
}

outgoing request(std::string_view method, std::uint64_t id, const dialect& speaks)
{
    outgoing call{method, id};
    if (speaks.modern()) {
        std::string meta{"{"};
        append_text_member(meta, "io.modelcontextprotocol/protocolVersion", speaks.version);
        append_member(meta, "io.modelcontextprotocol/clientCapabilities", "{}");
        append_member(meta, "io.modelcontextprotocol/clientInfo", info(speaks.client));
        close(meta, '}');
        call.param("_meta", meta);
    }
    return call;
}

}  // namespace

std::optional<std::uint64_t> message::answered() const noexcept
{
    const bool answer = kind == message_kind::result || kind == message_kind::failure;
    return answer ? number_of_id(id) : std::nullopt;
}

std::optional<std::uint64_t> number_of_id(std::string_view raw) noexcept
{
    if (is_string(raw)) {
        raw = raw.substr(1, raw.size() - 2);
    }
    std::uint64_t number = 0;
    const auto read = std::from_chars(raw.data(), raw.data() + raw.size(), number);
    const auto rest = raw.substr(static_cast<std::size_t>(read.ptr - raw.data()));
    const auto mark = std::min(rest.find_first_of("eE"), rest.size());
    auto exponent = rest.substr(mark);
    if (exponent.size() > 1 && (exponent[1] == '+' || exponent[1] == '-')) {
        exponent.remove_prefix(1);
    }
    // Empty, or zeros behind the point, the letter or its sign.
    const auto is_nothing = [](std::string_view part) {
        return part.empty() || (part.size() > 1 && part.find_first_not_of('0', 1) == std::string_view::npos);
    };
    const auto fraction = rest.substr(0, mark);
    const bool nothing =
        is_nothing(exponent) && is_nothing(fraction) && (fraction.empty() || fraction.starts_with('.'));
    return read.ec == std::errc{} && nothing ? std::optional{number} : std::nullopt;
}

std::string answer_with_id(std::string_view text, const message& of, std::string_view id)
{
    const bool absent = of.id.empty();
    const auto at = absent ? text.find('{') + 1 : static_cast<std::size_t>(of.id.data() - text.data());
    std::string out;
    out.reserve(text.size() + id.size() + 8);  // with the line end that a program needs
    out.append(text.substr(0, at)).append(absent ? R"("id":)" : "").append(id).append(absent ? "," : "");
    return out.append(text.substr(at + of.id.size()));
}

core::result<message> read_message(std::string_view text, message_limits limits)
{
    if (text.size() > limits.bytes) {
        return refused("longer than " + std::to_string(limits.bytes) + " bytes");
    }
    if (opens_array(text)) {
        return refused("a batch, which is not spoken here");
    }
    const auto envelope = raw_object::read(text, limits.depth);
    if (!envelope) {
        return refused(envelope.error().detail);
    }
    if (text_of(envelope->find("jsonrpc")) != "2.0") {
        return refused("jsonrpc is not \"2.0\"");
    }
    message read;
    read.id = envelope->find("id");
    const auto type = type_of(read.id);
    if (!type) {
        return refused("id is not a string or a number");
    }
    read.id_is = *type;
    return envelope->find("method").empty() ? read_answer(*envelope, std::move(read))
                                            : read_call(*envelope, std::move(read));
}

std::vector<std::string_view> messages_in(std::string_view text, std::string_view version)
{
    if (has_batches(version) && opens_array(text)) {
        auto elements = core::scan_elements(text, most_in_batch);
        if (elements && elements->count > 0 && elements->count <= most_in_batch) {
            return std::move(elements->raw);
        }
    }
    return {text};
}

std::string batch_of(std::span<const std::string> messages)
{
    std::string all{"["};
    for (const auto& each : messages) {
        all.append(each).push_back(',');
    }
    all.back() = ']';
    return all;
}

std::string_view method(list_kind list) noexcept
{
    switch (list) {
        case list_kind::tools:
            return "tools/list";
        case list_kind::resources:
            return "resources/list";
        case list_kind::templates:
            return "resources/templates/list";
        case list_kind::prompts:
            return "prompts/list";
    }
    return {};
}

std::string initialize_request(std::uint64_t id, const dialect& speaks)
{
    return outgoing{"initialize", id}
        .text_param("protocolVersion", speaks.version)
        .param("capabilities", "{}")
        .param("clientInfo", info(speaks.client))
        .done();
}

std::string initialized_notification()
{
    return outgoing{"notifications/initialized", std::nullopt}.done();
}

std::string discover_request(std::uint64_t id, const dialect& speaks)
{
    return request("server/discover", id, speaks).done();
}

std::string ping_request(std::uint64_t id, const dialect& speaks)
{
    return request(speaks.modern() ? "server/discover" : "ping", id, speaks).done();
}

std::string list_request(std::uint64_t id, list_kind list, std::string_view cursor, const dialect& speaks)
{
    auto call = request(method(list), id, speaks);
    if (!cursor.empty()) {
        call.param("cursor", compact(cursor));
    }
    return call.done();
}

std::string listen_request(std::uint64_t id, list_set changes_of, const dialect& speaks)
{
    std::string wanted{"{"};
    for (const auto& [list, name] :
         {std::pair{list_kind::tools, "toolsListChanged"},
          std::pair{list_kind::prompts, "promptsListChanged"},
          std::pair{list_kind::resources, "resourcesListChanged"}}) {
        if (changes_of[index_of(list)]) {
            append_member(wanted, name, "true");
        }
    }
    wanted.erase(wanted.find_last_not_of(',') + 1);  // append_member() leaves one behind
    return request("subscriptions/listen", id, speaks).param("notifications", wanted + '}').done();
}

std::string cancelled_notification(std::uint64_t id, std::string_view reason)
{
    return outgoing{"notifications/cancelled", std::nullopt}
        .param("requestId", std::to_string(id))
        .text_param("reason", reason)
        .done();
}

std::string answer_to(const message& request)
{
    const auto id = compact(request.id);
    return request.method == "ping" ? empty_answer(id) : error_answer(id, method_not_found, "Method not found");
}

}  // namespace mcp
