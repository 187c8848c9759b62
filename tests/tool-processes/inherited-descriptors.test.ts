import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-descriptors-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const host = `
import { readlinkSync } from 'node:fs';
import { executeToolCall } from '@holdfast/executor';
import { loadTools } from '@holdfast/loader';
import { python } from '@holdfast/loader-python';
import { createSession } from '@holdfast/session';
const { tools, close } = await loadTools(process.argv[1], { languages: [python()] });
const seen = { host: [readlinkSync('/proc/self/fd/30'), readlinkSync('/proc/self/fd/200')] };
for (const { name } of tools) {
  const { value, message } = await executeToolCall({ id: name, name, arguments: {} }, { tools, session: createSession() });
  seen[name] = value ?? message;
}
await close();
console.log(JSON.stringify(seen));
`;

const files = {
  'module.mjs': `import { readdirSync, readlinkSync } from 'node:fs';
export const METADATA = { name: 'of_module', function: 'look', description: 'Looks.', dangerous: false, parameters: { type: 'object', properties: {} } };
export function look() { return readdirSync('/proc/self/fd').flatMap((name) => { try { return [readlinkSync('/proc/self/fd/' + name)]; } catch { return []; } }); }`,
  'program.tool.json': JSON.stringify({
    name: 'of_program',
    description: 'Looks.',
    dangerous: false,
    parameters: { type: 'object', properties: {} },
    command: ['sh', './look.sh'],
  }),
  'look.sh': `printf '['; for one in /proc/$$/fd/*; do printf '"%s",' "$(readlink "$one")"; done; printf '0]'`,
};

test.skipIf(process.platform !== 'linux')('no tool has a descriptor that its host was started with', async () => {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const canary = join(folder, 'canary');
  const descriptor = openSync(canary, 'w');
  // Node marks the first ones itself, up to a gap.
  const given = Array.from({ length: 201 }, (_, index) => (index === 30 || index === 200 ? descriptor : 'ignore'));
  const child = spawn(
    process.execPath,
    ['--conditions=holdfast-source', '--input-type=module', '--eval', host, folder],
    { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'inherit', ...given.slice(3)] },
  );
  closeSync(descriptor);
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
  const { host: own, of_module: module, of_program: program } = JSON.parse(output);
  expect(own).toEqual([canary, canary]);
  for (const links of [module, program]) {
    expect(links).toContain('/dev/null');
    expect(links).not.toContain(canary);
  }
});
