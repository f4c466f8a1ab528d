// error: a hook of a callback takes (Model& model, int number, const Logs& logs), or fewer of these
#include <thalweg/thalweg.h>

namespace keras = thalweg::keras;

struct Watch {
  void on_epoch_end(const std::string&) {}
};
keras::Callback callback = Watch{};
