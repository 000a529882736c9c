#include "api/health.h"

namespace kapitsa::api {

Json health(const Service& service) {
  const engine::Load load = service.engine.load();
  return {{"status", "ok"},
          {"model", service.info().id},
          {"running", load.running},
          {"waiting", load.waiting}};
}

}  // namespace kapitsa::api
