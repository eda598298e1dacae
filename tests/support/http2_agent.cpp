#include "tests/support/http2_agent.hpp"

#include "tests/support/http2_agent_server.hpp"

#include <algorithm>
#include <utility>

namespace test_support {
namespace h2 {

script answer(unsigned status, std::string body, field_list fields, field_list trailers_of)
{
    fields.insert(fields.begin(), {":status", std::to_string(status)});
    script out;
    if (body.empty() && trailers_of.empty()) {
        out.push_back(head{std::move(fields), true});
        return out;
    }
    out.push_back(head{std::move(fields), false});
    if (!body.empty()) {
        out.push_back(data{std::move(body), trailers_of.empty()});
    }
    if (!trailers_of.empty()) {
        out.push_back(trailers{std::move(trailers_of)});
    }
    return out;
}

}  // namespace h2

http2_agent::http2_agent(handler by_default, http2_agent_options options)
    : server_{std::make_unique<server>(std::move(by_default), std::move(options))}
{
}

http2_agent::~http2_agent() = default;

void http2_agent::stop()
{
    server_->stop();
}

std::uint16_t http2_agent::port() const noexcept
{
    return server_->port_;
}

std::string http2_agent::url(std::string_view path) const
{
    const std::string scheme = server_->options().cert_file.empty() ? "http" : "https";
    return scheme + "://127.0.0.1:" + std::to_string(port()) + std::string{path};
}

void http2_agent::take(int socket)
{
    server_->take(socket);
}

void http2_agent::say(std::size_t request, h2::script more)
{
    server_->say(request, std::move(more));
}

std::vector<recorded_request> http2_agent::requests() const
{
    return server_->whole();
}

recorded_request http2_agent::request(std::size_t index) const
{
    return requests().at(index);
}

bool http2_agent::wait_for_requests(std::size_t count, std::chrono::milliseconds timeout) const
{
    auto& of = *server_;
    return of.wait(timeout, [&] {
        return static_cast<std::size_t>(std::count_if(of.requests_.begin(), of.requests_.end(), [](const auto& each) {
                   return each.has_value();
               })) >= count;
    });
}

std::size_t http2_agent::accepted_connections() const
{
    const std::lock_guard held{server_->mutex_};
    return server_->accepted_;
}

bool http2_agent::wait_for_open_connections(std::size_t exactly, std::chrono::milliseconds timeout) const
{
    return server_->wait(timeout, [&] { return server_->open_ == exactly; });
}

std::vector<std::uint32_t> http2_agent::resets() const
{
    const std::lock_guard held{server_->mutex_};
    return server_->resets_;
}

bool http2_agent::wait_for_resets(std::size_t count, std::chrono::milliseconds timeout) const
{
    return server_->wait(timeout, [&] { return server_->resets_.size() >= count; });
}

std::size_t http2_agent::pings() const
{
    const std::lock_guard held{server_->mutex_};
    return server_->pings_;
}

std::size_t http2_agent::goaways() const
{
    const std::lock_guard held{server_->mutex_};
    return server_->goaways_;
}

}  // namespace test_support
