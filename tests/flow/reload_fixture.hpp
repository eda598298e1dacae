// The gateway's own binary on a configuration that tests rewrite while it runs.
#pragma once

#include "core/json/json.hpp"
#include "tests/flow/child_process.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scratch.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>

namespace flow {

// An agent with a card of its own, so that nothing is fetched. `more` is YAML in flow style.
inline std::string inline_agent(std::string_view id, std::string_view card_name, std::string_view more = "")
{
    return "  " + std::string{id} + ": {url: \"http://127.0.0.1:9/\", card: {name: " + std::string{card_name} + "}" +
           std::string{more} + "}\n";
}

class reloading_gateway {
public:
    // `file` is where the configuration is, or will be reached through links; it must be readable now.
    explicit reloading_gateway(const std::string& file)
        : process{
              CARDEA_BIN,
              {"run", "-c", file, "--store", "memory", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}
          }
    {
        const auto line = event("listening");
        REQUIRE_MESSAGE(line.has_value(), process.err());
        port = listening_port(*line, "traffic");
        admin_port = listening_port(*line, "admin");
    }

    // The first line with this event and all of these texts.
    std::optional<std::string> event(std::string_view name, std::string_view text = "", std::string_view other = "")
    {
        const auto wanted = "\"event\":\"" + std::string{name} + "\"";
        return process.wait_for_line([&](std::string_view line) {
            return line.find(wanted) != line.npos && line.find(text) != line.npos && line.find(other) != line.npos;
        });
    }

    test_support::http_response reload() const { return test_support::request(admin_port, "POST", "/reload"); }

    // The answer's document, of a reload that was carried out.
    core::json reloaded() const
    {
        const auto answer = reload();
        CHECK(answer.status == 200);
        return parsed(answer.body);
    }

    test_support::http_response card(std::string_view agent) const
    {
        return test_support::request(port, "GET", card_target(agent));
    }

    // Of the card that is served; empty: none is.
    std::string card_name(std::string_view agent) const
    {
        const auto answer = card(agent);
        return answer.status == 200 ? parsed(answer.body)["name"].get<std::string>() : "";
    }

    bool serves(std::string_view agent, std::string_view name) const
    {
        return becomes_true([&] { return card_name(agent) == name; });
    }

    std::string metric(std::string_view series) const
    {
        const auto page = test_support::request(admin_port, "GET", "/metrics").body;
        const auto at = page.find("\n" + std::string{series} + " ");
        const auto value = at + series.size() + 2;
        return at == page.npos ? "" : page.substr(value, page.find('\n', value) - value);
    }

    child_process process;
    std::uint16_t port = 0;
    std::uint16_t admin_port = 0;
};

}  // namespace flow
