// SPDX-License-Identifier: Apache-2.0
// list_form.cc: lists the fields of a form with their types, places, options and values (ISO 32000-2, 12.7.5). The C
// interface of qpdf does not offer this. No exception leaves this file.
#include "helper/main/rewrite/list_form.h"

#define POINTERHOLDER_TRANSITION 4 /* makes qpdf use std::shared_ptr */
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <jansson.h>
#include <map>
#include <qpdf/JSON.hh>
#include <qpdf/QPDF.hh>
#include <qpdf/QPDFAcroFormDocumentHelper.hh>
#include <qpdf/QPDFPageDocumentHelper.hh>
#include <sstream>
#include <string>
#include <vector>

namespace
{

const int READ_ONLY = 1, REQUIRED = 1 << 1, MULTILINE = 1 << 12, MULTIPLE = 1 << 21, COMB = 1 << 24; // in /Ff
const int SECRET = 1 << 13 | 1 << 20;        // in /Ff: Password and FileSelect
const int HIDDEN = 1 << 1 | 1 << 5;          // in /F: Hidden and NoView
const size_t LONGEST_NAME = 128;             // bytes, with the "/"
const double FARTHEST = 1e9, LARGEST = 1000; // points

// Where a widget is.
struct Place {
    int page;
    double rect[4];
    std::string option, state; // of a radio button, and the name of its appearance as a PDF has it
    bool is_on = false;
};

// What the default appearance of a field (12.7.4.3) says of its letters.
struct Letters {
    double size = 0;   // 0: automatic
    std::string color; // "#rrggbb"; "": black
};

// Returns the colour of 1, 3 or 4 components: gray, RGB or CMYK.
std::string color_of(const std::vector<double> &parts)
{
    const size_t count = parts.size();
    std::string text = "#";
    for (size_t i = 0; i < 3; i++) {
        const double part = count == 1 ? parts[0] : count == 3 ? parts[i] : (1 - parts[i]) * (1 - parts[3]);
        const auto level = std::lround(255 * std::min(std::max(part, 0.), 1.));
        text += "0123456789abcdef"[level / 16];
        text += "0123456789abcdef"[level % 16];
    }
    return text == "#000000" ? "" : text;
}

Letters read_letters(const std::string &style)
{
    static const std::map<std::string, size_t> colors = {{"g", 1}, {"rg", 3}, {"k", 4}};
    Letters letters;
    std::vector<double> numbers;
    std::istringstream words(style);
    for (std::string word; words >> word;) {
        char *end;
        const double number = std::strtod(word.c_str(), &end);
        const auto color = colors.find(word);
        if (!*end && std::isfinite(number)) {
            numbers.push_back(number);
            continue;
        }
        if (word == "Tf" && !numbers.empty() && numbers.back() <= LARGEST) letters.size = std::max(numbers.back(), 0.);
        if (color != colors.end() && numbers.size() == color->second) letters.color = color_of(numbers);
        numbers.clear();
    }
    return letters;
}

// A field with all its widgets.
struct Field {
    QPDFFormFieldObjectHelper helper;
    std::vector<QPDFAnnotationObjectHelper> widgets;
};

class Inspection
{
  public:
    Inspection(QPDF &pdf, const sr_pdfd_list_limits_t &most) : helper(pdf), limits(most), room(most.all)
    {
        int number = 0;
        for (auto &page : QPDFPageDocumentHelper(pdf).getAllPages()) {
            for (auto &annotation : page.getAnnotations())
                pages.emplace(annotation.getObjectHandle().getObjGen(), number);
            number++;
        }
    }

    std::string list()
    {
        JSON fields = JSON::makeArray();
        std::vector<Field> all = collect();
        for (auto &field : all) add(fields, field);
        return fields.unparse();
    }

  private:
    QPDFAcroFormDocumentHelper helper;
    std::map<QPDFObjGen, int> pages; // of each widget
    const sr_pdfd_list_limits_t limits;
    size_t count = 0, room; // bytes of texts that are left

    // Returns a text; too long ones are cut between two characters.
    JSON text(std::string value)
    {
        size_t length = std::min({value.size(), limits.text, room});
        while (length < value.size() && length > 0 && (value[length] & 0xc0) == 0x80) length--;
        room -= length;
        return JSON::makeString(value.substr(0, length));
    }

    // Reads the place of a widget. Returns false if nobody sees it.
    bool read_place(Place &place, QPDFAnnotationObjectHelper &widget)
    {
        auto found = pages.find(widget.getObjectHandle().getObjGen());
        auto rect = widget.getObjectHandle().getKey("/Rect");
        if (found == pages.end() || widget.getFlags() & HIDDEN || !rect.isArray() || rect.getArrayNItems() != 4)
            return false;
        place.page = found->second;
        for (int i = 0; i < 4; i++) {
            if (!rect.getArrayItem(i).getValueAsNumber(place.rect[i]) || !(std::fabs(place.rect[i]) <= FARTHEST))
                return false;
        }
        if (place.rect[0] > place.rect[2]) std::swap(place.rect[0], place.rect[2]);
        if (place.rect[1] > place.rect[3]) std::swap(place.rect[1], place.rect[3]);
        return place.rect[2] > place.rect[0] && place.rect[3] > place.rect[1];
    }

    // Returns true if the bytes of a name are UTF-8. Older programs write PDFDocEncoding.
    static bool is_utf8(const std::string &name)
    {
        json_t *text = json_stringn(name.data(), name.size());
        json_decref(text);
        return text != nullptr;
    }

    // Reads the state in which a button is on, and the value of the state. If the field has /Opt, states are indexes.
    static void read_option(Place &place, QPDFAnnotationObjectHelper &widget, QPDFObjectHandle options)
    {
        auto states = widget.getAppearanceDictionary();
        states = states.isDictionary() ? states.getKey("/N") : states;
        if (!states.isDictionary()) return;
        for (auto &name : states.getKeys()) {
            const std::string state = name.substr(1);
            if (name == "/Off" || name.size() < 2 || name.size() > LONGEST_NAME || state.find('\0') != state.npos)
                continue;
            const bool is_index = !state.empty() && state.find_first_not_of("0123456789") == std::string::npos;
            auto option = options.isArray() && is_index && state.size() <= 6 ? options.getArrayItem(std::stoi(state))
                                                                             : QPDFObjectHandle::newNull();
            place.state = QPDFObjectHandle::newName(name).unparse().substr(1);
            if (!option.isString() && is_utf8(state)) place.option = state;
            else place.option = (option.isString() ? option : QPDFObjectHandle::newString(state)).getUTF8Value();
            return;
        }
    }

    JSON place_json(const Place &place)
    {
        JSON json = JSON::makeDictionary(), rect = JSON::makeArray();
        json.addDictionaryMember("page", JSON::makeInt(place.page));
        for (double side : place.rect) rect.addArrayElement(JSON::makeReal(side));
        json.addDictionaryMember("rect", rect);
        if (!place.option.empty()) json.addDictionaryMember("option", text(place.option));
        if (place.state != place.option) json.addDictionaryMember("state", text(place.state));
        return json;
    }

    static const char *type_of(QPDFFormFieldObjectHelper &field)
    {
        const std::string type = field.getFieldType();
        if (type == "/Tx") return field.getFlags() & SECRET ? nullptr : "text";
        if (type == "/Sig") return "signature";
        if (type == "/Ch") return "choice";
        if (type == "/Btn" && field.isCheckbox()) return "checkbox";
        return type == "/Btn" && field.isRadioButton() ? "choice" : nullptr;
    }

    // Adds the export values of the options, and the texts that are shown for them if these differ.
    void add_options(JSON &json, QPDFFormFieldObjectHelper &field, const std::vector<Place> &places)
    {
        JSON options = JSON::makeArray(), labels = JSON::makeArray();
        auto values = field.getInheritableFieldValue("/Opt");
        bool has_labels = false;
        for (int i = 0; !field.isRadioButton() && values.isArray() && i < values.getArrayNItems(); i++) {
            auto option = values.getArrayItem(i), label = option;
            if (option.isArray() && option.getArrayNItems() > 0) {
                label = option.getArrayItem(option.getArrayNItems() - 1);
                option = option.getArrayItem(0);
            }
            if (!option.isString() || !label.isString() || static_cast<size_t>(i) >= limits.options) continue;
            options.addArrayElement(text(option.getUTF8Value()));
            labels.addArrayElement(text(label.getUTF8Value()));
            has_labels = has_labels || option.getUTF8Value() != label.getUTF8Value();
        }
        for (auto &place : places)
            if (!place.option.empty()) options.addArrayElement(text(place.option));
        json.addDictionaryMember("options", options);
        if (has_labels) json.addDictionaryMember("labels", labels);
        if (field.getFlags() & MULTIPLE && field.getFieldType() == "/Ch")
            json.addDictionaryMember("multiple", JSON::makeBool(true));
    }

    // Adds how a reader would draw the value.
    void add_letters(JSON &json, QPDFFormFieldObjectHelper &field)
    {
        const int align = field.getQuadding();
        const Letters letters = read_letters(field.getDefaultAppearance());
        if (align == 1 || align == 2)
            json.addDictionaryMember("align", JSON::makeString(align == 1 ? "center" : "right"));
        if (letters.size > 0) json.addDictionaryMember("size", JSON::makeReal(letters.size));
        if (!letters.color.empty()) json.addDictionaryMember("color", JSON::makeString(letters.color));
    }

    void add_value(JSON &json, QPDFFormFieldObjectHelper &field, const std::vector<Place> &places)
    {
        auto value = field.getInheritableFieldValue("/V");
        if (field.getFieldType() == "/Sig") {
            if (value.isDictionary()) json.addDictionaryMember("signed", JSON::makeBool(true));
        } else if (field.isCheckbox()) {
            json.addDictionaryMember("value", JSON::makeBool(value.isName() && value.getName() != "/Off"));
        } else if (field.isRadioButton()) {
            for (auto &place : places)
                if (place.is_on) json.addDictionaryMember("value", text(place.option));
        } else {
            if (value.isArray() && value.getArrayNItems() == 1) value = value.getArrayItem(0); // of a list
            if (value.isString() && room > 0) json.addDictionaryMember("value", text(value.getUTF8Value()));
        }
    }

    // qpdf lists a widget without a name of its own as a field.
    std::vector<Field> collect()
    {
        std::vector<Field> all;
        std::map<QPDFObjGen, size_t> numbers;
        for (auto &listed : helper.getFormFields()) {
            auto top = top_of(listed);
            auto number = numbers.emplace(top.getObjectHandle().getObjGen(), all.size());
            if (number.second) all.push_back({top, {}});
            for (auto &widget : helper.getAnnotationsForField(listed))
                all[number.first->second].widgets.push_back(widget);
        }
        return all;
    }

    void add(JSON &fields, Field &field)
    {
        const char *type = type_of(field.helper);
        const std::string name = field.helper.getFullyQualifiedName();
        if (!type || name.empty() || name.size() > limits.name || count >= limits.fields) return;
        std::vector<Place> places;
        for (auto &widget : field.widgets) {
            Place place;
            if (!read_place(place, widget)) continue;
            if (field.helper.isRadioButton()) {
                read_option(place, widget, field.helper.getInheritableFieldValue("/Opt"));
                place.is_on = widget.getAppearanceState() != "/Off" && !widget.getAppearanceState().empty();
            }
            places.push_back(place);
        }
        if (places.empty()) return;
        add_field(fields, field.helper, type, name, places);
        count++;
    }

    // Returns the field that has the name.
    static QPDFFormFieldObjectHelper top_of(QPDFFormFieldObjectHelper field)
    {
        while (!field.getObjectHandle().hasKey("/T") && !field.isNull()) {
            auto parent = field.getParent();
            if (parent.isNull()) break;
            field = parent;
        }
        return field;
    }

    void add_field(JSON &fields, QPDFFormFieldObjectHelper &field, const char *type, const std::string &name,
                   const std::vector<Place> &places)
    {
        JSON json = fields.addArrayElement(JSON::makeDictionary()), list = JSON::makeArray();
        const int flags = field.getFlags();
        auto most = field.getInheritableFieldValue("/MaxLen");
        json.addDictionaryMember("field", JSON::makeString(name));
        json.addDictionaryMember("type", JSON::makeString(type));
        for (auto &place : places) list.addArrayElement(place_json(place));
        json.addDictionaryMember("places", list);
        json.addDictionaryMember("required", JSON::makeBool(flags & REQUIRED));
        json.addDictionaryMember("readOnly", JSON::makeBool(flags & READ_ONLY));
        if (!strcmp(type, "text")) {
            json.addDictionaryMember("multiline", JSON::makeBool(flags & MULTILINE));
            if (most.isInteger() && most.getIntValue() > 0 && most.getIntValue() <= INT32_MAX) {
                json.addDictionaryMember("maxLength", JSON::makeInt(most.getIntValue()));
                if ((flags & (COMB | MULTILINE)) == COMB)
                    json.addDictionaryMember("comb", JSON::makeInt(most.getIntValue()));
            }
        }
        if (!strcmp(type, "choice")) add_options(json, field, places);
        if (!strcmp(type, "text") || field.isChoice()) add_letters(json, field);
        add_value(json, field, places);
    }
};

} // namespace

char *sr_pdfd_form_fields(const unsigned char *data, size_t size, const sr_pdfd_list_limits_t *limits)
{
    try {
        QPDF pdf;
        pdf.setSuppressWarnings(true);
        pdf.processMemoryFile("document", reinterpret_cast<const char *>(data), size);
        return strdup(Inspection(pdf, *limits).list().c_str());
    } catch (...) {
        return nullptr;
    }
}
