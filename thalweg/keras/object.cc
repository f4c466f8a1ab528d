#include "thalweg/keras/object.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "thalweg/core/error.h"
#include "thalweg/keras/names.h"
#include "thalweg/ops/fixed_variable.h"

namespace thalweg::keras {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, std::vector<Class>, std::less<>> classes;
  std::map<std::pair<std::string, std::string>, std::string, std::less<>> aliases;
  ClassFallback fallback;
  std::map<std::string, int, std::less<>> names;
  std::set<std::string, std::less<>> observed;
};
// Never destroyed: objects of static storage are made and dropped at any time.
Registry& registry() {
  static auto* all = new Registry;
  return *all;
}
thread_local int unnamed = 0;

std::pair<std::string, std::string> key(std::string_view kind, std::string_view name) {
  return {std::string(kind), std::string(name)};
}

std::string in_lower_case(std::string_view name) {
  std::string lower(name);
  for (char& letter : lower)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter + 32);
  return lower;
}

/// How many letters must be changed, added or left out.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row[b.size()];
}

const Class* find_locked(Registry& all, std::string_view kind, std::string_view name) {
  auto found = all.classes.find(key(kind, name));
  if (found == all.classes.end()) {
    auto alias = all.aliases.find(key(kind, name));
    // Keras reads the names of its optimizers without regard to case.
    if (alias == all.aliases.end() && kind == "optimizer") alias = all.aliases.find(key(kind, in_lower_case(name)));
    if (alias == all.aliases.end()) return nullptr;
    found = all.classes.find(key(kind, alias->second));
    if (found == all.classes.end()) return nullptr;
  }
  if (found->second.size() > 1)
    throw ValueError("there are several classes called '" + std::string(name) +
                     "' in this program: give them different names");
  return &found->second.front();
}

[[noreturn]] void refuse_name(std::string_view kind, std::string_view name) {
  Registry& all = registry();
  std::vector<std::string> known;
  {
    std::lock_guard lock(all.mutex);
    for (const auto& [k, made] : all.classes)
      if (k.first == kind) known.push_back(k.second);
    for (const auto& [k, meant] : all.aliases)
      if (k.first == kind) known.push_back(k.second);
  }
  std::sort(known.begin(), known.end());
  const std::string quoted = "'" + std::string(name) + "'";
  // Keras's words where it has some.
  std::string text = kind == "activation"    ? "Unknown activation function " + quoted + " cannot be deserialized."
                     : kind == "initializer" ? "Unknown initializer: " + quoted
                                             : "unknown " + std::string(kind) + " " + quoted;
  auto nearest = std::min_element(known.begin(), known.end(), [&](const std::string& a, const std::string& b) {
    return distance(a, name) < distance(b, name);
  });
  if (nearest != known.end() && distance(*nearest, name) <= 2 + name.size() / 4)
    text += (text.back() == '.' ? " Did you mean '" : "; did you mean '") + *nearest + "'?";
  text += text.back() == '.' || text.back() == '?' ? " Known:" : ". Known:";
  for (const std::string& other : known) text += (text.back() == ':' ? " " : ", ") + other;
  throw ValueError(text);
}

void list_variables(const module::Parts& parts, const std::string& path, std::vector<NamedVariable>& found) {
  for (const module::Part& part : parts.list()) {
    const std::string here = path.empty() ? part.name : path + "/" + part.name;
    if (part.type->kind == module::Type::Kind::variable) {
      const auto& variable = *static_cast<const Variable*>(part.object);
      if (variable.defined() && !fixed_value(variable.handle())) found.push_back({here, variable});
    } else if (!part.type->shared(part.object)) {
      module::Parts inner;
      part.type->list_parts(part.object, inner);
      list_variables(inner, here, found);
    }
  }
}

/// Where Keras has the classes of a kind.
std::string module_of(std::string_view kind, std::string_view name) {
  if (kind == "schedule") return "keras.optimizers.schedules";
  if (kind == "loss") return "keras.losses";
  // Keras reads these names under keras.optimizers as those of its older optimizers.
  for (std::string_view old : {"Adadelta", "Adagrad", "Adamax", "Ftrl", "Nadam", "RMSprop", "SGD"})
    if (kind == "optimizer" && name == old) return "keras.optimizers.experimental";
  return "keras." + std::string(kind) + "s";
}

}  // namespace

std::shared_ptr<Object> Object::renewed(std::string_view kind) const {
  return is_function() ? nullptr : make_object(kind, class_name(), is_by_name ? Value() : get_config());
}

void detail::refuse_empty(std::string_view kind) {
  throw ValueError("this " + std::string(kind) + " is undefined (None): it was default-constructed or moved from");
}

std::vector<NamedVariable> list_variables(const module::Shared& object) {
  module::Parts parts;
  object.list_parts(parts);
  std::vector<NamedVariable> found;
  list_variables(parts, {}, found);
  return found;
}

bool register_class(Class made) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  auto& same = all.classes[key(made.kind, made.name)];
  for (Class& other : same)
    if (other.rows == made.rows || other.make == made.make) return true;
  same.push_back(std::move(made));
  return true;
}
bool register_alias(std::string_view kind, std::string_view alias, std::string_view name) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  all.aliases[key(kind, alias)] = name;
  return true;
}
const Class* find_class(std::string_view kind, std::string_view name) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  return find_locked(all, kind, name);
}
std::vector<const Class*> all_classes(std::string_view kind) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  std::vector<const Class*> found;
  for (const auto& [k, made] : all.classes)
    if (k.first == kind) found.push_back(&made.front());
  return found;
}
std::vector<std::pair<std::string, std::string>> all_aliases(std::string_view kind) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  std::vector<std::pair<std::string, std::string>> found;
  for (const auto& [alias, name] : all.aliases)
    if (alias.first == kind) found.emplace_back(alias.second, name);
  return found;
}
std::string function_name(std::string_view kind, const void* function) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  for (const auto& [k, made] : all.classes)
    if (k.first == kind && function && made.front().function == function) return k.second;
  return {};
}
void set_class_fallback(ClassFallback fallback) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  all.fallback = std::move(fallback);
}

std::shared_ptr<Object> make_object(std::string_view kind, std::string_view name, const Value& config) {
  ClassFallback fallback;
  {
    Registry& all = registry();
    std::lock_guard lock(all.mutex);
    fallback = all.fallback;
  }
  if (const Class* made = find_class(kind, name)) {
    std::shared_ptr<Object> object = made->make(config);
    object->is_by_name = config.is_none();
    return object;
  }
  if (fallback)
    if (std::shared_ptr<Object> made = fallback(kind, name, config)) return made;
  refuse_name(kind, name);
}

std::shared_ptr<Object> object_from_value(std::string_view kind, const Value& value) {
  if (value.is_none()) return nullptr;
  if (std::shared_ptr<Object> object = value.object()) {
    std::shared_ptr<Object> as_kind = object->as_kind(kind);
    return as_kind ? as_kind : object;
  }
  if (value.is_text()) return make_object(kind, value.text());
  if (!value.is_map() && kind == "layer")
    throw ValueError("a layer was expected, such as an instance of `tf.keras.layers.Layer`. Received: " + value.json());
  // A function is written {"class_name": "function", "config": "relu"}.
  if (value["config"].is_text()) return make_object(kind, value["config"].text());
  return make_object(kind, value["class_name"].text(), value["config"]);
}

Value object_to_value(std::string_view kind, const Object* object) {
  if (!object) return {};
  const std::string name = object->class_name();
  if (object->is_function()) {
    if (name.empty())
      throw ValueError("this " + std::string(kind) +
                       " is a lambda, which has no name that a configuration could hold: use a struct with `call` "
                       "instead");
    return name;
  }
  const bool known = find_class(kind, name) != nullptr;
  std::string module = module_of(kind, name);
  if (const char* own = object->module_name()) module = own;
  // Classes that Keras does not export, and those of programs, carry their name once more.
  const bool is_hidden = module.starts_with("keras.src.");
  Value whole = Value::map({{"module", known ? Value(module) : Value()},
                            {"class_name", name},
                            {"config", object->whole_config()},
                            {"registered_name", is_hidden || !known ? Value(name) : Value()}});
  if (Value built = object->build_config(); !built.is_none()) whole.set("build_config", std::move(built));
  return whole;
}

std::string to_snake_case(std::string_view name) {
  auto upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  auto lower = [](char c) { return c >= 'a' && c <= 'z'; };
  // An underscore goes before a capital that a small letter follows, then between a small letter and a capital.
  std::string parted;
  for (size_t i = 0; i < name.size(); ++i) {
    if (i > 0 && upper(name[i]) && i + 1 < name.size() && lower(name[i + 1])) parted += '_';
    parted += name[i];
  }
  std::string text;
  for (size_t i = 0; i < parted.size(); ++i) {
    if (i > 0 && lower(parted[i - 1]) && upper(parted[i])) text += '_';
    text += upper(parted[i]) ? static_cast<char>(parted[i] + 32) : parted[i];
  }
  return text.starts_with("_") ? "private" + text : text;
}

std::string unique_name(std::string_view base) {
  if (unnamed > 0) return std::string(base);
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  const int count = all.names[std::string(base)]++;
  return count == 0 ? std::string(base) : std::string(base) + "_" + std::to_string(count);
}
void observe_name(std::string_view name) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  all.observed.insert(std::string(name));
}
std::string unobserved_name(std::string_view base) {
  Registry& all = registry();
  while (true) {
    std::string name = unique_name(base);
    std::lock_guard lock(all.mutex);
    if (unnamed > 0 || !all.observed.contains(name)) return name;
  }
}
void backend::clear_session() {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  all.names.clear();
  all.observed.clear();
}
Unnamed::Unnamed() { ++unnamed; }
Unnamed::~Unnamed() { --unnamed; }

std::string detail::class_name_of(std::string_view type_name) {
  size_t arguments = type_name.find('<');
  std::string_view head = type_name.substr(0, arguments);
  size_t colon = head.rfind("::");
  std::string name(colon == head.npos ? head : head.substr(colon + 2));
  if (!type_name.starts_with("thalweg::keras::")) return name;
  for (std::string_view suffix :
       {"Layer", "Loss", "Metric", "Optimizer", "Callback", "Initializer", "Regularizer", "Constraint", "Schedule"})
    if (name.size() > suffix.size() && name.ends_with(suffix) && name != "InputLayer") {
      name.resize(name.size() - suffix.size());
      break;
    }
  return name;
}

}  // namespace thalweg::keras
