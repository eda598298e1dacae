#include "config/signatures.hpp"

#include "config/url.hpp"

#include <utility>

namespace config {

std::string_view expected_of(file_kind kind) noexcept
{
    switch (kind) {
        case file_kind::signing_key:
            return "the path of a private key (PEM)";
        case file_kind::key_set:
            return "the path of a JWK Set";
    }
    return "a path";
}

std::string read_checked_file(const field& f, file_kind kind, const tls_checks& checks, problem_list& problems)
{
    const auto path = read_line(f, expected_of(kind), problems);
    if (!path) {
        return {};
    }
    const auto& check = kind == file_kind::signing_key ? checks.signing_key : checks.key_set;
    if (check) {
        if (const auto usable = check(*path); !usable) {
            refuse(f, usable.error().detail, expected_of(kind), problems);
            return {};
        }
    }
    return *path;
}

std::vector<std::string> read_origins(const field& f, problem_list& problems)
{
    constexpr std::string_view expected = "an https origin such as https://keys.example.com";
    std::vector<std::string> origins;
    for (auto element : read_list(f, expected_origins, problems)) {
        element.secret = true;  // who puts a password into a URL does not want it on the screen
        const auto* text = read_text(element, expected, problems);
        if (text == nullptr) {
            continue;
        }
        auto origin = parse_base_url(*text);
        if (!origin) {
            refuse(element, origin.error().detail, expected, problems);
        } else if (!origin->starts_with("https://")) {
            refuse(element, "is not https", expected, problems);
        } else if (origin->find('/', std::string_view{"https://"}.size()) != std::string::npos) {
            refuse(element, "has a path", expected, problems);
        } else {
            origins.push_back(std::move(*origin));
        }
    }
    return origins;
}

bool signs(core::signature_policy policy) noexcept
{
    return policy == core::signature_policy::sign || policy == core::signature_policy::verify_and_sign;
}

signature_rules signature_rules_of(const core::agent& agent, const card_settings& settings)
{
    using enum core::signature_policy;
    const auto policy = agent.signatures.value_or(settings.signatures);
    return {
        .verify = (policy == verify || policy == verify_and_sign) && agent.card.empty(),
        .sign = signs(policy),
        .trusted_keys = agent.trusted_keys.empty() ? settings.trusted_keys : agent.trusted_keys,
        .key_set_origins = agent.key_set_origins.empty() ? settings.key_set_origins : agent.key_set_origins
    };
}

std::optional<std::string> signature_contradiction(const core::agent& agent, const card_settings& settings)
{
    const auto rules = signature_rules_of(agent, settings);
    if (rules.sign && settings.signing_key.empty()) {
        return std::string{no_signing_key};
    }
    const auto shape = agent.shape.value_or(settings.shape);
    if (rules.sign && agent.signatures && (shape == core::card_shape::v03 || shape == core::card_shape::hybrid)) {
        return "is sign, but a card of shape " + std::string{core::name(shape)} +
               " cannot be signed; expected shape auto or v1";
    }
    if (rules.verify && rules.trusted_keys.empty() && rules.key_set_origins.empty()) {
        return "is verify without a key to verify with; expected `trusted_keys` or `key_set_origins`";
    }
    return std::nullopt;
}

}  // namespace config
