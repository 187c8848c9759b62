import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HoldfastError, JsonObject, Tool, ToolContext } from '@holdfast/core';
import { copyJson, describeCode } from '@holdfast/core/internal';
import type { LoadToolsOptions } from '@holdfast/loader';
import { describeIsolation } from '@holdfast/loader/internal';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { codesOf, createProject, loadTools, type TestProject, testContext, until } from '../test-project.ts';
import { python, pythonFile, pythonPath } from '../test-python.ts';

beforeEach(() => void vi.stubEnv('PATH', pythonPath));
afterEach(() => void vi.unstubAllEnvs());

interface Called {
  readonly value?: unknown;
  readonly code?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly stack?: string;
}

async function callTool(
  tool: Tool | undefined,
  input: JsonObject,
  context: ToolContext = testContext(),
): Promise<Called> {
  try {
    const copied = copyJson(await tool?.execute?.(input, context));
    return copied.ok ? { value: copied.value } : { code: 'no JSON', message: copied.problem };
  } catch (thrown) {
    const { code = '', reason, message, stack } = thrown as Partial<HoldfastError> & Error;
    return { code, ...(reason === undefined ? {} : { reason }), message, ...(stack === undefined ? {} : { stack }) };
  }
}

interface Calling extends LoadToolsOptions {
  readonly input?: JsonObject;
  readonly context?: ToolContext;
}

/** Calls the tool of a project once. */
async function call(
  project: TestProject,
  { input = {}, context = testContext(), ...options }: Calling = {},
): Promise<Called> {
  const loaded = await loadTools(project.plugins, options);
  try {
    expect(loaded.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    return await callTool(loaded.tools[0], input, context);
  } finally {
    await loaded.close();
  }
}

/** Waits until the file system clock has advanced beyond all writes so far. */
async function passTick(root: string): Promise<void> {
  const file = join(root, 'tick');
  const now = async (): Promise<bigint> => {
    await writeFile(file, '');
    return (await stat(file, { bigint: true })).mtimeNs;
  };
  const start = await now();
  // Times have sub-microsecond precision.
  while ((await now()) <= start + 1_000n);
}

/** Calls the function of a file. */
async function run(
  def: string,
  { code = '', parameters, ...calling }: Calling & { readonly code?: string; readonly parameters?: string } = {},
): Promise<Called> {
  const file = pythonFile('x', { def, code, ...(parameters === undefined ? {} : { parameters }) });
  await using project = await createProject({ 'plugins/x.py': file });
  return await call(project, calling);
}

interface Row {
  readonly def: string;
  readonly code?: string;
  readonly parameters?: string;
  readonly input?: JsonObject;
}

/** Calls the function of each file, by key. One scan serves all, because each scan starts Python. */
async function runEach(rows: Readonly<Record<string, Row>>): Promise<Readonly<Record<string, Called>>> {
  const files = Object.values(rows).map((row, index) => [`plugins/x${index}.py`, pythonFile(`x${index}`, row)]);
  await using project = await createProject(Object.fromEntries(files));
  const { tools, diagnostics, close } = await loadTools(project.plugins);
  try {
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    const called: Record<string, Called> = {};
    for (const [index, [name, { input = {} }]] of Object.entries(rows).entries()) {
      called[name] = await callTool(
        tools.find((tool) => tool.name === `x${index}`),
        input,
      );
    }
    return called;
  } finally {
    await close();
  }
}

const none = '{"type": "object", "properties": {}}';
const two = '{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["a"]}';

describe.skipIf(!python.available)('with Python', () => {
  test('a function gets its arguments by name, with defaults, as keywords, as one dictionary, or none', async () => {
    const row = (def: string, input: JsonObject): Row => ({ def, input, parameters: two });
    expect(
      await runEach({
        byName: row('def work(a, b="none"): return [a, b]', { a: 1, b: 'ü😀\n' }),
        withDefault: row('def work(b="none", *, a): return [a, b]', { a: 1 }),
        gathered: row('def work(**given): return given', { a: 1, b: 'x' }),
        allInOne: row('def work(given): return given', { a: 1, b: 'x' }),
        notAtAll: row('def work(): return "nothing"', { a: 1 }),
      }),
    ).toEqual({
      byName: { value: [1, 'ü😀\n'] },
      withDefault: { value: [1, 'none'] },
      gathered: { value: { a: 1, b: 'x' } },
      allInOne: { value: { a: 1, b: 'x' } },
      notAtAll: { value: 'nothing' },
    });
  });

  const answers: readonly (readonly [string, string, unknown])[] = [
    ['a coroutine', 'async def work():\n  import asyncio\n  await asyncio.sleep(0)\n  return 1', 1],
    ['what can be awaited', 'async def later(): return 1\ndef work(): return later()', 1],
    ['None', 'def work(): pass', null],
    ['a tuple', 'def work(): return (1, (2,))', [1, [2]]],
    ['keys that are numbers', 'def work(): return {2023: 5, None: 1}', { 2023: 5, null: 1 }],
    ['text that looks like an answer', 'def work(): return "\\n{\\"type\\": \\"threw\\"}\\n"', '\n{"type": "threw"}\n'],
    ['a large text', 'def work(): return len("x" * 1000000) * "y"', 'y'.repeat(1_000_000)],
  ];

  test('valid answers', async () => {
    const called = await runEach(Object.fromEntries(answers.map(([name, def]) => [name, { def }])));
    expect(called).toEqual(Object.fromEntries(answers.map(([name, , value]) => [name, { value }])));
  });

  const noAnswers: readonly (readonly [string, string, string])[] = [
    ['NaN', 'return float("nan")', 'Out of range float values'],
    ['infinity', 'return {"a": [float("-inf")]}', 'Out of range float values'],
    ['a whole number without an end', 'return 10 ** 400', 'too large'],
    ['a set', 'return {1}', 'set is not JSON serializable'],
    ['bytes', 'return b"x"', 'bytes is not JSON serializable'],
    ['a circle', 'a = []; a.append(a); return a', 'Circular reference'],
    ['65 levels', 'a = 1\n  for _ in range(65): a = [a]\n  return a', 'nested deeper than 64'],
    ['far more levels', 'a = 1\n  for _ in range(100000): a = [a]\n  return a', 'recursion'],
    ['two keys alike', 'return {1: 1, "1": 2}', 'a key twice'],
    ['the key __proto__', 'return {"__proto__": 1}', '__proto__'],
    ['a key that is not a text', 'return {(1, 2): 3}', 'keys must be str'],
    [
      'what breaks when it is written',
      'class D(dict):\n    def items(self): raise SystemExit(3)\n  return D(a=1)',
      '3',
    ],
  ];

  test('invalid answers', async () => {
    const called = await runEach(
      Object.fromEntries(noAnswers.map(([name, body]) => [name, { def: `def work():\n  ${body}` }])),
    );
    const expected = noAnswers.map(([name, , problem]) => [
      name,
      { code: 'no JSON', message: expect.stringContaining(problem) },
    ]);
    expect(called).toEqual(Object.fromEntries(expected));
  });

  const failures: readonly (readonly [string, string, string])[] = [
    ['an exception', 'raise ValueError("no\\n\\x1bway")', 'ValueError: no\n\\u{1b}way'],
    ['one without words', 'raise KeyError', 'KeyError'],
    ['one of its own', 'class Odd(Exception): pass\n  raise Odd(3)', 'Odd: 3'],
    ['one that cannot be read', 'class Odd(Exception):\n    def __str__(self): raise self\n  raise Odd', 'Odd'],
    ['a wish to end', 'import sys; sys.exit(0)', 'SystemExit: 0'],
    ['an interruption', 'raise KeyboardInterrupt', 'KeyboardInterrupt'],
    ['a recursion without an end', 'def f(): f()\n  f()', 'RecursionError: maximum recursion depth exceeded'],
    [
      'a missing file',
      'open("/nowhere/at/all.txt")',
      "FileNotFoundError: [Errno 2] No such file or directory: 'all.txt'",
    ],
    ['a long message', 'raise ValueError("x" * 100000)', `ValueError: ${'x'.repeat(987)}…`],
    ['memory', 'return len("x" * (64 << 30))', 'MemoryError'],
    // Other systems set no limit.
    ...(process.platform === 'linux'
      ? ([['more memory than it may have', 'return len(bytearray(4 << 30))', 'MemoryError']] as const)
      : []),
  ];

  test('errors, described to a model in a line or two', async () => {
    const called = await runEach(
      Object.fromEntries(failures.map(([name, body]) => [name, { def: `def work():\n  ${body}` }])),
    );
    const expected = failures.map(([name, , message]) => [
      name,
      { code: '', message, stack: expect.stringContaining('Traceback') },
    ]);
    expect(called).toEqual(Object.fromEntries(expected));
  });

  const ends: readonly (readonly [string, string, string])[] = [
    ['ends its process', 'import os; os._exit(3)', 'ended with code 3 before'],
    ['kills its process', 'import os, signal; os.kill(os.getpid(), signal.SIGKILL)', 'ended by SIGKILL before'],
    ['crashes', 'import ctypes; ctypes.string_at(0)', 'ended by SIGSEGV before'],
  ];

  test('a tool that ends, kills or crashes its process fails only its call', async () => {
    const called = await runEach(
      Object.fromEntries(ends.map(([name, body]) => [name, { def: `def work():\n  ${body}` }])),
    );
    const expected = ends.map(([name, , what]) => [
      name,
      { code: 'tool.process.lost', reason: 'exited', message: expect.stringContaining(what) },
    ]);
    expect(called).toMatchObject(Object.fromEntries(expected));
  });

  test('printed text is not part of the answer, but reported', async () => {
    const told: string[] = [];
    const def = `def work():
  import os, subprocess, sys
  print('one')
  sys.stderr.write('two\\n')
  os.write(1, b'three\\n')
  subprocess.run(['echo', 'four'])
  sys.stdout.buffer.write(b'\\xff\\n')
  return [sys.stdin.read(), sys.__stdout__.encoding]`;
    const processes = { print: (text: string) => void told.push(text) };
    expect(await run(def, { code: 'print("zero")\n', processes })).toEqual({ value: ['', 'utf-8'] });
    expect(told.join('')).toBe('zero\none\ntwo\nthree\nfour\n\ufffd\n');
  });

  test("a tool that writes to the answer's descriptor cannot forge a result", async () => {
    const answer = (text: string): string => `def work():
  import os
  for fd in range(3, 20):
    try: os.write(fd, b'${text}\\n')
    except OSError: pass
  os._exit(0)`;
    expect(
      await runEach({
        garbage: { def: answer('garbage') },
        other: { def: answer('{"type": "other"}') },
        more: { def: answer('{"type": "returned"}\\n1 2') },
      }),
    ).toMatchObject({
      garbage: { code: 'tool.process.lost', reason: 'protocol' },
      other: { code: 'tool.process.lost', reason: 'protocol' },
      more: { code: 'no JSON' },
    });
  });

  test.each([
    ['raises', 'raise ValueError("no")\n', 'ValueError: no'],
    ['imports what there is not', 'import there_is_no_such_module\n', 'ModuleNotFoundError: No module named'],
    ['ends', 'import sys\nsys.exit(0)\n', 'SystemExit: 0'],
  ])('a file that %s on import fails the call', async (_, code, message) => {
    expect(await run('def work(): return 1', { code })).toMatchObject({
      code: 'tool.file.import_failed',
      message: expect.stringContaining(`Cannot import the tool file \`x.py\`: ${message}`),
    });
  });

  test('a missing function fails the call', async () => {
    const def = 'def work(): return 1\nglobals()["work"] = 1';
    expect(await run(def)).toMatchObject({ code: 'tool.function.not_function' });
  });

  test('a file is not the main program, and its paths are as usual in Python', async () => {
    const def = `from dataclasses import dataclass
import pickle
@dataclass
class Point:
  x: int
def work():
  import sys, x
  return [__name__, pickle.loads(pickle.dumps(Point(1))).x, x.work is work, __file__.endswith('/x.py'), sys.argv]
if __name__ == '__main__': raise ValueError('not a program')`;
    expect(await run(def)).toEqual({ value: ['x', 1, true, true, ['-c']] });
  });

  test('files of the folder shadow installed packages, but not the standard library', async () => {
    await using project = await createProject({
      'plugins/a.py': pythonFile('a', {
        parameters: none,
        def: 'def work():\n  import calendar, pip\n  return [hasattr(calendar, "isleap"), pip.mine]',
      }),
      'plugins/calendar.py': pythonFile('calendar'),
      'plugins/json.py': pythonFile('json', {
        parameters: none,
        def: 'def work():\n  import json\n  return json.dumps([])',
      }),
      'plugins/pip.py': 'mine = True\n',
    });
    const loaded = await loadTools(project.plugins);
    expect(codesOf(loaded)).toEqual([]);
    expect(await callTool(loaded.tools[0], {})).toEqual({ value: [true, true] });
    expect(await callTool(loaded.tools[2], {})).toEqual({ value: '[]' });
    expect(readdirSync(project.plugins)).not.toContain('__pycache__');
    await loaded.close();
  });

  test('it sees data of its call and the declared environment', async () => {
    vi.stubEnv('SECRET', 'x');
    vi.stubEnv('PYTHONPATH', '/nowhere');
    const def =
      'def work():\n  import os, sys\n  names = ["HOLDFAST_CALL_ID", "HOLDFAST_IDEMPOTENCY_KEY", "SECRET"]\n  return [os.environ.get(name) for name in names] + ["/nowhere" in sys.path]';
    expect(await run(def)).toEqual({ value: ['call-1', 'key-1', null, false] });
  });

  test('the signal of the call kills it, its threads and the programs it started', async () => {
    const def = `def work():
  import subprocess, sys, threading, time
  child = subprocess.Popen(['sleep', '600'])
  threading.Thread(target=time.sleep, args=(600,)).start()
  print(child.pid, file=sys.stderr, flush=True)
  while True:
    try: time.sleep(600)
    except BaseException: pass`;
    await using project = await createProject({ 'plugins/x.py': pythonFile('x', { def }) });
    const told: string[] = [];
    const loaded = await loadTools(project.plugins, { processes: { print: (text) => void told.push(text) } });
    const context = testContext();
    const called = callTool(loaded.tools[0], {}, context);
    await until(() => told.join('').endsWith('\n'));
    const isRunning = (): boolean => {
      const status = `/proc/${told.join('').trim()}/status`;
      return existsSync(status) && !/^State:\s+Z/m.test(readFileSync(status, 'utf8'));
    };
    expect(isRunning()).toBe(true);
    context.abort(new Error('too late'));
    expect(await called).toMatchObject({ message: 'too late' });
    await until(() => !isRunning());
    await loaded.close();
  });

  test('a running thread delays the answer only briefly', async () => {
    const told: string[] = [];
    const processes = { print: (text: string) => void told.push(text) };
    const def = `def work():
  import threading, time
  def short():
    time.sleep(0.1)
    print('done')
  threading.Thread(target=short).start()
  threading.Thread(target=time.sleep, args=(600,)).start()
  return 1`;
    expect(await run(def, { processes })).toEqual({ value: 1 });
    expect(told.join('')).toBe('done\n');
  });

  test('too much output or printed text kills it', async () => {
    expect(await run('def work(): return "x" * 5000000')).toMatchObject({
      code: 'tool.request.invalid',
      reason: 'too_large',
    });
    expect(await run('def work():\n  while True: print("x" * 100000)')).toMatchObject({
      code: 'tool.process.lost',
      reason: 'flood',
    });
  });

  test('without a lock, a changed file does not run', async () => {
    await using project = await createProject({ 'plugins/x.py': pythonFile('x') });
    const loaded = await loadTools(project.plugins);
    await project.write('plugins/x.py', pythonFile('x', { def: 'def work(text=None): return 2' }));
    expect(await callTool(loaded.tools[0], {})).toMatchObject({ code: 'tool.file.changed' });
    await loaded.close();
  });

  const withHelpers = {
    'plugins/x.py': pythonFile('x', {
      parameters: none,
      code: 'import json, os.path, helper\n',
      def: 'def work():\n  from pack.deep import part\n  import importlib\n  late = importlib.import_module("late")\n  return [helper.word, part.word, late.word]',
    }),
    'plugins/helper.py': 'from pack import word\n',
    'plugins/late.py': 'word = "late"\n',
    'plugins/unused.py': 'word = "unused"\n',
    'plugins/pack/__init__.py': 'from . import words\nfrom .words import word\n',
    'plugins/pack/words.py': 'word = "pack"\n',
    'plugins/pack/deep/part.py': 'from ..words import word as other\nfrom .. import third\nword = other + third.word\n',
    'plugins/pack/third.py': 'word = "third"\n',
    'plugins/pack/unused.py': '',
  };

  test("a lock pins a file's imports from its folder, and the copies run", async () => {
    await using project = await createProject(withHelpers);
    await project.accept();
    const locked = JSON.parse(await readFile(project.lock, 'utf8')).tools.x;
    expect(Object.keys(locked.files)).toEqual([
      'plugins/helper.py',
      'plugins/late.py',
      'plugins/pack/__init__.py',
      'plugins/pack/deep/part.py',
      'plugins/pack/third.py',
      'plugins/pack/words.py',
      'plugins/x.py',
    ]);
    expect(locked.metadata).toMatchObject({ form: 'python', passing: 'none' });
    const loaded = await loadTools(project.plugins, { lock: project.lock });
    const value = ['pack', 'packthird', 'late'];
    expect(await callTool(loaded.tools[0], {})).toEqual({ value });
    for (const file of Object.keys(withHelpers)) await project.write(file, 'raise ValueError("not this one")\n');
    expect(await callTool(loaded.tools[0], {})).toEqual({ value });
    await loaded.close();
  });

  test.each(['plugins/helper.py', 'plugins/late.py', 'plugins/pack/__init__.py', 'plugins/pack/third.py'])(
    'a change of %s changes the tool',
    async (file) => {
      await using project = await createProject(withHelpers);
      await project.accept();
      await project.write(file, `${withHelpers[file as keyof typeof withHelpers]}# changed\n`);
      const { tools, diagnostics } = await loadTools(project.plugins, { lock: project.lock });
      expect(tools).toEqual([]);
      expect(diagnostics.find(({ code }) => code === 'lock.changed')?.message).toContain(file);
    },
  );

  test('a new file that shadows an installed module changes the tool too', async () => {
    await using project = await createProject({ 'plugins/x.py': pythonFile('x', { code: 'import pip\n' }) });
    await project.accept();
    await project.write('plugins/pip/__init__.py', '');
    const { diagnostics } = await loadTools(project.plugins, { lock: project.lock });
    expect(codesOf({ diagnostics })).toEqual(['x.py lock.changed']);
  });

  test('an import that is a link, or not valid Python, cannot be locked', async () => {
    await using project = await createProject({
      'plugins/a.py': pythonFile('a', { code: 'import linked\n' }),
      'plugins/b.py': pythonFile('b', { code: '\nimport _broken\n' }),
      'plugins/c.py': pythonFile('c', { code: 'import _coded\n' }),
      'plugins/d.py': pythonFile('d', { code: 'import _folder\n' }),
      'plugins/e.py': pythonFile('e', { code: 'place = __file__\n' }),
      'plugins/_broken.py': 'x = 1\ndef (',
      'plugins/_coded.py': '# coding: utf-7\n',
      'plugins/_folder.py/x': '',
      'outside.py': '',
    });
    await project.link('plugins/linked.py', '../outside.py');
    const { diagnostics } = await project.compare();
    expect(
      diagnostics.map(({ file, line, code, reason }) => `${file}:${line} ${describeCode({ code, reason })}`),
    ).toEqual([
      '_broken.py:2 tool.file.invalid: syntax',
      '_coded.py:1 tool.file.invalid: encoding',
      'a.py:1 tool.import.invalid: symlink',
      'd.py:1 tool.import.invalid: unreadable',
      'e.py:1 tool.import.invalid: meta',
      'linked.py:1 tool.file.invalid: symlink',
    ]);
  });

  test('tools in a subfolder import files beside them', async () => {
    await using project = await createProject({
      'plugins/deep/x.py': pythonFile('x', { code: 'import _helper\n', def: 'def work(): return _helper.word' }),
      'plugins/deep/_helper.py': 'word = "deep"\n',
      'plugins/_helper.py': 'word = "above"\n',
    });
    const { tools, close } = await loadTools(project.plugins, { subfolders: true });
    expect(await callTool(tools[0], {})).toEqual({ value: 'deep' });
    await close();
  });

  test('a damaged copy is recreated and runs', async () => {
    await using project = await createProject(withHelpers);
    await project.accept();
    const loaded = await loadTools(project.plugins, { lock: project.lock });
    const folder = join(
      '.holdfast/tools',
      readdirSync(join(project.root, '.holdfast/tools'))[0] ?? '',
      'files/plugins',
    );
    await chmod(join(project.root, folder, 'helper.py'), 0o644);
    await project.write(join(folder, 'helper.py'), 'word = "other"\n');
    await project.write(join(folder, 'extra.py'), '');
    expect(await callTool(loaded.tools[0], {})).toEqual({ value: ['pack', 'packthird', 'late'] });
    expect(readdirSync(join(project.root, folder))).not.toContain('extra.py');
    expect(readdirSync(join(project.root, folder))).not.toContain('__pycache__');
    await loaded.close();
  });

  test('a locked folder loads without Python, and its tools report the missing program', async () => {
    await using project = await createProject(withHelpers);
    await project.accept();
    const first = await loadTools(project.plugins, { lock: project.lock });
    expect(codesOf(first)).toEqual(['unused.py tool.metadata.missing']);
    await project.remove('plugins/unused.py');
    await passTick(project.root);
    expect(codesOf(await loadTools(project.plugins, { lock: project.lock }))).toEqual([]);
    vi.stubEnv('PATH', '/nowhere');
    const { tools, diagnostics, close } = await loadTools(project.plugins, { lock: project.lock });
    expect(codesOf({ diagnostics })).toEqual([]);
    expect(await callTool(tools[0], {})).toMatchObject({ code: 'tool.process.not_started', reason: 'python' });
    vi.stubEnv('PATH', pythonPath);
    expect(await callTool(tools[0], {})).toEqual({ value: ['pack', 'packthird', 'late'] });
    await close();
  });

  test('a late import loads the verified file, or fails', async () => {
    await using project = await createProject({
      'plugins/x.py': pythonFile('x', {
        parameters: none,
        def: `def work():
  import os
  place = os.path.join(os.path.dirname(__file__), '_late.py')
  os.chmod(place, 0o644)
  open(place, 'w').write('word = "other"')
  import _late
  return _late.word`,
      }),
      'plugins/_late.py': 'word = "first"\n',
    });
    expect(await call(project)).toEqual({ value: 'other' });
    await project.write('plugins/_late.py', 'word = "first"\n');
    await project.accept();
    expect(await call(project, { lock: project.lock })).toMatchObject({
      message: 'ImportError: "_late" differs from the verified file',
    });
  });

  test('a bytecode cache beside a module is ignored', async () => {
    await using project = await createProject({
      'plugins/x.py': pythonFile('x', {
        parameters: none,
        code: 'import _late\n',
        def: 'def work(): return _late.word',
      }),
      'plugins/_late.py': 'word = "first"\n',
    });
    const script = `import os, py_compile, sys
os.chdir(sys.argv[1])
times = os.stat('_late.py')
open('_late.py', 'w').write('word = "other"\\n')
os.utime('_late.py', ns=(times.st_atime_ns, times.st_mtime_ns))
py_compile.compile('_late.py')
open('_late.py', 'w').write('word = "first"\\n')
os.utime('_late.py', ns=(times.st_atime_ns, times.st_mtime_ns))
`;
    execFileSync('python3', ['-c', script, project.plugins]);
    expect(
      execFileSync('python3', ['-c', 'import _late; print(_late.word)'], { cwd: project.plugins }).toString(),
    ).toBe('other\n');
    expect(await call(project)).toEqual({ value: 'first' });
  });

  test('a realistic folder of Python tools works unchanged', async () => {
    await using project = await createProject({
      'plugins/stock_price.py': `#!/usr/bin/env python3
"""Look up the price of a share."""
from __future__ import annotations

import argparse
import asyncio
from typing import Any, Optional

from common.prices import PRICES, round_to

METADATA: dict[str, Any] = {
    "name": "stock_price",
    "description": "Look up the price of a share.",
    "function": "get_price",
    "dangerous": False,
    "parameters": {
        "type": "object",
        "properties": {
            "symbol": {"type": "string", "description": "Ticker symbol, such as " "ACME"},
            "currency": {"type": "string", "enum": ["EUR", "USD"], "default": "EUR"},
        },
        "required": ["symbol"],
    },
}


async def get_price(symbol: str, currency: Optional[str] = None) -> dict[str, Any]:
    await asyncio.sleep(0)
    print(f"looking up {symbol}")
    if (price := PRICES.get(symbol)) is None:
        raise KeyError(symbol)
    return {"symbol": symbol, "price": round_to(price, 2), "currency": currency}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("symbol")
    print(asyncio.run(get_price(parser.parse_args().symbol)))
`,
      'plugins/common/__init__.py': '',
      'plugins/common/prices.py': 'from .rounding import round_to\n\nPRICES = {"ACME": 12.345}\n',
      'plugins/common/rounding.py': 'def round_to(value, digits):\n    return round(value + 1e-9, digits)\n',
      'plugins/word_count.py': `METADATA = {
    'name': 'word_count', 'function': 'run', 'dangerous': False,
    'parameters': {'type': 'object', 'properties': {'text': {'type': 'string'}}, 'required': ['text']},
}

def run(payload):
    '''Counts the words.'''
    return {'count': len(payload['text'].split())}
`,
      'plugins/test_word_count.py': 'from word_count import run\nassert False\n',
      'plugins/requirements.txt': 'requests\n',
      'plugins/README.md': '# Tools\n',
    });
    await project.accept();
    const { tools, diagnostics, close } = await loadTools(project.plugins, { lock: project.lock, strict: true });
    expect(diagnostics).toEqual([]);
    const [price, words] = tools;
    expect(await callTool(price, { symbol: 'ACME', currency: 'EUR' })).toEqual({
      value: { symbol: 'ACME', price: 12.35, currency: 'EUR' },
    });
    expect(await callTool(price, { symbol: 'NONE', currency: 'EUR' })).toMatchObject({ message: "KeyError: 'NONE'" });
    expect(await callTool(words, { text: 'one two' })).toEqual({ value: { count: 2 } });
    await close();
  });

  test('in a sandbox it can access neither files nor network', async ({ skip }) => {
    const sandbox = (await describeIsolation()).find(({ tier }) => tier === 'sandbox');
    if (sandbox?.available !== true) skip(sandbox?.reason);
    const def = `def work():
  import os, socket
  found = []
  try: open(os.path.join(os.path.dirname(__file__), 'ran'), 'w')
  except OSError as error: found.append(type(error).__name__)
  try: socket.create_connection(('127.0.0.1', 9), timeout=1)
  except OSError as error: found.append(type(error).__name__)
  return found`;
    const [file, network] = ((await run(def, { isolation: 'sandbox' })).value ?? []) as readonly string[];
    expect(['OSError', 'PermissionError']).toContain(file);
    expect(network).toBeDefined();
  });
});
