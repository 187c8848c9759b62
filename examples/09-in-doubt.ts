// A process dies during a transfer that must not be repeated. The bank may know its outcome, or a person, or no one.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTool, toolOk } from '@holdfast/core';
import { executeToolCall, recoverSession, resolveCall } from '@holdfast/executor';
import { openSession, type Session } from '@holdfast/session';
import { jsonlStore } from '@holdfast/session/jsonl';
import * as v from 'valibot';

const [folder = mkdtempSync(join(tmpdir(), 'holdfast-')), dying] = process.argv.slice(2);
const statement = join(folder, 'statement.txt');
const logOf = (name: string): string => join(folder, `${name}.jsonl`);

const transfer = defineTool({
  name: 'transfer',
  description: 'Transfer money.',
  inputSchema: v.object({ to: v.string(), euros: v.number() }),
  effects: 'external',
  repeat: 'never',
  execute({ to, euros }, { idempotencyKey }) {
    appendFileSync(statement, `${idempotencyKey} ${to} ${euros}\n`);
    // The money is on its way, but the process dies before it can report that.
    process.kill(process.pid, 'SIGKILL');
    return toolOk({ euros });
  },
  probe({ euros }, { idempotencyKey }) {
    if (!bank.open) return { type: 'unknown', message: 'The bank is closed.' };
    const done = readFileSync(statement, 'utf8').includes(`${idempotencyKey} `);
    return done ? { type: 'done', value: { euros } } : { type: 'not-done' };
  },
});
const bank = { open: false };

if (dying !== undefined) {
  const session = await openSession(jsonlStore(logOf(dying)), { id: dying });
  const rent = { id: 'rent', name: 'transfer', arguments: { to: 'landlord', euros: 900 } };
  await executeToolCall(rent, { tools: [transfer], session });
  throw new Error('The process was not killed.');
}

/** Kills a process during its transfer and returns its reopened session. */
async function dieAndReopen(name: string): Promise<Session> {
  const { signal } = spawnSync(process.execPath, [...process.execArgv, import.meta.filename, folder, name]);
  assert.equal(signal, 'SIGKILL');
  return openSession(jsonlStore(logOf(name)), { id: name });
}

// Unknown: in doubt, reported once. The call never runs again.
const first = await dieAndReopen('first');
const [doubt, ...others] = (await recoverSession({ tools: [transfer], session: first })).outcomes;
assert.deepEqual([doubt?.kind, doubt?.code, others], ['in-doubt', 'call.interrupted', []]);
assert.match(doubt?.text ?? '', /Find out before calling it again. The bank is closed./);
assert.deepEqual((await recoverSession({ tools: [transfer], session: first })).outcomes, []);

// A person knows, and settles the call before recovery.
const second = await dieAndReopen('second');
const [interrupted] = second.openWork().calls;
assert.deepEqual([interrupted?.callId, interrupted?.start?.input], ['rent', { to: 'landlord', euros: 900 }]);
await resolveCall(second, 'rent', { type: 'done', value: { euros: 900 } }, { by: 'Ada' });
const [told] = (await recoverSession({ tools: [transfer], session: second })).outcomes;
assert.deepEqual([told?.kind, told?.value], ['ok', { euros: 900 }]);

// The bank knows: the tool's `probe` asks it by the call's key.
bank.open = true;
const third = await dieAndReopen('third');
const [probed] = (await recoverSession({ tools: [transfer], session: third })).outcomes;
assert.deepEqual([probed?.kind, probed?.value], ['ok', { euros: 900 }]);

assert.equal(readFileSync(statement, 'utf8').split('\n').length - 1, 3);
for (const session of [first, second, third]) await session.close();
rmSync(folder, { recursive: true });
console.log(
  'three transfers were interrupted, none was sent twice: one is in doubt, a person and the bank settled the others',
);
