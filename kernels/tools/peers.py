#!/usr/bin/env python3
"""Our kernels beside PyTorch's: one process, one protocol, ratio per shape.

    python3 kernels/tools/peers.py                      16k tokens, hidden size 2048, bf16, d 64 and 128
    python3 kernels/tools/peers.py --csv > peers.csv    one row per implementation

Ours come through the C interface (kernels/host/c_api.h); the peers are the back ends of scaled_dot_product_attention:
"sdpa_flash" is FlashAttention-2 as PyTorch ships it, "sdpa_cudnn" is cuDNN. Inputs are random normal and
[batch, n, heads, d] for all. Five warm-ups, then rounds in which every implementation runs once; the median of
CUDA-event times. Flops are 4 n² d per head forward and 2.5 times that backward, half of it when causal. With
--element e4m3 our 8-bit forward stands beside the same peers, and our own kernel, in bf16 on the same numbers.
Needs PyTorch and a GPU.
"""

import argparse
import copy
import ctypes
import math
import pathlib
import statistics
import sys

TOKENS, HIDDEN = 16384, 2048
WARM_UPS = 5
ELEMENTS = {"fp16": 1, "bf16": 2, "e4m3": 3}
PASSES = {"fwd": 0, "bwd": 1}
TOLERANCE = 0.05  # of O and the gradients against PyTorch's: a wrong kernel's speed means nothing


class Problem(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_int32) for name in ("batch", "heads", "kv_heads", "n_q", "n_kv", "d", "causal", "element")
    ]


class View(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p)] + [
        (name, ctypes.c_int64) for name in ("batch_stride", "row_stride", "head_stride", "d_stride")
    ]

    @classmethod
    def of(cls, tensor):
        """A [batch, n, heads, d] tensor."""
        return cls(tensor.data_ptr(), *tensor.stride())


class Scales(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("rows", ctypes.c_int64)]


class Args(ctypes.Structure):
    _fields_ = (
        [("problem", Problem), ("scale", ctypes.c_float)]
        + [(name, View) for name in ("q", "k", "v", "o")]
        + [("lse", ctypes.c_void_p)]
        + [(name, View) for name in ("d_out", "dq", "dk", "dv")]
        + [("workspace", ctypes.c_void_p), ("stream", ctypes.c_void_p)]
        + [(name, Scales) for name in ("q_scales", "k_scales", "v_scales")]
    )


class Refused(Exception):
    """A sentence that says what stops us."""


class Library:
    def __init__(self, path):
        try:
            self.c = ctypes.CDLL(str(path))
        except OSError as error:
            raise Refused(f"--library {path}: cannot be loaded ({error})") from None
        if self.c.fa_args_bytes() != ctypes.sizeof(Args):
            raise Refused(f"--library {path}: is of another version than this script; build it again")
        self.c.fa_last_error.restype = ctypes.c_char_p
        self.c.fa_kernel_name.restype = ctypes.c_char_p

    def name(self, kernel):
        return self.c.fa_kernel_name(kernel).decode()

    def call(self, function, *arguments):
        if getattr(self.c, function)(*arguments) != 0:
            raise Refused(self.c.fa_last_error().decode())

    def kernel(self, problem, direction, name):
        """The index of the kernel called `name`, or of the best one."""
        if name is None:
            kernel = ctypes.c_int()
            self.call("fa_choose", ctypes.byref(problem), PASSES[direction], ctypes.byref(kernel))
            return kernel.value
        reason = f"no kernel is called {name}"
        for kernel in range(self.c.fa_kernel_count()):
            if self.name(kernel) != name or self.c.fa_kernel_pass(kernel) != PASSES[direction]:
                continue
            if self.c.fa_why_not(kernel, ctypes.byref(problem)) == 0:
                return kernel
            reason = self.c.fa_last_error().decode()
        raise Refused(reason)

    def workspace(self, torch, kernel, problem):
        size = ctypes.c_size_t()
        self.call("fa_workspace_bytes", kernel, ctypes.byref(problem), ctypes.byref(size))
        return torch.empty(size.value + 256, dtype=torch.uint8, device="cuda")  # PyTorch aligns to 512


def default_library():
    root = pathlib.Path(__file__).resolve().parents[2]
    found = sorted(root.glob("build/**/lib/libfagpu.so"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise Refused("no build/**/lib/libfagpu.so: run ./run once where nvcc is, or name it with --library")
    return found[-1]


class Shape:
    """One problem: its tensors, and what each implementation runs for it."""

    def __init__(self, torch, element, d, causal, n, batch, heads):
        self.torch, self.element, self.d, self.causal = torch, element, d, causal
        self.n, self.batch, self.heads = n, batch, heads
        dtype = {"fp16": torch.float16, "bf16": torch.bfloat16, "e4m3": torch.float8_e4m3fn}[element]
        self.q, self.k, self.v, self.d_out = (
            torch.randn(batch, n, heads, d, device="cuda").to(dtype) for _ in range(4)
        )

    def in_half(self):
        """The same numbers in a type that peers take."""
        if self.element != "e4m3":
            return self
        half = copy.copy(self)
        half.element = "bf16"
        for name in ("q", "k", "v", "d_out"):
            setattr(half, name, getattr(self, name).to(self.torch.bfloat16))
        return half

    def flops(self, direction):
        products = 4.0 * self.batch * self.heads * self.n**2 * self.d
        return products * (0.5 if self.causal else 1.0) * (2.5 if direction == "bwd" else 1.0)

    def ours(self, library, direction, name):
        """(name, function, outputs) of our kernel."""
        torch = self.torch
        element = ELEMENTS[self.element]
        problem = Problem(self.batch, self.heads, self.heads, self.n, self.n, self.d, int(self.causal), element)
        dtype = torch.bfloat16 if self.element == "e4m3" else self.q.dtype
        o, dq, dk, dv = (torch.empty_like(self.q, dtype=dtype) for _ in range(4))
        lse = torch.empty(self.batch, self.heads, self.n, device="cuda")
        args = Args(problem=problem, scale=1 / math.sqrt(self.d), lse=lse.data_ptr())
        args.stream = torch.cuda.current_stream().cuda_stream
        tensors = dict(q=self.q, k=self.k, v=self.v, o=o, d_out=self.d_out, dq=dq, dk=dk, dv=dv)
        for field, tensor in tensors.items():
            setattr(args, field, View.of(tensor))
        args.kept = (tensors, lse)  # the addresses in args are theirs

        def prepared(way, kernel_name):
            kernel = library.kernel(problem, way, kernel_name)
            workspace = library.workspace(torch, kernel, problem)

            def launch():
                args.workspace = workspace.data_ptr()
                library.call("fa_run", kernel, ctypes.byref(args))

            return library.name(kernel), launch

        forward_name, forward = prepared("fwd", name if direction == "fwd" else None)
        if direction == "fwd":
            return forward_name, forward, (o,)
        forward()
        return *prepared("bwd", name), (dq, dk, dv)

    def sdpa(self, backend, direction):
        """The function of a PyTorch back end, and what it returned last, in [batch, n, heads, d]."""
        torch = self.torch
        from torch.nn.attention import sdpa_kernel
        from torch.nn.functional import scaled_dot_product_attention as attention

        q, k, v, d_out = (t.transpose(1, 2) for t in (self.q, self.k, self.v, self.d_out))  # it wants heads before n
        result = []
        if direction == "fwd":

            def launch():
                with torch.no_grad():
                    result[:] = [attention(q, k, v, is_causal=self.causal)]

        else:
            leaves = [t.detach().requires_grad_(True) for t in (q, k, v)]
            with sdpa_kernel(backend):
                o = attention(*leaves, is_causal=self.causal)

            def launch():
                result[:] = torch.autograd.grad(o, leaves, d_out, retain_graph=True)

        def in_backend():
            with sdpa_kernel(backend):
                launch()

        in_backend()
        return in_backend, [t.transpose(1, 2) for t in result]


def medians(torch, functions, repeats):
    """Milliseconds of each function; nothing waits between launches, so that the host stays ahead of the GPU."""
    for _ in range(WARM_UPS):
        for function in functions:
            function()
    events = [[] for _ in functions]
    for _ in range(repeats):
        for function, pairs in zip(functions, events):
            start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            function()
            stop.record()
            pairs.append((start, stop))
    torch.cuda.synchronize()
    return [statistics.median(start.elapsed_time(stop) for start, stop in pairs) for pairs in events]


def compare(torch, library, shape, direction, options):
    """{(implementation, element): milliseconds}, ours first."""
    from torch.nn.attention import SDPBackend

    name, ours, outputs = shape.ours(library, direction, options.kernel)
    names, functions, truth = [(name, shape.element)], [ours], None
    half = shape.in_half()
    if half is not shape:
        own, in_half, _ = half.ours(library, direction, None)
        names.append((own, half.element))
        functions.append(in_half)
    for peer, backend in (("sdpa_flash", SDPBackend.FLASH_ATTENTION), ("sdpa_cudnn", SDPBackend.CUDNN_ATTENTION)):
        try:
            function, results = half.sdpa(backend, direction)
        except RuntimeError as error:
            print(f"{peer} does not take d {shape.d} {direction}: {str(error).splitlines()[0]}", file=sys.stderr)
            continue
        truth = truth or results
        names.append((peer, half.element))
        functions.append(function)
    ours()
    torch.cuda.synchronize()
    for mine, theirs in zip(outputs, truth or ()):
        error = (mine.float() - theirs.float()).abs().max().item()
        if not error <= TOLERANCE * max(1.0, theirs.float().abs().max().item()):
            where = f"d {shape.d}, n {shape.n}, causal {shape.causal}"
            raise Refused(f"{name} {direction}, {where}: differs from PyTorch by {error}; run fagpu check")
    return dict(zip(names, medians(torch, functions, options.repeats)))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--csv", action="store_true", help="impl,pass,dtype,d,causal,n,batch,heads,ms_median,tflops")
    parser.add_argument("--pass", dest="direction", choices=PASSES, help="both if left out")
    parser.add_argument("--d", type=int, nargs="+", default=[64, 128])
    parser.add_argument("--n", type=int, nargs="+", default=[512, 1024, 2048, 4096, 8192, 16384])
    parser.add_argument("--element", choices=ELEMENTS, default="bf16")
    mask = parser.add_mutually_exclusive_group()
    mask.add_argument("--causal", action="store_true", help="only with the causal mask")
    mask.add_argument("--full", action="store_true", help="only without it")
    parser.add_argument("--kernel", help="our kernel; the one that choose() takes if left out")
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--library", help="path of libfagpu.so")
    options = parser.parse_args()
    wrong_n = any(n < 1 or n > TOKENS for n in options.n)
    wrong_d = any(d < 8 or d > 256 or d % 8 for d in options.d)
    if options.element == "e4m3" and options.direction == "bwd":
        parser.error("--element e4m3 has a forward pass only")
    if options.repeats < 1 or wrong_n or wrong_d:
        parser.error(f"--repeats takes 1 or more, --n 1 to {TOKENS}, --d multiples of 8 up to 256")
    return options


def print_row(shape, direction, times, options):
    tflops = {name: shape.flops(direction) / ms * 1e-9 for name, ms in times.items()}
    if options.csv:
        for (name, element), ms in times.items():
            sizes = f"{shape.d},{int(shape.causal)},{shape.n},{shape.batch},{shape.heads}"
            print(f"{name},{direction},{element},{sizes},{ms:.4f},{tflops[name, element]:.1f}", flush=True)
        return
    ours, *peers = times
    cells = "".join(f"  {peer[0]} {tflops[peer]:6.1f} ({times[peer] / times[ours]:.2f}x)" for peer in peers)
    mask = "causal" if shape.causal else "full"
    print(f"{direction}  d {shape.d:<3}  {mask:<6}  n {shape.n:<6}  {ours[0]} {tflops[ours]:6.1f}{cells}", flush=True)


def main():
    options = arguments()
    try:
        import torch
    except ImportError:
        raise Refused("PyTorch is not installed: pip install torch") from None
    if not torch.cuda.is_available():
        raise Refused("no usable GPU: this needs an NVIDIA GPU and a PyTorch that sees it")
    library = Library(options.library or default_library())
    torch.manual_seed(1)

    ratios = {}
    if options.csv:
        print("impl,pass,dtype,d,causal,n,batch,heads,ms_median,tflops")
    else:
        print(f"TFLOP/s on {torch.cuda.get_device_name()}, PyTorch {torch.__version__}; (x) = ours over that peer")
    for direction in [options.direction] if options.direction else PASSES if options.element != "e4m3" else ["fwd"]:
        for d in options.d:
            for causal in [True] if options.causal else [False] if options.full else [False, True]:
                for n in options.n:
                    shape = Shape(torch, options.element, d, causal, n, TOKENS // n, max(1, HIDDEN // d))
                    times = compare(torch, library, shape, direction, options)
                    print_row(shape, direction, times, options)
                    ours, *peers = times
                    for peer in peers:
                        ratios.setdefault((direction, d, peer[0]), []).append(times[peer] / times[ours])
    for (direction, d, peer), values in sorted(ratios.items()):
        mean = math.exp(statistics.fmean(map(math.log, values)))
        summary = f"{direction} d {d}: ours over {peer}: {mean:.3f}x on average, {min(values):.3f}x at worst"
        print(summary, file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except Refused as refusal:
        sys.exit(f"peers.py: {refusal}")
