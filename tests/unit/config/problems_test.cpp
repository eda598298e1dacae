#include "config/load.hpp"
#include "tests/unit/config/support.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace config::testing;

TEST_SUITE_BEGIN("config/problems");

namespace {

struct row {
    const char* text;
    const char* problems;
};

template <std::size_t N>
void check(const row (&rows)[N])
{
    for (const auto& r : rows) {
        const std::string text{r.text};
        const std::string meant{r.problems};
        CAPTURE(text);
        CHECK(problems_of(text) == meant);
    }
}

}  // namespace

TEST_CASE("a file that is no map of settings is told so")
{
    constexpr const char* empty = "c.yml:1:1: is empty; expected settings (`{}` for none)\n";
    const row rows[] = {
        {"", empty},
        {"\n\n", empty},
        {"# a comment\n", empty},
        {"---\n...\n", empty},
        {"~", empty},
        {"null", empty},
        {"just text", "c.yml:1:1: is a single value; expected a map of settings\n"},
        {"42", "c.yml:1:1: is a single value; expected a map of settings\n"},
        {"- a\n- b\n", "c.yml:1:1: is a list; expected a map of settings\n"},
        {"[]", "c.yml:1:1: is a list; expected a map of settings\n"},
        {"listen: 1.2.3.4:5\n---\nadmin: 1.2.3.4:6\n",
         "c.yml:2:1: a second document starts here; expected one document\n"},
    };
    check(rows);
}

TEST_CASE("what is not YAML is told where it stops to be")
{
    const row rows[] = {
        {"cards:\n\tttl: 5m\n", "c.yml:2:1: is not YAML: a tab stands where the indentation is; expected spaces\n"},
        {"cards:\n  ttl: 5m\n min_ttl: 3s\n",
         "c.yml:3:2: is not YAML: the indentation does not fit, a key has no ': ', or text that starts with [ or { has "
         "no quotes\n"},
        {"cards: ttl: 5m",
         "c.yml:1:11: is not YAML: a ': ' stands where no value can be (text with ': ' in it needs quotes)\n"},
        {"cards: {ttl: 5m",
         "c.yml:1:8: is not YAML: a { has no }, or a ',' or ': ' is missing (a ${NAME} within { } or [ ] needs "
         "quotes)\n"},
        {"cards: [a",
         "c.yml:1:8: is not YAML: a [ has no ], or a ',' or ': ' is missing (a ${NAME} within { } or [ ] needs "
         "quotes)\n"},
        {"cards: {ttl: ${TTL}}",
         "c.yml:1:15: is not YAML: a { has no }, or a ',' or ': ' is missing (a ${NAME} within { } or [ ] needs "
         "quotes)\n"},
        {"listen: [::1]:4000",
         "c.yml:1:14: is not YAML: the indentation does not fit, a key has no ': ', or text that starts with [ or { "
         "has no quotes\n"},
        {"}", "c.yml:1:1: is not YAML: a } or ] has no beginning\n"},
        {"listen: \"abc", "c.yml:1:1: is not YAML: a quoted text has no end\n"},
        {"listen: 'abc\nadmin: x:1\n", "c.yml:1:1: is not YAML: a quoted text has no end\n"},
        {"listen: \"a\\qb\"",
         "c.yml:1:13: is not YAML: a backslash in double quotes escapes nothing known (single quotes keep it as it "
         "is)\n"},
        {"agents:\n  a:\n    url: \"http://h\n    bearer: s3cr3t\n",
         "c.yml:3:5: is not YAML: a quoted text has no end\n"},
        {"listen: \"\\uD800\"", "c.yml:1:16: is not YAML: an escape names no Unicode character\n"},
        {"listen: \"\\u12\"", "c.yml:1:1: is not YAML: a \\x or \\u is not followed by hexadecimal digits\n"},
        {"listen: @x",
         "c.yml:1:9: is not YAML: a character stands here that starts no value (text that starts with it needs "
         "quotes)\n"},
        {"listen: *s3cr3t",
         "c.yml:1:9: is not YAML: an alias stands here; expected the value itself (text that starts with * needs "
         "quotes)\n"},
        {"listen: &a x:1\nadmin: *a\n",
         "c.yml:2:8: an alias stands here; expected the value itself (text that starts with * needs quotes)\n"},
        {"listen: !!binary aGVsbG8=",
         "c.yml:1:9: a tag stands here; expected a value without a tag (text that starts with ! needs quotes)\n"},
        {"cards: !x {}",
         "c.yml:1:8: a tag stands here; expected a value without a tag (text that starts with ! needs quotes)\n"},
        {"? [a, b]\n: c\n", "c.yml:1:3: a { or [ has no end, or stands as a key; expected text as a key\n"},
        {"{a: b}: c\n", "c.yml:1:1: a { or [ has no end, or stands as a key; expected text as a key\n"},
        {"{\"cards\": {\"ttl\": \"5m\"}", "c.yml:1:1: a { or [ has no end, or stands as a key; expected text as a key\n"
        },
        {"{\"log\": {\"level\" \"info\"}}",
         "c.yml:1:18: is not YAML: a { has no }, or a ',' or ': ' is missing (a ${NAME} within { } or [ ] needs "
         "quotes)\n"},
        {": x", "c.yml:1:1: a key is missing or null, or a ',' or ': ' beside it is missing; expected text as a key\n"},
        {"~: x", "c.yml:1:1: a key is missing or null, or a ',' or ': ' beside it is missing; expected text as a key\n"
        },
    };
    check(rows);
}

TEST_CASE("a key that is given twice is told, wherever it is, and the first one stands")
{
    const row rows[] = {
        {"workers: 1\nworkers: 2\n", "c.yml:2:1: workers: is given twice; line 1 has it first\n"},
        {"workers: 1\n\"workers\": 1\n", "c.yml:2:1: workers: is given twice; line 1 has it first\n"},
        {"cards: {ttl: 5m, ttl: 5m}", "c.yml:1:18: cards.ttl: is given twice; line 1 has it first\n"},
        {"agents:\n  a: {url: \"http://h\"}\n  b: {url: \"http://h\"}\n  a: {url: nonsense}\n",
         "c.yml:4:3: agents.a: is given twice; line 2 has it first\n"},
        {"agents:\n  a:\n    url: http://h\n    metadata:\n      x: [0, {k: 1, k: 2}]\n",
         "c.yml:5:21: agents.a.metadata.x[1].k: is given twice; line 5 has it first\n"},
        {"agents:\n  a:\n    url: http://h\n    protocolVersion: 1\n    protocol_version: 1\n",
         "c.yml:5:5: agents.a.protocol_version: is the same as agents.a.protocolVersion, which is given too; expected "
         "one of "
         "the two\n"},
    };
    check(rows);
}

TEST_CASE("ids that differ in case are two agents")
{
    CHECK(right("agents: {A: {url: \"http://h\"}, a: {url: \"http://i\"}}").agents.size() == 2);
}

TEST_CASE("an unknown key is told with the nearest that is known there")
{
    const row rows[] = {
        {"lisen: x:1", "c.yml:1:1: lisen: is not a known key; did you mean `listen`?\n"},
        {"agent: {}", "c.yml:1:1: agent: is not a known key; did you mean `agents`?\n"},
        {"cards:\n  tll: 5m\n", "c.yml:2:3: cards.tll: is not a known key; did you mean `ttl`?\n"},
        {"ttl: 5m", "c.yml:1:1: ttl: is not a known key here; did you mean `cards.ttl`?\n"},
        {"cards.ttl: 5m", "c.yml:1:1: cards.ttl: is not a known key; expected a map `cards` with the key `ttl`\n"},
        {"log_level: debug", "c.yml:1:1: log_level: is not a known key; write `level` below `log`\n"},
        {"port: 80",
         "c.yml:1:1: port: is not a known key; `listen` has the address and the port, such as 127.0.0.1:4000\n"},
        {"agents: {a: {url: \"http://h\", enabled: no}}",
         "c.yml:1:31: agents.a.enabled: is not a known key; `disabled: true` turns an agent off\n"},
        {"log: {rotate: 5}", "c.yml:1:7: log.rotate: is not a known key; known here: level, format\n"},
        {"cards: {<<: {ttl: 5m}}",
         "c.yml:1:9: cards.(...): is not a known key; known here: ttl, min_ttl, max_ttl, stale_if_error, negative_ttl, "
         "shape, signatures, signing_key, retired_keys, trusted_keys, key_set_origins, timeout, max_size, "
         "background\n"},
        {"agents:\n  a:\n    URL: http://h\n    url: http://h\n    cardUrl: http://h\n",
         "c.yml:3:5: agents.a.URL: is not a known key; did you mean `url`?\n"
         "c.yml:5:5: agents.a.cardUrl: is not a known key; did you mean `card_url`?\n"},
        {"agents:\n  a:\n    url: http://h\n    tls: {cafile: x}\n",
         "c.yml:4:11: agents.a.tls.cafile: is not a known key; did you mean `ca_file`?\n"},
    };
    check(rows);
}

TEST_CASE("A value of the wrong kind is reported, and what was expected")
{
    constexpr const char* address = "expected host:port such as 127.0.0.1:4000 or \"[::1]:4000\"\n";
    constexpr const char* store =
        "expected memory, sqlite:PATH or a URL such as postgresql://cardea@db1,db2:5432/cardea\n";
    const std::string rows[][2] = {
        {"listen:", "c.yml:1:1: listen: has no value; " + std::string{address}},
        {"listen: ~", "c.yml:1:1: listen: has no value; " + std::string{address}},
        {"listen: [a]", "c.yml:1:9: listen: is a list; " + std::string{address}},
        {"listen: {a: b}", "c.yml:1:9: listen: is a map; " + std::string{address}},
        {"listen: \"\"", "c.yml:1:9: listen: is empty; " + std::string{address}},
        {"listen: 4000", "c.yml:1:9: listen: \"4000\" has no port; " + std::string{address}},
        {"admin: h:99999", "c.yml:1:8: admin: \"h:99999\" has no valid port; " + std::string{address}},
        {"cards: 5m", "c.yml:1:8: cards: is a single value; expected a map of settings\n"},
        {"cards: []", "c.yml:1:8: cards: is a list; expected a map of settings\n"},
        {"cards: {ttl: 5}",
         "c.yml:1:14: cards.ttl: \"5\" has no unit; expected a duration such as 500ms, 5s, 5m or 1h\n"},
        {"cards: {ttl: {}}", "c.yml:1:14: cards.ttl: is a map; expected a duration such as 500ms, 5s, 5m or 1h\n"},
        {"cards: {max_size: 1KB}",
         "c.yml:1:19: cards.max_size: \"1KB\" is not a size; expected a size such as 512, 16KiB or 1MiB\n"},
        {"workers: -1", "c.yml:1:10: workers: \"-1\" is negative; expected a whole number, 0 to 256\n"},
        {"workers: 4.5", "c.yml:1:10: workers: \"4.5\" is not a whole number; expected a whole number, 0 to 256\n"},
        {"workers: .nan", "c.yml:1:10: workers: \".nan\" is not a whole number; expected a whole number, 0 to 256\n"},
        {"log: {format: xml}", "c.yml:1:15: log.format: \"xml\" is not a format; expected auto, json or text\n"},
        {"log: {level: loud}",
         "c.yml:1:14: log.level: \"loud\" is not a level; expected debug, info, warn, error or off\n"},
        {"store: disk", "c.yml:1:8: store: is not a store; " + std::string{store}},
        {"store: \"sqlite:\"", "c.yml:1:8: store: names no file; " + std::string{store}},
        {"store: sqlite", "c.yml:1:8: store: is not a store; " + std::string{store}},
        {"store: \"postgresql://cardea:s3cr3t@db/cardea\"",
         "c.yml:1:8: store: has a password in it, which belongs in store_options.password_file; " + std::string{store}},
        {"replica: {url: \"http://10.0.0.7:4000/a\"}",
         "c.yml:1:16: replica.url: has a path; expected an http or https URL without a path\n"},
        {"audit: stderr", "c.yml:1:8: audit: \"stderr\" is no place for the audit; expected off, stdout or file:PATH\n"
        },
        {"audit: \"file:\"", "c.yml:1:8: audit: \"file:\" names no file; expected off, stdout or file:PATH\n"},
        {"rate_limits: {agent: {burst: 5}}",
         "c.yml:1:30: rate_limits.agent.burst: 5 limits nothing without rate_limits.agent.rate (0); expected a rate\n"},
        {"public_url: agents.example.com",
         "c.yml:1:13: public_url: is not a URL; expected an http or https URL without query and fragment\n"},
        {"public_url: https://h/?a=b",
         "c.yml:1:13: public_url: has a query (?); expected an http or https URL without query and fragment\n"},
    };
    for (const auto& [text, meant] : rows) {
        CAPTURE(text);
        CHECK(problems_of(text) == meant);
    }
}

TEST_CASE("a value is shown short and without control characters")
{
    CHECK(
        problems_of("workers: \"\\e[31m\\x07\xC3\xA9\"") ==
        "c.yml:1:10: workers: \"?[31m???\" is not a whole number; expected a whole number, 0 to 256\n"
    );
    CHECK(
        problems_of("workers: " + std::string(1000, 'x')) ==
        "c.yml:1:10: workers: \"" + std::string(40, 'x') +
            "...\" is not a whole number; expected a whole number, 0 to 256\n"
    );
    CHECK(problems_of(std::string(65, 'q') + ": 1")
              .starts_with("c.yml:1:1: " + std::string(64, 'q') + "(...): is not a known key;"));
    CHECK(problems_of(std::string(64, 'q') + ": 1").starts_with("c.yml:1:1: " + std::string(64, 'q') + ": is not"));
}

TEST_SUITE_END();
