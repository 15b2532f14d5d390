#include <fmt/format.h>

#include <algorithm>

#include "sim/cli/commands.h"
#include "sim/cli/specification.h"
#include "sim/cli/table.h"
#include "sim/cli/timeline.h"

namespace fa::cli {
namespace {

constexpr std::int64_t most_events = 5'000'000;  // about 1 GB of record

std::string tile(const Event& event) {
  std::string text = fmt::format("rows {}–{}", event.rows.begin, event.rows.end - 1);
  if (event.cols.size() > 1) text += fmt::format(", cols {}–{}", event.cols.begin, event.cols.end - 1);
  return text;
}

std::string buffer(const Run& run, const Event& event, BufferId id) {
  if (id == no_buffer) return "";
  const BufferInfo& info = run.launches[static_cast<std::size_t>(event.launch)].buffers[static_cast<std::size_t>(id)];
  return fmt::format("{}{}", info.name, info.level == Level::sram ? " (SRAM)" : "");
}

}  // namespace

void trace(const Arguments& a) {
  const Specification spec = specify(a, false);
  const Chosen& chosen = spec.programs.front();
  if (a.first < 0) throw InputError(fmt::format("--first must be at least 0, not {}.", a.first));
  if (a.count < 1) throw InputError(fmt::format("--count must be at least 1, not {}.", a.count));

  if (!a.perfetto.empty()) {
    if (a.blocks < 1) throw InputError(fmt::format("--blocks must be at least 1, not {}.", a.blocks));
    write_text(a.perfetto, perfetto_of(run_of_kinds(spec, chosen), a.blocks));
    fmt::print("{}: one SM's timeline, modelled; open it in Perfetto\n", a.perfetto);
    return;
  }

  const std::int64_t events =
      fa::run(*chosen.program, spec.problem, chosen.tiling, spec.hardware, {.pass = spec.pass}).counts().events;
  if (events > most_events)
    throw InputError(
        fmt::format("this trace has {} steps, more than {}; use a smaller --n, fewer --heads or larger tiles.",
                    with_separators(events), with_separators(most_events)));
  const bool values = a.values.value_or(false);
  std::optional<Operands> operands;
  if (values) operands = operands_of(spec, a.seed);
  Run run = fa::run(*chosen.program, spec.problem, chosen.tiling, spec.hardware,
                    {.detail = values ? Detail::values : Detail::events, .record_values = values, .pass = spec.pass},
                    operands ? &*operands : nullptr);
  if (spec.input) run.tokens = spec.input->tokens;

  if (!a.out.empty()) {
    write_text(a.out, to_json(run) + "\n");
    if (!a.json) fmt::print("{}: {} steps\n", a.out, with_separators(events));
    return;
  }
  if (a.json) {
    fmt::print("{}\n", to_json(run));
    return;
  }
  if (a.first >= events)
    throw InputError(fmt::format("--first must be below the number of steps, {}, not {}.", events, a.first));
  fmt::print("{}, {}, tiling {}: {} steps\n\n", chosen.program->name, describe(spec.problem), describe(chosen.tiling),
             with_separators(events));
  Table table({"step", "launch", "block", "op", "tile", "from", "to", "HBM", "matmul", "exponentials"});
  const std::int64_t end = std::min(events, a.first + std::min(a.count, events));
  for (std::int64_t k = a.first; k < end; ++k) {
    const Event& event = run.events[static_cast<std::size_t>(k)];
    std::string from =
        event.op == Op::load ? fmt::format("{} (HBM)", name_of(event.tensor)) : buffer(run, event, event.from[0]);
    for (std::size_t i = 1; i < event.from.size(); ++i)
      if (event.from[i] != no_buffer) from += ", " + buffer(run, event, event.from[i]);
    table.add({std::to_string(k), run.launches[static_cast<std::size_t>(event.launch)].name,
               std::to_string(event.block), std::string(name_of(event.op)), tile(event), from,
               event.op == Op::store || event.op == Op::reduce ? fmt::format("{} (HBM)", name_of(event.tensor))
                                                               : buffer(run, event, event.to),
               event.hbm == Bytes(0) ? "" : human(event.hbm), event.flops == Flops(0) ? "" : human(event.flops),
               event.exponentials == 0 ? "" : with_separators(event.exponentials)});
  }
  fmt::print("{}", table.text());
  if (end < events)
    fmt::print("… {} more; --first {} goes on, --out FILE writes all.\n", with_separators(events - end), end);
}

}  // namespace fa::cli
