// A callable that is borrowed for the time of a call: no copy, no allocation.
#pragma once

#include <type_traits>

namespace simplipy {

template <class Signature>
class FunctionRef;

template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
  public:
    template <class Callable>
        requires(!std::is_same_v<std::remove_cvref_t<Callable>, FunctionRef>)
    FunctionRef(Callable&& callable)
        : object_(const_cast<void*>(static_cast<const void*>(&callable))), call_([](void* object, Arguments... args) {
              return static_cast<Result>((*static_cast<std::remove_reference_t<Callable>*>(object))(args...));
          }) {}

    Result operator()(Arguments... args) const { return call_(object_, args...); }

  private:
    void* object_;
    Result (*call_)(void*, Arguments...);
};

}  // namespace simplipy
