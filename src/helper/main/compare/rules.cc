// SPDX-License-Identifier: Apache-2.0
// rules.cc: the changes after a signature that do not affect what was signed: further signatures and their fields, form
// filling, validation data, document timestamps and metadata. Every change is denied unless it has exactly a form that
// is permitted here. An object of the older revision may be replaced only if the rule knows all its uses. For example,
// an object that a page draws and that is also a form field may not be replaced as a form field.
#include "helper/main/compare/rules.h"

namespace sr
{

namespace
{

const int MAX_NESTING = 32;

using Keys = std::set<std::string>;

const Keys CATALOG_KEYS = {"/AcroForm", "/DSS", "/Extensions", "/Metadata", "/MarkInfo", "/Version"};
const Keys FIELD_USES = {"/Annots", "/Fields", "/Kids", "/Parent", "/Obj", "/CO", "/T", "/IRT", "/Popup"};
const Keys STORE_USES = {"/DSS", "/VRI", "/Certs", "/CRLs", "/OCSPs", "/Cert", "/CRL", "/OCSP"};
const Keys SIGNING_KEYS = {"/V", "/AP", "/AS", "/F", "/DA", "/Q", "/Ff", "/Type", "/M"};
const Keys FILLING_KEYS = {"/V", "/AP", "/AS", "/F", "/DA", "/Q", "/Ff", "/Type", "/M", "/RV", "/I"};
const Keys SIGNED_KEYS = {"/Ff", "/Type"};
const long long UNSEEN_FLAGS = 1 | 2 | 4; // ReadOnly, Required, NoExport; all others change how a value is displayed
const Keys NEW_FIELD_KEYS = {"/Type",   "/Subtype", "/FT",   "/T",  "/TU",   "/TM",     "/Ff",
                             "/F",      "/P",       "/Rect", "/AP", "/AS",   "/MK",     "/BS",
                             "/Border", "/V",       "/Lock", "/SV", "/DA",   "/Q",      "/DR",
                             "/M",      "/NM",      "/C",    "/H",  "/Kids", "/Parent", "/Contents"};

bool is_subset(const Keys &some, const Keys &all)
{
    for (auto &key : some)
        if (!all.count(key)) return false;
    return true;
}

bool is_timestamp(const QPDFObjectHandle &value)
{
    return is_name(raw(value, "/Type"), "/DocTimeStamp") || is_name(raw(value, "/SubFilter"), "/ETSI.RFC3161");
}

// A type may be added, and only that of an annotation.
bool is_right_type(const Keys &keys, const QPDFObjectHandle &old_field, const QPDFObjectHandle &new_field)
{
    return !keys.count("/Type") || (raw(old_field, "/Type").isNull() && is_name(raw(new_field, "/Type"), "/Annot"));
}

} // namespace

std::string own_name(const QPDFObjectHandle &field)
{
    auto name = raw(field, "/T");
    return name.isString() ? name.getUTF8Value() : "";
}

// ------------------------------------------------------------------------------------------------------- the step

// Returns true if an entry that the older revision did not have leads to bytes of it. An object of before would
// reappear, or one that nobody saw would appear. Some programs add entries for cross-reference streams.
bool Step::is_stale(const Entry &entry) const
{
    const long long where = entry.type == 2 ? entry.stream_where : entry.where;
    return where && where + after.base < static_cast<long long>(before.size) && !before.sections.count(where);
}

// What qpdf reads with a warning, other readers repair in their own ways.
void Step::find_changed()
{
    for (auto &item : after.entries) {
        int number = item.first;
        const Entry *old_entry = before.entry(number);
        bool same_place = old_entry && *old_entry == item.second, readable = true;
        if (same_place && !uses.is_unreadable(number)) continue;
        auto other = after.object(number, &readable);
        if (!same_place && (!readable || is_stale(item.second))) complain(number);
        if (!old_entry) continue;
        if (old_entry->generation != item.second.generation) complain(number);
        else if (!is_same(before.object(number), other)) changed.insert(number);
    }
    for (auto &item : before.entries)
        if (!after.entry(item.first)) complain(item.first);
    for (auto &item : after.entries)
        if (!before.entry(item.first) && !uses.of(item.first, before).empty()) complain(item.first);
}

// Reports structures that readers may understand in more than one way.
void Step::check_structure()
{
    bool clear = after.hybrids <= before.hybrids && after.overlaps <= before.overlaps;
    for (auto start : after.sections)
        clear = clear && (before.sections.count(start) || start >= static_cast<long long>(before.size) - 1024);
    for (int number : after.ambiguous) clear = clear && before.ambiguous.count(number);
    if (!clear) complain(0, "the table of its objects: readers may see different ones");
}

void Step::run()
{
    find_changed();
    check_structure();
    check_trailer();
    check_catalog();
    check_annotations();
    for (int number : changed)
        if (!explained.count(number)) complain(number);
}

// The meaning of encrypted data depends on the key, which is derived from these values. They must not change.
void Step::check_encryption()
{
    auto one = raw(before.pdf->getTrailer(), "/Encrypt"), other = raw(after.pdf->getTrailer(), "/Encrypt");
    auto first = raw(before.pdf->getTrailer(), "/ID"), second = raw(after.pdf->getTrailer(), "/ID");
    auto id = [](QPDFObjectHandle ids) {
        return ids.isArray() && ids.getArrayNItems() ? ids.getArrayItem(0) : QPDFObjectHandle::newNull();
    };
    if (number_of(one) != number_of(other) || !is_same(one, other, 0)
        || (!one.isNull() && !is_same(id(first), id(second), 0)))
        complain(number_of(one), "its encryption");
}

// No object refers to a cross-reference stream, and some programs use its number again.
void Step::check_trailer()
{
    check_encryption();
    for (auto revision : {&before, &after}) {
        auto info = raw(revision->pdf->getTrailer(), "/Info");
        if (is_plain_dictionary(after.object(number_of(info)))) explain(info, {"/Info"});
    }
    for (int number : changed) {
        auto one = before.object(number), other = after.object(number);
        if (one.isStream() && other.isStream() && is_name(raw(one.getDict(), "/Type"), "/XRef")
            && is_name(raw(other.getDict(), "/Type"), "/XRef") && is_used_as(number, {}))
            explained.insert(number);
    }
}

void Step::check_catalog()
{
    int old_root = before.root(), new_root = after.root();
    auto one = before.object(old_root), other = after.object(new_root);
    if (!is_plain_dictionary(one) || !is_plain_dictionary(other) || (old_root != new_root && !is_new(new_root))) {
        complain(old_root, "its catalog");
        return;
    }
    auto keys = differing_keys(one, other);
    for (auto &key : keys)
        if (!CATALOG_KEYS.count(key)) complain(0, "its catalog: " + key);
    explained.insert(old_root);
    if (keys.count("/Extensions") && !is_plain_dictionary(raw(other, "/Extensions")))
        complain(0, "its catalog: /Extensions");
    explain(raw(other, "/Extensions"), {"/Extensions"});
    explain(raw(other, "/MarkInfo"), {"/MarkInfo"});
    check_metadata(raw(one, "/Metadata"), raw(other, "/Metadata"));
    check_security_store(raw(one, "/DSS"), raw(other, "/DSS"));
    auto old_form = raw(one, "/AcroForm"), new_form = raw(other, "/AcroForm");
    check_form(old_form, new_form);
    if (is_plain_dictionary(new_form)) check_fields(raw(old_form, "/Fields"), raw(new_form, "/Fields"));
}

// A stream that a page also draws would be content of the page, so its uses are checked too.
void Step::check_metadata(const QPDFObjectHandle &old_value, QPDFObjectHandle new_value)
{
    int number = number_of(new_value);
    if (is_same(old_value, new_value, 1) && !is_changed(number)) return;
    if (!new_value.isNull() && !new_value.isStream()) complain(0, "its catalog: /Metadata");
    for (auto &use : uses.of(number, before))
        if (use.referrer != before.root() || use.depth != 1) return;
    explain(new_value, {"/Metadata"});
}

// What a renewal replaces or drops: the entry of a signature in /VRI. Its key is a hash, so that nothing else has it.
bool Step::check_validation_entry(const std::string &key, const QPDFObjectHandle &old_entry,
                                  const QPDFObjectHandle &new_entry)
{
    const bool is_hash = key.size() == 41 && key.find_first_not_of("0123456789ABCDEFabcdef", 1) == std::string::npos;
    has_validation = has_validation || is_changed(number_of(new_entry)) || !is_same(old_entry, new_entry, 1);
    if (is_same(old_entry, new_entry, 1) && !is_changed(number_of(new_entry))) return true;
    if (!is_hash || QPDFObjectHandle(new_entry).isNull()) return is_hash;
    if (!is_plain_dictionary(new_entry)) return false;
    explain(new_entry, {key});
    for (auto part : {"/Cert", "/CRL", "/OCSP"}) explain(raw(new_entry, part), STORE_USES);
    return true;
}

// Certificates, revocation lists and OCSP responses (ISO 32000-2, 12.8.4.3), which are never displayed. Keys of other
// programs must remain as they are, or disappear.
void Step::check_security_store(QPDFObjectHandle old_store, QPDFObjectHandle new_store)
{
    static const Keys known = {"/Type", "/VRI", "/Certs", "/CRLs", "/OCSPs"};
    if (new_store.isNull() && old_store.isNull()) return;
    Keys keys;
    if (is_plain_dictionary(new_store)) keys = new_store.getKeys();
    auto old_entries = raw(old_store, "/VRI"), new_entries = raw(new_store, "/VRI");
    bool good = is_plain_dictionary(new_store) && (new_entries.isNull() || is_plain_dictionary(new_entries));
    for (auto &key : keys) good = good && (known.count(key) || is_same(raw(old_store, key), raw(new_store, key), 1));
    has_validation =
        !is_same(old_store, new_store, 1) || is_changed(number_of(new_store)) || is_changed(number_of(new_entries));
    for (auto &item :
         old_entries.isDictionary() ? old_entries.getDictAsMap() : std::map<std::string, QPDFObjectHandle>())
        good = good && check_validation_entry(item.first, item.second, raw(new_entries, item.first));
    for (auto key : {"/Certs", "/CRLs", "/OCSPs"}) {
        auto list = raw(new_store, key);
        good = good && (list.isNull() || list.isArray());
        has_validation = has_validation || is_changed(number_of(list));
        explain(list, STORE_USES);
    }
    if (!good) complain(0, "its validation data (DSS)");
    explain(new_store, {"/DSS"});
    explain(new_entries, {"/VRI"});
}

// ------------------------------------------------------------------------------------------------------- the form

void Step::check_fields(QPDFObjectHandle old_list, QPDFObjectHandle new_list)
{
    if (!new_list.isArray() || (!old_list.isNull() && !old_list.isArray())) {
        if (!new_list.isNull() || !old_list.isNull()) complain(0, "its form: /Fields");
        return;
    }
    std::vector<QPDFObjectHandle> olds, added;
    if (old_list.isArray()) olds = old_list.getArrayAsVector();
    std::map<int, int> known;
    size_t direct = 0, kept = 0;
    for (auto &item : olds) {
        if (number_of(item)) known[number_of(item)]++;
        else direct++;
        field_names.insert(own_name(item));
    }
    for (auto &item : new_list.getArrayAsVector()) {
        int number = number_of(item);
        if (number && known[number] > 0) {
            known[number]--;
            kept++;
        } else if (number) added.push_back(item);
        else if (kept + direct > olds.size() || !direct--) complain(0, "its form: /Fields");
        else kept++;
    }
    if (kept != olds.size()) complain(0, "its form: a field is missing");
    for (auto &item : olds) check_field(item, Field(), 0);
    for (auto &item : added)
        if (!check_new_field(item)) complain(0, "the new form field \"" + own_name(item) + "\"");
}

// NOLINTNEXTLINE(misc-no-recursion): MAX_NESTING
void Step::check_kids(const QPDFObjectHandle &field, const Field &parent, int nesting)
{
    auto kids = raw(field, "/Kids");
    if (!kids.isArray()) return;
    for (auto &kid : kids.getArrayAsVector()) check_field(kid, parent, nesting + 1);
}

// Returns true if the object is a node of the page tree: the references to it lead up to /Pages.
bool Step::is_page(int number) const
{
    std::vector<int> queue = {number};
    std::set<int> seen = {number};
    for (size_t i = 0; i < queue.size(); i++)
        for (auto &use : uses.of(queue[i], before)) {
            if (*use.top == "/Pages") return true;
            if ((*use.key == "/Kids" || use.key->empty()) && seen.insert(use.referrer).second)
                queue.push_back(use.referrer);
        }
    return false;
}

// Checks a field that both revisions have, or a widget of it.
// NOLINTNEXTLINE(misc-no-recursion): MAX_NESTING
void Step::check_field(const QPDFObjectHandle &reference, const Field &parent, int nesting)
{
    if (nesting > MAX_NESTING || budget-- <= 0) throw Incomparable();
    int number = number_of(reference);
    if (!is_plain_dictionary(reference)) return;
    Field field = parent;
    auto old_field = number ? before.object(number) : reference;
    auto new_field = number ? after.object(number) : reference;
    auto name = own_name(old_field);
    if (raw(old_field, "/T").isString()) {
        field.name = parent.name.empty() ? name : parent.name + "." + name;
        field.value_changed = field.being_signed = false;
    }
    if (raw(old_field, "/FT").isName()) field.type = raw(old_field, "/FT").getName();
    if (raw(old_field, "/Ff").isInteger()) field.old_flags = integer(raw(old_field, "/Ff"));
    if (raw(new_field, "/Ff").isInteger()) field.new_flags = integer(raw(new_field, "/Ff"));
    if (is_changed(number)) {
        if (!is_plain_dictionary(new_field) || !check_field_change(number, field, old_field, new_field)) return;
        if (is_used_as(number, FIELD_USES) && !is_page(number)) explained.insert(number);
    }
    check_kids(old_field, field, nesting);
}

bool Step::check_field_change(int number, Field &field, const QPDFObjectHandle &old_field,
                              const QPDFObjectHandle &new_field)
{
    auto keys = differing_keys(old_field, new_field);
    bool had = !raw(old_field, "/V").isNull(), has = !raw(new_field, "/V").isNull(), good;
    if (!is_right_type(keys, old_field, new_field) || ((field.old_flags ^ field.new_flags) & ~UNSEEN_FLAGS))
        good = false;
    else if (field.type == "/Sig" && !had && has) {
        good = is_subset(keys, SIGNING_KEYS) && is_signature_value(raw(new_field, "/V"))
               && check_appearance(number, old_field, new_field);
        bool timestamp =
            is_timestamp(raw(new_field, "/V"))
            && (!is_visible(new_field) || (raw(new_field, "/AP").isNull() && raw(new_field, "/Kids").isNull()));
        touched.push_back({field.name, false, timestamp, true});
        field.being_signed = true;
    } else if (field.type == "/Sig") {
        good = is_subset(keys, field.being_signed ? SIGNING_KEYS : SIGNED_KEYS) && !keys.count("/V")
               && check_appearance(number, old_field, new_field);
    } else {
        if (keys.count("/V")) field.value_changed = true;
        good = is_filled_well(field, keys, old_field, new_field) && check_appearance(number, old_field, new_field);
        if (good && !is_subset(keys, SIGNED_KEYS)) touched.push_back({field.name, false, false, false});
    }
    if (good && !is_subset(keys, SIGNED_KEYS) && is_visible(new_field))
        widgets.push_back({field.name, number, field.type == "/Sig"});
    for (auto &key : keys)
        if (!good) complain(number, "the form field \"" + field.name + "\": " + key);
    if (!good) explained.insert(number); // it is reported already
    return good;
}

// A field may only change its appearance together with its value, or with a signature that locks it, and must not
// become visible or hidden.
bool Step::is_filled_well(const Field &field, const Keys &keys, const QPDFObjectHandle &old_field,
                          const QPDFObjectHandle &new_field)
{
    const long long hiding = 1 | 2 | 32;
    const bool locked = is_subset(keys, {"/AP"}) && locks && locks(field.name);
    if (!is_subset(keys, FILLING_KEYS)) return false;
    if (!field.value_changed && !locked && !is_subset(keys, SIGNED_KEYS)) return false;
    if ((integer(raw(old_field, "/F")) ^ integer(raw(new_field, "/F"))) & hiding) return false;
    if (integer(raw(new_field, "/Ff")) & 65536 && field.type == "/Btn") return false;
    auto value = raw(new_field, "/V"), old_value = before.object(number_of(value));
    if (!old_value.isNumber())
        explain(value, {"/V"}); // a number could be the length of a stream, and qpdf does not report such uses
    return !value.isStream() && !value.isDictionary() && !value.isNumber();
}

// /AP may refer to another appearance. If the appearance is replaced itself, only this field may use it and its
// streams.
bool Step::check_appearance(int number, const QPDFObjectHandle &old_field, const QPDFObjectHandle &new_field)
{
    auto look = raw(new_field, "/AP");
    if (look.isNull()) return true;
    if (!is_plain_dictionary(look) || !is_subset(look.getKeys(), {"/N", "/R", "/D"})) return false;
    int own = number_of(raw(old_field, "/AP"));
    if (uses.of(own, before).size() <= 1) explain(look, {"/AP"});
    for (auto key : {"/N", "/R", "/D"}) {
        auto stream = raw(look, key);
        auto all = uses.of(number_of(stream), before);
        bool alone = stream.isStream();
        for (auto &use : all)
            alone = alone && *use.key == key && (use.referrer == number || (own && use.referrer == own));
        if (alone && (!own || uses.of(own, before).size() <= 1)) explain(stream, {key});
    }
    return true;
}

bool Step::is_signature_value(const QPDFObjectHandle &value)
{
    if (!is_plain_dictionary(value) || (number_of(value) && !is_new(number_of(value)))) return false;
    auto type = raw(value, "/Type");
    return (type.isNull() || is_name(type, "/Sig") || is_name(type, "/DocTimeStamp"))
           && raw(value, "/ByteRange").isArray() && raw(value, "/Contents").isString();
}

// ---------------------------------------------------------------------------------------------------- new fields

bool Step::check_new_widget(QPDFObjectHandle widget, bool merged)
{
    if (!is_plain_dictionary(widget) || !is_subset(widget.getKeys(), NEW_FIELD_KEYS)) return false;
    auto look = raw(widget, "/AP");
    if (!look.isNull() && (!is_plain_dictionary(look) || !is_subset(look.getKeys(), {"/N", "/R", "/D"}))) return false;
    return merged || (raw(widget, "/T").isNull() && raw(widget, "/Kids").isNull() && raw(widget, "/V").isNull());
}

// Checks a new signature field at the top level of the form.
bool Step::check_new_field(const QPDFObjectHandle &reference)
{
    int number = number_of(reference);
    auto name = own_name(reference), type = raw(reference, "/FT").isName() ? raw(reference, "/FT").getName() : "";
    if (!is_new(number) || !check_new_widget(reference, true) || name.empty()) return false;
    if (!field_names.insert(name).second || !raw(reference, "/Parent").isNull()) return false;
    auto kids = raw(reference, "/Kids");
    bool visible = is_visible(reference);
    if (type != "/Sig" || (!kids.isNull() && !kids.isArray())) return false;
    auto own = kids.isNull() ? std::vector<QPDFObjectHandle>{reference} : kids.getArrayAsVector();
    for (auto &widget : own) {
        if (!kids.isNull() && (!is_new(number_of(widget)) || !check_new_widget(widget, false))) return false;
        new_widgets.insert(number_of(widget));
        visible = visible || is_visible(widget);
    }
    auto value = raw(reference, "/V");
    if (!value.isNull() && !is_signature_value(value)) return false;
    if (is_timestamp(value) && kids.isNull() && raw(reference, "/AP").isNull()) visible = false;
    for (auto &widget : own)
        if (visible) widgets.push_back({name.find('.') == std::string::npos ? name : "", number_of(widget), true});
    touched.push_back({name, visible, (value.isNull() || is_timestamp(value)) && !visible, true});
    return true;
}

// ---------------------------------------------------------------------------------------------------- annotations

bool Step::has_grown(QPDFObjectHandle old_list, QPDFObjectHandle new_list)
{
    std::vector<QPDFObjectHandle> olds;
    if (old_list.isArray()) olds = old_list.getArrayAsVector();
    else if (!old_list.isNull()) return false;
    if (!new_list.isArray()) return old_list.isNull() && new_list.isNull();
    size_t at = 0;
    for (auto &item : new_list.getArrayAsVector()) {
        if (at < olds.size() && is_same(olds[at], item, 1)) at++;
        else if (!new_widgets.count(number_of(item))) return false;
    }
    return at == olds.size();
}

void Step::check_annotations()
{
    for (int number : changed) {
        if (explained.count(number)) continue;
        auto one = before.object(number), other = after.object(number);
        if (one.isArray() && other.isArray()) {
            if (is_used_as(number, {"/Annots"}) && has_grown(one, other)) explained.insert(number);
        } else if (is_plain_dictionary(one) && is_plain_dictionary(other)) {
            if (differing_keys(one, other) == Keys{"/Annots"} && has_grown(raw(one, "/Annots"), raw(other, "/Annots")))
                explained.insert(number);
        }
    }
}

} // namespace sr
