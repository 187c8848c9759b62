// Three incidents of a hand-written tool loop, each next to the same call with Holdfast.
import assert from 'node:assert/strict';
import {
  answerApproval,
  defineTool,
  executeToolCall,
  fileTools,
  memoryFilesystem,
  memoryStore,
  openSession,
  requireApproval,
  resumeToolCall,
} from '@holdfast/kit';
import { z } from 'zod';

const paid: number[] = [];
const session = await openSession(memoryStore(), { id: 'incidents' });
const payment = {
  description: 'Pay.',
  inputSchema: z.object({ euros: z.number() }),
  effects: 'external',
  repeat: 'never',
} as const;
// 1. The payment succeeds, its response is lost, and the retry pays again.
for (let attempt = 1; attempt <= 2; attempt += 1) {
  paid.push(50);
  const answered = attempt === 2;
  if (answered) break;
}
assert.deepEqual(paid.splice(0), [50, 50]);

const pay = defineTool({
  ...payment,
  name: 'pay',
  timeoutMs: 20,
  execute: ({ euros }) => new Promise<string>(() => paid.push(euros)),
});
const doubt = await executeToolCall({ name: 'pay', arguments: { euros: 50 } }, { tools: [pay], session });
assert.deepEqual([doubt.kind, paid.splice(0)], ['in-doubt', [50]]);
console.log('by hand: paid twice. Holdfast: paid once, and the model learns that the outcome is unknown');

// 2. A person approves 50 euros, and the arguments change before the call runs.
const byHand = { euros: 50 };
const approved = byHand.euros < 100;
byHand.euros = 5000;
if (approved) paid.push(byHand.euros);
assert.deepEqual(paid.splice(0), [5000]);

const refund = defineTool({ ...payment, name: 'refund', execute: ({ euros }) => paid.push(euros) });
const asking = { tools: [refund], policies: [requireApproval({ tools: [refund] })], session };
const call = { id: 'refund-1', name: 'refund', arguments: { euros: 50 } };
assert.equal((await executeToolCall(call, asking)).kind, 'suspended');
await answerApproval(session, 'refund-1', { type: 'approve' });
call.arguments.euros = 5000;
assert.equal((await resumeToolCall('refund-1', asking)).kind, 'ok');
assert.deepEqual(paid.splice(0), [50]);
console.log('by hand: 50 approved, 5,000 paid. Holdfast: 50 approved, 50 paid');

// 3. A tool fails between two writes.
const disk = new Map([['stock.txt', '5']]);
const ship = async (write: (path: string, text: string) => unknown): Promise<never> => {
  await write('stock.txt', '4');
  throw new Error('No parcel label.');
};
await assert.rejects(ship((path, text) => disk.set(path, text)));
assert.equal(disk.get('stock.txt'), '4');

const filesystem = memoryFilesystem({ 'stock.txt': '5' });
const shipping = defineTool({
  name: 'ship',
  description: 'Ship an order.',
  effects: 'state',
  execute: (_input, context) => ship((path, text) => context.filesystem?.write(path, text)),
});
const options = { tools: [shipping, ...fileTools()], session, resources: { filesystem } };
const failed = await executeToolCall({ name: 'ship', arguments: {} }, options);
const read = await executeToolCall({ name: 'read_file', arguments: { path: 'stock.txt' } }, options);
assert.deepEqual([failed.kind, read.kind], ['failed', 'ok']);
assert.match(read.kind === 'ok' ? read.text : '', /\b5\b/);
console.log('by hand: 4 in stock, none shipped. Holdfast: 5 in stock, and the model knows why');
