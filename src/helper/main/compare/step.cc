// SPDX-License-Identifier: Apache-2.0
// step.cc: what all rules about a step share (rules.h): values of dictionaries, and which objects are explained.
#include "helper/main/compare/rules.h"

namespace sr
{

bool is_name(QPDFObjectHandle value, const char *name)
{
    return value.isName() && value.getName() == name;
}

bool is_plain_dictionary(QPDFObjectHandle value)
{
    return value.isDictionary() && !value.isStream();
}

bool read_rect(double *side, QPDFObjectHandle rect)
{
    if (!rect.isArray() || rect.getArrayNItems() != 4) return false;
    for (int i = 0; i < 4; i++) {
        auto item = rect.getArrayItem(i);
        if (!item.isNumber()) return false;
        side[i] = item.getNumericValue();
    }
    return true;
}

bool is_visible(const QPDFObjectHandle &widget)
{
    double side[4];
    return read_rect(side, raw(widget, "/Rect")) && side[0] != side[2] && side[1] != side[3];
}

long long integer(QPDFObjectHandle value)
{
    return value.isInteger() ? value.getIntValue() : 0;
}

std::set<std::string> differing_keys(QPDFObjectHandle one, QPDFObjectHandle other)
{
    std::set<std::string> keys;
    auto first = one.getDictAsMap(), second = other.getDictAsMap();
    for (auto &item : first) {
        auto found = second.find(item.first);
        if (found == second.end() || !is_same(item.second, found->second, 1)) keys.insert(item.first);
    }
    for (auto &item : second)
        if (!first.count(item.first)) keys.insert(item.first);
    return keys;
}

// NOLINTNEXTLINE(misc-no-recursion): 3
bool Step::is_used_as(int number, const std::set<std::string> &keys, int nesting) const
{
    if (nesting > 3) return false;
    for (auto &use : uses.of(number, before)) {
        if (keys.count(*use.key)) continue;
        if (!use.key->empty() || !is_used_as(use.referrer, keys, nesting + 1)) return false;
    }
    for (auto &item : before.pdf->getTrailer().getDictAsMap())
        if (number_of(item.second) == number && !keys.count(item.first)) return false;
    return true;
}

void Step::explain(const QPDFObjectHandle &reference, const std::set<std::string> &keys)
{
    int number = number_of(reference);
    if (is_changed(number) && is_used_as(number, keys)) explained.insert(number);
}

// Names may be invalid UTF-8 and may contain unprintable bytes.
json_t *json_text(std::string text)
{
    for (auto &byte : text)
        if (static_cast<unsigned char>(byte) < 32 || byte == 127) byte = '?';
    json_t *string = json_stringn(text.data(), text.size());
    if (string) return string;
    for (auto &byte : text)
        if (static_cast<unsigned char>(byte) > 126) byte = '?';
    return json_stringn(text.data(), text.size());
}

} // namespace sr
