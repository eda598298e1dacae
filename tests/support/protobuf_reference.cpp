#include "tests/support/protobuf_reference.hpp"

#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <stdexcept>

namespace tests {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Reflection;

unsigned below(std::mt19937_64& random, unsigned count)
{
    return static_cast<unsigned>(random() % count);
}

std::string random_text(std::mt19937_64& random)
{
    static constexpr std::array<std::string_view, 16> pieces{
        "a",
        "Hello, world",
        "\"",
        "\\",
        "/",
        "\n",
        "\x01",
        "\x7F",
        "é",
        "漢字",
        "\xF0\x9F\x98\x80",
        "\xE2\x80\xA8",
        "sixteen bytes or",
        "<&>",
        "\t",
        "null"
    };
    std::string text;
    for (auto left = below(random, 6); left > 0; --left) {
        text += pieces[below(random, pieces.size())];
    }
    return text;
}

double random_number(std::mt19937_64& random)
{
    switch (below(random, 6)) {
        case 0:
            return below(random, 100);
        case 1:
            return -static_cast<double>(below(random, 1'000'000)) / 100;
        case 2:
            return static_cast<double>(random());
        case 3:
            return std::ldexp(1.0, static_cast<int>(below(random, 200)) - 100);
        case 4:
            return 0.1 * below(random, 1000);
        default: {
            const auto any = std::bit_cast<double>(random());
            return std::isfinite(any) ? any : 0.0;
        }
    }
}

void fill_scalar(protobuf_message& message, const FieldDescriptor& field, std::mt19937_64& random)
{
    const Reflection& to = *message.GetReflection();
    switch (field.type()) {
        case FieldDescriptor::TYPE_BOOL:
            to.SetBool(&message, &field, below(random, 2) == 1);
            break;
        case FieldDescriptor::TYPE_INT32:
            to.SetInt32(&message, &field, static_cast<std::int32_t>(random() >> below(random, 64)));
            break;
        case FieldDescriptor::TYPE_ENUM:
            to.SetEnumValue(&message, &field, static_cast<int>(below(random, 10)));
            break;
        case FieldDescriptor::TYPE_BYTES:
        case FieldDescriptor::TYPE_STRING: {
            auto text = random_text(random);
            field.is_repeated() ? to.AddString(&message, &field, text) : to.SetString(&message, &field, text);
            break;
        }
        default:
            throw std::logic_error{"a field of an unknown type"};
    }
}

void fill_value(protobuf_message& value, std::mt19937_64& random, unsigned depth)
{
    const Reflection& to = *value.GetReflection();
    const auto& type = *value.GetDescriptor();
    switch (below(random, depth > 0 ? 6 : 4)) {
        case 0:
            to.SetEnumValue(&value, type.FindFieldByNumber(1), 0);
            break;
        case 1:
            to.SetDouble(&value, type.FindFieldByNumber(2), random_number(random));
            break;
        case 2:
            to.SetString(&value, type.FindFieldByNumber(3), random_text(random));
            break;
        case 3:
            to.SetBool(&value, type.FindFieldByNumber(4), below(random, 2) == 1);
            break;
        case 4:
            fill(*to.MutableMessage(&value, type.FindFieldByNumber(5)), random, depth - 1);
            break;
        default:
            fill(*to.MutableMessage(&value, type.FindFieldByNumber(6)), random, depth - 1);
    }
}

void fill_time(protobuf_message& time, std::mt19937_64& random)
{
    const Reflection& to = *time.GetReflection();
    constexpr std::int64_t first = -62135596800;
    constexpr std::int64_t last = 253402300799;
    const auto seconds = first + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(last - first + 1));
    static constexpr std::array<int, 4> units{1'000'000'000, 1'000'000, 1'000, 1};
    const int unit = units[below(random, 4)];
    to.SetInt64(&time, time.GetDescriptor()->FindFieldByNumber(1), seconds);
    to.SetInt32(
        &time,
        time.GetDescriptor()->FindFieldByNumber(2),
        static_cast<int>(random() % static_cast<unsigned>(1'000'000'000 / unit)) * unit
    );
}

// A map of a dynamic message takes entries of one key twice, and keeps the last one when it is written.
void fill_repeated(
    protobuf_message& message,
    const FieldDescriptor& field,
    std::mt19937_64& random,
    unsigned depth,
    unsigned size
)
{
    const Reflection& to = *message.GetReflection();
    for (unsigned i = 0, count = below(random, size + 1); i < count; ++i) {
        if (field.message_type() == nullptr) {
            fill_scalar(message, field, random);
            continue;
        }
        auto& added = *to.AddMessage(&message, &field);
        fill(added, random, depth > 0 ? depth - 1 : 0, size);
        if (field.is_map()) {
            const auto& key = *added.GetDescriptor()->FindFieldByNumber(1);
            added.GetReflection()->SetString(&added, &key, random_text(random) + std::to_string(i));
            if (const auto& value = *added.GetDescriptor()->FindFieldByNumber(2); value.message_type() != nullptr) {
                fill(*added.GetReflection()->MutableMessage(&added, &value), random, depth > 0 ? depth - 1 : 0, size);
            }
        }
    }
}

}  // namespace

void fill(protobuf_message& message, std::mt19937_64& random, unsigned depth, unsigned size)
{
    const auto& type = *message.GetDescriptor();
    if (type.full_name() == "google.protobuf.Value") {
        message.Clear();
        return fill_value(message, random, depth);
    }
    if (type.full_name() == "google.protobuf.Timestamp") {
        return fill_time(message, random);
    }
    const Reflection& to = *message.GetReflection();
    for (int i = 0; i < type.field_count(); ++i) {
        const auto& field = *type.field(i);
        if (below(random, 3) == 0 || (depth == 0 && field.message_type() != nullptr)) {
            continue;
        }
        if (field.is_repeated()) {
            fill_repeated(message, field, random, depth, size);
        } else if (field.message_type() != nullptr) {
            fill(*to.MutableMessage(&message, &field), random, depth - 1, size);
        } else {
            fill_scalar(message, field, random);
        }
    }
}

protobuf_reference::protobuf_reference(const std::string& folder)
{
    const auto command =
        "protoc -I '" + folder + "' --include_imports --descriptor_set_out=/dev/stdout v1/a2a.proto v03/a2a.proto";
    std::string bytes;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe{::popen(command.c_str(), "r"), ::pclose};
    std::array<char, 4096> room{};
    for (std::size_t count = 1; pipe != nullptr && count != 0;) {
        count = std::fread(room.data(), 1, room.size(), pipe.get());
        bytes.append(room.data(), count);
    }
    ::google::protobuf::FileDescriptorSet files;
    if (!files.ParseFromString(bytes) || files.file_size() < 2) {
        throw std::runtime_error{"protoc cannot read the files in " + folder};
    }
    for (const auto& file : files.file()) {
        if (pool_.BuildFile(file) == nullptr) {
            throw std::runtime_error{"libprotobuf does not take " + file.name()};
        }
    }
}

std::unique_ptr<protobuf_message> protobuf_reference::make(const a2a::protobuf::message_type& type)
{
    const auto* const found = pool_.FindMessageTypeByName(std::string{type.name});
    if (found == nullptr) {
        throw std::logic_error{"libprotobuf has no " + std::string{type.name}};
    }
    return std::unique_ptr<protobuf_message>{factory_.GetPrototype(found)->New()};
}

std::unique_ptr<protobuf_message>
protobuf_reference::parsed(const a2a::protobuf::message_type& type, std::string_view bytes)
{
    auto message = make(type);
    ::google::protobuf::io::CodedInputStream in{
        reinterpret_cast<const std::uint8_t*>(bytes.data()),
        static_cast<int>(bytes.size())
    };
    in.SetRecursionLimit(1000);  // Cardea counts other levels
    return message->ParseFromCodedStream(&in) && in.ConsumedEntireMessage() ? std::move(message) : nullptr;
}

std::unique_ptr<protobuf_message>
protobuf_reference::from_json(const a2a::protobuf::message_type& type, std::string_view json)
{
    auto message = make(type);
    ::google::protobuf::util::JsonParseOptions options;
    options.ignore_unknown_fields = true;
    const ::google::protobuf::StringPiece text{json.data(), json.size()};
    return ::google::protobuf::util::JsonStringToMessage(text, message.get(), options).ok() ? std::move(message)
                                                                                            : nullptr;
}

std::string json_of(const protobuf_message& message, bool proto_names, bool enum_numbers)
{
    ::google::protobuf::util::JsonPrintOptions options;
    options.preserve_proto_field_names = proto_names;
    options.always_print_enums_as_ints = enum_numbers;
    std::string json;
    return ::google::protobuf::util::MessageToJsonString(message, &json, options).ok() ? json : std::string{};
}

bool same_message(const protobuf_message& one, const protobuf_message& other)
{
    return ::google::protobuf::util::MessageDifferencer::Equals(one, other);
}

std::string bytes_of(const protobuf_message& message)
{
    std::string bytes;
    {
        ::google::protobuf::io::StringOutputStream to{&bytes};
        ::google::protobuf::io::CodedOutputStream out{&to};
        out.SetSerializationDeterministic(true);
        message.SerializeToCodedStream(&out);
    }
    return bytes;
}

}  // namespace tests
