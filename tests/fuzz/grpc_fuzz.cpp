// Messages of gRPC are the same however their bytes are cut; what is written of a status or a timeout is read as it was.
#include "net/grpc/messages.hpp"
#include "net/grpc/status.hpp"
#include "net/grpc/timeout.hpp"
#include "tests/fuzz/http1_properties.hpp"

namespace {

std::string read(std::string_view bytes, const tests::cuts& cuts)
{
    net::grpc::message_reader reader{100};
    std::string out;
    const auto feed = [&](std::string_view piece) {
        while (!piece.empty() && reader.problem() == net::grpc::message_reader::fault::none) {
            const auto part = reader.next(piece);
            out += part.data;
            out += part.ends ? "|" : "";
        }
    };
    std::size_t from = 0;
    for (auto cut : cuts) {
        feed(bytes.substr(from, cut - from));
        from = cut;
    }
    feed(bytes.substr(from));
    return out + std::to_string(static_cast<int>(reader.problem())) + (reader.between_messages() ? " free" : " busy");
}

void check_status(std::string_view bytes)
{
    const auto size = bytes.size() / 3;
    const auto read = net::grpc::read_status("5", bytes.substr(0, size), bytes.substr(size));
    std::string lines = "\r\n";
    net::grpc::append_status(lines, *read);
    const auto value = [&](std::string_view name) {
        const auto at = lines.find("\r\n" + std::string{name});
        const auto from = at == lines.npos ? lines.size() : at + 2 + name.size();
        return std::string_view{lines}.substr(from, lines.find("\r\n", from) - from);
    };
    const auto again = net::grpc::read_status("5", value("grpc-message: "), value("grpc-status-details-bin: "));
    tests::require(again->message == read->message, "a message is read as it was written", bytes);
    tests::require(again->info.reason == read->info.reason, "a reason is read as it was written", bytes);
    const bool same = read->info.reason.empty() || again->info.metadata == read->info.metadata;
    tests::require(same, "metadata is read as it was written", bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    tests::require_same_in_pieces(bytes, [&](const tests::cuts& cuts, tests::buffer) { return read(bytes, cuts); });
    check_status(bytes);
    if (const auto timeout = net::grpc::parse_timeout(bytes)) {
        std::string written;
        net::grpc::append_timeout(written, *timeout);
        const auto again = net::grpc::parse_timeout(written);
        tests::require(again && *again <= *timeout, "a timeout is written as no more than it is", bytes, written);
    }
    return 0;
}
