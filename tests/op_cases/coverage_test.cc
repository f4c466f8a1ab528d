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

/// The lines of one section of allowed_gaps.txt: "[ops]", "[functions]", "[signatures]".
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

TEST(Coverage, EveryRecordHasRows) {
  for (const Op* op : all_ops()) {
    size_t rows = cases_of(op->name, false).size();
    bool takes_resource = false;
    for (const Arg& a : op->args) takes_resource |= a.dtype == DType::resource;
    if (!takes_resource) {
      EXPECT_GE(rows, op->args.empty() && !op->attrs ? 1u : 4u) << op->name << " has " << rows << " rows in tests/op_cases";
    }
  }
}

TEST(Coverage, EveryTypeOfASignatureIsTouched) {
  for (const Op* op : all_ops()) {
    if (op->type_attrs.empty() || op->args.empty() || op->args[0].type_attr != op->type_attrs[0].name) continue;
    TypeSet seen;
    for (const Case* c : cases_of(op->name, false))
      for (const CaseInput& input : c->inputs)
        if (input.name == op->args[0].name && c->error.empty())
          for (const Tensor& t : input.tensors) seen = seen | types(t.dtype());
    TypeSet missing = (op->type_attrs[0].allowed & (plain_types | types(DType::string))) - seen;
    RecordProperty(op->name, to_string(missing));
  }
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
