// The codec beside libprotobuf, on random messages of every type.
#include "a2a/protobuf/codec.hpp"
#include "a2a/protobuf/methods.hpp"
#include "tests/support/protobuf_reference.hpp"
#include "tests/unit/a2a/protobuf/wire_text.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <vector>

using namespace a2a::protobuf;

namespace {

tests::protobuf_reference& reference()
{
    static tests::protobuf_reference of{CARDEA_PROTO};
    return of;
}

std::set<const message_type*> all_types()
{
    std::set<const message_type*> types;
    for (const auto& method : service_methods()) {
        types.insert({method.request, method.response});
    }
    return types;
}

constexpr unsigned rounds = 60;

template <class Check>
void for_random_messages(Check&& check)
{
    for (const auto* const type : all_types()) {
        for (unsigned seed = 0; seed < rounds; ++seed) {
            CAPTURE(type->name);
            CAPTURE(seed);
            std::mt19937_64 random{seed};
            const auto message = reference().make(*type);
            tests::fill(*message, random, 7);
            check(*type, *message, random);
        }
    }
}

std::string as_json(const message_type& type, std::string_view bytes)
{
    std::string json;
    const auto done = to_json(type, bytes, {}, json);
    REQUIRE_MESSAGE(done.has_value(), (done ? "" : done.error().member + ": " + std::string{done.error().why}));
    CHECK(done->lost == 0);
    return json;
}

std::string as_bytes(const message_type& type, std::string_view json)
{
    std::string bytes;
    const auto done = to_protobuf(type, json, {}, bytes);
    REQUIRE_MESSAGE(done.has_value(), (done ? "" : done.error().member + ": " + std::string{done.error().why}));
    CHECK(done->lost == 0);
    CHECK(done->rounded == 0);
    return bytes;
}

// A message once more on the wire, with the fields of each level in another order and those that do not repeat split or written twice.
std::string scrambled(const ::google::protobuf::Message& message, std::mt19937_64& random)
{
    const auto& from = *message.GetReflection();
    std::vector<const ::google::protobuf::FieldDescriptor*> fields;
    from.ListFields(message, &fields);
    std::vector<std::string> parts;
    for (const auto* const field : fields) {
        for (int i = 0; i < (field->is_repeated() ? from.FieldSize(message, field) : 1); ++i) {
            std::unique_ptr<::google::protobuf::Message> one{message.New()};
            if (field->message_type() != nullptr) {
                const auto& nested =
                    field->is_repeated() ? from.GetRepeatedMessage(message, field, i) : from.GetMessage(message, field);
                const auto bytes = scrambled(nested, random);
                const auto part = tests::delimited(static_cast<std::uint32_t>(field->number()), bytes);
                parts.push_back(part);
                if (!field->is_repeated() && random() % 3 == 0) {
                    parts.push_back(part);
                }
                continue;
            }
            one->CopyFrom(message);
            std::vector<const ::google::protobuf::FieldDescriptor*> others;
            one->GetReflection()->ListFields(*one, &others);
            for (const auto* const other : others) {
                if (other != field) {
                    one->GetReflection()->ClearField(one.get(), other);
                }
            }
            if (field->is_repeated()) {
                for (int left = one->GetReflection()->FieldSize(*one, field) - 1; left >= 0; --left) {
                    if (left != 0) {
                        one->GetReflection()->RemoveLast(one.get(), field);
                    } else {
                        one->GetReflection()
                            ->SetRepeatedString(one.get(), field, 0, from.GetRepeatedString(message, field, i));
                    }
                }
            }
            parts.push_back(one->SerializeAsString());
            if (random() % 3 == 0) {
                parts.push_back(parts[random() % parts.size()]);
            }
        }
    }
    std::ranges::shuffle(parts, random);
    std::string bytes;
    for (const auto& part : parts) {
        bytes += part;
    }
    return bytes;
}

}  // namespace

TEST_CASE("Messages become the JSON that libprotobuf reads as the same message")
{
    for_random_messages([](const message_type& type, const tests::protobuf_message& message, std::mt19937_64&) {
        const auto json = as_json(type, tests::bytes_of(message));
        CAPTURE(json);
        const auto read = reference().from_json(type, json);
        REQUIRE(read != nullptr);
        CHECK(tests::same_message(*read, message));
        CHECK(nlohmann::json::parse(json) == nlohmann::json::parse(tests::json_of(message)));
    });
}

TEST_CASE("JSON of libprotobuf becomes the message that it was made from")
{
    for_random_messages([](const message_type& type, const tests::protobuf_message& message, std::mt19937_64& random) {
        const auto json = tests::json_of(message, random() % 2 == 0, random() % 2 == 0);
        CAPTURE(json);
        const auto read = reference().parsed(type, as_bytes(type, json));
        REQUIRE(read != nullptr);
        CHECK(tests::same_message(*read, message));
    });
}

TEST_CASE("JSON of the codec becomes the bytes that it was made from, but for the order of fields")
{
    for_random_messages([](const message_type& type, const tests::protobuf_message& message, std::mt19937_64&) {
        const auto read = reference().parsed(type, as_bytes(type, as_json(type, tests::bytes_of(message))));
        REQUIRE(read != nullptr);
        CHECK(tests::same_message(*read, message));
    });
}

TEST_CASE("Fields that are out of order, split or written twice are merged as libprotobuf merges them")
{
    for_random_messages([](const message_type& type, const tests::protobuf_message& message, std::mt19937_64& random) {
        // Two messages one after the other are one of both.
        const auto other = reference().make(type);
        tests::fill(*other, random, 4);
        const auto bytes = scrambled(message, random) + (random() % 2 == 0 ? scrambled(*other, random) : std::string{});
        const auto merged = reference().parsed(type, bytes);
        REQUIRE(merged != nullptr);
        const auto json = as_json(type, bytes);
        CAPTURE(json);
        CHECK(nlohmann::json::parse(json) == nlohmann::json::parse(tests::json_of(*merged)));
    });
}
