// Which layers attend within a sliding window.
#pragma once

#include "model/loader.h"

namespace kapitsa::model {

// The window of layer `layer`, 0 for full attention: config.json's layer_types where it has them, else use_sliding_window
// with max_window_layers (layers below it see everything).
int layer_window(Loader& loader, int layer);

}  // namespace kapitsa::model
