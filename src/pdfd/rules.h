/* SPDX-License-Identifier: Apache-2.0 */
// rules.h: one step from a revision to the next: what changed, and which of it has an explanation (rules.cc).
#ifndef SR_PDFD_RULES_H
#define SR_PDFD_RULES_H

#include "pdfd/revision.h"

namespace sr
{

// A form field that was added or filled in. What a certification or a lock of an earlier signature says of it is
// judged per signature.
struct Touched {
    std::string name;
    bool visible_field; // a new field that can be seen
    bool is_protection; // a document timestamp or a field that shows nothing: always allowed (PAdES, LTA)
    bool is_signature;
};

// What changed without an explanation: an object of the older revision, or 0, and a text where the rule knows one.
struct Unexplained {
    int number;
    std::string text; // empty: to be found by where the object is used
};

class Step
{
  public:
    Step(Revision &older, Revision &newer, const Uses &references) : before(older), after(newer), uses(references)
    {
    }
    void run();
    // All annotations are there in their order, and between or after them new widgets of signatures alone.
    bool has_grown(QPDFObjectHandle old_list, QPDFObjectHandle new_list);

    Revision &before, &after;
    const Uses &uses;
    std::vector<Touched> touched;
    std::vector<Unexplained> unexplained;
    bool has_validation = false; // data for the validation of signatures was added

  private:
    struct Field {
        std::string name;
        std::string type; // effective, "/Sig"
        bool value_changed = false, being_signed = false;
    };

    void find_changed();
    void check_structure();
    void check_encryption();
    void check_trailer();
    void check_catalog();
    void check_form(QPDFObjectHandle old_form, QPDFObjectHandle new_form);
    void check_resources(QPDFObjectHandle old_value, const QPDFObjectHandle &new_value);
    void check_security_store(QPDFObjectHandle old_store, QPDFObjectHandle new_store);
    void check_metadata(const QPDFObjectHandle &old_value, QPDFObjectHandle new_value);
    void check_fields(QPDFObjectHandle old_list, QPDFObjectHandle new_list);
    void check_kids(const QPDFObjectHandle &field, const Field &parent, int nesting);
    void check_field(const QPDFObjectHandle &reference, const Field &parent, int nesting);
    bool check_field_change(int number, Field &field, const QPDFObjectHandle &old_field,
                            const QPDFObjectHandle &new_field);
    bool is_filled_well(const Field &field, const std::set<std::string> &keys, const QPDFObjectHandle &old_field,
                        const QPDFObjectHandle &new_field);
    bool check_appearance(int number, const QPDFObjectHandle &old_field, const QPDFObjectHandle &new_field);
    bool is_signature_value(const QPDFObjectHandle &value);
    bool check_new_field(const QPDFObjectHandle &reference);
    bool check_new_widget(QPDFObjectHandle widget, bool merged);
    void check_annotations();

    bool is_changed(int number) const
    {
        return changed.count(number) > 0;
    }
    bool is_new(int number) const
    {
        return number && !before.entry(number);
    }
    // The change of an object is explained if it is used under these keys alone.
    void explain(const QPDFObjectHandle &reference, const std::set<std::string> &keys);
    bool is_used_as(int number, const std::set<std::string> &keys, int nesting = 0) const;
    void complain(int number, const std::string &text = "")
    {
        unexplained.push_back({number, text});
    }

    std::set<int> changed; // objects that both have, with other values
    std::set<int> explained;
    std::set<int> new_widgets;
    std::set<std::string> field_names;
    int budget = 100000; // fields
};

// The keys whose values differ.
std::set<std::string> differing_keys(QPDFObjectHandle one, QPDFObjectHandle other);
// The text of a field's own name.
std::string own_name(const QPDFObjectHandle &field);

} // namespace sr

#endif
