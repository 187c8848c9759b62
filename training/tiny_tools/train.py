"""Trains the model on conversations made on the fly until its time is used up; saves a checkpoint every two minutes.

    python3 -m tiny_tools.train --seconds 4200 --width 256 --heads 8 --hidden 640 --tokens 5000 --rate 1.5e-3 --out model.pt

On a CPU that multiplies bfloat16 in hardware: --precision bf16, and --compile with torch 2 (together three times as fast
as without). On other CPUs: --threads 1 --processes 2, one process a core, the gradients averaged. On an accelerator:
--device cuda --precision bf16 --workers 12 (processes of their own for making conversations; this way has not been run).
"""
import argparse
import contextlib
import os
import time

import torch
import torch.distributed as distributed
import torch.nn.functional as functional

from tiny_tools import checkpoint
from tiny_tools.batches import BatchSource, WorkerBatches
from tiny_tools.model import Model
from tiny_tools.probe import probe
from tiny_tools.tokenizer import Tokenizer

WARM_UP = 60  # steps
SAVE_EVERY = 120  # seconds
REPORT_EVERY, PROBE_EVERY = 50, 500  # steps
TARGETS_STEP = 128  # their number is rounded up to it


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add('--out', default='model.pt', help='checkpoint to write')
    add('--init', default='', help='checkpoint to go on from; its sizes count then')
    add('--seconds', type=float, default=1500, help='length of the run (default 1500)')
    add('--processes', type=int, default=1, help='training processes, whose gradients are averaged (default 1)')
    add('--threads', type=int, default=2, help='threads of each; more than there are cores is far slower (default 2)')
    add('--workers', type=int, default=0, help='processes that only make conversations, for each training process')
    add('--device', default='cpu', help='cpu or cuda')
    add('--precision', choices=('f32', 'bf16'), default='f32', help='of the matrix products (default f32)')
    add('--muon', action='store_true', help='let Muon, of torch 2.9 or later, train the matrices; a tenth slower a step')
    add('--compile', action='store_true', help='let torch 2 compile the network; takes about a minute at the start')
    add('--width', type=int, default=128, help='a multiple of 64 (default 128)')
    add('--layers', type=int, default=6)
    add('--heads', type=int, default=4, help='width / 32')
    add('--hidden', type=int, default=320, help='width of the feed-forward; a multiple of 32')
    add('--context', type=int, default=512, help='most tokens of a conversation')
    add('--tokens', type=int, default=2200, help='tokens of a batch, for each process (default 2200)')
    add('--rate', type=float, default=2.5e-3, help='highest learning rate')
    add('--descent', type=float, default=0.5, help='share of the run, its end, in which the rate falls (default 0.5)')
    add('--floor', type=float, default=0.03, help='share of the rate at the end')
    add('--easy', type=float, default=0.25, help='share of the run that drills the choice of a tool')
    add('--seed', type=int, default=1)
    add('--port', type=int, default=29511, help='for the processes to meet')
    return parser.parse_args()


def rate(options, step, fraction):
    """The learning rate: up for a minute of steps, flat, then a straight line down to the floor."""
    falling = min(1.0, (1 - fraction) / options.descent) * (1 - options.floor) + options.floor
    return options.rate * min(1, (step + 1) / WARM_UP) * falling


def loss_of(network, ids, weights, options):
    """The weighted mean of the cross entropies of all tokens."""
    target, weights = ids[:, 1:].reshape(-1), weights[:, 1:].reshape(-1)
    at = weights.nonzero(as_tuple=True)[0]
    more = (0, -len(at) % TARGETS_STEP)  # for few shapes; these weigh nothing
    at, weights = functional.pad(at, more), functional.pad(weights[at], more)
    is_mixed = options.precision == 'bf16'
    mixed = torch.autocast(options.device, torch.bfloat16) if is_mixed else contextlib.nullcontext()
    with mixed:
        logits = network(ids[:, :-1], at)
    each = functional.cross_entropy(logits.float(), target[at], reduction='none')
    return (each * weights).sum() / weights.sum()


def split_parameters(model):
    """(matrices, the others): Muon is for matrices that multiply, and an embedding only looks like one."""
    matrices, others = [], []
    for name, parameter in model.named_parameters():
        (matrices if parameter.dim() == 2 and 'embedding' not in name else others).append(parameter)
    return matrices, others


def make_optimizers(model, options):
    adam = dict(lr=options.rate, betas=(.9, .98), weight_decay=0.01)
    if not options.muon:
        return [torch.optim.AdamW(model.parameters(), **adam)]
    matrices, others = split_parameters(model)
    # Steps as large as AdamW's, so that one rate serves both.
    muon = torch.optim.Muon(matrices, lr=options.rate, weight_decay=0.01, adjust_lr_fn='match_rms_adamw')
    return [muon, torch.optim.AdamW(others, **adam)]


def average_gradients(parameters, processes):
    flat = torch.cat([parameter.grad.view(-1) for parameter in parameters])
    distributed.all_reduce(flat)
    flat /= processes
    start = 0
    for parameter in parameters:
        parameter.grad = flat[start:start + parameter.numel()].view_as(parameter)
        start += parameter.numel()


def run(rank, options):
    """One process of the training; the first one, rank 0, keeps the clock, reports and saves."""
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    parent = os.getppid()
    together = options.processes > 1
    if together:
        address = f'tcp://127.0.0.1:{options.port}'
        distributed.init_process_group('gloo', init_method=address, rank=rank, world_size=options.processes)
    tokenizer = Tokenizer()
    if options.init:
        model, _ = checkpoint.load(options.init, options.device)
    else:
        sizes = (options.width, options.layers, options.heads, options.hidden, tokenizer.size, options.context)
        model = Model(*sizes).to(options.device)
    network = torch.compile(model, dynamic=True) if options.compile else model
    parameters = list(model.parameters())
    optimizers = make_optimizers(model, options)
    seed, how = options.seed * 1000 + rank * 100, (options.tokens, options.context, options.easy)
    batches = WorkerBatches(options.workers, seed, *how) if options.workers else BatchSource(seed, *how)
    started = saved = time.time()
    step = seen = 0

    def say(*words):
        if rank == 0:
            print(*words, flush=True)
    say('parameters', sum(parameter.numel() for parameter in parameters))
    while not together or os.getppid() == parent:  # until the starting process is ended
        # Every process has to take the same decisions, so the clock of the first one counts.
        clock = torch.tensor([time.time() - started])
        if together:
            distributed.broadcast(clock, 0)
        fraction = clock.item() / options.seconds
        if fraction >= 1:
            break
        for group in [group for one in optimizers for group in one.param_groups]:
            group['lr'] = rate(options, step, fraction)
        ids, weights = batches.next(fraction)
        loss = loss_of(network, ids.to(options.device), weights.to(options.device), options)
        model.zero_grad(set_to_none=True)
        loss.backward()
        if together:
            average_gradients(parameters, options.processes)
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        for optimizer in optimizers:
            optimizer.step()
        step += 1
        seen += ids.numel() * options.processes
        if step % REPORT_EVERY == 0:
            say(step, int(clock.item()), 'loss %.4f' % loss.item(), 'tokens', seen)
        if rank == 0 and step % PROBE_EVERY == 0:
            say('held out', probe(model, tokenizer, options.device))
        if rank == 0 and time.time() - saved > SAVE_EVERY:
            saved = time.time()
            checkpoint.save(model, step, options.out)
    if rank == 0:
        checkpoint.save(model, step, options.out)
        say('done', step, 'held out', probe(model, tokenizer, options.device, count=512))
        say('training side', probe(model, tokenizer, options.device, held_out=False, count=256))


def main():
    options = arguments()
    if options.processes > 1:
        torch.multiprocessing.spawn(run, (options,), options.processes)
    else:
        run(0, options)


if __name__ == '__main__':
    main()
