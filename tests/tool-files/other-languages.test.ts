import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { loadTools } from '@holdfast/loader';
import { python as pythonFiles } from '@holdfast/loader-python';
import { createSession } from '@holdfast/session';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const hasPython = ((): boolean => {
  try {
    execFileSync('python3', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

const parameters = {
  type: 'object',
  properties: { text: { type: 'string', default: 'nothing' }, count: { type: 'integer', maximum: 3 } },
};

/** Each tool in a shell and in Python; both must have the same outcome. */
const bodies: Readonly<Record<string, { readonly sh: string; readonly py: string; readonly more?: JsonObject }>> = {
  echo: { sh: 'cat', py: 'return {"text": text, **({} if count is None else {"count": count})}' },
  garbage: { sh: 'echo NaN', py: 'return float("nan")' },
  misfit: { sh: 'echo 1', py: 'return 1', more: { returns: { type: 'string' } } },
  large: { sh: 'echo \'"0123456789"\'', py: 'return "0123456789"', more: { maxResultBytes: 11 } },
  broken: { sh: 'echo "no such thing" >&2; exit 3', py: 'raise LookupError("no such thing")' },
  slow: { sh: 'sleep 600', py: 'import time; time.sleep(600)', more: { timeoutMs: 300 } },
  gone: { sh: 'kill -KILL $$', py: 'import os; os._exit(9)', more: { effects: 'external' } },
  guarded: { sh: 'echo 1', py: 'return 1', more: { dangerous: true } },
};

let folder = '';
let loaded: Awaited<ReturnType<typeof loadTools>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-languages-'));
  for (const [name, { sh, py, more = {} }] of Object.entries(bodies)) {
    const metadata = { description: 'Works.', dangerous: false, parameters, ...more };
    const command = { name: `${name}_sh`, ...metadata, command: ['sh', `./${name}.sh`] };
    await writeFile(join(folder, `${name}.tool.json`), JSON.stringify(command));
    await writeFile(join(folder, `${name}.sh`), sh);
    const literal = JSON.stringify({ name: `${name}_py`, function: 'work', ...metadata });
    const python = literal.replaceAll(':true', ':True').replaceAll(':false', ':False');
    await writeFile(join(folder, `${name}.py`), `METADATA = ${python}\ndef work(text, count=None):\n    ${py}\n`);
  }
  loaded = await loadTools(folder, { languages: [pythonFiles()] });
});

afterAll(async () => {
  await loaded.close();
  await rm(folder, { recursive: true, force: true });
});

async function call(name: string, input: unknown = {}): Promise<Readonly<Record<string, unknown>>> {
  const outcome = await executeToolCall(
    { name, arguments: input },
    { tools: loaded.tools, session: createSession(), unattended: true },
  );
  if (outcome.kind === 'suspended') throw new Error('No person is available.');
  const { kind, code, reason, value, text } = outcome;
  return { kind, code, reason, value, text };
}

test('all of them load', () => {
  expect(loaded.diagnostics.filter(({ code }) => code !== 'tool.process.not_started')).toEqual([]);
  expect(loaded.tools).toHaveLength((hasPython ? 2 : 1) * Object.keys(bodies).length);
});

describe.each(['sh', ...(hasPython ? ['py'] : [])])('a tool in %s', (language) => {
  test('gets what the schema has made of the arguments, and nothing that the schema refuses', async () => {
    expect(await call(`echo_${language}`)).toMatchObject({ kind: 'ok', value: { text: 'nothing' } });
    expect(await call(`echo_${language}`, { text: 'a', count: 3 })).toMatchObject({ value: { text: 'a', count: 3 } });
    expect(await call(`echo_${language}`, { count: 4 })).toMatchObject({ kind: 'invalid' });
    expect(await call(`echo_${language}`, { other: 1 })).toMatchObject({ kind: 'invalid' });
  });

  test.each([
    ['garbage', { kind: 'invalid', code: 'output.invalid', reason: 'not_json' }],
    ['misfit', { kind: 'invalid', code: 'output.invalid' }],
    ['large', { kind: 'failed', code: 'tool.result.too_large' }],
    ['slow', { kind: 'timed-out', code: 'call.timeout' }],
    ['gone', { kind: 'in-doubt' }],
    ['guarded', { kind: 'denied' }],
  ])('%s ends as it would in JavaScript: %j', async (name, outcome) => {
    expect(await call(`${name}_${language}`)).toMatchObject(outcome);
  });

  test('fails with its own words, and nothing of the machine', async () => {
    const { kind, text } = await call(`broken_${language}`);
    expect(kind).toBe('failed');
    expect(text).toBe(language === 'sh' ? 'no such thing' : 'LookupError: no such thing');
  });
});
