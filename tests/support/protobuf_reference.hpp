// libprotobuf with the pinned files of A2A, as the reference for a2a/protobuf/: messages by name, random ones, and its JSON functions.
#pragma once

#include "a2a/protobuf/message_type.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/message.h>

#include <memory>
#include <random>
#include <string>
#include <string_view>

namespace tests {

using protobuf_message = ::google::protobuf::Message;

class protobuf_reference {
public:
    // `folder` is a2a/protobuf/proto, which protoc reads.
    explicit protobuf_reference(const std::string& folder);

    std::unique_ptr<protobuf_message> make(const a2a::protobuf::message_type& type);

    // Null: libprotobuf refuses the bytes.
    std::unique_ptr<protobuf_message> parsed(const a2a::protobuf::message_type& type, std::string_view bytes);

    // Null: libprotobuf refuses the text. Unknown members are ignored.
    std::unique_ptr<protobuf_message> from_json(const a2a::protobuf::message_type& type, std::string_view json);

private:
    ::google::protobuf::DescriptorPool pool_;
    ::google::protobuf::DynamicMessageFactory factory_;
};

// Empty: libprotobuf refuses the message.
std::string json_of(const protobuf_message& message, bool proto_names = false, bool enum_numbers = false);

bool same_message(const protobuf_message& one, const protobuf_message& other);

// The bytes of a message; its maps in the order of their keys.
std::string bytes_of(const protobuf_message& message);

// Fills a message with random values that ProtoJSON can say: `size` bounds the elements of what repeats.
void fill(protobuf_message& message, std::mt19937_64& random, unsigned depth, unsigned size = 3);

}  // namespace tests
