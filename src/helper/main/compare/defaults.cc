// SPDX-License-Identifier: Apache-2.0
// defaults.cc: changes of the form itself (rules.cc): its resources and defaults, which readers use to draw the values
// of fields.
#include "helper/main/compare/rules.h"

namespace sr
{

namespace
{

const int MAX_NESTING = 32;

} // namespace

// Returns true if an appearance has no resources of its own. Some readers then use those of the form.
bool needs_resources(const QPDFObjectHandle &look)
{
    for (auto key : {"/N", "/R", "/D"}) {
        auto value = raw(look, key);
        if (value.isStream()) {
            if (raw(value.getDict(), "/Resources").isNull()) return true;
        } else if (value.isDictionary()) {
            for (auto &state : value.getDictAsMap())
                if (state.second.isStream() && raw(state.second.getDict(), "/Resources").isNull()) return true;
        }
    }
    return false;
}

// Finds the fields of the older revision whose display depends on the defaults of the form. Readers draw a value that
// has no appearance, and browsers show text fields as elements of their own.
//
// NOLINTNEXTLINE(misc-no-recursion): MAX_NESTING
void Step::find_dependents(QPDFObjectHandle list, const Display &parent, int nesting)
{
    if (!list.isArray()) return;
    if (nesting > MAX_NESTING) throw Incomparable();
    for (auto &item : list.getArrayAsVector()) {
        if (budget-- <= 0) throw Incomparable();
        if (!is_plain_dictionary(item)) continue;
        Display field = parent;
        if (raw(item, "/FT").isName()) field.type = raw(item, "/FT").getName();
        field.has_value = field.has_value || !raw(item, "/V").isNull();
        field.has_font = field.has_font || !raw(item, "/DA").isNull();
        field.is_aligned = field.is_aligned || !raw(item, "/Q").isNull();
        if (is_visible(item) && needs_resources(raw(item, "/AP"))) dependents.insert("/XObject");
        if (field.type == "/Sig") continue;
        const bool shown = is_visible(item), text = field.type != "/Btn";
        if (shown && (field.has_value || !text) && raw(item, "/AP").isNull()) dependents.insert("/DR");
        if (shown && field.has_value && text && !field.has_font) dependents.insert("/DA");
        if (shown && field.has_value && text && !field.is_aligned) dependents.insert("/Q");
        find_dependents(raw(item, "/Kids"), field, nesting + 1);
    }
}

bool Step::depends(const std::string &key)
{
    if (dependents.empty()) {
        auto form = raw(before.object(before.root()), "/AcroForm"), drawn = raw(form, "/NeedAppearances");
        find_dependents(raw(form, "/Fields"), Display(), 0);
        if (drawn.isBool() && drawn.getBoolValue()) dependents.insert("/DR");
        dependents.insert(""); // they are known
    }
    return dependents.count(key) || dependents.count("/DR");
}

// Resources of a form may be added but not changed, except pictures that no field needs. They may not be added if a
// reader draws with them what was there.
void Step::check_resources(QPDFObjectHandle old_value, QPDFObjectHandle new_value)
{
    bool good = old_value.isNull() || is_plain_dictionary(new_value);
    for (auto &item : old_value.isDictionary() ? old_value.getDictAsMap() : std::map<std::string, QPDFObjectHandle>()) {
        auto more = raw(new_value, item.first);
        if (!item.second.isDictionary() || !more.isDictionary()) {
            good = good && is_same(item.second, more, 1);
            continue;
        }
        for (auto &one : item.second.getDictAsMap())
            good =
                good
                && (is_same(one.second, raw(more, one.first), 1) || (item.first == "/XObject" && !depends("/XObject")));
        if (good && !differing_keys(item.second, more).empty()) good = !depends("/DR");
        if (uses.of(number_of(more), before).size() <= 1) explain(more, {item.first}); // not if a page uses it too
    }
    if (good && new_value.isDictionary())
        for (auto &key : new_value.getKeys()) good = good && (!raw(old_value, key).isNull() || !depends("/DR"));
    if (!good) complain(0, "its form: /DR");
    explain(new_value, {"/DR"});
}

void Step::check_form(QPDFObjectHandle old_form, QPDFObjectHandle new_form)
{
    if (old_form.isNull() && new_form.isNull()) return;
    if (!is_plain_dictionary(new_form)) {
        complain(0, "its form");
        return;
    }
    if (old_form.isNull()) old_form = QPDFObjectHandle::newDictionary();
    for (auto &key : differing_keys(old_form, new_form)) {
        auto one = raw(old_form, key), other = raw(new_form, key);
        bool good = key == "/Fields" || key == "/DR";
        if (key == "/SigFlags") good = (integer(one) & ~integer(other)) == 0 && other.isInteger();
        if (key == "/DA") good = other.isString() && !depends(key);
        if (key == "/Q") good = other.isInteger() && !depends(key);
        if (key == "/NeedAppearances") good = !other.isBool() || !other.getBoolValue();
        if (!good) complain(0, "its form: " + key);
    }
    explain(new_form, {"/AcroForm"});
    explain(raw(new_form, "/Fields"), {"/Fields"});
    check_resources(raw(old_form, "/DR"), raw(new_form, "/DR"));
}

} // namespace sr
