#include "api/models.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace kapitsa::api {
namespace {

Json entry(const Service& service, const std::string& id) {
  const engine::ModelInfo& info = service.info();
  return {{"id", id},
          {"object", "model"},
          {"type", "model"},
          {"display_name", info.id},
          {"created", info.created},
          {"created_at", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(info.created))},
          {"owned_by", "kapitsa"},
          {"context_length", info.context},
          {"max_model_len", info.context},
          {"architecture", info.architecture},
          {"capabilities", {{"thinking", info.can_think}, {"vision", false}}}};
}

}  // namespace

Json list_models(const Service& service) {
  Json data = Json::array({entry(service, service.info().id)});
  for (const std::string& alias : service.aliases) {
    if (alias != "*") data.push_back(entry(service, alias));
  }
  Json out = {{"object", "list"}, {"has_more", false}};
  out["first_id"] = data.front()["id"];
  out["last_id"] = data.back()["id"];
  out["data"] = std::move(data);
  return out;
}

Outcome show_model(const Service& service, std::string_view id) {
  if (!service.serves(id)) return model_not_found(id, service.names());
  return entry(service, std::string(id));
}

}  // namespace kapitsa::api
