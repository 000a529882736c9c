#include "app/generation.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "net/sse.h"

namespace kapitsa::app {
namespace {

void append(const api::Messages& messages, std::string& bytes) {
  for (const api::Message& message : messages) {
    bytes += net::sse_event(message.event, message.data);
  }
}

}  // namespace

Generation::Generation(std::unique_ptr<api::Answer> answer,
                       std::vector<std::unique_ptr<engine::Stream>> streams, net::Headers headers,
                       Fail fail)
    : answer_(std::move(answer)),
      streams_(std::move(streams)),
      headers_(std::move(headers)),
      fail_(std::move(fail)) {}

void Generation::start(std::function<void()> wake) {
  for (const auto& stream : streams_) stream->on_ready(wake);
}

net::Piece Generation::poll() {
  net::Piece piece;
  if (answer_->streaming && !begun_) {
    begun_ = true;
    piece.head.emplace();
    piece.head->content_type = "text/event-stream; charset=utf-8";
    piece.head->headers = headers_;
    piece.head->headers.emplace_back("Cache-Control", "no-cache");
    // Proxies must not collect the stream.
    piece.head->headers.emplace_back("X-Accel-Buffering", "no");
    append(answer_->begin(), piece.bytes);
  }
  for (size_t i = 0; i < streams_.size() && !piece.end; ++i) take(i, piece);
  if (piece.end || !all_ended()) return piece;
  piece.end = true;
  if (answer_->streaming) {
    append(answer_->end(), piece.bytes);
  } else {
    piece.head.emplace();
    piece.head->headers = headers_;
    piece.head->body = api::to_text(answer_->whole());
  }
  return piece;
}

void Generation::take(size_t index, net::Piece& piece) {
  while (streams_[index]) {
    const std::optional<engine::Event> event = streams_[index]->try_next();
    if (!event) return;
    if (!event->status.ok()) {
      // What came before the failure may wait in the same event.
      if (!event->text.empty() || !event->tokens.empty()) {
        engine::Event before = *event;
        before.status = {};
        append(answer_->on_event(index, before), piece.bytes);
      }
      return fail_with(api::from_status(event->status), piece);
    }
    if (event->finish == engine::FinishReason::cancelled) {
      return fail_with(
          api::from_status(Status(Code::kCancelled, "the server ended this request: it is shutting "
                                                    "down")),
          piece);
    }
    append(answer_->on_event(index, *event), piece.bytes);
    if (event->last()) streams_[index].reset();
  }
}

void Generation::fail_with(const api::Error& error, net::Piece& piece) {
  spdlog::warn("a request failed while it ran: {}", error.message);
  // The other choices are of no use to anybody now.
  for (auto& stream : streams_) stream.reset();
  piece.end = true;
  if (answer_->streaming) {
    append(answer_->failure(error), piece.bytes);
  } else {
    piece.head = fail_(error);
  }
}

bool Generation::all_ended() const {
  return std::all_of(streams_.begin(), streams_.end(),
                     [](const auto& stream) { return stream == nullptr; });
}

std::string Generation::heartbeat() {
  std::string out;
  append({answer_->heartbeat()}, out);
  return out;
}

void Generation::shut_down() {
  for (const auto& stream : streams_) {
    if (stream) stream->cancel();
  }
}

}  // namespace kapitsa::app
