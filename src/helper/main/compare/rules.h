/* SPDX-License-Identifier: Apache-2.0 */
// rules.h: one step from a revision to the next: what changed, and which changes have an explanation (step.cc,
// rules.cc, defaults.cc, widgets.cc).
#ifndef SR_HELPER_MAIN_COMPARE_RULES_H
#define SR_HELPER_MAIN_COMPARE_RULES_H

#include "helper/main/compare/changes.h"
#include "helper/main/compare/revision.h"

#include <functional>

namespace sr
{

// A form field that was added or filled in. Whether a certification or a lock of an earlier signature permits that is
// decided for each signature.
struct Touched {
    std::string name;
    bool visible_field; // a new field that is visible
    bool is_protection; // a document timestamp or an invisible field, which is always permitted (PAdES, LTA)
    bool is_signature;
};

// A widget that readers draw in another way since the update: of a new field, or of one that was signed or filled in.
struct Widget {
    std::string field; // empty: its name is also that of a field below another one
    int number;
    bool is_signature;
};

// A change without an explanation: an object of the older revision or 0, and a text if the rule knows one.
struct Unexplained {
    int number;
    std::string text; // empty: the text is found from the uses of the object
};

class Step
{
  public:
    Step(Revision &older, Revision &newer, const Uses &references) : before(older), after(newer), uses(references)
    {
    }
    void run();
    // Returns true if all annotations are still there in their order, and only widgets of signatures were added.
    bool has_grown(QPDFObjectHandle old_list, QPDFObjectHandle new_list);

    Revision &before, &after;
    const Uses &uses;
    std::vector<Touched> touched;
    std::vector<Widget> widgets;
    std::vector<Unexplained> unexplained;
    bool has_validation = false; // data for the validation of signatures was added
    // Returns true if the signature that this step ends with locks the field.
    std::function<bool(const std::string &)> locks;

  private:
    struct Field {
        std::string name;
        std::string type; // including an inherited one; "/Sig"
        bool value_changed = false, being_signed = false;
        long long old_flags = 0, new_flags = 0; // including inherited ones
    };

    // What a field has or inherits that says how readers draw its value.
    struct Display {
        std::string type;
        bool has_value = false, has_font = false, is_aligned = false;
    };

    bool is_stale(const Entry &entry) const;
    void find_changed();
    void check_structure();
    void check_encryption();
    void check_trailer();
    void check_catalog();
    void check_form(QPDFObjectHandle old_form, QPDFObjectHandle new_form);
    void find_dependents(QPDFObjectHandle list, const Display &parent, int nesting);
    bool depends(const std::string &key);
    void check_resources(QPDFObjectHandle old_value, QPDFObjectHandle new_value);
    bool check_validation_entry(const std::string &key, const QPDFObjectHandle &old_entry,
                                const QPDFObjectHandle &new_entry);
    void check_security_store(QPDFObjectHandle old_store, QPDFObjectHandle new_store);
    void check_metadata(const QPDFObjectHandle &old_value, QPDFObjectHandle new_value);
    void check_fields(QPDFObjectHandle old_list, QPDFObjectHandle new_list);
    bool is_page(int number) const;
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
    // Marks the change of an object as explained if it is only used under these keys.
    void explain(const QPDFObjectHandle &reference, const std::set<std::string> &keys);
    bool is_used_as(int number, const std::set<std::string> &keys, int nesting = 0) const;
    void complain(int number, const std::string &text = "")
    {
        unexplained.push_back({number, text});
    }

    std::set<int> changed; // objects that both revisions have with different values
    std::set<int> explained;
    std::set<int> new_widgets;
    std::set<std::string> field_names;
    std::set<std::string> dependents; // see find_dependents; empty: not known yet
    int budget = 100000;              // limit on fields
};

// Lists the places of the widgets on the pages, as sr_pdfd_revision_t has them (widgets.cc). Call it after run().
json_t *place_widgets(const Step &step, clock_t limit);
// Returns a JSON string of printable text. Names in a document may be anything.
json_t *json_text(std::string text);

// Returns the keys whose values differ.
std::set<std::string> differing_keys(QPDFObjectHandle one, QPDFObjectHandle other);
bool is_name(QPDFObjectHandle value, const char *name);
bool is_plain_dictionary(QPDFObjectHandle value);
// Reads four numbers.
bool read_rect(double *side, QPDFObjectHandle rect);
// Returns true if a widget has an area.
bool is_visible(const QPDFObjectHandle &widget);
// Returns the value of an integer, or 0.
long long integer(QPDFObjectHandle value);
// Returns the partial name of a field.
std::string own_name(const QPDFObjectHandle &field);

} // namespace sr

#endif
