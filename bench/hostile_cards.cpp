#include "bench/hostile_cards.hpp"

#include "core/json/json.hpp"

#include <algorithm>
#include <array>

namespace bench {
namespace {

std::size_t values_of(const core::json& value)
{
    std::size_t count = 1;
    for (const auto& each : value.is_structured() ? value : core::json::array()) {
        count += values_of(each);
    }
    return count;
}

// `begin`, then as many items as fit, then `end`. An item is `make(number)`. A card has at most a value for every ten bytes:
// where items reach that first, the rest is text.
template <class Make>
std::string
filled(std::string begin, std::string_view end, std::size_t bytes, Make make, std::size_t most = ~std::size_t{0})
{
    constexpr std::size_t values_around = 1500;
    std::string out = std::move(begin);
    std::string items;
    std::size_t room = bytes / 10 - std::min(bytes / 10, values_around);
    for (std::size_t i = 0; i < most; ++i) {
        const auto item = make(i);
        const auto member = item.starts_with('"') && item.find(":{") != std::string::npos;
        const auto values = values_of(*core::parse_json(member ? '{' + item + '}' : item));
        if (out.size() + items.size() + item.size() + end.size() + 1 > bytes || values > room) {
            break;
        }
        room -= values;
        items.append(i == 0 ? "" : ",").append(item);
    }
    const std::string_view padding = R"("padding":"")";
    const auto taken = out.size() + items.size() + end.size() + padding.size() + 1;
    if (taken < bytes) {
        out.insert(1, R"("padding":")" + std::string(bytes - taken, 'p') + "\",");
    }
    return out.append(items).append(end);
}

std::string in_quotes(std::string_view text)
{
    return '"' + std::string{text} + '"';
}

std::string numbered(std::string_view text, std::size_t number)
{
    return std::string{text} + std::to_string(number);
}

std::string old_card()
{
    return R"({"protocolVersion":"0.3.0","name":"n","description":"d","url":"http://a.internal/","version":"1",)"
           R"("capabilities":{},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],)";
}

std::string new_card()
{
    return R"({"name":"n","description":"d","version":"1","capabilities":{},"defaultInputModes":["text/plain"],)"
           R"("defaultOutputModes":["text/plain"],)";
}

std::string repeated(std::string_view what, std::size_t bytes)
{
    std::string out;
    while (out.size() + what.size() <= bytes) {
        out += what;
    }
    return out;
}

// `"<prefix>0":<value>,"<prefix>1":<value>,…`
std::string members(std::string_view prefix, std::string_view value, std::size_t count)
{
    std::string out;
    for (std::size_t i = 0; i < count; ++i) {
        out.append(i == 0 ? "" : ",").append(in_quotes(numbered(prefix, i))).append(":").append(value);
    }
    return out;
}

std::string two_flows()
{
    return R"({"type":"oauth2","flows":{"implicit":{"scopes":{}},"password":{"scopes":{}}}})";
}

// What froze a control loop for 3.8 s with 10 kB, and for 42 s with 90 kB.
std::string requirements(std::size_t bytes)
{
    std::string schemes;
    for (std::size_t i = 0; i < 4; ++i) {
        schemes += in_quotes(numbered("o", i)) + ':' + two_flows() + ',';
    }
    std::string demand = "{";
    for (std::size_t i = 0; i < 990; ++i) {
        demand.append(i == 0 ? "" : ",").append(in_quotes(numbered(i < 4 ? "o" : "s", i))).append(":[]");
    }
    demand += '}';
    auto begin = old_card() + R"("securitySchemes":{)" + schemes + R"("s":{"type":"mutualTLS"}},"security":[)";
    return filled(std::move(begin), R"(],"skills":[]})", bytes, [&](std::size_t) { return demand; });
}

std::string skill_requirements(std::size_t bytes)
{
    std::string schemes;
    for (std::size_t i = 0; i < 64; ++i) {
        schemes.append(i == 0 ? "" : ",").append(in_quotes(numbered("o", i))).append(":").append(two_flows());
    }
    const auto demand = '{' + members("o", R"(["a","b","c"])", 64) + '}';
    auto begin = old_card() + R"("securitySchemes":{)" + schemes + R"(},"skills":[)";
    return filled(std::move(begin), "]}", bytes, [&](std::size_t i) {
        return R"({"id":")" + std::to_string(i) + R"(","security":[)" + demand + "]}";
    });
}

std::string schemes_with_flows(std::size_t bytes)
{
    return filled(
        old_card() + R"("skills":[],"securitySchemes":{)",
        "}}",
        bytes,
        [&](std::size_t i) {
            const auto scopes = "{" + members("scope", R"("s")", 60) + "}";
            return in_quotes(numbered("o", i)) + R"(:{"type":"oauth2","description":")" + std::string(300, 'd') +
                   R"(","flows":{"implicit":{"scopes":)" + scopes +
                   R"(},"password":{},"authorizationCode":{},"clientCredentials":{}}})";
        },
        990
    );
}

std::string scheme_with_long_name(std::size_t bytes)
{
    return old_card() + R"("skills":[],"securitySchemes":{")" +
           std::string(bytes - std::min<std::size_t>(bytes, 20000), 'n') + R"(":{"type":"http","scheme":"s",)" +
           members("x", "0", 990) + "}}}";
}

std::string taken_scheme_names(std::size_t bytes)
{
    std::string schemes;
    for (int i = 0; i < 500; ++i) {
        schemes +=
            in_quotes("o__implicit" + std::string(static_cast<std::size_t>(i), '_')) + R"(:{"type":"mutualTLS"},)";
    }
    return filled(
        old_card() + R"("skills":[],"securitySchemes":{)" + schemes,
        "}}",
        bytes,
        [](std::size_t i) { return in_quotes(i == 0 ? "o" : numbered("o", i)) + ':' + two_flows(); },
        490
    );
}

std::string unknown_list(std::string_view item, std::size_t bytes)
{
    return filled(old_card() + R"("skills":[],"x":[)", "]}", bytes, [&](std::size_t) { return std::string{item}; });
}

std::string empty_arrays(std::size_t bytes)
{
    return unknown_list("[]", bytes);
}

std::string empty_objects(std::size_t bytes)
{
    return unknown_list("{}", bytes);
}

std::string empty_strings(std::size_t bytes)
{
    return unknown_list(R"("")", bytes);
}

std::string whole_numbers(std::size_t bytes)
{
    return unknown_list("7", bytes);
}

std::string broken_numbers(std::size_t bytes)
{
    return unknown_list("1.7e300", bytes);
}

std::string wide_objects(std::size_t bytes)
{
    return unknown_list('{' + members("", "0", 990) + '}', bytes);
}

std::string repeated_names(std::size_t bytes)
{
    return unknown_list('{' + repeated(R"("a":0,)", 6000 - 6) + R"("a":0})", bytes);
}

// Each object has members behind the one that holds the rest.
std::string deep_objects(std::size_t bytes)
{
    constexpr std::size_t levels = 60;
    std::string begin = old_card() + R"("skills":[],"x":)";
    std::string end;
    for (std::size_t i = 0; i < levels; ++i) {
        begin += R"({"a":)";
        end += ',' + members("m", "0", 100) + '}';
    }
    return filled(begin + '[', ']' + end + '}', bytes, [](std::size_t) { return std::string{"[]"}; });
}

std::string empty_skills(std::size_t bytes)
{
    return filled(old_card() + R"("skills":[)", "]}", bytes, [](std::size_t) { return std::string{"{}"}; });
}

std::string skills_of_strangers(std::size_t bytes)
{
    return filled(new_card() + R"("supportedInterfaces":[],"skills":[)", "]}", bytes, [](std::size_t i) {
        return R"({"id":")" + std::to_string(i) + R"(",)" + members("x", "0", 20) + '}';
    });
}

std::string tags(std::size_t bytes)
{
    return filled(old_card() + R"("skills":[{"id":"s","tags":[)", "]}]}", bytes, [](std::size_t i) {
        return in_quotes(std::to_string(i));
    });
}

std::string interfaces(std::size_t bytes)
{
    const auto each = bytes / 1100;
    return filled(new_card() + R"("skills":[],"supportedInterfaces":[)", "]}", bytes, [&](std::size_t i) {
        return R"({"url":"http://b.internal/","protocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":")" +
               std::string(each > 200 ? each - 200 : 1, 't') + std::to_string(i) + R"(","x":["http://c.internal/"]})";
    });
}

std::string addresses(std::size_t bytes)
{
    return filled(
        new_card() + R"("skills":[],"supportedInterfaces":[{"url":"http://b/","protocolBinding":"JSONRPC","x":[)",
        "]}]}",
        bytes,
        [&](std::size_t i) { return in_quotes(numbered("http://h", i)); }
    );
}

std::string nested_cards(std::size_t bytes)
{
    std::string begin = old_card() + R"("skills":[],"agentCard":)";
    std::string end = "}";
    for (int i = 0; i < 3; ++i) {
        begin += R"({"url":"http://d.internal/","agentCard":)";
        end += '}';
    }
    return filled(begin + R"({"additionalInterfaces":[)", "]}" + end, bytes, [&](std::size_t) {
        return std::string{R"({"url":"http://e.internal/"})"};
    });
}

std::string spelled_names(std::size_t bytes)
{
    return filled(old_card() + R"("skills":[],"additional_interfaces":[)", "]}", bytes, [](std::size_t) {
        return R"({"u)" + std::string(400, '-') + R"(rl":"http://f.internal/","trans_port":"json_rpc"})";
    });
}

std::string extensions(std::size_t bytes)
{
    return filled(
        R"({"name":"n","url":"http://g.internal/","skills":[],"capabilities":{"extensions":[)",
        "]}}",
        bytes,
        [](std::size_t) { return std::string{R"({"uri":"u"})"}; }
    );
}

std::string long_text(std::string_view piece, std::size_t bytes)
{
    const std::string begin = R"({"name":"n","url":"http://a.internal/","skills":[],"description":")";
    return begin + repeated(piece, bytes - begin.size() - 2) + R"("})";
}

std::string escapes(std::size_t bytes)
{
    return long_text(R"(\u00e9)", bytes);
}

std::string quotes(std::size_t bytes)
{
    return long_text(R"(\")", bytes);
}

std::string signatures(std::size_t bytes)
{
    return filled(new_card() + R"("supportedInterfaces":[],"skills":[],"signatures":[)", "]}", bytes, [](std::size_t) {
        // {"alg":"ES256","kid":"k"}
        return R"({"protected":"eyJhbGciOiJFUzI1NiIsImtpZCI6ImsifQ","signature":")" + repeated("AQEB", 84) + R"(AQ"})";
    });
}

std::string signed_lists(std::size_t bytes)
{
    const auto few = signatures(10000);
    auto begin = few.substr(0, few.size() - 1) + R"(,"x":[)";
    return filled(std::move(begin), "]}", bytes, [](std::size_t) { return std::string{"[7]"}; });
}

// Every way to write what was signed gives another text, and there are schemes that the signature may not cover.
std::string signed_ways(std::size_t bytes)
{
    return filled(
        R"({"name":"n","capabilities":{"extensions":[{"uri":"u","required":false}]},"supportedInterfaces":[],)"
        R"("securitySchemes":{"s":{"mtlsSecurityScheme":{}}},"signatures":[)"
        R"({"protected":"eyJhbGciOiJFUzI1NiIsImtpZCI6ImsifQ","signature":")" +
            std::string(86, 'A') + R"("}],"skills":[)",
        "]}",
        bytes,
        [](std::size_t i) {
            return R"({"id":")" + std::to_string(i) +
                   R"(","name":"\u00e9","description":"","tags":["a","b"],"x":1e30})";
        }
    );
}

constexpr std::array<hostile_card, 27> all{{
    {"requirements", requirements},
    {"skill-requirements", skill_requirements},
    {"schemes-with-flows", schemes_with_flows},
    {"scheme-with-long-name", scheme_with_long_name},
    {"taken-scheme-names", taken_scheme_names},
    {"empty-arrays", empty_arrays},
    {"empty-objects", empty_objects},
    {"empty-strings", empty_strings},
    {"whole-numbers", whole_numbers},
    {"broken-numbers", broken_numbers},
    {"wide-objects", wide_objects},
    {"repeated-names", repeated_names},
    {"deep-objects", deep_objects},
    {"empty-skills", empty_skills},
    {"skills-of-strangers", skills_of_strangers},
    {"tags", tags},
    {"interfaces", interfaces},
    {"addresses", addresses},
    {"nested-cards", nested_cards},
    {"spelled-names", spelled_names},
    {"extensions", extensions},
    {"escapes", escapes},
    {"quotes", quotes},
    {"signatures", signatures},
    {"signed-lists", signed_lists},
    {"signed-ways", signed_ways},
    {"plain",
     [](std::size_t bytes) {
         return filled(old_card() + R"("skills":[)", "]}", bytes, [](std::size_t i) {
             return R"({"id":"skill-)" + std::to_string(i) +
                    R"(","name":"A skill","description":"What it does, in a sentence",)" + R"("tags":["one","two"]})";
         });
     }},
}};

}  // namespace

std::span<const hostile_card> hostile_cards() noexcept
{
    return all;
}

}  // namespace bench
