// What the rows and TensorFlow's registry know and the records lack, or say otherwise. What may wait or differ is
// written in tests/op_cases/allowed_gaps.txt, one line each; the lists can only get shorter.
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <set>

#include "tests/op_cases/golden.h"
#include "tests/op_cases/signature.h"

namespace thalweg::testing {
namespace {

/// The lines of one section of allowed_gaps.txt: "[ops]", "[functions]", "[types]", "[signatures]".
std::set<std::string> allowed(const std::string& section) {
  std::ifstream file("tests/op_cases/allowed_gaps.txt");
  EXPECT_TRUE(file.good());
  std::set<std::string> lines;
  std::string current;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line[0] == '[') current = line;
    else if (current == "[" + section + "]") lines.insert(line);
  }
  return lines;
}

/// Fails for gaps that are not allowed; tells of allowed ones that are no more, so that their lines can go.
void expect_allowed(const std::string& section, const std::set<std::string>& gaps) {
  std::set<std::string> may = allowed(section);
  for (const std::string& gap : gaps) EXPECT_TRUE(may.count(gap)) << gap;
  for (const std::string& line : may)
    if (!gaps.count(line)) std::cout << "allowed_gaps.txt, " << section << ": no gap any more: " << line << "\n";
}

// Rows hold no functions: calls, conditionals and loops have their tests in tests/graph.
bool takes_functions(const Op& op) {
  if (op.attrs)
    for (const AttrRow& row : op.attrs->rows)
      if (row.type->kind == AttrKind::function || row.type->kind == AttrKind::functions) return true;
  return false;
}

// Nor do they hold optionals, which only graphs of TensorFlow make: tests/io/graph_def_test.cc, tests/interop.
bool is_of_optionals(const Op& op) { return std::string_view(op.name).starts_with("Optional"); }

// Nor do they hold code: tests/graph/host_function_test.cc.
bool calls_host(const Op& op) { return op.attrs && op.attrs->find("token") >= 0; }

// Nor can TensorFlow be asked about steps that only Keras has: tests/keras/optimizers_test.cc.
bool is_step_of_keras(const Op& op) { return std::string_view(op.name).starts_with("_Keras"); }

TEST(Coverage, EveryRecordHasRows) {
  for (const Op* op : all_ops()) {
    if (takes_functions(*op) || is_of_optionals(*op) || calls_host(*op) || is_step_of_keras(*op)) continue;
    size_t rows = cases_of(op->name, false).size();
    size_t enough = op->args.empty() && !op->attrs ? 1 : 4;  // without arguments there is one call
    EXPECT_GE(rows, enough) << op->name << " has " << rows << " rows in tests/op_cases";
  }
}

/// The types that a type attribute has in the rows, by the inputs or, where it has none, by the results.
TypeSet types_in_rows(const Op& op, const std::string& attr) {
  TypeSet seen;
  for (const Case* c : cases_of(op.name, false)) {
    if (!c->error.empty()) continue;
    for (const Arg& arg : op.args)
      for (const CaseInput& input : c->inputs)
        if (arg.type_attr == attr && input.name == arg.name)
          for (const Tensor& t : input.tensors) seen = seen | types(t.dtype());
    for (size_t i = 0; i < op.results.size() && i < c->outputs.size(); ++i)
      if (op.results[i].type_attr == attr) seen = seen | types(c->outputs[i].dtype());
  }
  return seen;
}

TEST(Coverage, EveryTypeOfASignatureIsTouched) {
  std::set<std::string> untouched;
  for (const Op* op : all_ops()) {
    if (cases_of(op->name, false).empty()) continue;  // EveryRecordHasRows says which may
    auto no_kernel = types_without_kernel().find(op->name);
    for (const TypeAttr& attr : op->type_attrs) {
      TypeSet missing = (attr.allowed & (plain_types | types(DType::string))) - types_in_rows(*op, attr.name);
      if (no_kernel != types_without_kernel().end()) missing = missing - no_kernel->second;
      if (!missing.empty())
        untouched.insert(std::string(op->name) + ": " + attr.name + " is never " + to_string(missing));
    }
  }
  expect_allowed("types", untouched);
}

TEST(Coverage, EveryFunctionWithRowsExists) {
  std::set<std::string> missing;
  for (const std::string& name : names_with_cases(true))
    if (!find_function(name)) missing.insert(name);
  expect_allowed("functions", missing);
}

TEST(Coverage, EveryOpHasARecord) {
  std::set<std::string> missing;
  for (const Signature& s : tensorflow_signatures())
    if (!find_op(s.name)) missing.insert(s.name);
  std::cout << missing.size() << " ops of tests/golden/op_signatures.txt have no record\n";
  expect_allowed("ops", missing);
}

TEST(Coverage, RecordsHaveTensorFlowsSignatures) {
  std::set<std::string> differences;
  for (const Signature& s : tensorflow_signatures())
    if (const Op* op = find_op(s.name))
      for (const std::string& difference : compare(*op, s)) differences.insert(s.name + ": " + difference);
  expect_allowed("signatures", differences);
}

}  // namespace
}  // namespace thalweg::testing
