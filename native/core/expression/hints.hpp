// Spellings of people that the language spells otherwise. Only for messages: nothing here is parsed.
#pragma once

#include <string>
#include <string_view>

namespace simplipy {

// How a function of another name is written here, as "log10(x) is log(x)/log(10)"; "" where nothing is known.
std::string_view other_spelling(std::string_view function);

// The ASCII spelling of a character at the start of `text`, as "^2" for a raised 2; "" where nothing does.
std::string_view ascii_form(std::string_view text);

// Whether a name is the Greek letter that is written pi: as a name it needs backquotes.
bool is_greek_pi(std::string_view name);

// Every name that can be called, with blanks between them.
std::string known_functions();

}  // namespace simplipy
