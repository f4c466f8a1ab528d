#include "thalweg/core/tensor_list.h"

#include <algorithm>

#include "thalweg/core/error.h"

namespace thalweg {
namespace detail {

constexpr int branch_bits = 4;
constexpr int branches = 1 << branch_bits;

/// A node of level 0 holds elements, others hold nodes of the level below; null where nothing is set.
struct ListNode {
  std::atomic<uint32_t> refs{1};
  // How many of the branches, from the first, belong to some list: the next may be added without a copy, because no
  // list looks past its own end.
  std::atomic<int32_t> claimed{0};
  const int level;
  void* branch[branches] = {};

  explicit ListNode(int node_level) : level(node_level) {}
  ~ListNode() {
    for (void* b : branch) {
      if (level == 0) release(static_cast<TensorImpl*>(b));
      else drop(static_cast<ListNode*>(b));
    }
  }
  ListNode(const ListNode&) = delete;
  ListNode& operator=(const ListNode&) = delete;

  ListNode* child(int i) const { return static_cast<ListNode*>(branch[i]); }
  const Tensor& element(int i) const { return reinterpret_cast<const Tensor&>(branch[i]); }
  void set_element(int i, Tensor&& element) { reinterpret_cast<Tensor&>(branch[i]) = std::move(element); }
  bool is_sole() const { return refs.load(std::memory_order_acquire) == 1; }

  static ListNode* hold(ListNode* n) {
    if (n) n->refs.fetch_add(1, std::memory_order_relaxed);
    return n;
  }
  static void drop(ListNode* n) {
    if (n && n->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete n;
  }
};

namespace {

/// How many elements one branch of a node leads to.
constexpr int64_t reach(int level) { return int64_t{1} << (branch_bits * level); }
int branch_of(int level, int64_t i) { return static_cast<int>(i >> (branch_bits * level)) & (branches - 1); }
/// The level of the root of a list of this size.
int root_level(int64_t size) {
  int level = 0;
  while (reach(level + 1) < size) ++level;
  return level;
}
/// How many branches of a node whose first element is `start` a list of this size sees.
int branches_seen(int level, int64_t start, int64_t size) {
  int64_t seen = (size - start + reach(level) - 1) >> (branch_bits * level);
  return static_cast<int>(std::clamp<int64_t>(seen, 0, branches));
}

using Held = std::unique_ptr<ListNode, void (*)(ListNode*)>;
Held held(ListNode* n) { return {n, ListNode::drop}; }

/// The node with the first `visible` elements of its list and nothing else, for a list of `size`.
Held trimmed(const ListNode& node, int64_t start, int64_t visible, int64_t size) {
  Held copy = held(new ListNode(node.level));
  copy->claimed.store(branches_seen(node.level, start, size), std::memory_order_relaxed);
  int count = branches_seen(node.level, start, visible);
  for (int i = 0; i < count; ++i) {
    if (node.level == 0) {
      copy->set_element(i, Tensor(node.element(i)));
      continue;
    }
    ListNode* child = node.child(i);
    if (!child) continue;
    // In the last branch the list ends: its claims must be those of the new list.
    bool cut = visible < start + (i + 1) * reach(node.level);
    copy->branch[i] =
        cut ? trimmed(*child, start + i * reach(node.level), visible, size).release() : ListNode::hold(child);
  }
  return copy;
}

/// The same node, when nobody else holds it, or a copy in its place.
void make_sole(void*& place, int level, int64_t start, int64_t size) {
  auto* node = static_cast<ListNode*>(place);
  if (node && node->is_sole()) return;
  Held fresh = held(new ListNode(level));
  int seen = branches_seen(level, start, size);
  fresh->claimed.store(seen, std::memory_order_relaxed);
  for (int i = 0; node && i < seen; ++i) {
    if (level == 0) fresh->set_element(i, Tensor(node->element(i)));
    else fresh->branch[i] = ListNode::hold(node->child(i));
  }
  ListNode::drop(node);
  place = fresh.release();
}

/// A way down to one element, the first of a branch.
void* chain_to(int level, Tensor&& element) {
  if (level < 0) {
    TensorImpl* p = element.get();
    retain(p);
    return p;
  }
  Held node = held(new ListNode(level));
  node->branch[0] = chain_to(level - 1, std::move(element));
  node->claimed.store(1, std::memory_order_relaxed);
  return node.release();
}

void visit_node(const ListNode& node, int64_t start, int64_t size, void (*f)(void*, int64_t, const Tensor&),
                void* context) {
  int seen = branches_seen(node.level, start, size);
  for (int i = 0; i < seen; ++i) {
    if (!node.branch[i]) continue;
    if (node.level == 0) f(context, start + i, node.element(i));
    else visit_node(*node.child(i), start + i * reach(node.level), size, f, context);
  }
}

using Combine = Tensor (*)(void*, const Tensor&, const Tensor&);
/// Both nodes in one; where only one of them has a branch, that is shared.
ListNode* combined(ListNode* a, ListNode* b, int64_t start, int64_t size, Combine f, void* context) {
  if (!a || !b) return ListNode::hold(a ? a : b);
  Held sum = held(new ListNode(a->level));
  int seen = branches_seen(a->level, start, size);
  sum->claimed.store(seen, std::memory_order_relaxed);
  for (int i = 0; i < seen; ++i) {
    if (a->level > 0)
      sum->branch[i] = combined(a->child(i), b->child(i), start + i * reach(a->level), size, f, context);
    else if (a->branch[i] && b->branch[i]) sum->set_element(i, f(context, a->element(i), b->element(i)));
    else sum->set_element(i, Tensor(a->branch[i] ? a->element(i) : b->element(i)));
  }
  return sum.release();
}

ListNode* replaced(const ListNode* node, int64_t start, int64_t size, Tensor (*f)(void*, const Tensor&),
                   void* context) {
  if (!node) return nullptr;
  Held copy = held(new ListNode(node->level));
  int seen = branches_seen(node->level, start, size);
  copy->claimed.store(seen, std::memory_order_relaxed);
  for (int i = 0; i < seen; ++i) {
    if (!node->branch[i]) continue;
    if (node->level == 0) copy->set_element(i, f(context, node->element(i)));
    else copy->branch[i] = replaced(node->child(i), start + i * reach(node->level), size, f, context);
  }
  return copy.release();
}

}  // namespace
}  // namespace detail

using detail::ListNode;

TensorListResource::TensorListResource(DType element_dtype, const Shape& element_shape, int64_t size,
                                       int64_t max_num_elements)
    : element_dtype_(element_dtype), element_shape_(element_shape), max_num_elements_(max_num_elements), size_(size) {}
TensorListResource::TensorListResource(const TensorListResource& other)
    : element_dtype_(other.element_dtype_),
      element_shape_(other.element_shape_),
      max_num_elements_(other.max_num_elements_),
      size_(other.size_),
      nesting_(other.nesting_),
      root_(ListNode::hold(other.root_)) {}
TensorListResource::~TensorListResource() { ListNode::drop(root_); }

std::string TensorListResource::describe() const {
  return "a list of " + std::to_string(size_) + " tensors, " + std::string(name_of(element_dtype_)) +
         element_shape_.brackets();
}

Tensor TensorListResource::at(int64_t i) const {
  const ListNode* node = root_;
  for (int level = detail::root_level(size_); node && level > 0; --level)
    node = node->child(detail::branch_of(level, i));
  return node ? node->element(detail::branch_of(0, i)) : Tensor();
}

// Lists of lists are freed from the outermost inward, each on the stack of the one before.
void TensorListResource::note_nesting(const Tensor& element) {
  constexpr int deepest = 100;
  if (element_dtype_ != DType::variant) return;
  const auto* handles = element.mutable_data<ResourceHandle>();
  for (int64_t k = 0; k < element.size(); ++k)
    if (auto* inner = dynamic_cast<const TensorListResource*>(handles[k].get()))
      nesting_ = std::max(nesting_, inner->nesting_ + 1);
  if (nesting_ > deepest)
    throw InvalidArgumentError("lists of lists are nested more than " + std::to_string(deepest) + " deep");
}

void TensorListResource::set(int64_t i, Tensor element) {
  note_nesting(element);
  void* root = root_;
  void** place = &root;
  int64_t start = 0;
  for (int level = detail::root_level(size_);; --level) {
    detail::make_sole(*place, level, start, size_);
    root_ = static_cast<ListNode*>(root);
    auto* node = static_cast<ListNode*>(*place);
    int branch = detail::branch_of(level, i);
    if (level == 0) return node->set_element(branch, std::move(element));
    start += branch * detail::reach(level);
    place = &node->branch[branch];
  }
}

void TensorListResource::append(Tensor element) {
  note_nesting(element);
  const int64_t i = size_;
  int level = detail::root_level(i);
  if (root_ && i < detail::reach(level + 1)) {
    ListNode* node = root_;
    while (node && node->level > 0 && (i & (detail::reach(node->level) - 1)) != 0)
      node = node->child(detail::branch_of(node->level, i));
    if (node) {  // its next branch is new: the first list that comes this far takes it
      int branch = detail::branch_of(node->level, i);
      int expected = branch;
      void* chain = detail::chain_to(node->level - 1, std::move(element));
      if (node->claimed.compare_exchange_strong(expected, branch + 1, std::memory_order_acq_rel)) {
        node->branch[branch] = chain;
        ++size_;
        return;
      }
      for (level = node->level; level > 0; --level) {  // another list did: the way is copied after all
        auto* lower = static_cast<ListNode*>(chain);
        chain = std::exchange(lower->branch[0], nullptr);
        ListNode::drop(lower);
      }
      element = Tensor(static_cast<TensorImpl*>(chain));
    }
  }
  resize(i + 1);
  set(i, std::move(element));
}

void TensorListResource::resize(int64_t size) {
  if (size == size_) return;
  detail::Held root = detail::held(ListNode::hold(root_));
  int level = detail::root_level(size_), wanted = detail::root_level(size);
  for (; root && level > wanted; --level) root.reset(ListNode::hold(root->child(0)));
  if (root) root = detail::trimmed(*root, 0, std::min(size, size_), size);
  for (; root && level < wanted; ++level) {
    detail::Held above = detail::held(new ListNode(level + 1));
    above->claimed.store(detail::branches_seen(level + 1, 0, size), std::memory_order_relaxed);
    above->branch[0] = root.release();
    root = std::move(above);
  }
  ListNode::drop(root_);
  root_ = root.release();
  size_ = size;
}

void TensorListResource::visit(void (*f)(void*, int64_t, const Tensor&), void* context) const {
  if (root_) detail::visit_node(*root_, 0, size_, f, context);
}
void TensorListResource::replace(Tensor (*f)(void*, const Tensor&), void* context) {
  ListNode* changed = detail::replaced(root_, 0, size_, f, context);
  ListNode::drop(root_);
  root_ = changed;
}
void TensorListResource::combine(const TensorListResource& other, detail::Combine f, void* context) {
  nesting_ = std::max(nesting_, other.nesting_);
  ListNode* changed = detail::combined(root_, other.root_, 0, size_, f, context);
  ListNode::drop(root_);
  root_ = changed;
}

Tensor make_list_handle(std::shared_ptr<const TensorListResource> list) {
  Tensor handle = Tensor::empty(DType::variant, {});
  *handle.mutable_data<ResourceHandle>() = std::const_pointer_cast<TensorListResource>(std::move(list));
  return handle;
}

const TensorListResource& list_of(const ResourceHandle& handle) {
  if (!handle) throw InvalidArgumentError("the handle leads to no list: it is empty");
  auto* list = dynamic_cast<const TensorListResource*>(handle.get());
  if (!list) throw InvalidArgumentError("the handle leads to no list but to " + handle->describe());
  return *list;
}
const TensorListResource& list_of(const Tensor& handle) {
  if (handle.dtype() != DType::variant || handle.impl()->form != Form::array || handle.size() != 1)
    throw InvalidArgumentError("a handle of a list must be one variant, got " + std::string(name_of(handle.dtype())) +
                               handle.shape().brackets());
  return list_of(*handle.mutable_data<ResourceHandle>());
}

}  // namespace thalweg
