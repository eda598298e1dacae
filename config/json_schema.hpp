// The configuration as JSON Schema (draft 2020-12), for editors: from the same tables as the parser and the documentation.
// The schema accepts every text that the parser accepts; it cannot judge whether a file exists or two settings agree. Pure.
#pragma once

#include "core/json/json.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace config {

core::json json_schema();

// The parts of which it consists.
namespace schema {

core::json or_variable(core::json expected);  // a value with a variable may become anything
core::json any_text();                        // YAML gives a plain scalar a type by its look; the parser takes its text
core::json text_like(std::string_view pattern);
core::json any_text_like(std::string_view pattern);  // a scalar that looks like a number passes
core::json texts();                                  // one, or a list of them
core::json duration();
core::json size(std::uint64_t least, std::uint64_t most);
core::json count(std::uint64_t least, std::uint64_t most);
core::json share(double least, double most);
core::json on_or_off();
core::json url();        // http or https
core::json grpc_url();   // grpc or grpcs, without a path
core::json agent_url();  // any of these
core::json list_of(core::json element);
core::json three_of(core::json element);
core::json map_of(core::json value);
core::json closed_map(core::json properties);
core::json list_of_maps(core::json properties, std::vector<std::string_view> required);
core::json names_of(std::span<const std::string_view> names);
core::json reference(std::string_view definition);
core::json described(core::json schema, std::string_view meaning);

// One of the names of rows such as those of core::choices.
core::json one_of(const auto& choices)
{
    auto names = core::json::array();
    for (const auto& each : choices) {
        names.push_back(each.name);
    }
    return or_variable({{"enum", std::move(names)}});
}

}  // namespace schema
}  // namespace config
