import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { executeToolCall } from '@holdfast/executor';
import { loadTools } from '@holdfast/loader';
import { createSession } from '@holdfast/session';
import { expect, test } from 'vitest';

test('a call that lacks a variable ends before its start record', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-environment-'));
  try {
    writeFileSync(
      join(folder, 'pay.mjs'),
      `export const METADATA = {
  name: 'pay', function: 'pay', description: 'Pays.', dangerous: false, effects: 'external',
  environment: ['PAYMENT_KEY'], parameters: { type: 'object', properties: {} },
};
export const pay = () => 'paid';
`,
    );
    const { tools } = await loadTools(folder);
    const session = createSession();
    const outcome = await executeToolCall({ name: 'pay', arguments: {} }, { tools, session });
    expect(outcome).toMatchObject({ kind: 'failed', code: 'tool.environment.missing' });
    expect(JSON.stringify(outcome)).not.toContain(folder);
    const types = [...session.records()].map(({ type }) => type);
    expect(types.filter((type) => type.startsWith('tool-call'))).toEqual(['tool-call-end']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
