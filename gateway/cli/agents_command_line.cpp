#include "gateway/cli/agents_command_line.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace gateway::cli {
namespace {

constexpr std::array verbs{
    agents_verb::list,
    agents_verb::get,
    agents_verb::health,
    agents_verb::card,
    agents_verb::refresh,
    agents_verb::add,
    agents_verb::remove,
};

constexpr std::string_view overview = R"(cardea agents: the agents of a gateway that runs.

  cardea agents list             all of them
  cardea agents get ID           what the gateway knows of one
  cardea agents health [ID]      how all of them are, or one
  cardea agents card ID          its card, as callers see it
  cardea agents refresh ID       fetch its card now
  cardea agents add ID URL       add an agent, or change it
  cardea agents add -f FILE      the same for those in a file
  cardea agents remove ID        remove an agent that was added

`cardea agents VERB --help` has the options of each.
)";

constexpr std::string_view common = R"(
      --admin ADDRESS        the gateway's admin address: HOST:PORT or a URL (default $CARDEA_ADMIN, else
                             127.0.0.1:4001)
      --ca-file FILE         who vouches for an https address (PEM; default: the system's authorities)
  -o, --output json|table    the form of what is printed (default: table on a terminal, else json)

Exit codes: 0 done; 1 the gateway refused, or its agent failed; 2 the arguments cannot be used; 3 the gateway was not
reached. What went wrong is on stderr.
)";

std::string_view help_of(agents_verb what)
{
    switch (what) {
        case agents_verb::list:
            return R"(cardea agents list: the agents by id, all pages of them.

      --tag TAG              only those whose skills or metadata have this tag
      --protocol a2a|mcp     only those that speak this
      --text TEXT            only those with this in their id, name, description or metadata
      --limit N              at most so many
      --after ID             only those behind this id
)";
        case agents_verb::get:
            return R"(cardea agents get ID: what the gateway knows of an agent. Secrets are masked.

)";
        case agents_verb::health:
            return R"(cardea agents health: how the agents are, as far as the gateway knows; it asks none of them.
cardea agents health ID: the same of one. If it is unhealthy, the exit code is 1.

      --status STATUS        only those that are healthy, degraded, unhealthy or unknown
      --tag TAG              only those whose skills or metadata have this tag
      --protocol a2a|mcp     only those that speak this
      --text TEXT            only those with this in their id, name, description or metadata
      --limit N              at most so many
      --after ID             only those behind this id
)";
        case agents_verb::card:
            return R"(cardea agents card ID: the agent's card, as callers see it; as JSON if nothing else is asked for.

)";
        case agents_verb::refresh:
            return R"(cardea agents refresh ID: fetches the agent's card now.

      --dry-run              change nothing, and show what would change
)";
        case agents_verb::add:
            return R"(cardea agents add ID URL: adds an agent, or replaces it as a whole.
cardea agents add -f FILE: the same for every agent of a file (- for stdin), YAML or JSON with a map `agents` as in a
configuration.

      --protocol a2a|mcp     what it speaks (default a2a)
      --tag TAG              a tag, by which lists are filtered; may be given again
      --card-url URL         where its card is
      --bearer-file FILE     a file with the credential that is sent to it
      --if-version N         only if the agent has this version; 0: only if there is none
)";
        case agents_verb::remove:
            return R"(cardea agents remove ID: removes an agent that was added. Those of the configuration are removed there.

      --if-version N         only if the agent has this version
)";
    }
    return {};
}

class reader {
public:
    explicit reader(const std::vector<std::string>& arguments)
        : arguments_{arguments}
    {
    }

    agents_command read()
    {
        for (at_ = 0; at_ < arguments_.size() && out_.problem.empty() && !out_.help; ++at_) {
            const auto& argument = arguments_[at_];
            if (argument == "-h" || argument == "--help") {
                out_.help = true;
            } else if (argument.starts_with("-") && argument != "-") {
                option(argument);
            } else if (!out_.what) {
                verb(argument);
            } else {
                positional(argument);
            }
        }
        if (out_.problem.empty() && !out_.help) {
            check();
        }
        return std::move(out_);
    }

private:
    void refuse(std::string what)
    {
        if (out_.problem.empty()) {
            out_.problem = std::move(what) + "; see cardea agents " +
                           (out_.what ? std::string{name(*out_.what)} + " " : "") + "--help";
        }
    }

    void verb(const std::string& word)
    {
        const auto wanted = word == "rm" ? std::string{"remove"} : word;
        const auto found = std::find_if(verbs.begin(), verbs.end(), [&](agents_verb v) { return name(v) == wanted; });
        if (found == verbs.end()) {
            refuse("there is no 'agents " + word + "'");
        } else {
            out_.what = *found;
        }
    }

    void positional(const std::string& argument)
    {
        if (*out_.what != agents_verb::list && out_.id.empty()) {
            out_.id = argument;
        } else if (*out_.what == agents_verb::add && out_.url.empty()) {
            out_.url = argument;
        } else {
            refuse("unexpected '" + argument + "'");
        }
    }

    bool is(std::initializer_list<agents_verb> some) const
    {
        return out_.what && std::find(some.begin(), some.end(), *out_.what) != some.end();
    }

    // The value of an option, which stands behind it or behind its '='.
    std::string value(const std::string& argument)
    {
        if (const auto equals = argument.find('='); argument.starts_with("--") && equals != std::string::npos) {
            return argument.substr(equals + 1);
        }
        if (at_ + 1 == arguments_.size()) {
            refuse(argument + " needs a value");
            return {};
        }
        return arguments_[++at_];
    }

    void option(const std::string& argument)
    {
        const auto key = argument.starts_with("--") ? argument.substr(0, argument.find('=')) : argument;
        using enum agents_verb;
        if (key == "--dry-run" && is({refresh})) {
            out_.dry_run = true;
        } else if (key == "-o" || key == "--output") {
            output(value(argument));
        } else if (key == "--limit" && is({list, health})) {
            out_.limit = number(key, value(argument));
        } else if (key == "--if-version" && is({add, remove})) {
            out_.if_version = number(key, value(argument));
        } else if (key == "--tag" && is({list, health, add})) {
            out_.tags.push_back(value(argument));
        } else if (auto* const into = text_option(key)) {
            *into = value(argument);
            if (into->empty()) {
                refuse(key + " is empty");
            }
        } else {
            refuse("unknown option '" + argument + "'");
        }
    }

    std::string* text_option(std::string_view key)
    {
        using enum agents_verb;
        struct row {
            std::string_view key;
            std::string* into;
            bool here;
        };
        const std::array<row, 10> rows{{
            {"--admin", &out_.admin, true},
            {"--ca-file", &out_.ca_file, true},
            {"--protocol", &out_.protocol, is({list, health, add})},
            {"--status", &out_.status, is({health})},
            {"--text", &out_.text, is({list, health})},
            {"--after", &out_.after, is({list, health})},
            {"-f", &out_.file, is({add})},
            {"--file", &out_.file, is({add})},
            {"--card-url", &out_.card_url, is({add})},
            {"--bearer-file", &out_.bearer_file, is({add})},
        }};
        const auto found = std::find_if(rows.begin(), rows.end(), [&](const row& r) { return r.here && r.key == key; });
        return found == rows.end() ? nullptr : found->into;
    }

    void output(const std::string& form)
    {
        if (form == "json") {
            out_.output = output_form::json;
        } else if (form == "table") {
            out_.output = output_form::table;
        } else {
            refuse("--output is '" + form + "'; expected json or table");
        }
    }

    std::uint64_t number(const std::string& key, const std::string& text)
    {
        std::uint64_t out = 0;
        const auto* const end = text.data() + text.size();
        const auto read = std::from_chars(text.data(), end, out);
        if (read.ec != std::errc{} || read.ptr != end) {
            refuse(key + " is '" + text + "'; expected a whole number");
        }
        return out;
    }

    bool filtered() const
    {
        return out_.limit || !out_.tags.empty() || !out_.protocol.empty() || !out_.status.empty() ||
               !out_.text.empty() || !out_.after.empty();
    }

    void check()
    {
        using enum agents_verb;
        if (!out_.what) {
            refuse("'agents' needs a verb: list, get, health, card, refresh, add or remove");
        } else if (is({list, health})) {
            if (out_.tags.size() > 1) {
                refuse("--tag is given twice; a list is filtered by one");
            } else if (!out_.id.empty() && filtered()) {
                refuse("'" + out_.id + "' is one agent; nothing filters it");
            }
        } else if (*out_.what == add && !out_.file.empty()) {
            const bool more = !out_.id.empty() || !out_.protocol.empty() || !out_.tags.empty() ||
                              !out_.card_url.empty() || !out_.bearer_file.empty() || out_.if_version;
            if (more) {
                refuse("-f stands alone: all about the agents is in the file");
            }
        } else if (out_.id.empty() || (*out_.what == add && out_.url.empty())) {
            refuse(*out_.what == add ? "add needs an id and a URL, or -f FILE" : "an agent's id is missing");
        }
    }

    const std::vector<std::string>& arguments_;
    agents_command out_;
    std::size_t at_ = 0;
};

}  // namespace

std::string_view name(agents_verb v) noexcept
{
    switch (v) {
        case agents_verb::list:
            return "list";
        case agents_verb::get:
            return "get";
        case agents_verb::health:
            return "health";
        case agents_verb::card:
            return "card";
        case agents_verb::refresh:
            return "refresh";
        case agents_verb::add:
            return "add";
        case agents_verb::remove:
            return "remove";
    }
    return "list";
}

agents_command parse_agents_command(const std::vector<std::string>& arguments)
{
    return reader{arguments}.read();
}

std::string agents_help(std::optional<agents_verb> what)
{
    if (!what) {
        return std::string{overview} + std::string{common};
    }
    return std::string{help_of(*what)} + std::string{common.substr(1)};
}

}  // namespace gateway::cli
