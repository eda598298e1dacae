#include "config/access_checks.hpp"

#include "config/access_values.hpp"
#include "config/choice.hpp"
#include "config/schema.hpp"
#include "config/url.hpp"
#include "config/values.hpp"
#include "core/ascii.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace config {
namespace {

constexpr std::string_view expected_host = "a host such as sts.eu-west-1.amazonaws.com, perhaps with a port";

// As it has to stand in the URL of a token, byte for byte.
core::result<std::string> parse_sts_host(std::string_view text)
{
    const auto invalid = [](const char* why) { return core::gateway_error(core::errc::config_invalid, why); };
    const auto colon = text.find(':');
    const auto port = colon == std::string_view::npos ? std::string_view{} : text.substr(colon);
    if (text.empty()) {
        return invalid("is empty");
    }
    if (!valid_host(text.substr(0, colon)) || (!port.empty() && !parse_endpoint(text))) {
        return invalid("is not a host");
    }
    if (text != core::in_lower_case(text)) {
        return invalid("has capitals");
    }
    return std::string{text};
}

}  // namespace

core::http_verifier_provider read_http_verifier(const access_members& given)
{
    core::http_verifier_provider provider;
    if (const auto* url = given.require("url", expected_secure_url)) {
        provider.url = read_secure_url(*url, given.problems());
    }
    if (const auto* timeout = given.find("timeout")) {
        provider.timeout = read_duration(*timeout, 10ms, 10s, given.problems()).value_or(provider.timeout);
    }
    if (const auto* cache = given.find("cache")) {
        provider.cache = read_duration(*cache, 0s, 1min, given.problems()).value_or(provider.cache);
    }
    return provider;
}

core::aws_sigv4_provider read_aws_sigv4(const access_members& given)
{
    core::aws_sigv4_provider provider;
    const auto* list = given.find("hosts");
    if (list == nullptr) {
        return provider;
    }
    for (const auto& element : read_elements(*list, expected_host, emptiness::refused, given.problems())) {
        if (auto host = read_parsed(element, expected_host, parse_sts_host, given.problems())) {
            provider.hosts.push_back(std::move(*host));
        }
    }
    return provider;
}

core::mtls_provider read_mtls(const access_members& given, const tls_checks& tls)
{
    constexpr std::string_view expected = "the path of a PEM file with the authorities of clients";
    core::mtls_provider provider;
    if (const auto* file = given.require("ca_file", expected)) {
        provider.ca_file = read_line(*file, expected, given.problems()).value_or("");
        const auto usable =
            provider.ca_file.empty() || !tls.authorities ? core::result<>{} : tls.authorities(provider.ca_file);
        if (!usable) {
            refuse(*file, usable.error().detail, expected, given.problems());
        }
    }
    if (const auto* name = given.find("principal")) {
        provider.principal = read_choice<core::certificate_name>(*name, given.problems()).value_or(provider.principal);
    }
    return provider;
}

void show_check(const core::aws_sigv4_provider& provider, core::json& shown)
{
    if (!provider.hosts.empty()) {
        shown["hosts"] = provider.hosts;
    }
}

void show_check(const core::mtls_provider& provider, core::json& shown)
{
    shown["ca_file"] = provider.ca_file;
    shown["principal"] = core::chosen_name(provider.principal);
}

void show_check(const core::http_verifier_provider& provider, core::json& shown)
{
    shown["url"] = shown_url(provider.url);
    shown["timeout"] = to_text(provider.timeout);
    shown["cache"] = to_text(provider.cache);
}

}  // namespace config
