// SPDX-License-Identifier: Apache-2.0
// changes.cc: compares the revisions of a signed document, and describes in plain words the changes that no rule
// explains (rules.cc). Each signed revision is compared with the next signed one, and the last one with the file. The
// result of one step counts for every signature before it.
#include "helper/main/compare/changes.h"
#include "helper/main/compare/rules.h"

#include <memory>

namespace sr
{

namespace
{

const size_t MAX_VISITED = 20000;
const size_t MAX_TEXT = 200;

// What a signature permits to fill in later (ISO 32000-2, 12.8.2).
struct Policy {
    long long certified = 0; // DocMDP: 1 nothing, 2 forms and signatures, 3 also annotations; 0: not specified
    std::string action;      // FieldMDP: "/All", "/Include", "/Exclude"
    std::vector<std::string> fields;
    bool is_locked(const std::string &name) const
    {
        if (action.empty()) return false;
        bool named = action == "/All";
        for (auto &field : fields) // a field includes the fields below it
            named = named || name == field || name.compare(0, field.size() + 1, field + ".") == 0;
        return action == "/Exclude" ? !named : named;
    }
};

void read_reference(Policy &policy, const QPDFObjectHandle &reference)
{
    auto method = raw(reference, "/TransformMethod"), how = raw(reference, "/TransformParams");
    if (!method.isName()) return;
    if (method.getName() == "/DocMDP") {
        auto allowed = raw(how, "/P");
        policy.certified = allowed.isInteger() ? allowed.getIntValue() : 2;
    }
    if (method.getName() != "/FieldMDP" || !raw(how, "/Action").isName()) return;
    policy.action = raw(how, "/Action").getName();
    auto fields = raw(how, "/Fields");
    if (!fields.isArray()) return;
    for (auto &field : fields.getArrayAsVector())
        if (field.isString()) policy.fields.push_back(field.getUTF8Value());
}

// Sets the policy of the signature in this field. Returns false if the signature does not cover exactly this revision.
// NOLINTNEXTLINE(misc-no-recursion): 32
bool read_policy(Policy &policy, QPDFObjectHandle field, size_t end, int nesting, int *budget)
{
    if (nesting > 32 || (*budget)-- <= 0 || !field.isDictionary()) return false;
    auto value = raw(field, "/V"), range = raw(value, "/ByteRange"), references = raw(value, "/Reference");
    if (range.isArray() && range.getArrayNItems() == 4 && range.getArrayItem(2).isInteger()
        && range.getArrayItem(3).isInteger()
        && static_cast<size_t>(range.getArrayItem(2).getIntValue() + range.getArrayItem(3).getIntValue()) == end) {
        auto lock = raw(raw(field, "/Lock"), "/P");
        if (references.isArray())
            for (auto &reference : references.getArrayAsVector()) read_reference(policy, reference);
        if (!policy.certified && lock.isInteger()) policy.certified = lock.getIntValue();
        return true;
    }
    auto kids = raw(field, "/Kids");
    if (!kids.isArray()) return false;
    for (auto &kid : kids.getArrayAsVector())
        if (read_policy(policy, kid, end, nesting + 1, budget)) return true;
    return false;
}

Policy policy_of(Revision &revision)
{
    Policy policy;
    int budget = 50000;
    auto fields = raw(raw(revision.pdf->getRoot(), "/AcroForm"), "/Fields");
    if (!fields.isArray()) return policy;
    for (auto &field : fields.getArrayAsVector())
        if (read_policy(policy, field, revision.size, 0, &budget)) break;
    return policy;
}

// ------------------------------------------------------------------------------------------------- in plain words

// Names the place of a change: the page, or the part of the catalog, from which the object is reached.
class Names
{
  public:
    explicit Names(Step &from) : step(from)
    {
    }

    void say(std::vector<std::string> &texts, const Unexplained &change)
    {
        if (!change.text.empty()) texts.push_back(change.text);
        else if (page_of(change.number)) say_keys(texts, change.number, page_name(change.number) + ": ", true);
        else if (change.number == step.before.root()) say_keys(texts, change.number, "its catalog: ", false);
        else texts.push_back(place_of(change.number));
    }

  private:
    int page_of(int number)
    {
        if (!listed) {
            listed = true;
            try {
                int count = 0;
                for (auto &page : step.before.pdf->getAllPages()) pages[page.getObjGen().getObj()] = ++count;
            } catch (std::exception &) {
                pages.clear();
            }
        }
        auto found = pages.find(number);
        return found == pages.end() ? 0 : found->second;
    }

    std::string page_name(int number)
    {
        return "page " + std::to_string(page_of(number));
    }

    static std::string part(const std::string &key)
    {
        if (key == "/Contents") return "its content";
        if (key == "/Resources") return "what its content draws with";
        if (key == "/Annots") return "an annotation or form field";
        if (key == "/MediaBox" || key == "/CropBox" || key == "/Rotate" || key == "/UserUnit")
            return "its size or rotation";
        return key;
    }

    void say_keys(std::vector<std::string> &texts, int number, const std::string &prefix, bool page)
    {
        auto one = step.before.object(number), other = step.after.object(number);
        if (!one.isDictionary() || !other.isDictionary()) {
            texts.push_back(prefix + "it is another object");
            return;
        }
        for (auto &key : differing_keys(one, other))
            if (key != "/Annots" || !step.has_grown(raw(one, key), raw(other, key)))
                texts.push_back(prefix + (page ? part(key) : key));
    }

    // Follows the references backwards, breadth first, so that the nearest page or part is named.
    std::string place_of(int number)
    {
        static const std::set<std::string> sideways = {"/Parent", "/P",    "/Dest", "/D",   "/Prev",  "/Next",
                                                       "/First",  "/Last", "/Pg",   "/IRT", "/Popup", "/StructParent"};
        std::vector<int> queue = {number};
        std::set<int> seen = {number};
        for (size_t i = 0; i < queue.size() && i < MAX_VISITED; i++)
            for (auto &use : step.uses.of(queue[i], step.before)) {
                if (sideways.count(*use.key)) continue;
                if (page_of(use.referrer)) return page_name(use.referrer) + ": " + part(*use.top);
                if (use.referrer == step.before.root() && *use.top == "/Pages") return "its page tree";
                if (use.referrer == step.before.root()) return "its catalog: " + *use.top;
                if (seen.insert(use.referrer).second) queue.push_back(use.referrer);
            }
        return "object " + std::to_string(number);
    }

    Step &step;
    std::map<int, int> pages;
    bool listed = false;
};

// ------------------------------------------------------------------------------------------------------- the answer

// A list without duplicates and with a limited length.
class List
{
  public:
    void add(const std::string &text)
    {
        auto cut = text.substr(0, MAX_TEXT);
        while (cut.size() < text.size() && !cut.empty() && (text[cut.size()] & 0xc0) == 0x80) cut.pop_back();
        if (seen.insert(cut).second && seen.size() <= SR_PDFD_MAX_CHANGES) texts.push_back(cut);
    }

    json_t *json() const
    {
        json_t *array = json_array();
        for (auto &text : texts) json_array_append_new(array, json_text(text));
        if (seen.size() > texts.size()) json_array_append_new(array, json_string("and more"));
        return array;
    }

  private:
    std::set<std::string> seen;
    std::vector<std::string> texts;
};

struct Outcome {
    bool known = false;
    bool is_harmless = false; // nothing but data for validation, and fields of timestamps
    bool has_store = false;   // data for validation was added
    std::vector<std::string> changes;
    std::vector<Touched> touched;
    std::shared_ptr<json_t> widgets;
};

const char UNCERTAIN[] = "its objects: readers may see different ones";

Outcome uncertain()
{
    Outcome outcome;
    outcome.changes.push_back(UNCERTAIN);
    outcome.known = true;
    return outcome;
}

Outcome compare(Revision &before, Revision &after, Uses &uses, const Revision *previous, clock_t limit)
{
    Outcome outcome;
    uses.add(before, previous, limit);
    Step step(before, after, uses);
    std::unique_ptr<Policy> policy; // not known until it is needed
    step.locks = [&after, &policy](const std::string &name) {
        if (!policy) policy = std::make_unique<Policy>(policy_of(after));
        return policy->is_locked(name);
    };
    step.run();
    Names names(step);
    for (auto &change : step.unexplained) {
        if (clock() > limit) throw Incomparable();
        const size_t sofar = outcome.changes.size();
        if (sofar <= SR_PDFD_MAX_CHANGES) names.say(outcome.changes, change);
        if (outcome.changes.size() == sofar && sofar <= SR_PDFD_MAX_CHANGES)
            outcome.changes.push_back("object " + std::to_string(change.number)); // qpdf reads it as it was
    }
    outcome.touched = step.touched;
    outcome.widgets = std::shared_ptr<json_t>(place_widgets(step, limit), json_decref);
    outcome.has_store = step.has_validation;
    outcome.is_harmless = step.unexplained.empty();
    for (auto &field : step.touched) outcome.is_harmless = outcome.is_harmless && field.is_protection;
    outcome.known = true;
    return outcome;
}

void judge_touched(List &changes, List &filled, const Policy &policy, const Touched &field)
{
    std::string what = "the form field \"" + field.name + "\"";
    if (!field.is_signature) filled.add(field.name);
    if (field.is_protection) return;
    if (policy.is_locked(field.name)) changes.add(what + ", which the signature locks");
    else if (policy.certified == 1) changes.add(what + ": the signature allows no changes");
    else if (policy.certified && field.visible_field) changes.add(what + ": the signature allows no new fields");
}

// Adds the fields of one step. If it ends at a timestamp, the field of a timestamp is explained. If it ends at the end
// of the file, no signature covers any field.
void judge_uncovered(List &changes, const Outcome &outcome, bool is_covered)
{
    for (auto &field : outcome.touched)
        if (!is_covered || !field.is_protection) changes.add("the form field \"" + field.name + "\"");
}

// Returns true if a step after the last signature changes a field that a signature before it locks.
bool is_lock_broken(const std::vector<Policy> &policies, const std::vector<Outcome> &outcomes, size_t last)
{
    for (size_t i = last; i < outcomes.size(); i++)
        for (auto &field : outcomes[i].touched)
            for (size_t j = 0; !field.is_protection && j <= i; j++)
                if (policies[j].is_locked(field.name)) return true;
    return false;
}

void tell(sr_pdfd_revision_t *revision, const Policy &policy, const std::vector<Outcome> &outcomes, size_t from,
          size_t to, size_t last)
{
    List changes, filled;
    bool harmless = true, store = false;
    for (size_t i = from; i < to; i++) {
        if (!outcomes[i].known) return;
        for (auto &text : outcomes[i].changes) changes.add(text);
        for (auto &field : outcomes[i].touched) judge_touched(changes, filled, policy, field);
        const bool is_end = i + 1 == outcomes.size();
        if (i >= last) judge_uncovered(changes, outcomes[i], !is_end);
        harmless = harmless && outcomes[i].is_harmless && (!is_end || outcomes[i].touched.empty());
        store = store || outcomes[i].has_store;
    }
    revision->changes = changes.json();
    revision->filled = filled.json();
    if (from < last && outcomes[from].widgets) revision->widgets = json_incref(outcomes[from].widgets.get());
    revision->validation = harmless && store;
}

} // namespace

} // namespace sr

// Compares the revisions. Outcome i is that of the step from revision i to the next. *at is the outcome that is next.
// After the first outcome that is unknown, comparing further could not improve the result.
static void compare_all(std::vector<sr::Outcome> &outcomes, std::vector<sr::Policy> &policies, size_t *at,
                        const sr_pdfd_revision_t *revisions, const unsigned char *data, size_t size, double seconds)
{
    using namespace sr;
    Uses uses;
    Entries entries;
    const size_t count = outcomes.size();
    const clock_t limit = clock() + static_cast<clock_t>(seconds * CLOCKS_PER_SEC);
    std::shared_ptr<Revision> previous, before;
    for (; *at < count; ++*at) {
        const size_t end = *at + 1 < count ? revisions[*at + 1].end : size;
        if (end == revisions[*at].end && !before) {
            outcomes[*at].known = outcomes[*at].is_harmless = true;
            continue;
        }
        if (!before) {
            before = std::make_shared<Revision>(data, revisions[*at].end);
            entries.check(*before, limit);
        }
        policies[*at] = policy_of(*before);
        if (end == revisions[*at].end) {
            outcomes[*at].known = outcomes[*at].is_harmless = true;
            continue;
        }
        auto after = std::make_shared<Revision>(data, end);
        entries.check(*after, limit);
        outcomes[*at] = compare(*before, *after, uses, previous.get(), limit);
        if (!entries.right) {
            outcomes[*at].changes.insert(outcomes[*at].changes.begin(), UNCERTAIN);
            outcomes[*at].is_harmless = false;
        }
        previous = before;
        before = after;
    }
}

static void compare_certain(std::vector<sr::Outcome> &outcomes, std::vector<sr::Policy> &policies,
                            const sr_pdfd_revision_t *revisions, const unsigned char *data, size_t size, double seconds)
{
    size_t at = 0;
    try {
        compare_all(outcomes, policies, &at, revisions, data, size, seconds);
    } catch (sr::Incomparable &) { // too much work: the remaining outcomes stay unknown
        return;
    } catch (std::bad_alloc &) {
        return;
    } catch (...) { // damage
    }
    for (; at < outcomes.size(); at++) outcomes[at] = sr::uncertain();
}

int sr_pdfd_changes_last(const sr_pdfd_revision_t *revisions, int count)
{
    for (int i = count - 1; i >= 0; i--)
        if (!revisions[i].stamp) return i;
    return count - 1;
}

void sr_pdfd_changes_find(sr_pdfd_revision_t *revisions, int count, const unsigned char *data, size_t size,
                          double seconds)
{
    using namespace sr;
    const size_t all = static_cast<size_t>(count), last = static_cast<size_t>(sr_pdfd_changes_last(revisions, count));
    std::vector<Outcome> outcomes(all);
    std::vector<Policy> policies(all);
    compare_certain(outcomes, policies, revisions, data, size, seconds);
    for (size_t i = 0; i < all; i++) tell(&revisions[i], policies[i], outcomes, i, i < last ? last : all, last);
    if (all) revisions[last].locked = is_lock_broken(policies, outcomes, last);
}
