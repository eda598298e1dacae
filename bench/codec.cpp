// The codec of a2a/protobuf/ beside the JSON functions of libprotobuf, from the same bytes to the same text and back: CPU time of each, in
// turns, and the median of the ratios. Exit code 1 if a ratio is below the bar, which a file has none of: both sides do little but base64.
#include "a2a/protobuf/codec.hpp"

#include "a2a/protobuf/message_type.hpp"
#include "a2a/protobuf/tables.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver_util.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace {

namespace codec = a2a::protobuf;
namespace util = google::protobuf::util;

constexpr double bar = 8;
constexpr int rounds = 15;

double cpu_seconds()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

void need(bool good, const char* what)
{
    if (!good) {
        std::fprintf(stderr, "bench_codec: %s\n", what);
        std::exit(2);
    }
}

struct sample {
    const char* name;
    const codec::message_type& type;
    std::string json;
    bool has_bar = true;
};

std::string repeated(const std::string& element, int count)
{
    std::string all;
    for (int i = 0; i < count; ++i) {
        all += (i == 0 ? "" : ",") + element;
    }
    return all;
}

std::vector<sample> samples()
{
    const std::string id = "3f36680c-7f37-4a5f-945e-d78981fafd36";
    const std::string message =
        R"({"messageId":")" + id + R"(","contextId":")" + id +
        R"(","role":"ROLE_USER","parts":[{"text":"Book the train from Basel to Milan on Friday, )"
        R"(please.\nA window seat, and not before eight."}],"metadata":{"traceId":"4bf92f3577b34da6"}})";
    const std::string status = R"({"state":"TASK_STATE_COMPLETED","timestamp":"2026-11-28T20:43:23.125Z"})";
    const std::string task = R"({"id":")" + id + R"(","contextId":")" + id + R"(","status":)" + status +
                             R"(,"artifacts":[{"artifactId":"a1","name":"ticket","parts":[{"text":")" +
                             std::string(300, 'x') + R"("}]}],"history":[)" + message + "]}";
    const std::string data = R"({"n":17,"price":12.5,"ok":true,"none":null,"tags":["a","b","c"],"at":{"x":1,"y":2}})";
    return {
        {"request",
         codec::v1::send_message_request,
         R"({"message":)" + message +
             R"(,"configuration":{"acceptedOutputModes":["text/plain"],"returnImmediately":true}})"},
        {"answer", codec::v1::send_message_response, R"({"task":)" + task + "}"},
        {"event",
         codec::v1::stream_response,
         R"({"statusUpdate":{"taskId":")" + id + R"(","contextId":")" + id + R"(","status":)" + status + "}}"},
        {"data",
         codec::v1::message,
         R"({"messageId":"m","role":"ROLE_AGENT","parts":[{"data":[)" + repeated(data, 20) + "]}]}"},
        {"list", codec::v1::list_tasks_response, R"({"tasks":[)" + repeated(task, 50) + "]}"},
        {"text64k",
         codec::v1::message,
         R"({"messageId":"m","role":"ROLE_AGENT","parts":[{"text":")" +
             repeated("A line of text, as long as those of messages mostly are.\\n", 1150) + "\"}]}"},
        {"file64k",
         codec::v1::message,
         R"({"messageId":"m","role":"ROLE_AGENT","parts":[{"raw":")" + std::string(65536, 'A') + "\"}]}",
         false},
    };
}

// CPU time of a call in microseconds, from so many calls as take about a hundredth of a second.
template <class Call>
double microseconds(Call&& call)
{
    int count = 0;
    const double begin = cpu_seconds();
    double spent = 0;
    do {
        for (int i = 0; i < 8; ++i) {
            call();
        }
        count += 8;
        spent = cpu_seconds() - begin;
    } while (spent < 0.01);
    return spent * 1e6 / count;
}

struct figures {
    std::vector<double> ours;
    std::vector<double> theirs;

    double ratio() const
    {
        std::vector<double> ratios;
        for (std::size_t i = 0; i < ours.size(); ++i) {
            ratios.push_back(theirs[i] / ours[i]);
        }
        return median(ratios);
    }

    static double median(std::vector<double> of)
    {
        std::ranges::sort(of);
        return of[of.size() / 2];
    }
};

bool print(const sample& each, const char* direction, std::size_t size, const figures& found)
{
    const double ours = figures::median(found.ours);
    std::printf(
        "%-8s %-12s %7zu bytes  ours %9.2f us  libprotobuf %9.2f us  ratio %5.1f\n",
        each.name,
        direction,
        size,
        ours,
        figures::median(found.theirs),
        found.ratio()
    );
    return found.ratio() >= bar || !each.has_bar;
}

bool measure(const sample& each, util::TypeResolver& resolver)
{
    const auto url = "type.googleapis.com/" + std::string{each.type.name};
    std::string bytes;
    std::string text;
    need(codec::to_protobuf(each.type, each.json, {}, bytes).has_value(), "a sample is no message");
    figures to_text;
    figures to_bytes;
    for (int round = 0; round < rounds; ++round) {
        to_text.ours.push_back(microseconds([&] {
            text.clear();
            need(codec::to_json(each.type, bytes, {}, text).has_value(), "a message has no JSON");
        }));
        to_text.theirs.push_back(microseconds([&] {
            text.clear();
            need(util::BinaryToJsonString(&resolver, url, bytes, &text).ok(), "libprotobuf refuses a message");
        }));
        to_bytes.ours.push_back(microseconds([&] {
            text.clear();
            need(codec::to_protobuf(each.type, each.json, {}, text).has_value(), "a sample is no message");
        }));
        to_bytes.theirs.push_back(microseconds([&] {
            text.clear();
            need(util::JsonToBinaryString(&resolver, url, each.json, &text).ok(), "libprotobuf refuses a sample");
        }));
    }
    const bool first = print(each, "to JSON", bytes.size(), to_text);
    return print(each, "to protobuf", each.json.size(), to_bytes) && first;
}

}  // namespace

int main(int count, char** arguments)
{
    need(count == 2, "usage: bench_codec DESCRIPTORS (protoc --include_imports --descriptor_set_out)");
    std::ifstream file{arguments[1], std::ios::binary};
    google::protobuf::FileDescriptorSet files;
    need(
        files.ParseFromString(std::string{std::istreambuf_iterator<char>{file}, {}}),
        "the descriptors cannot be read"
    );
    google::protobuf::DescriptorPool pool;
    for (const auto& each : files.file()) {
        need(pool.BuildFile(each) != nullptr, "libprotobuf does not take the descriptors");
    }
    const std::unique_ptr<util::TypeResolver> resolver{
        util::NewTypeResolverForDescriptorPool("type.googleapis.com", &pool)
    };
    bool good = true;
    for (const auto& each : samples()) {
        good = measure(each, *resolver) && good;
    }
    return good ? 0 : 1;
}
