// Any bytes as a message or as JSON of any type, by the codec and by libprotobuf: what both take means one message, what one refuses the
// other refuses too, but for what the codec is stricter in. The first byte chooses the direction, the second one the type.
#include "a2a/dialect/task_scan.hpp"
#include "a2a/protobuf/codec.hpp"
#include "a2a/protobuf/fields.hpp"
#include "a2a/protobuf/methods.hpp"
#include "a2a/protobuf/tables.hpp"
#include "a2a/protobuf/wire.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "tests/fuzz/http1_properties.hpp"
#include "tests/support/protobuf_reference.hpp"

#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/unknown_field_set.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace a2a::protobuf;
using tests::require;

namespace {

tests::protobuf_reference& reference()
{
    static tests::protobuf_reference of{CARDEA_PROTO};
    return of;
}

// Objects of libprotobuf may have 100 levels, three for each container.
constexpr codec_options options{.depth = 24};

// The codec refuses more than libprotobuf does on purpose.
bool stricter(const a2a::refusal& why)
{
    return why.why == "is nested too deep" || why.why == "has a group" || why.why == "is not a finite number" ||
           why.why.starts_with("is not a time") || why.why == "has a varint that is too long" ||
           why.why == "has a field number that does not exist" || why.why == "is not UTF-8";
}

// A Value of no kind is null to the codec, and nothing to libprotobuf, whose JSON functions stumble over unknown fields.
void make_plain(tests::protobuf_message& message)
{
    const auto& type = *message.GetDescriptor();
    const auto& fields = *message.GetReflection();
    fields.MutableUnknownFields(&message)->Clear();
    if (type.full_name() == "google.protobuf.Value" && !fields.HasOneof(message, type.oneof_decl(0))) {
        fields.SetEnumValue(&message, type.FindFieldByNumber(1), 0);
    }
    if (type.options().map_entry()) {
        const auto& value = *type.FindFieldByNumber(2);
        if (value.message_type() != nullptr) {
            make_plain(*fields.MutableMessage(&message, &value));
        }
        return;
    }
    std::vector<const ::google::protobuf::FieldDescriptor*> present;
    fields.ListFields(message, &present);
    for (const auto* const field : present) {
        if (field->message_type() == nullptr) {
            continue;
        }
        if (!field->is_repeated()) {
            make_plain(*fields.MutableMessage(&message, field));
            continue;
        }
        for (int i = 0; i < fields.FieldSize(message, field); ++i) {
            make_plain(*fields.MutableRepeatedMessage(&message, field, i));
        }
    }
}

struct shown_task : a2a::task_sink {
    explicit shown_task(std::string_view json)
    {
        a2a::task_text text{a2a::task_text::until::context};
        text.feed(json, *this);
    }
    void on_task(std::string_view id, std::optional<a2a::task_state> state) override
    {
        said.append(id).append(state ? " " + std::to_string(static_cast<int>(*state)) : "").append("\n");
    }
    void on_context(std::string_view id) override { said.append("context ").append(id).append("\n"); }

    std::string said;
};

// The whole text shows the task that append_shown() does.
void check_shown(const message_type& type, std::string_view bytes, std::string_view json)
{
    for (const auto* const each :
         {&v1::send_message_response,
          &v1::stream_response,
          &v1::task,
          &v03::send_message_response,
          &v03::stream_response,
          &v03::task}) {
        if (each == &type) {
            std::string shown;
            require(append_shown(type, bytes, shown), "what is read is shown", bytes, json);
            // With another escape an id may be one that is too long to be told.
            const bool escapes = shown.find('\\') != std::string::npos;
            require(escapes || shown_task{shown}.said == shown_task{json}.said, "one task is shown", shown, json);
        }
    }
}

void check_bytes(const message_type& type, std::string_view bytes)
{
    std::string json = "before";
    const auto done = to_json(type, bytes, options, json);
    auto message = reference().parsed(type, bytes);
    if (!done) {
        require(json == "before" && !done.error().why.empty(), "nothing is left of a failure", bytes, json);
        require(
            message == nullptr || stricter(done.error()),
            "what libprotobuf reads is read",
            bytes,
            done.error().why
        );
        return;
    }
    json.erase(0, 6);
    require(core::count_members(json).has_value(), "the text is JSON", bytes, json);
    if (message != nullptr) {
        check_shown(type, bytes, json);
    } else {
        // Content that a later field replaces need not be good.
        std::string canonical;
        append_canonical(canonical, type, bytes);
        message = reference().parsed(type, canonical);
    }
    require(message != nullptr, "what is read is a message", bytes, json);
    make_plain(*message);
    const auto theirs = tests::json_of(*message);
    require(
        theirs.empty() || nlohmann::json::parse(json) == nlohmann::json::parse(theirs),
        "both texts say one thing",
        json,
        theirs
    );

    // The text is read back as the message that it was written from.
    std::string again;
    const auto back = to_protobuf(type, json, options, again);
    if (!back) {
        require(back.error().why == "is given twice", "what was written is read", json, back.error().why);
        return;
    }
    require(back->lost == 0 && back->rounded == 0, "what was written is read whole", json);
    std::string text;
    require(to_json(type, again, options, text).has_value(), "what was read is written", json);
    require(nlohmann::json::parse(json) == nlohmann::json::parse(text), "both directions agree", json, text);
}

void check_json(const message_type& type, std::string_view json)
{
    std::string bytes = "before";
    const auto done = to_protobuf(type, json, {.from_agent = true, .depth = options.depth}, bytes);
    if (!done) {
        require(bytes == "before" && !done.error().why.empty(), "nothing is left of a failure", json, bytes);
        return;
    }
    bytes.erase(0, 6);
    const auto ours = reference().parsed(type, bytes);
    require(ours != nullptr, "what is written is a message", json, bytes);
    std::string text;
    require(to_json(type, bytes, options, text).has_value(), "what was written is read", json, bytes);
    if (const auto theirs = reference().from_json(type, json); theirs != nullptr && done->lost == 0) {
        require(tests::same_message(*ours, *theirs), "both messages say one thing", json, tests::json_of(*theirs));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size < 2) {
        return 0;
    }
    const std::string_view input{reinterpret_cast<const char*>(data) + 2, size - 2};
    const auto& method = service_methods()[data[1] / 2 % service_methods().size()];
    const auto& type = data[1] % 2 == 0 ? *method.request : *method.response;
    if (data[0] % 2 == 0) {
        check_bytes(type, input);
        const auto each = [](request_scan::told, std::string_view) { return true; };
        request_scan scan{type};
        if (scan.feed(input, each) && scan.whole()) {
            std::string edited{input};
            replace_tenant(type, edited, scan.tenant().place, "t");
            request_scan again{type};
            require(again.feed(edited, each).has_value(), "an edited message is a message", input, edited);
        }
    } else {
        check_json(type, input);
    }
    return 0;
}
