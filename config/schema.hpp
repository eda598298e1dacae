// Every key that a configuration may have, once: how it is written, what it means, and the member it sets. Parsing, the
// suggestions for unknown keys and docs/configuration.md all read this table. The keys of agents are in agent_table.hpp.
#pragma once

#include "config/settings.hpp"
#include "config/signatures.hpp"
#include "core/access.hpp"
#include "core/agent.hpp"
#include "core/clock.hpp"
#include "core/log.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace config {

template <class T>
using member_of = T& (*)(settings&);

struct duration_setting {
    member_of<core::duration> member;
    core::duration least;
    core::duration most;
};

struct size_setting {
    member_of<std::uint64_t> member;
    std::uint64_t least;  // bytes
    std::uint64_t most;
};

struct count_setting {
    member_of<std::uint64_t> member;
    std::uint64_t least;
    std::uint64_t most;
};

// A part of a whole, as a decimal fraction.
struct share_setting {
    member_of<double> member;
    double least;
    double most;
};

// One mark for each level; none is below the one before.
struct duration_marks_setting {
    member_of<std::array<core::duration, 3>> member;
    core::duration least;
    core::duration most;
};

// The same, in percent.
struct percent_marks_setting {
    member_of<std::array<std::uint64_t, 3>> member;
    std::uint64_t least;
    std::uint64_t most;
};

// Of core/choices.hpp.
template <class Enum>
struct choice_setting {
    member_of<Enum> member;
};

struct file_setting {
    member_of<std::string> member;
    file_kind kind;
};

template <class T>
struct member_setting {
    member_of<T> member;
};

struct switch_setting : member_setting<bool> {};
struct address_setting : member_setting<endpoint> {};
struct base_url_setting : member_setting<std::string> {};
struct store_setting : member_setting<std::string> {};
struct audit_setting : member_setting<std::string> {};
struct origin_list_setting : member_setting<std::vector<std::string>> {};
struct page_origin_list_setting : member_setting<std::vector<std::string>> {};
struct secret_setting : member_setting<core::secret> {};

// The file with the value of another key.
struct secret_file_setting : member_setting<core::secret> {
    std::string_view of;
};
struct proxy_setting : member_setting<core::secret> {};
struct session_key_list_setting : member_setting<std::vector<core::secret>> {};
struct host_list_setting : member_setting<std::vector<std::string>> {};
struct host_pattern_setting : member_setting<std::string> {};
struct direct_host_list_setting : member_setting<std::vector<std::string>> {};
struct field_name_list_setting : member_setting<std::vector<std::string>> {};
struct network_list_setting : member_setting<std::vector<std::string>> {};
struct certificate_list_setting : member_setting<std::vector<certificate_files>> {};
struct access_setting : member_setting<core::access_settings> {};

using setting_type = std::variant<
    duration_setting,
    size_setting,
    count_setting,
    share_setting,
    duration_marks_setting,
    percent_marks_setting,
    switch_setting,
    address_setting,
    base_url_setting,
    choice_setting<core::log_level>,
    choice_setting<core::log_format>,
    choice_setting<core::admin_access>,
    choice_setting<core::card_shape>,
    choice_setting<core::error_edition>,
    choice_setting<core::signature_policy>,
    choice_setting<core::push_mode>,
    choice_setting<core::public_documents>,
    choice_setting<core::balancing>,
    choice_setting<core::health_check>,
    file_setting,
    origin_list_setting,
    page_origin_list_setting,
    secret_setting,
    secret_file_setting,
    proxy_setting,
    session_key_list_setting,
    store_setting,
    audit_setting,
    host_list_setting,
    host_pattern_setting,
    direct_host_list_setting,
    field_name_list_setting,
    network_list_setting,
    certificate_list_setting,
    access_setting>;

struct setting {
    std::string_view path;
    setting_type type;
    std::string_view meaning;
};

// All but the agents.
std::span<const setting> all_settings();

// Null: there is none.
const setting* find_setting(std::string_view path);

template <class... Functions>
struct overloaded : Functions... {
    using Functions::operator()...;
};

// How values of this type are written, and within which bounds: "1ms to 1d".
std::string written_as(const setting_type& type);

// The setting's value in `of`, as it would be written.
std::string value_text(const setting_type& type, settings of);

// docs/configuration.md.
std::string reference_markdown();

// The one of `known` that a typing error may have been meant as: near in spelling, and not near by accident to a word that
// means something else. Empty: none.
std::string_view nearest_key(std::string_view key, const std::vector<std::string_view>& known);

// What to say of a key that is not among `known`, its siblings: "is not a known key; did you mean `ttl`?".
std::string unknown_key(std::string_view key, const std::vector<std::string_view>& known);

}  // namespace config
