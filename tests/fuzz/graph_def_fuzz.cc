// Any bytes must be a function, or a typed error; a function that was read must come back from what it writes.
#include <cstdlib>
#include <string>

#include "thalweg/core/error.h"
#include "thalweg/io/graph_def.h"

namespace {
using namespace thalweg;

void read_graph(std::string_view bytes) {
  const FunctionAttr function = io::from_graph_def(proto::parse<proto::GraphDef>(bytes));
  io::GraphExport made;
  try {
    made = io::to_graph_def(*function);
  } catch (const Error&) {  // a call that leaves open what TensorFlow wants to be said
    return;
  }
  io::ImportOptions options{.inputs = made.arguments, .outputs = made.results};
  for (const auto& [name, handle] : made.captures) options.inputs->push_back(name);
  const FunctionAttr again = io::from_graph_def(made.graph, options);
  if (again->num_arguments() != function->num_arguments() || again->num_results() != function->num_results())
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    read_graph({reinterpret_cast<const char*>(data), size});
  } catch (const Error&) {}
  return 0;
}
