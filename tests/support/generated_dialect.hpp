// Events and requests of 0.3 JSON-RPC that 1.0 can say as well, made of a seed. Their members stand in the order in
// which a2a/dialect/ writes them, so that what comes back can be compared by its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace tests {

class generated_dialect {
public:
    explicit generated_dialect(std::uint32_t seed)
        : random_{seed}
    {
    }

    std::size_t below(std::size_t bound) { return random_() % bound; }
    bool sometimes() { return below(2) == 0; }

    std::string event()
    {
        switch (below(4)) {
            case 0:
                return task();
            case 1:
                return message();
            case 2:
                return status_update();
            default:
                return artifact_update();
        }
    }

    std::string send_params()
    {
        return "{\"message\":" + message() + ",\"configuration\":" + configuration() + metadata(",") + "}";
    }

private:
    // Every kind of value whose bytes a document would change, and some that look like members of A2A.
    std::string value(unsigned depth = 0)
    {
        static constexpr std::string_view plain[]{
            "null",
            "true",
            "-0",
            "1.0",
            "1E+2",
            "12345678901234567890123",
            "\"\"",
            "\"a\\u0041\\/\\n\"",
            "\"TASK_STATE_WORKING\"",
            "\"\xC3\xA9\"",
            "{}",
            "[]"
        };
        const auto choice = below(depth < 4 ? 16 : 12);
        if (choice < 12) {
            return std::string{plain[choice]};
        }
        if (choice < 14) {
            return "[" + value(depth + 1) + ", " + value(depth + 1) + "]";
        }
        return "{\"kind\": " + value(depth + 1) + ", \"parts\":" + value(depth + 1) + "}";
    }

    std::string object() { return "{\"k\": " + value() + ",\"value\":" + value() + "}"; }

    std::string text()
    {
        static constexpr std::string_view
            texts[]{"\"x\"", "\"a\\\"b\"", "\"\\ud83d\\ude00\"", "\"kind\"", "\"\xE2\x82\xAC 5\""};
        return std::string{texts[below(5)]};
    }

    std::string metadata(std::string_view comma)
    {
        return sometimes() ? "" : std::string{comma} + "\"metadata\":" + object();
    }

    std::string maybe(std::string_view name) { return sometimes() ? "" : ",\"" + std::string{name} + "\":" + text(); }

    std::string list(std::string_view name)
    {
        return sometimes() ? "" : ",\"" + std::string{name} + "\":[" + text() + "," + text() + "]";
    }

    std::string part()
    {
        switch (below(4)) {
            case 0:
                return "{\"kind\":\"text\",\"text\":" + text() + metadata(",") + "}";
            case 1:
                return "{\"kind\":\"file\",\"file\":{\"bytes\":\"aGVsbG8=\"" + maybe("mimeType") + maybe("name") + "}" +
                       metadata(",") + "}";
            case 2:
                return "{\"kind\":\"file\",\"file\":{\"uri\":" + text() + maybe("mimeType") + maybe("name") + "}" +
                       metadata(",") + "}";
            default:
                return "{\"kind\":\"data\",\"data\":" + object() + metadata(",") + "}";
        }
    }

    std::string parts()
    {
        std::string all = "[" + part();
        for (auto more = below(3); more > 0; --more) {
            all += "," + part();
        }
        return all + "]";
    }

    std::string message()
    {
        const std::string role = sometimes() ? "user" : "agent";
        return "{\"kind\":\"message\",\"messageId\":" + text() + maybe("contextId") + maybe("taskId") + ",\"role\":\"" +
               role + "\",\"parts\":" + parts() + metadata(",") + list("extensions") + list("referenceTaskIds") + "}";
    }

    // `final` says whether 0.3 would call it the last.
    std::string status(bool& final)
    {
        static constexpr std::string_view states[]{
            "working",
            "submitted",
            "auth-required",
            "unknown",
            "completed",
            "failed",
            "canceled",
            "rejected",
            "input-required"
        };
        const auto state = below(9);
        final = state > 3;
        const auto said = sometimes() ? "" : ",\"message\":" + message();
        const auto time =
            sometimes() ? "" : ",\"timestamp\":\"2025-0" + std::to_string(below(9) + 1) + "-01T10:00:00.5Z\"";
        return "{\"state\":\"" + std::string{states[state]} + "\"" + said + time + "}";
    }

    std::string artifact()
    {
        return "{\"artifactId\":" + text() + maybe("name") + maybe("description") + ",\"parts\":" + parts() +
               metadata(",") + list("extensions") + "}";
    }

    std::string task()
    {
        bool final = false;
        std::string all =
            "{\"kind\":\"task\",\"id\":" + text() + ",\"contextId\":" + text() + ",\"status\":" + status(final);
        all += sometimes() ? "" : ",\"artifacts\":[" + artifact() + "," + artifact() + "]";
        all += sometimes() ? "" : ",\"history\":[" + message() + "," + message() + "]";
        return all + metadata(",") + "}";
    }

    std::string status_update()
    {
        bool final = false;
        const auto made = status(final);
        return "{\"kind\":\"status-update\",\"taskId\":" + text() + ",\"contextId\":" + text() + ",\"status\":" + made +
               ",\"final\":" + (final ? "true" : "false") + metadata(",") + "}";
    }

    std::string artifact_update()
    {
        const std::string append = sometimes() ? "" : ",\"append\":true";
        const std::string last = sometimes() ? "" : ",\"lastChunk\":false";
        return "{\"kind\":\"artifact-update\",\"taskId\":" + text() + ",\"contextId\":" + text() +
               ",\"artifact\":" + artifact() + append + last + metadata(",") + "}";
    }

    std::string configuration()
    {
        const std::string modes = sometimes() ? "" : "\"acceptedOutputModes\":[" + text() + "],";
        const std::string length = sometimes() ? "" : "\"historyLength\":" + std::to_string(below(20) + 1) + ",";
        const std::string blocking = sometimes() ? "true" : "false";
        const auto push = sometimes()
                              ? ""
                              : ",\"pushNotificationConfig\":{\"id\":\"p\",\"url\":" + text() + maybe("token") +
                                    ",\"authentication\":{\"schemes\":[" + text() + "]" + maybe("credentials") + "}}";
        return "{" + modes + length + "\"blocking\":" + blocking + push + "}";
    }

    std::mt19937 random_;
};

}  // namespace tests
