#include "sim/record/json.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "sim/config/check.h"
#include "sim/config/json.h"
#include "sim/core/error.h"

namespace fa {
namespace {

using Json = nlohmann::ordered_json;

// ---- Out ----

Json number(float value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json to_json(Rows rows) { return Json::array({rows.begin, rows.end}); }

Json to_json(const Launch& launch) {
  Json buffers = Json::array();
  for (const BufferInfo& info : launch.buffers) {
    Json buffer{{"name", info.name},
                {"level", info.level == Level::sram ? "sram" : "registers"},
                {"rows", info.shape.rows},
                {"cols", info.shape.cols},
                {"bytes", info.bytes.count()}};
    if (info.fill) buffer["fill"] = number(*info.fill);
    if (info.place) buffer["place"] = info.place->count();
    if (info.stage >= 0) buffer["stage"] = info.stage;
    if (info.lane != 0) buffer["lane"] = info.lane;
    if (info.warps != WarpGrid{})
      buffer["warps"] = {{"down", info.warps.down},
                         {"across", info.warps.across},
                         {"copies", info.warps.copies},
                         {"each", info.warps.each}};
    if (info.by_columns) buffer["by_columns"] = true;
    buffers.push_back(std::move(buffer));
  }
  Json json{{"name", launch.name},
            {"blocks", launch.blocks},
            {"sram_peak_bytes", launch.sram_peak.count()},
            {"buffers", std::move(buffers)}};
  if (!launch.lanes.empty()) json["lanes"] = launch.lanes;
  if (launch.persistent) json["persistent"] = true;
  return json;
}

Json to_json(const Event& event) {
  Json json{{"op", name_of(event.op)},
            {"launch", event.launch},
            {"block", event.block},
            {"head", event.head},
            {"rows", to_json(event.rows)}};
  if (!event.cols.empty()) json["cols"] = to_json(event.cols);
  if (event.tensor != Tensor::none) json["tensor"] = name_of(event.tensor);
  if (event.lane != 0) json["lane"] = event.lane;
  if (event.to != no_buffer) json["to"] = event.to;
  Json from = Json::array();
  for (BufferId id : event.from)
    if (id != no_buffer) from.push_back(id);
  if (!from.empty()) json["from"] = std::move(from);
  const auto count = [&](const char* key, std::int64_t value) {
    if (value != 0) json[key] = value;
  };
  count("hbm_bytes", event.hbm.count());
  count("sram_read_bytes", event.sram_read.count());
  count("sram_write_bytes", event.sram_written.count());
  count("flops", event.flops.count());
  count("exponentials", event.exponentials);
  count("special", event.special);
  if (event.values >= 0) json["values"] = event.values;
  return json;
}

// ---- In: every field is somebody else's word ----

class Reader {
 public:
  Reader(const Json& json, std::string where, std::string_view source)
      : json_(json), where_(std::move(where)), source_(source) {
    if (!json.is_object()) fail("must be an object");
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(fmt::format("{}: {} {}.", source_, where_, what));
  }

  Reader object(const char* key) const { return {field(key), where_ + "." + key, source_}; }
  std::vector<Reader> list(const char* key) const {
    const Json& items = field(key);
    if (!items.is_array()) fail(fmt::format("{} must be a list", key));
    std::vector<Reader> readers;
    for (std::size_t i = 0; i < items.size(); ++i)
      readers.emplace_back(items[i], fmt::format("{}.{}[{}]", where_, key, i), source_);
    return readers;
  }
  bool has(const char* key) const { return json_.contains(key); }
  const Json& field(const char* key) const {
    if (!has(key)) fail(fmt::format("has no \"{}\"", key));
    return json_[key];
  }

  std::int64_t integer(const char* key, std::int64_t low, std::int64_t high) const {
    const Json& value = field(key);
    if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) ||
        value.get<std::int64_t>() < low || value.get<std::int64_t>() > high)
      fail(fmt::format("needs {} between {} and {}", key, low, high));
    return value.get<std::int64_t>();
  }
  std::int64_t integer_or(const char* key, std::int64_t missing, std::int64_t low, std::int64_t high) const {
    return has(key) ? integer(key, low, high) : missing;
  }
  int small(const char* key, int low, int high = std::numeric_limits<int>::max()) const {
    return static_cast<int>(integer(key, low, high));
  }
  Bytes bytes(const char* key) const { return Bytes(integer(key, 0, INT64_MAX)); }
  bool flag(const char* key) const {
    if (!field(key).is_boolean()) fail(fmt::format("needs {} to be true or false", key));
    return json_[key].get<bool>();
  }
  std::string text(const char* key) const {
    if (!field(key).is_string()) fail(fmt::format("needs {} to be a string", key));
    return json_[key].get<std::string>();
  }
  std::vector<std::string> texts(const char* key) const {
    if (!field(key).is_array()) fail(fmt::format("needs {} to be a list", key));
    std::vector<std::string> result;
    for (const Json& item : json_[key]) {
      if (!item.is_string()) fail(fmt::format("needs {} to be strings", key));
      result.push_back(item.get<std::string>());
    }
    return result;
  }
  // A name out of a fixed set, as `find` knows it.
  template <class Find>
  auto named(const char* key, Find find) const {
    const auto found = find(text(key));
    if (!found) fail(fmt::format("has an unknown {}", key));
    return *found;
  }
  Rows rows(const char* key) const {
    const Json& pair = field(key);
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_integer() || !pair[1].is_number_integer())
      fail(fmt::format("needs {} to be [begin, end]", key));
    const auto begin = pair[0].get<std::int64_t>(), end = pair[1].get<std::int64_t>();
    if (begin < 0 || end < begin || end > std::numeric_limits<int>::max()) fail(fmt::format("has impossible {}", key));
    return {static_cast<int>(begin), static_cast<int>(end)};
  }
  float real(const Json& value) const {
    if (value.is_number()) return value.get<float>();
    if (value == "inf") return std::numeric_limits<float>::infinity();
    if (value == "-inf") return -std::numeric_limits<float>::infinity();
    if (value == "nan") return std::numeric_limits<float>::quiet_NaN();
    fail("holds a value that is no number");
  }

 private:
  const Json& json_;
  std::string where_;
  std::string_view source_;
};

Problem problem_from(const Reader& in) {
  Problem p;
  p.batch = in.small("batch", 1);
  p.heads = in.small("heads", 1);
  p.kv_heads = in.small("kv_heads", 1);
  p.n_q = in.small("n_q", 1);
  p.n_kv = in.small("n_kv", 1);
  p.d = in.small("d", 1);
  p.causal = in.flag("causal");
  p.element = in.named("element", element_named);
  if (auto why = why_invalid(p)) in.fail("cannot be: " + *why);
  return p;
}

WarpGrid warps_from(const Reader& in) {
  constexpr int most = 1 << 15;
  const WarpGrid warps{in.small("down", 1, most), in.small("across", 1, most), in.small("copies", 1, most),
                       in.small("each", 1, most)};
  if (std::int64_t{warps.down} * warps.across > 1 << 20 || std::int64_t{warps.copies} * warps.each > 1 << 10)
    in.fail("has too many warps");
  return warps;
}

Launch launch_from(const Reader& in) {
  Launch launch;
  launch.name = in.text("name");
  launch.blocks = in.integer("blocks", 0, INT64_MAX);
  launch.sram_peak = in.bytes("sram_peak_bytes");
  if (in.has("lanes")) launch.lanes = in.texts("lanes");
  launch.persistent = in.has("persistent") && in.flag("persistent");
  for (const Reader& item : in.list("buffers")) {
    BufferInfo info;
    info.name = item.text("name");
    const std::string level = item.text("level");
    if (level != "sram" && level != "registers") item.fail("has an unknown level");
    info.level = level == "sram" ? Level::sram : Level::registers;
    info.shape = {item.small("rows", 0), item.small("cols", 0)};
    info.bytes = item.bytes("bytes");
    if (item.has("fill")) info.fill = item.real(item.field("fill"));
    if (item.has("place")) info.place = Bytes(item.integer("place", 0, INT64_MAX / 2));
    info.stage = static_cast<int>(item.integer_or("stage", -1, 0, 1 << 10));
    info.lane = static_cast<int>(item.integer_or("lane", 0, 0, 1 << 16));
    if (item.has("warps")) info.warps = warps_from(item.object("warps"));
    info.by_columns = item.has("by_columns") && item.flag("by_columns");
    launch.buffers.push_back(std::move(info));
  }
  return launch;
}

std::optional<Op> op_named(std::string_view name) {
  for (std::size_t i = 0; i < op_names.size(); ++i)
    if (op_names[i] == name) return static_cast<Op>(i);
  return std::nullopt;
}

BufferId buffer_from(const Reader& in, const Json& id, const Launch& launch) {
  if (!id.is_number_integer() || id.get<std::int64_t>() < 0 ||
      id.get<std::int64_t>() >= static_cast<std::int64_t>(launch.buffers.size()))
    in.fail("names a buffer that its launch does not have");
  return id.get<BufferId>();
}

Event event_from(const Reader& in, const Run& run) {
  Event event;
  event.op = in.named("op", op_named);
  event.launch = in.small("launch", 0, static_cast<int>(run.launches.size()) - 1);
  const Launch& launch = run.launches[static_cast<std::size_t>(event.launch)];
  event.block = in.integer("block", 0, launch.blocks - 1);
  event.head = in.integer("head", 0, run.problem.heads_total() - 1);
  event.rows = in.rows("rows");
  if (in.has("cols")) event.cols = in.rows("cols");
  if (in.has("tensor")) event.tensor = in.named("tensor", tensor_named);
  event.lane = static_cast<int>(in.integer_or("lane", 0, 0, 1 << 16));
  if (in.has("to")) event.to = buffer_from(in, in.field("to"), launch);
  if (in.has("from")) {
    const Json& from = in.field("from");
    if (!from.is_array() || from.size() > event.from.size())
      in.fail("needs from to be a list of at most three buffers");
    for (std::size_t i = 0; i < from.size(); ++i) event.from[i] = buffer_from(in, from[i], launch);
  }
  event.hbm = Bytes(in.integer_or("hbm_bytes", 0, 0, INT64_MAX));
  event.sram_read = Bytes(in.integer_or("sram_read_bytes", 0, 0, INT64_MAX));
  event.sram_written = Bytes(in.integer_or("sram_write_bytes", 0, 0, INT64_MAX));
  event.flops = Flops(in.integer_or("flops", 0, 0, INT64_MAX));
  event.exponentials = in.integer_or("exponentials", 0, 0, INT64_MAX);
  event.special = in.integer_or("special", 0, 0, INT64_MAX);
  if (in.has("values")) {
    const std::int64_t count = static_cast<std::int64_t>(event.rows.size()) * event.cols.size();
    const auto all = static_cast<std::int64_t>(run.values.size());
    event.values = in.integer("values", 0, all);
    if (count > all - event.values) in.fail("points past the end of the values");
  }
  return event;
}

}  // namespace

std::string to_json(const Run& run) {
  Json json{{"program", run.program},
            {"pass", name_of(run.pass)},
            {"problem", to_json(run.problem)},
            {"tiling", to_json(run.tiling)}};
  json["hardware"] = {{"id", run.hardware.id},
                      {"name", run.hardware.name},
                      {"sram_per_block_bytes", run.hardware.sram_per_block.count()},
                      {"registers_per_sm_bytes", run.hardware.registers_per_sm.count()}};
  json["tokens"] = run.tokens;
  json["allocations"] = Json::array();
  for (const Allocation& a : run.allocations) {
    Json allocation{{"tensor", name_of(a.tensor)},
                    {"heads", a.heads},
                    {"rows", a.rows},
                    {"cols", a.cols},
                    {"bytes_each", a.bytes_each}};
    if (a.place_of != Tensor::none) allocation["place_of"] = name_of(a.place_of);
    json["allocations"].push_back(std::move(allocation));
  }
  json["launches"] = Json::array();
  for (const Launch& launch : run.launches) json["launches"].push_back(to_json(launch));
  json["events"] = Json::array();
  for (const Event& event : run.events) json["events"].push_back(to_json(event));
  json["values"] = Json::array();
  for (float value : run.values) json["values"].push_back(number(value));
  return json.dump(1);
}

Run run_from_json(std::string_view text, std::string_view source) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) throw InputError(fmt::format("{}: is not JSON.", source));
  const Reader in(json, "the trace", source);
  Run run;
  run.program = in.text("program");
  run.pass = in.named("pass", pass_named);
  run.problem = problem_from(in.object("problem"));
  const Reader tiling = in.object("tiling");
  run.tiling.rows_q = tiling.small("rows_q", 1);
  run.tiling.rows_kv = tiling.small("rows_kv", 1);
  run.tiling.fp32_temporaries = tiling.flag("fp32_temporaries");
  run.tiling.o_every_pass = tiling.has("o_every_pass") && tiling.flag("o_every_pass");
  run.tiling.consumers = static_cast<int>(tiling.integer_or("consumers", run.tiling.consumers, 1, 1 << 10));
  run.tiling.stages = static_cast<int>(tiling.integer_or("stages", run.tiling.stages, 1, 1 << 10));
  run.tiling.kernel_d = static_cast<int>(tiling.integer_or("kernel_d", run.tiling.kernel_d, 0, 1 << 12));
  run.tiling.groups = static_cast<int>(tiling.integer_or("groups", run.tiling.groups, 1, 1 << 10));
  run.tiling.depth = static_cast<int>(tiling.integer_or("depth", run.tiling.depth, 0, 1 << 30));
  for (const auto& [flag, name] : {std::pair{&Tiling::producer, "producer"},
                                   {&Tiling::ping_pong, "ping_pong"},
                                   {&Tiling::overlap, "overlap"},
                                   {&Tiling::p_in_sram, "p_in_sram"},
                                   {&Tiling::row_by_row, "row_by_row"},
                                   {&Tiling::rebuilds_p, "rebuilds_p"},
                                   {&Tiling::in_place, "in_place"},
                                   {&Tiling::leaves_result, "leaves_result"},
                                   {&Tiling::copies_lse, "copies_lse"},
                                   {&Tiling::in_sections, "in_sections"},
                                   {&Tiling::skips_apart, "skips_apart"},
                                   {&Tiling::lazy_factor, "lazy_factor"},
                                   {&Tiling::short_last, "short_last"},
                                   {&Tiling::whole_boxes, "whole_boxes"},
                                   {&Tiling::o_from_registers, "o_from_registers"}})
    if (tiling.has(name)) run.tiling.*flag = tiling.flag(name);
  const Reader hardware = in.object("hardware");
  run.hardware.id = hardware.text("id");
  run.hardware.name = hardware.text("name");
  run.hardware.sram_per_block = hardware.bytes("sram_per_block_bytes");
  run.hardware.registers_per_sm = hardware.bytes("registers_per_sm_bytes");
  run.tokens = in.texts("tokens");
  for (const Reader& item : in.list("allocations"))
    run.allocations.push_back({item.named("tensor", tensor_named), item.integer("heads", 0, INT64_MAX),
                               item.small("rows", 0), item.small("cols", 0), item.small("bytes_each", 1, 8),
                               item.has("place_of") ? item.named("place_of", tensor_named) : Tensor::none});
  for (const Reader& item : in.list("launches")) run.launches.push_back(launch_from(item));
  if (!in.field("values").is_array()) in.fail("needs values to be a list");
  for (const Json& value : in.field("values")) run.values.push_back(in.real(value));
  run.detail = run.values.empty() ? Detail::events : Detail::values;

  std::int64_t step = 0;
  int launch = -1;
  for (const Reader& item : in.list("events")) {
    const Event event = event_from(item, run);
    if (event.launch < launch) item.fail("goes back to an earlier launch");
    while (launch < event.launch) run.launches[static_cast<std::size_t>(++launch)].first_event = step;
    run.launches[static_cast<std::size_t>(launch)].accesses.add(event);
    run.events.push_back(event);
    ++step;
  }
  try {
    for (const Event& event : run.events) run.launches[static_cast<std::size_t>(event.launch)].counts.add(event);
    run.counts();
  } catch (const OverflowError&) {
    in.fail("has counts that exceed 64 bits together");
  }
  while (++launch < static_cast<int>(run.launches.size()))
    run.launches[static_cast<std::size_t>(launch)].first_event = step;
  return run;
}

}  // namespace fa
