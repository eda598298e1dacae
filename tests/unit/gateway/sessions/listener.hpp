// What a transport tells of the texts of a server.
#pragma once

#include "mcp/protocol/read_text.hpp"
#include "mcp/transport/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace sessions_test {

struct listener final : mcp::transport_observer {
    void connected() override {}
    void received(std::string_view /*text*/) override { ++short_texts; }
    void received_long(const mcp::read_text& what) override { pages.push_back(what.whole.page); }
    void refused(std::string_view /*beginning*/, std::size_t /*limit*/) override {}
    void failed(std::uint64_t /*request*/, core::error /*why*/, std::optional<mcp::era> /*says*/) override {}
    void session_lost() override {}
    void stream_changed(mcp::stream_news /*news*/) override {}
    void lost(core::error /*why*/) override {}
    void closed() override {}

    int short_texts = 0;
    std::vector<std::shared_ptr<mcp::list_page>> pages;
};

}  // namespace sessions_test
