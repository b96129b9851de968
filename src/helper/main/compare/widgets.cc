// SPDX-License-Identifier: Apache-2.0
// widgets.cc: where the widgets are that an update draws in another way (rules.cc).
#include "helper/main/compare/rules.h"

#include <algorithm>
#include <cmath>
#include <qpdf/QPDFPageObjectHelper.hh>

namespace sr
{

namespace
{

const long long FIXED_FLAGS = 8 | 16; // NoZoom, NoRotate: readers may draw outside of the rectangle

struct Box {
    double side[4]; // left, bottom, right, top
};

bool read_box(Box &box, const QPDFObjectHandle &rect)
{
    if (!read_rect(box.side, rect)) return false;
    if (box.side[0] > box.side[2]) std::swap(box.side[0], box.side[2]);
    if (box.side[1] > box.side[3]) std::swap(box.side[1], box.side[3]);
    return true;
}

// Returns the area of a widget in parts of the page as displayed: left, top, width, height.
json_t *area_of(const Box &widget, QPDFPageObjectHelper page)
{
    Box box;
    const double *inner = widget.side, *outer = box.side;
    if (!read_box(box, page.getCropBox()) || outer[0] == outer[2] || outer[1] == outer[3]) return nullptr;
    const double width = outer[2] - outer[0], height = outer[3] - outer[1];
    const double from_left = (inner[0] - outer[0]) / width, from_right = (outer[2] - inner[2]) / width;
    const double from_bottom = (inner[1] - outer[1]) / height, from_top = (outer[3] - inner[3]) / height;
    const double wide = (inner[2] - inner[0]) / width, high = (inner[3] - inner[1]) / height;
    switch (((integer(page.getAttribute("/Rotate", false)) % 360) + 360) % 360) {
    case 90: return json_pack("[f,f,f,f]", from_bottom, from_left, high, wide);
    case 180: return json_pack("[f,f,f,f]", from_right, from_bottom, wide, high);
    case 270: return json_pack("[f,f,f,f]", from_top, from_right, high, wide);
    default: return json_pack("[f,f,f,f]", from_left, from_top, wide, high);
    }
}

std::string text_of(const Widget &widget, const Box &box, int page)
{
    auto name = widget.field.substr(0, 100);
    std::string text = "page " + std::to_string(page + 1) + ": the " + (widget.is_signature ? "signature" : "form")
                       + " field \"" + name + "\" at";
    for (auto side : box.side) text += " " + std::to_string(std::llround(std::min(std::max(side, -1e6), 1e6)));
    return text;
}

json_t *place_of(const Widget &widget, const QPDFObjectHandle &drawn, const QPDFObjectHandle &page, int index)
{
    Box box;
    if (!read_box(box, raw(drawn, "/Rect"))) return nullptr;
    json_t *area = integer(raw(drawn, "/F")) & FIXED_FLAGS ? nullptr : area_of(box, QPDFPageObjectHelper(page));
    if (!area) area = json_pack("[f,f,f,f]", 0., 0., 1., 1.);
    json_t *place = json_object();
    json_object_set_new(place, "field", json_text(widget.field));
    json_object_set_new(place, "signature", json_boolean(widget.is_signature));
    json_object_set_new(place, "page", json_integer(index));
    json_object_set_new(place, "text", json_text(text_of(widget, box, index)));
    json_object_set_new(place, "area", area);
    return place;
}

} // namespace

// A widget may be on several pages.
json_t *place_widgets(const Step &step, clock_t limit)
{
    std::shared_ptr<json_t> places(json_array(), json_decref);
    int index = 0;
    if (step.widgets.empty()) return json_incref(places.get());
    for (auto &page : step.before.pdf->getAllPages()) {
        if (clock() > limit) throw Incomparable();
        auto list = raw(step.after.object(number_of(page)), "/Annots");
        if (list.isArray())
            for (auto &item : list.getArrayAsVector())
                for (auto &widget : step.widgets)
                    if (number_of(item) == widget.number)
                        json_array_append_new(places.get(), place_of(widget, item, page, index));
        index++;
    }
    return json_incref(places.get());
}

} // namespace sr
