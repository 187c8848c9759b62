import type { Tool } from '@holdfast/core';
import { afterEach, expect, test, vi } from 'vitest';
import { commandFile, createCommandProject } from './test-commands.ts';
import { codesOf, loadTools, testContext } from './test-project.ts';
import { python, pythonFile } from './test-python.ts';

afterEach(() => void vi.unstubAllEnvs());

const names = '["API_KEY", "REGION?", "UNSET?"]';
const always = ['PATH', 'LANG', 'TZ', 'TMPDIR'].filter((name) => process.env[name] !== undefined);
const ofCall = ['HOLDFAST_CALL_ID', 'HOLDFAST_IDEMPOTENCY_KEY'];

test('a program has the common variables, those of its call, and those both declared and granted', async () => {
  vi.stubEnv('UNDECLARED', 'of the host');
  await using project = await createCommandProject({
    'plugins/count.tool.json': commandFile(['./count.sh'], { environment: JSON.parse(names) }),
    'plugins/count.sh': `#!/bin/sh
exec '${process.execPath}' -e 'console.log(JSON.stringify(Object.entries(process.env).sort()))'\n`,
    ...(python.available
      ? {
          'plugins/python.py': pythonFile('python', {
            def: 'import os\ndef work():\n  return sorted(map(list, os.environ.items()))',
            more: `"environment": ${names},`,
            parameters: '{"type": "object", "properties": {}}',
          }),
        }
      : {}),
  });
  const environment = () => ({ API_KEY: 'k3y', REGION: 'eu', UNDECLARED: 'x', LD_PRELOAD: 'x' });
  const { tools, diagnostics, close } = await loadTools(project.plugins, { environment });
  try {
    expect(codesOf({ diagnostics })).toEqual([]);
    expect(tools.map(({ name }) => name)).toEqual(['count', ...(python.available ? ['python'] : [])]);
    for (const tool of tools) {
      // Variables that a shell or an interpreter adds on start.
      const { PWD: _, LC_CTYPE: __, ...seen } = Object.fromEntries(await look(tool));
      expect(Object.keys(seen).sort()).toEqual([...always, 'API_KEY', 'REGION', 'HOLDFAST_PROCESS', ...ofCall].sort());
    }
  } finally {
    await close();
  }
});

async function look(tool: Tool): Promise<readonly (readonly [string, string])[]> {
  const entries: unknown = await tool.execute?.({}, testContext());
  if (!Array.isArray(entries)) throw new Error(`\`${tool.name}\` gave no list.`);
  return entries;
}
