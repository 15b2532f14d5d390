#pragma once
// Turns what the user wants to see into runs, and keeps the last that worked.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "viz/model/outline.h"
#include "viz/model/specs.h"

namespace fa::viz {

// One program on one problem, ready to be stepped through.
struct Shown {
  Run run;
  Outline outline;
  std::optional<DramTraffic> dram;
};

// A file of assets/inputs by its stem, or the path of any other. Throws InputError that lists the bundled ones.
std::string find_input(const std::string& name, const std::string& beside_folder = {});

class Session {
 public:
  // Throws SpecError or InputError if the first thing to be shown cannot be.
  explicit Session(Specs specs);

  // Shows `specs`, or keeps what is shown and says why not.
  void want(const Specs& specs, Control control);

  const Specs& specs() const { return specs_; }    // of what is shown
  const Specs& wanted() const { return wanted_; }  // of the controls
  const std::optional<Trouble>& trouble() const { return trouble_; }
  const Shown& main() const { return *main_; }
  const Shown* beside() const { return beside_.get(); }
  const std::optional<int>& start_row() const { return start_row_; }
  const std::string& head_name() const { return head_name_; }
  std::string input_name() const;
  Choices choices() const;

 private:
  const Input& input_of(const std::string& path);
  Specs fitted(Specs specs);  // to what its file decides
  void show(Specs specs);     // throws
  std::shared_ptr<const Shown> shown(const Specs& specs, const std::string& program, const Operands& operands,
                                     const std::vector<std::string>& tokens);

  Specs specs_, wanted_;
  std::optional<Trouble> trouble_;
  std::shared_ptr<const Shown> main_, beside_;
  std::optional<int> start_row_;
  std::string head_name_;
  std::string input_path_;  // of the file as it was last read: heads and lengths change more often
  Input input_;
  std::vector<std::pair<Specs, std::shared_ptr<const Shown>>> kept_;  // the last few, newest last
};

}  // namespace fa::viz
